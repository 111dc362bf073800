/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of windows. See window_memory.h. */
#include "core/rma/window_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/coll/collective.h"
#include "core/engine/instance.h"
#include "core/engine/peer.h"
#include "core/rma/delegate_slot.h"
#include "core/rma/path_direct.h"
#include "core/rma/window.h"

_Static_assert(sizeof(struct pl_win_ctl) <= PL_WIN_CTL, "the control block has a page to itself");

#define CMA_TRIAL UINT64_C(0x506c656e756d0000) /* plus the rank that tries: a word that no area holds by chance */

static bool memory_is_allocated(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
}

static bool memory_is_contiguous(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_SHARED && !(win->hints.flags & PL_HINT_NONCONTIGUOUS);
}

size_t pl_win_memory_alignment(const struct pl_win *win)
{
    if (!memory_is_allocated(win) || (memory_is_contiguous(win) && win->comm->rank != 0))
        return 0;
    return win->hints.alignment > PL_WIN_CTL ? win->hints.alignment : PL_WIN_CTL;
}

/* The sum of the ranks' sizes, which may be more than 64 bits: INT64_MAX. Collective. */
static int memory_add_up(struct pl_comm *parent, int64_t mine, int64_t *all)
{
    const int64_t low = (int64_t)1 << 31;
    int64_t parts[2] = { mine / low, mine % low };
    int rc = pl_allreduce(parent, MPI_IN_PLACE, parts, 2, pl_type_predefined((uintptr_t)MPI_INT64_T),
                          pl_op_predefined((uintptr_t)MPI_SUM));
    if (__builtin_mul_overflow(parts[0], low, all) || __builtin_add_overflow(*all, parts[1], all))
        *all = INT64_MAX;
    return rc;
}

/* Bytes of this process's area behind the control block. Collective where they depend on the other ranks. */
static int memory_own_bytes(struct pl_win *win, struct pl_comm *parent, size_t *bytes)
{
    int64_t mine = memory_is_allocated(win) ? win->size : (int64_t)pl_delegate_area(win->comm->size), all = 0;
    size_t alignment = pl_win_memory_alignment(win), slack = alignment > 0 ? alignment - PL_WIN_CTL : 0;
    int rc = MPI_SUCCESS;
    if (memory_is_contiguous(win) && win->comm->size > 1) {
        rc = memory_add_up(parent, mine, &all);
        mine = win->comm->rank == 0 ? all : 0;
    }
    *bytes = (size_t)mine + slack;
    if (rc == MPI_SUCCESS && (mine < 0 || *bytes > SIZE_MAX / 2 - PL_WIN_CTL))
        rc = pl_fail(MPI_ERR_NO_MEM, "the sizes of all ranks' memory add up to more than an address space");
    return rc;
}

static int memory_make_private(struct pl_win *win, size_t bytes)
{
    size_t all = (PL_WIN_CTL + bytes + PL_WIN_CTL - 1) / PL_WIN_CTL * PL_WIN_CTL;
    win->memory.private_area = pl_memory_fails() ? NULL : pl_aligned_alloc(PL_WIN_CTL, all);
    if (!win->memory.private_area)
        return pl_fail_memory("a window's memory");
    memset(win->memory.private_area, 0, sizeof(struct pl_win_ctl));
    return MPI_SUCCESS;
}

static int memory_make_shared(struct pl_win *win, size_t bytes, struct pl_win_card *own)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    void *self;
    win->memory.ops = pl_engine_find_sharing(engine, &self);
    if (!win->memory.ops && win->flavor == MPI_WIN_FLAVOR_SHARED)
        return pl_fail(MPI_ERR_RMA_SHARED, "no transport in use shares memory between processes");
    if (!win->memory.ops || (!memory_is_allocated(win) && !win->memory.ops->cma))
        return memory_make_private(win, memory_is_allocated(win) ? bytes : 0);
    pl_engine_enter(engine);
    int rc = win->memory.ops->share(self, PL_WIN_CTL + bytes, &win->memory.shared);
    pl_engine_leave(engine);
    own->place = win->memory.shared.place;
    own->bytes = rc ? 0 : PL_WIN_CTL + bytes;
    return rc && !memory_is_allocated(win) ? memory_make_private(win, 0) : rc;
}

