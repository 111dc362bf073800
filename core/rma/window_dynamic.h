/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is attached to a dynamic window: regions in the order of their addresses, without overlap. */
#ifndef PLENUM_CORE_RMA_WINDOW_DYNAMIC_H
#define PLENUM_CORE_RMA_WINDOW_DYNAMIC_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/vec.h"

struct pl_win;

/* Other processes copy arrays of these from the owner's memory. */
struct pl_win_region {
    char *base;
    size_t bytes;
};

struct pl_win_regions {
    PL_VEC(struct pl_win_region);
};

/* This process's regions. Engine lock. */
struct pl_win_dynamic {
    struct pl_win_regions regions;
    PL_VEC(const void *) empty; /* the bases of regions of 0 bytes; one may be there several times */
};

/* MPI_Win_attach(), MPI_Win_detach(). MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_ATTACH, MPI_ERR_NO_MEM. */
int pl_win_attach(struct pl_win *win, void *base, MPI_Aint size);
int pl_win_detach(struct pl_win *win, const void *base);

/* Are all these bytes attached? They may lie in several adjacent regions. */
bool pl_win_is_attached(const struct pl_win_regions *regions, uintptr_t address, size_t bytes);

#endif
