/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall by a node hierarchy. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_ALLTOALL_H
#define PLENUM_CORE_COLL_HIERARCHY_ALLTOALL_H

#include "core/coll/hierarchy/step.h"

pl_hierarchy_algorithm pl_hierarchy_alltoall;

#endif