int pl_win_memory_init(struct pl_win *win, struct pl_comm *parent, struct pl_win_card *own)
{
    size_t bytes;
    int rc = memory_own_bytes(win, parent, &bytes);
    if (rc || own->error)
        return rc;
    rc = win->comm->size > 1 ? memory_make_shared(win, bytes, own)
                             : memory_make_private(win, memory_is_allocated(win) ? bytes : 0);
    if (rc)
        return rc;
    struct pl_win_target *target = &win->targets[win->comm->rank];
    target->ctl = win->memory.private_area ? win->memory.private_area : win->memory.shared.memory;
    if (memory_is_allocated(win)) { /* memory_lay_out() changes this in a contiguous window */
        size_t alignment = pl_win_memory_alignment(win) > 0 ? pl_win_memory_alignment(win) : PL_WIN_CTL;
        uintptr_t least = (uintptr_t)target->ctl + PL_WIN_CTL;
        win->base = (char *)target->ctl + PL_WIN_CTL + (-least & (alignment - 1));
    }
    target->memory = win->base;
    target->path = &pl_rma_path_direct;
    own->ctl = (uint64_t)(uintptr_t)target->ctl;
    own->base = (uint64_t)(uintptr_t)win->base;
    return MPI_SUCCESS;
}

/* The rank with which memory can be shared; NULL: it is on another node. */
static struct pl_peer *memory_find_peer(struct pl_win *win, int rank)
{
    struct pl_peer *peer;
    if (pl_engine_find(win->comm, rank, &peer) != MPI_SUCCESS || !peer->endpoint)
        return NULL;
    return peer->endpoint->ops == win->memory.ops ? peer : NULL;
}

/* Maps another rank's area. False: it cannot be mapped. */
static bool memory_map_area(struct pl_win *win, int rank, const struct pl_win_card *card)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_win_map *map = &win->memory.maps[rank];
    struct pl_peer *peer = card->bytes < PL_WIN_CTL ? NULL : memory_find_peer(win, rank);
    if (!peer)
        return false;
    pl_engine_enter(engine);
    map->owner = peer->endpoint;
    int rc =
        peer->error ? peer->error : win->memory.ops->attach(map->owner, card->place, (size_t)card->bytes, &map->memory);
    pl_engine_leave(engine);
    if (rc) {
        map->memory = NULL;
        return false;
    }
    map->bytes = (size_t)card->bytes;
    win->targets[rank].ctl = map->memory;
    return true;
}

static bool memory_map_direct(struct pl_win *win, int rank, const struct pl_win_card *card)
{
    struct pl_win_target *target = &win->targets[rank];
    uint64_t before = card->base - card->ctl; /* of the memory, in the area */
    bool holds = before >= PL_WIN_CTL && before <= card->bytes &&
                 (memory_is_contiguous(win) || (uint64_t)card->size <= card->bytes - before);
    if (!holds || !memory_map_area(win, rank, card))
        return false;
    target->memory = (char *)win->memory.maps[rank].memory + before;
    target->path = &pl_rma_path_direct;
    return true;
}

/* A contiguous window: all memory is in rank 0's area. */
static int memory_lay_out(struct pl_win *win, const struct pl_win_card *cards)
{
    char *memory = win->targets[0].memory;
    uint64_t left = cards[0].bytes - (cards[0].base - cards[0].ctl);
    for (int i = 0; i < win->comm->size; i++) {
        if ((uint64_t)cards[i].size > left)
            return pl_fail(MPI_ERR_RMA_SHARED, "the hints of ranks 0 and %d about the window's memory differ", i);
        win->targets[i].memory = memory;
        memory += cards[i].size;
        left -= (uint64_t)cards[i].size;
    }
    win->base = win->targets[win->comm->rank].memory;
    return MPI_SUCCESS;
}

/* --- CMA ------------------------------------------------------------------------------------------------------ */

static int memory_copy_word(struct pl_endpoint *peer, bool write, uint64_t *here, uint64_t there)
{
    struct iovec near = { here, sizeof *here }, far = { (void *)(uintptr_t)there, sizeof *here };
    struct pl_cma cma = {
        .here = &near, .here_count = 1, .there = &far, .there_count = 1, .bytes = sizeof *here, .write = write
    };
    return peer->ops->cma(peer, &cma);
}

/* Each rank's area has a word for every other rank. The kernel writes and reads this rank's word there, and the word
 * must also appear in the mapped area, from which it then goes. */
static bool memory_try_cma(struct pl_win *win, int rank, const struct pl_win_card *card)
{
    struct pl_endpoint *endpoint = win->memory.maps[rank].owner;
    int own = win->comm->rank;
    uint64_t word = CMA_TRIAL + (uint64_t)own, back = 0;
    size_t offset = PL_WIN_CTL + pl_delegate_area(own);
    uint64_t there = card->ctl + offset;
    _Atomic uint64_t *mapped = (void *)((char *)win->memory.maps[rank].memory + offset);
    bool works = memory_copy_word(endpoint, true, &word, there) == MPI_SUCCESS && atomic_load(mapped) == word &&
                 memory_copy_word(endpoint, false, &back, there) == MPI_SUCCESS && back == word;
    atomic_store(mapped, 0);
    return works;
}

