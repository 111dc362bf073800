/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by a node hierarchy. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_REDUCE_H
#define PLENUM_CORE_COLL_HIERARCHY_REDUCE_H

#include "core/coll/hierarchy/step.h"

pl_hierarchy_algorithm pl_hierarchy_reduce, pl_hierarchy_allreduce, pl_hierarchy_reduce_scatter;

#endif
