/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoallv and alltoallw by a node hierarchy, not in place. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_ALLTOALLV_H
#define PLENUM_CORE_COLL_HIERARCHY_ALLTOALLV_H

#include "core/coll/hierarchy/step.h"

/* Beyond, the amounts of all ranks would take a leader more memory than the blocks. */
enum { PL_HIERARCHY_ALLTOALLV_RANKS = 256 };

pl_hierarchy_algorithm pl_hierarchy_alltoallv;

#endif