/* Maps the control blocks of all ranks and tries CMA with each. */
static bool memory_try_all_cma(struct pl_win *win, const struct pl_win_card *cards)
{
    int own = win->comm->rank;
    bool all = win->memory.shared.memory && win->comm->size > 1;
    for (int i = 0; i < win->comm->size && all; i++) {
        struct pl_win_target *target = &win->targets[i];
        if (i == own)
            continue;
        all = cards[i].bytes == cards[own].bytes && memory_map_area(win, i, &cards[i]) &&
              memory_try_cma(win, i, &cards[i]);
        if (!all)
            break;
        target->cma.endpoint = win->memory.maps[i].owner;
        target->memory = (char *)(uintptr_t)cards[i].base;
        target->path = &pl_rma_path_cma;
    }
    return all;
}

static void memory_forget_cma(struct pl_win *win)
{
    pl_win_memory_unmap(win);
    for (int i = 0; i < win->comm->size; i++)
        if (i != win->comm->rank) {
            struct pl_win_target *target = &win->targets[i];
            target->path = &pl_rma_path_message;
            target->ctl = NULL;
            target->memory = NULL;
            target->cma.endpoint = NULL;
        }
}

/* --- the paths ------------------------------------------------------------------------------------------------ */

int pl_win_memory_map(struct pl_win *win, const struct pl_win_card *cards, bool *all_cma)
{
    int own = win->comm->rank;
    for (int i = 0; i < win->comm->size; i++)
        win->memory.some_shared |= cards[i].bytes > 0;
    *all_cma = !memory_is_allocated(win) && memory_try_all_cma(win, cards);
    if (!memory_is_allocated(win))
        return MPI_SUCCESS;
    for (int i = 0; i < win->comm->size && win->memory.ops; i++) {
        bool near = i == own || memory_map_direct(win, i, &cards[i]);
        if (!near && win->flavor == MPI_WIN_FLAVOR_SHARED)
            return pl_fail(MPI_ERR_RMA_SHARED, "the memory of rank %d cannot be mapped: %s", i,
                           memory_find_peer(win, i) ? pl_error_detail(NULL) : "it is on another node");
    }
    return memory_is_contiguous(win) && win->memory.ops ? memory_lay_out(win, cards) : MPI_SUCCESS;
}

bool pl_win_memory_maps_all(const struct pl_win *win)
{
    int mapped = 0;
    for (int i = 0; i < win->comm->size; i++)
        mapped += win->memory.maps[i].memory != NULL;
    return mapped == win->comm->size - 1;
}

void pl_win_memory_agree(struct pl_win *win, bool all_cma)
{
    if (!memory_is_allocated(win) && !all_cma)
        memory_forget_cma(win);
    else if (all_cma)
        win->memory.shared.written = PL_WIN_CTL; /* as long as no operation is delegated */
    pl_win_remote_choose(win);
    for (int i = 0; i < win->comm->size; i++) {
        const struct pl_rma_path *path = win->targets[i].path;
        win->paths.by_target = win->paths.by_target || path->by_target;
        win->paths.deferred = win->paths.deferred || path->drain || path->request_flush;
    }
}

void pl_win_memory_unmap(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    for (int i = 0; win->memory.maps && i < win->comm->size; i++) {
        struct pl_win_map *map = &win->memory.maps[i];
        if (!map->memory)
            continue;
        pl_engine_enter(engine);
        win->memory.ops->detach(map->owner, map->memory, map->bytes);
        pl_engine_leave(engine);
        map->memory = NULL;
    }
}

void pl_win_memory_fini(struct pl_win *win, bool reuse)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_win_memory_unmap(win);
    if (win->memory.shared.memory) {
        void *self = NULL;
        pl_engine_enter(engine);
        if (engine->state != PL_ENGINE_CLOSED && pl_engine_find_sharing(engine, &self) == win->memory.ops)
            win->memory.ops->unshare(self, &win->memory.shared, reuse);
        pl_engine_leave(engine);
        win->memory.shared.memory = NULL;
    }
    free(win->memory.private_area);
    win->memory.private_area = NULL;
}

int pl_win_query(const struct pl_win *win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void **base)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_fail(MPI_ERR_RMA_FLAVOR, "%s is a dynamic window: its memory has no fixed address",
                       pl_win_label(win));
    *size = 0;
    *disp_unit = 1;
    *base = NULL;
    for (int i = 0; i < win->comm->size && rank == MPI_PROC_NULL; i++)
        if (win->targets[i].size > 0)
            rank = i;
    if (rank == MPI_PROC_NULL || !win->targets[rank].path->mapped)
        return MPI_SUCCESS;
    *size = win->targets[rank].size;
    *disp_unit = win->targets[rank].disp_unit;
    *base = pl_win_address(win, win->targets[rank].memory, *size);
    return MPI_SUCCESS;
}
