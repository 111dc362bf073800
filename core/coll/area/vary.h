/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in an area whose blocks have different lengths. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_VARY_H
#define PLENUM_CORE_COLL_AREA_VARY_H

#include "core/coll/area/call.h"

pl_area_chunk pl_area_gatherv, pl_area_scatterv, pl_area_allgatherv, pl_area_alltoallv;

/* Sends and receives the data of the ranks in call->elsewhere. MPI error class. */
int pl_area_by_messages(const struct pl_area_call *call);

#endif
