/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of windows: this process's area, the areas of others that are mapped here, and the choice of each target's
 * path.
 *
 * A rank's area is shared through the node transport. Where the library allocates the memory, the area holds the window
 * control block and, from the next page on, the memory. In a window of MPI_Win_allocate_shared the memory of all ranks
 * is in rank 0's area, without gaps unless the hint allows them. Where the memory is the user's, the area holds the
 * control block and the slots of delegated operations (delegate_slot.h); others map it if CMA works between all ranks,
 * otherwise no rank uses another's. Where nothing is shared, the area is private, since all other ranks send messages.
 */
#ifndef PLENUM_CORE_RMA_WINDOW_MEMORY_H
#define PLENUM_CORE_RMA_WINDOW_MEMORY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/transport.h"
#include "core/rma/path_remote.h"

struct pl_comm;
struct pl_win;

/* Another rank's area, mapped here. */
struct pl_win_map {
    void *memory; /* NULL: it is not mapped */
    size_t bytes;
    struct pl_endpoint *owner;
};

struct pl_win_memory {
    const struct pl_transport_ops *ops; /* of the transport that shares memory; NULL: none */
    struct pl_shared shared;            /* this process's area */
    void *private_area;                 /* the same if it is not shared; NULL: it is */
    bool some_shared;                   /* a rank shares its memory with others, all ranks know */
    struct pl_win_map *maps;            /* [comm->size] others' areas */
    struct pl_remote_window remote;     /* exposed to one-sided transfers */
};

/* What each rank tells the others about its part. */
struct pl_win_card {
    int64_t size, disp_unit;
    uint64_t place, bytes; /* of the area; 0 bytes: not shared */
    uint64_t ctl, base;    /* addresses there, of the control block and of the user's memory */
    int32_t error;
    uint32_t key; /* bytes of the key of exposed memory; 0: it is not exposed */
};

/* The alignment of the memory that the window allocates for this process; 0: none, or it follows another rank's. */
size_t pl_win_memory_alignment(const struct pl_win *win);

/* Makes this process's area and fills in `own`, unless own->error is set. Collective in the window's parent.
 * MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED. */
int pl_win_memory_init(struct pl_win *win, struct pl_comm *parent, struct pl_win_card *own);

/* Maps what can be mapped, and chooses the paths. `cards`: [comm->size]. *all_cma: CMA works from here to all other
 * ranks. MPI_ERR_RMA_SHARED. */
int pl_win_memory_map(struct pl_win *win, const struct pl_win_card *cards, bool *all_cma);

/* Are the areas of all other ranks mapped here? */
bool pl_win_memory_maps_all(const struct pl_win *win);

/* Settles the choice. `all_cma`: CMA works between all ranks; else no rank uses it. Every target has a path
 * before: messages, if no other was found. */
void pl_win_memory_agree(struct pl_win *win, bool all_cma);

/* Unmaps the others' areas; the window must not be used any more. release() frees this process's area, too. `reuse`: no
 * other process has it mapped. */
void pl_win_memory_unmap(struct pl_win *win);
void pl_win_memory_fini(struct pl_win *win, bool reuse);

/* MPI_Win_shared_query(). MPI_ERR_RMA_FLAVOR. */
int pl_win_query(const struct pl_win *win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void **base);

#endif
