/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: a number as a product of factors that are as close to each other as possible. */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_DIMS_H
#define PLENUM_CORE_COMM_TOPOLOGY_DIMS_H

/* More factors than these cannot all be larger than 1. */
enum { PL_DIMS_MAX = 31 };

/* Writes n > 0 as the product of `count` factors (1 .. PL_DIMS_MAX), in ascending order. The largest and the smallest
 * are as close as possible; among equally close solutions the one with the largest smallest factor wins. */
void pl_dims_balance(int n, int count, int factors[]);

#endif
