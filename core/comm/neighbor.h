/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm of neighborhood collectives (MPI-5.0 section 8.6): every process exchanges blocks with its
 * neighbors. */
#ifndef PLENUM_CORE_COMM_NEIGHBOR_H
#define PLENUM_CORE_COMM_NEIGHBOR_H

#include "core/coll/algorithm.h"

extern const struct pl_algorithm pl_neighbor_exchange;

/* Of a communicator with a topology. */
struct pl_neighbors pl_neighbors_of(const struct pl_comm *comm);

#endif
