/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives in a communicator's area: whether one is, and running it. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_COLLECTIVES_H
#define PLENUM_CORE_COLL_AREA_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/coll/area/area.h"

struct pl_coll;

/* The bytes of a collective as struct pl_area_call has them; SIZE_MAX: not one for an area. */
size_t pl_area_bytes(const struct pl_coll *coll);

/* Does a blocking collective in the area of its communicator. *rc: MPI error class. False: not this collective, or
 * there is no area. */
bool pl_coll_try_area(const struct pl_coll *coll, int *rc);

/* The fast path: arguments are right, the kind is in comm->coll.area.kinds, and pl_area_bytes() is `bytes`, at most
 * PL_AREA_SHORT. Fields of *coll that this kind does not use need not be set. MPI error class. */
int pl_coll_run_in_area(const struct pl_coll *coll, size_t bytes);

#endif
