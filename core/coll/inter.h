/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of intercommunicators. */
#ifndef PLENUM_CORE_COLL_INTER_H
#define PLENUM_CORE_COLL_INTER_H

#include "core/coll/algorithm.h"

/* The one algorithm of a kind. */
const struct pl_algorithm *pl_coll_inter(enum pl_coll_kind kind);

#endif
