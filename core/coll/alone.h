/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of a communicator with one member. */
#ifndef PLENUM_CORE_COLL_ALONE_H
#define PLENUM_CORE_COLL_ALONE_H

#include "core/coll/collective.h"

/* Does it without a schedule; see pl_coll_shortcut. */
bool pl_coll_try_alone(const struct pl_coll *coll, int *rc);

#endif
