/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of Plenum to MPI. Their names begin with MPIX_; a program finds out about them with MPIX_PLENUM. */
#ifndef MPI_EXT_H
#define MPI_EXT_H

#include "mpi.h"

/* Version of the extensions; grows with every one that is added. */
#define MPIX_PLENUM 0

#endif
