/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids: ranks and coordinates, in row-major order; making grids, with or without reordering. */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_CART_H
#define PLENUM_CORE_COMM_TOPOLOGY_CART_H

#include "core/comm/topology.h"

/* Collective over the parent. *comm is NULL for processes outside the grid, which is not larger than the parent. */
int pl_cart_create(struct pl_comm *parent, int ndims, const int dims[], const int periods[], bool reorder,
                   struct pl_comm **comm);

/* The subgrid that keeps the dimensions with remain[i] != 0. Collective. */
int pl_cart_sub(struct pl_comm *parent, const int remain[], struct pl_comm **comm);

/* From rank to coordinates and back. MPI_PROC_NULL: they lie outside, in a dimension that is not periodic. */
void pl_cart_coords(const struct pl_topology *topology, int rank, int coords[]);
int pl_cart_rank(const struct pl_topology *topology, const int coords[]);

/* The rank `disp` steps from this process along a dimension, or MPI_PROC_NULL. */
int pl_cart_shift(const struct pl_topology *topology, int dimension, long long disp);

#endif
