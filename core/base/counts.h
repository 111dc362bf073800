/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of the count and displacement arrays of a function's int form or _c form, without a copy. */
#ifndef PLENUM_CORE_BASE_COUNTS_H
#define PLENUM_CORE_BASE_COUNTS_H

#include <stddef.h>

#include "mpi.h"

struct pl_counts {
    const int *narrow;
    const MPI_Count *wide;
};
struct pl_displs {
    const int *narrow;
    const MPI_Aint *wide;
};
static inline MPI_Count pl_count_at(struct pl_counts counts, MPI_Count i)
{
    return counts.wide ? counts.wide[i] : counts.narrow[i];
}
static inline MPI_Aint pl_displ_at(struct pl_displs displs, MPI_Count i)
{
    return displs.wide ? displs.wide[i] : displs.narrow ? displs.narrow[i] : 0;
}
/* The same from index i on. */
static inline struct pl_counts pl_counts_from(struct pl_counts counts, MPI_Count i)
{
    return (struct pl_counts){ counts.narrow ? counts.narrow + i : NULL, counts.wide ? counts.wide + i : NULL };
}
static inline struct pl_displs pl_displs_from(struct pl_displs displs, MPI_Count i)
{
    return (struct pl_displs){ displs.narrow ? displs.narrow + i : NULL, displs.wide ? displs.wide + i : NULL };
}

#endif
