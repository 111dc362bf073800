/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of windows: the own, and that of others which is mapped here.
 *
 * A rank's area is shared by the node transport. Where the library allocates, it has the cell, then the memory from the
 * next page on. In a window made by MPI_Win_allocate_shared the memory of all ranks lies in the first one's area, one
 * after the other, unless it may have gaps. Where the memory is the user's, the area has the cell alone, which others
 * map if the kernel copies for them what cannot be mapped: between all of them, or no cell is of use to others. Where
 * nothing is shared the cell is the process's own, as all others come by messages.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/hw.h"
#include "core/engine/instance.h"
#include "core/engine/peer.h"
#include "core/rma/delegate.h"
#include "core/rma/window.h"

_Static_assert(sizeof(struct pl_win_ctl) <= PL_WIN_CTL, "the cell has a page of its own");

#define TRIAL UINT64_C(0x506c656e756d0000) /* and the rank that tries */

static bool is_allocated(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
}

static bool is_contiguous(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_SHARED && !(win->hints.flags & PL_HINT_NONCONTIGUOUS);
}

/* The transport that shares memory; NULL: there is none. */
static const struct pl_transport_ops *win_memory_sharing(struct pl_engine *engine, void **self)
{
    for (int i = 0; i < engine->transports; i++)
        if (engine->transport[i].ops->share) {
            *self = engine->transport[i].self;
            return engine->transport[i].ops;
        }
    return NULL;
}

/* Bytes of memory in the own area. Collective where it depends on the others. */
static int own_bytes(struct pl_win *win, size_t *bytes)
{
    int64_t mine = is_allocated(win) ? win->size : (int64_t)pl_delegate_area(win->comm->size), all = 0;
    int rc = MPI_SUCCESS;
    if (is_contiguous(win) && win->comm->size > 1) {
        rc = pl_allreduce(win->comm, &mine, &all, 1, pl_type_predefined((uintptr_t)MPI_INT64_T),
                          pl_op_predefined((uintptr_t)MPI_SUM));
        mine = win->comm->rank == 0 ? all : 0;
    }
    *bytes = (size_t)mine;
    if (rc == MPI_SUCCESS && (mine < 0 || *bytes > SIZE_MAX / 2 - PL_WIN_CTL))
        rc = pl_fail(MPI_ERR_NO_MEM, "the window's sizes are together more than an address space");
    return rc;
}

static int make_alone(struct pl_win *win, size_t bytes)
{
    size_t all = (PL_WIN_CTL + bytes + PL_WIN_CTL - 1) / PL_WIN_CTL * PL_WIN_CTL;
    win->alone = pl_memory_fails() ? NULL : aligned_alloc(PL_WIN_CTL, all);
    if (!win->alone)
        return pl_fail_memory("a window's memory");
    memset(win->alone, 0, sizeof(struct pl_win_ctl));
    return MPI_SUCCESS;
}

static int make_shared(struct pl_win *win, size_t bytes, struct pl_win_card *own)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    void *self;
    win->ops = win_memory_sharing(engine, &self);
    if (!win->ops && win->flavor == MPI_WIN_FLAVOR_SHARED)
        return pl_fail(MPI_ERR_RMA_SHARED, "no transport in use shares memory between processes");
    if (!win->ops || (!is_allocated(win) && !win->ops->cma))
        return make_alone(win, is_allocated(win) ? bytes : 0);
    pl_engine_enter(engine);
    int rc = win->ops->share(self, PL_WIN_CTL + bytes, &win->shared);
    pl_engine_leave(engine);
    own->place = win->shared.place;
    own->bytes = rc ? 0 : PL_WIN_CTL + bytes;
    return rc && !is_allocated(win) ? make_alone(win, 0) : rc;
}

int pl_win_memory_make(struct pl_win *win, struct pl_win_card *own)
{
    size_t bytes;
    int rc = own_bytes(win, &bytes), node = 0;
    if (rc == MPI_SUCCESS && win->comm->size > 1)
        rc = pl_comm_node_color(win->comm, &node);
    if (rc || own->error)
        return rc;
    own->node = node;
    rc = win->comm->size > 1 ? make_shared(win, bytes, own) : make_alone(win, is_allocated(win) ? bytes : 0);
    if (rc)
        return rc;
    struct pl_win_target *target = &win->targets[win->comm->rank];
    target->ctl = win->alone ? win->alone : win->shared.memory;
    if (is_allocated(win))
        win->base = (char *)target->ctl + PL_WIN_CTL; /* in a contiguous window not yet, but for the first */
    target->memory = win->base;
    own->ctl = (uint64_t)(uintptr_t)target->ctl;
    own->base = (uint64_t)(uintptr_t)win->base;
    return MPI_SUCCESS;
}

/* Maps another rank's area. False: it cannot be; then it is reached by messages. */
static bool win_memory_map(struct pl_win *win, int rank, const struct pl_win_card *card)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_peer *peer;
    if (card->bytes < PL_WIN_CTL || pl_engine_find(win->comm, rank, &peer) != MPI_SUCCESS || !peer->endpoint ||
        peer->endpoint->ops != win->ops)
        return false;
    pl_engine_enter(engine);
    int rc = peer->error ? peer->error
                         : win->ops->attach(peer->endpoint, card->place, (size_t)card->bytes, &win->maps[rank]);
    pl_engine_leave(engine);
    if (rc) {
        win->maps[rank] = NULL;
        return false;
    }
    win->map_bytes[rank] = (size_t)card->bytes;
    win->targets[rank].ctl = win->maps[rank];
    win->targets[rank].memory = (char *)win->maps[rank] + PL_WIN_CTL;
    return true;
}

