/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in an area whose ranks are a tree (tree.h). See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_TREE_COLL_H
#define PLENUM_CORE_COLL_AREA_TREE_COLL_H

#include "core/coll/area/call.h"

pl_area_chunk pl_area_tree_barrier, pl_area_tree_bcast, pl_area_tree_reduce, pl_area_tree_allreduce;

#endif
