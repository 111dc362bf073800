/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in an area that move data in blocks of one length. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_MOVE_H
#define PLENUM_CORE_COLL_AREA_MOVE_H

#include "core/coll/area/call.h"

pl_area_chunk pl_area_barrier, pl_area_bcast, pl_area_gather, pl_area_scatter, pl_area_allgather, pl_area_alltoall;

#endif
