/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of every flavor behind one interface, so that a test runs on each: bytes at `offset[rank]` of every rank. */
#ifndef PLENUM_TESTS_RMA_H
#define PLENUM_TESTS_RMA_H

#include "mtest.h"

enum { WINDOW_CREATED, WINDOW_ALLOCATED, WINDOW_SHARED, WINDOW_DYNAMIC, WINDOW_KINDS };

struct window {
    MPI_Win win;
    int kind;
    char *base;       /* this rank's memory, zeroed */
    MPI_Aint *offset; /* [ranks]: added to a displacement in bytes */
};

/* Processes on several nodes, or configured to use only a network, share no memory: MPI_Win_allocate_shared fails.
 * Collective over `comm`. */
static inline int window_can_share(MPI_Comm comm)
{
    int ranks, here;
    MPI_Comm node;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == ranks;
}

/* Do windows of MPI_Win_create use messages in any case? Collective over the World. */
static inline int window_by_messages(void)
{
    const char *rndv = getenv("PLENUM_SHM_RNDV");
    return !window_can_share(MPI_COMM_WORLD) || (rndv && strcmp(rndv, "copy") == 0);
}

/* Collective over `comm`. The displacement unit is a byte, errors are returned. */
static inline struct window window_open(int kind, MPI_Comm comm, MPI_Aint bytes)
{
    struct window w = { .kind = kind };
    MPI_Aint own = 0;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    w.offset = calloc((size_t)ranks, sizeof *w.offset);
    if (kind == WINDOW_SHARED && !window_can_share(comm))
        kind = WINDOW_ALLOCATED;
    switch (kind) {
    case WINDOW_ALLOCATED: CHECK_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &w.base, &w.win)); break;
    case WINDOW_SHARED: CHECK_OK(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &w.base, &w.win)); break;
    default:
        w.base = malloc((size_t)bytes + 1);
        if (kind == WINDOW_CREATED) {
            CHECK_OK(MPI_Win_create(w.base, bytes, 1, MPI_INFO_NULL, comm, &w.win));
            break;
        }
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w.win));
        CHECK_OK(MPI_Win_attach(w.win, w.base, bytes));
        CHECK_OK(MPI_Get_address(w.base, &own));
        CHECK_OK(MPI_Allgather(&own, 1, MPI_AINT, w.offset, 1, MPI_AINT, comm));
    }
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    if (bytes)
        memset(w.base, 0, (size_t)bytes);
    MPI_Barrier(comm);
    return w;
}

/* Collective too. */
static inline void window_close(struct window *w, MPI_Comm comm)
{
    if (w->kind == WINDOW_DYNAMIC) {
        MPI_Barrier(comm); /* other ranks may still use it */
        CHECK_OK(MPI_Win_detach(w->win, w->base));
    }
    CHECK_OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL);
    if (w->kind == WINDOW_CREATED || w->kind == WINDOW_DYNAMIC)
        free(w->base);
    free(w->offset);
}

#endif