/* All memory lies in the first rank's area. */
static int place_contiguously(struct pl_win *win, const struct pl_win_card *cards)
{
    char *memory = win->targets[0].memory;
    uint64_t room = cards[0].bytes - PL_WIN_CTL;
    for (int i = 0; i < win->comm->size; i++) {
        if ((uint64_t)cards[i].size > room)
            return pl_fail(MPI_ERR_RMA_SHARED, "rank %d has other hints about the window's memory than rank 0", i);
        win->targets[i].memory = memory;
        memory += cards[i].size;
        room -= (uint64_t)cards[i].size;
    }
    win->base = win->targets[win->comm->rank].memory;
    return MPI_SUCCESS;
}

static int copy_word(struct pl_endpoint *peer, bool write, uint64_t *here, uint64_t there)
{
    struct iovec near = { here, sizeof *here }, far = { (void *)(uintptr_t)there, sizeof *here };
    struct pl_cma cma = {
        .here = &near, .here_count = 1, .there = &far, .there_count = 1, .bytes = sizeof *here, .write = write
    };
    return peer->ops->cma(peer, &cma);
}

/* A word of the rank's area that is for this rank, written and read by the kernel, and read where it is mapped. */
static bool try_cma(struct pl_win *win, int rank, const struct pl_win_card *card)
{
    struct pl_endpoint *peer = pl_comm_peer(win->comm, rank)->endpoint;
    int own = win->comm->rank;
    uint64_t word = TRIAL + (uint64_t)own, back = 0;
    size_t place = PL_WIN_CTL + pl_delegate_area(own);
    uint64_t there = card->ctl + place;
    const _Atomic uint64_t *mapped = (const void *)((const char *)win->maps[rank] + place);
    return copy_word(peer, true, &word, there) == MPI_SUCCESS && atomic_load(mapped) == word &&
           copy_word(peer, false, &back, there) == MPI_SUCCESS && back == word;
}

/* Maps the cells of all, and tries whether the memory behind them is to be had. */
static bool cma_all(struct pl_win *win, const struct pl_win_card *cards)
{
    int own = win->comm->rank;
    bool all = win->shared.memory && win->comm->size > 1;
    for (int i = 0; i < win->comm->size && all; i++) {
        struct pl_win_target *target = &win->targets[i];
        if (i == own)
            continue;
        all = cards[i].node == cards[own].node && cards[i].bytes == cards[own].bytes &&
              win_memory_map(win, i, &cards[i]) && try_cma(win, i, &cards[i]);
        target->cma = all ? pl_comm_peer(win->comm, i)->endpoint : NULL;
        target->memory = (char *)(uintptr_t)cards[i].base;
    }
    return all;
}

void pl_win_cma_none(struct pl_win *win)
{
    pl_win_memory_unmap(win);
    win->all_by_cma = false;
    for (int i = 0; i < win->comm->size; i++)
        if (i != win->comm->rank) {
            win->targets[i].ctl = NULL;
            win->targets[i].cma = NULL;
            win->targets[i].memory = NULL;
        }
}

int pl_win_memory_map(struct pl_win *win, const struct pl_win_card *cards)
{
    int own = win->comm->rank;
    if (!is_allocated(win)) {
        win->all_by_cma = cma_all(win, cards);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < win->comm->size && win->ops; i++) {
        bool near = i == own || (cards[i].node == cards[own].node && win_memory_map(win, i, &cards[i]));
        if (!near && win->flavor == MPI_WIN_FLAVOR_SHARED)
            return pl_fail(MPI_ERR_RMA_SHARED, "the memory of rank %d cannot be mapped: %s", i,
                           cards[i].node == cards[own].node ? pl_error_detail(NULL) : "it is on another node");
    }
    return is_contiguous(win) && win->ops ? place_contiguously(win, cards) : MPI_SUCCESS;
}

void pl_win_memory_unmap(struct pl_win *win)
{
    for (int i = 0; win->maps && i < win->comm->size; i++)
        if (win->maps[i]) {
            win->ops->detach(win->maps[i], win->map_bytes[i]);
            win->maps[i] = NULL;
        }
}

void pl_win_memory_release(struct pl_win *win, bool reuse)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_win_memory_unmap(win);
    if (win->shared.memory) {
        void *self = NULL;
        pl_engine_enter(engine);
        if (!engine->closed && win_memory_sharing(engine, &self) == win->ops)
            win->ops->unshare(self, &win->shared, reuse);
        pl_engine_leave(engine);
        win->shared.memory = NULL;
    }
    free(win->alone);
    win->alone = NULL;
}

int pl_win_query(const struct pl_win *win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void **base)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_fail(MPI_ERR_RMA_FLAVOR, "%s is a dynamic window, whose memory has no place of its own",
                       pl_win_label(win));
    *size = 0;
    *disp_unit = 1;
    *base = NULL;
    for (int i = 0; i < win->comm->size && rank == MPI_PROC_NULL; i++)
        if (win->targets[i].size > 0)
            rank = i;
    if (rank == MPI_PROC_NULL || !win->targets[rank].ctl || win->targets[rank].cma)
        return MPI_SUCCESS;
    *size = win->targets[rank].size;
    *disp_unit = win->targets[rank].disp_unit;
    *base = win->targets[rank].memory;
    return MPI_SUCCESS;
}
