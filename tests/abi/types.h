/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and layouts of the standard ABI; check_abi compiles them behind <mpi.h>. */
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

_Static_assert(_Generic((MPI_Aint)0, intptr_t : 1, default : 0), "MPI_Aint");
_Static_assert(_Generic((MPI_Offset)0, int64_t : 1, default : 0), "MPI_Offset");
_Static_assert(_Generic((MPI_Count)0, int64_t : 1, default : 0), "MPI_Count");
_Static_assert(_Generic((MPI_Fint)0, int : 1, default : 0), "MPI_Fint");

_Static_assert(sizeof(MPI_Status) == 32, "size of a status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "MPI_TAG");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "MPI_ERROR");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "MPI_internal");

_Static_assert(sizeof(MPI_Comm) == sizeof(void *), "a handle is a pointer");
_Static_assert(sizeof(MPI_T_source_order) == sizeof(int), "MPI_T_source_order");
_Static_assert(sizeof(MPI_T_cb_safety) == sizeof(int), "MPI_T_cb_safety");
