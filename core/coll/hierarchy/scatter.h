/* SPDX-License-Identifier: BSD-3-Clause */
/* Scatter and scatterv by a node hierarchy. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_SCATTER_H
#define PLENUM_CORE_COLL_HIERARCHY_SCATTER_H

#include "core/coll/hierarchy/step.h"

pl_hierarchy_algorithm pl_hierarchy_scatter, pl_hierarchy_scatterv;

#endif
