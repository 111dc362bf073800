/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions in an area. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_REDUCE_H
#define PLENUM_CORE_COLL_AREA_REDUCE_H

#include "core/coll/area/call.h"

pl_area_chunk pl_area_reduce, pl_area_allreduce, pl_area_allreduce_in_parts, pl_area_reduce_scatter, pl_area_chain;

#endif
