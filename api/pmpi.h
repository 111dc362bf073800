/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiling interface. A public function is written once, under its MPI_ name. Including this header makes all
 * MPI_ names weak, so that a tool may define its own, and a file of public functions ends with
 *
 *     PL_NAMES_P2P(PL_PMPI)
 *
 * which gives each of its bodies the strong second name PMPI_. The alias must stand in the same translation unit as
 * the body: it is bound to the body itself, and stays bound to it when the MPI_ name is taken over. The MPIX_ functions
 * of mpi-ext.h are listed where they are written, for PL_WEAK at the beginning and PL_PMPI at the end.
 */
#ifndef PLENUM_API_PMPI_H
#define PLENUM_API_PMPI_H

#include "mpi.h"
#include "names.h"

#define PL_WEAK(name) extern __typeof__(name) name __attribute__((weak, visibility("default")));
PL_NAMES(PL_WEAK)

#define PL_PMPI(name) extern __typeof__(name) P##name __attribute__((alias(#name), visibility("default")));

#endif
