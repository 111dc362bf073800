/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mpi-ext.h
 * What Plenum offers an MPI program beyond the standard. Functions return MPI error classes as those of mpi.h do, and
 * raise errors through the error handler of the session that they are given.
 */
#ifndef PLENUM_MPI_EXT_H
#define PLENUM_MPI_EXT_H

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Defined where this header is Plenum's. */
#define MPIX_PLENUM 1

#ifdef __cplusplus
}
#endif
#endif
