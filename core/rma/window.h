/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows: memory that the members of a communicator open to each other's one-sided operations (MPI-5.0 chapter 12).
 *
 * There are three ways to a target's memory, and each origin knows which one it has to each target.
 * - Direct: the memory is mapped here. That is the own, and in windows for which the library allocates, that of the
 *   ranks on the same node (core/rma/window_memory.c). The origin does everything itself; the target need not call MPI.
 * - Reach: the user's own memory, in windows whose ranks are all on one node where the kernel lets each copy from and
 *   to the others' memory (core/rma/cma.c). The origin does everything itself, too, unless the target is there to
 *   help (core/rma/delegate.c).
 * - Messages: everything else. The target does it when it makes progress (core/rma/target.c).
 *
 * All meet in the target's *cell*, in memory that is shared where there is any: its lock word is taken by those who
 * have the cell mapped themselves and by the target on behalf of the others; its guard is held by whoever accumulates.
 * So locks exclude each other and accumulates are atomic whichever way each of them takes.
 *
 * Messages of a window go by a communicator of its own (`comm`, PL_MSG_RMA), in the order in which they were sent. What
 * one origin sends to one target is a stream: a lock holds back what comes behind it, an accumulate, an unlock or a
 * flush waits for what came before. That gives the ordering of accumulates, and makes an answer to a flush say that all
 * before it was applied.
 *
 * Locking: name, error handler and hints by comm->lock; attributes by their own; what is kept for reaching others by
 * `reaching`; streams, queues and counts by the engine's lock. What says which epochs are open is atomic, since direct
 * operations look at it without a lock; the calls that open and close epochs are ordered with the operations in them by
 * the user.
 */
#ifndef PLENUM_CORE_RMA_WINDOW_H
#define PLENUM_CORE_RMA_WINDOW_H

#include <stdalign.h>

#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/transport.h"

struct pl_info;

enum { PL_WIN_LINE = 64, PL_WIN_CTL = 4096 }; /* bytes; the memory lies behind the cell, at the start of a page */

/* In memory that all direct origins of the rank share. */
struct pl_win_ctl {
    alignas(PL_WIN_LINE) _Atomic uint32_t lock; /* PL_WIN_EXCLUSIVE, or how many share it */
    _Atomic uint32_t releases;                  /* counted up whenever it is given back: waiters wait for the next */
    _Atomic uint64_t waiting;                   /* those who may sleep meanwhile: a bit for rank % 64 */
    alignas(PL_WIN_LINE) _Atomic uint32_t acc_lock;  /* who accumulates: rank + 1; 0: nobody */
    alignas(PL_WIN_LINE) _Atomic uint32_t version;   /* of what is attached to a dynamic window: odd while it changes */
    _Atomic uint64_t regions, region_count;          /* where its owner has the list of that */
    alignas(PL_WIN_LINE) _Atomic uint64_t delegated; /* who has left some for its owner (delegate.h): bit rank % 64 */
};
#define PL_WIN_EXCLUSIVE UINT32_C(0x80000000)

/* Which operations may go to a rank. */
enum pl_win_open { PL_OPEN_NOT, PL_OPEN_STARTED, PL_OPEN_LOCKED };

/* Something that went wrong at a target, to be told by the next call that synchronizes. */
struct pl_win_fault {
    int class; /* MPI_SUCCESS: nothing */
    int64_t at;
    uint64_t bytes;
};

/* Pieces of memory that are attached to a dynamic window, by address. */
struct pl_win_region {
    char *base;
    size_t bytes;
};
struct pl_win_regions {
    struct pl_win_region *list;
    size_t count, room;
};

/* What is known about a rank as a target, and what has come from it as an origin. */
struct pl_win_target {
    MPI_Aint size, disp_unit;
    char *memory;            /* where it is mapped here, if there is a cell; with `reach`, where it is there */
    struct pl_win_ctl *ctl;  /* NULL: by messages */
    struct pl_endpoint *cma; /* by which the kernel copies from and to it; NULL: it is mapped, or goes by messages */
    _Atomic uint8_t open;    /* enum pl_win_open: for this rank alone */

    /* As the target of messages. */
    uint8_t locked;           /* MPI_LOCK_* that was asked for or is held there, less MPI_LOCK_EXCLUSIVE, plus 1 */
    bool dirty;               /* something was sent since the last answer */
    uint32_t unsent;          /* operations whose data at this end is in use: sends and gets */
    uint32_t asked, answered; /* questions: flushes, locks, unlocks */
    struct pl_win_fault fault;

    /* As one that is reached: `reaching`. */
    struct pl_rma_batch *batch[2]; /* gets and puts that have not been done; NULL: there were none yet */
    struct pl_win_regions regions; /* what was attached in this version */
    uint32_t version;
    uint8_t backoff, missed; /* so much is not offered to it (delegate.c); and was not when it was away last */

    /* As an origin. */
    struct pl_list op_queue;     /* of struct pl_rma_entry.link: what could not be done at once (target.c) */
    uint8_t holds;               /* the lock that it holds here through messages: as `locked` */
    uint32_t posts, completes;   /* how often it has said so, less what was waited for */
    struct pl_win_fault refused; /* the first of its operations that could not be done, since it asked last */
};

enum pl_win_access { PL_ACCESS_NONE, PL_ACCESS_FENCE, PL_ACCESS_START, PL_ACCESS_LOCK, PL_ACCESS_LOCK_ALL };

/* Hints (window_info.c). */
enum {
    PL_WIN_HINT = 24, /* bytes of one that is kept as it was given */
    PL_HINT_NO_LOCKS = 1,
    PL_HINT_SAME_SIZE = 2,
    PL_HINT_SAME_DISP_UNIT = 4,
    PL_HINT_NONCONTIGUOUS = 8,
};

struct pl_win_hints {
    unsigned flags;
    char ordering[PL_WIN_HINT], ops[PL_WIN_HINT], granularity[PL_WIN_HINT];
};

struct pl_win {
    struct pl_object obj;
    struct pl_comm *comm; /* its own, with one handle; its name is the window's */
    struct pl_errhandler *errhandler;
    struct pl_attrs *attrs;
    int flavor; /* MPI_WIN_FLAVOR_* */
    void *base;
    MPI_Aint size, disp_unit;
    int disp_unit_int, model;      /* what attributes point to */
    struct pl_win_target *targets; /* [comm->size] */

    /* window_memory.c */
    const struct pl_transport_ops *ops; /* whose shared memory it is; NULL: the process's own */
    struct pl_shared shared;
    void *alone; /* cell, and memory if it was allocated, that nobody shares */
    void **maps; /* [comm->size] others' areas, mapped here */
    size_t *map_bytes;
    struct pl_win_regions regions; /* of a dynamic window; engine's lock */
    int empty_regions;             /* attached without a byte */

    _Atomic int access;                 /* enum pl_win_access */
    _Atomic bool fence_used;            /* there have been operations since the last fence */
    _Atomic int locks;                  /* ranks that are locked one by one */
    bool unchecked;                     /* MPI_MODE_NOCHECK in MPI_Win_lock_all */
    struct pl_group *started, *exposed; /* of MPI_Win_start and MPI_Win_post; retained, NULL: none */
    struct pl_win_hints hints;          /* comm->lock; the flags that say how memory lies never change */

    struct pl_list responses;  /* of struct pl_rma_get.link: answers with data that are awaited, in order (rma.c) */
    struct pl_list lock_queue; /* of struct pl_rma_entry.queue: locks that could not be given yet */
    struct pl_hook hook;       /* tries them again; in the engine's list while there are any */
    uint32_t syncs;            /* numbers given to what wants an answer */
    int moving;                /* sends and fetches under way */
    bool by_messages;          /* to some ranks */
    bool all_by_cma;           /* all others are reached */
    struct pl_lock cma_lock;
    struct pl_hook delegated; /* looks for them; in the engine's watches in a window that reaches */
    _Atomic unsigned polls;
};

/* Makes one. Collective. `base`: in for MPI_Win_create, else NULL. One handle. */
struct pl_win_spec {
    int flavor;
    void *base;
    MPI_Aint size, disp_unit;
    struct pl_info *info; /* NULL: none */
};
int pl_win_create(struct pl_comm *comm, const struct pl_win_spec *spec, struct pl_win **win);

/* Collective: waits for all. MPI_ERR_RMA_SYNC while an epoch is open. With any other error but of the user's
 * callbacks the window is freed nevertheless: somebody has died. */
int pl_win_free(struct pl_win *win);

/* The instance closes while the user still holds the window. */
void pl_win_orphan(struct pl_comm *comm);
extern const struct pl_kind_errors pl_win_errors;
void pl_win_destroy(void *win);

/* "halo", or "unnamed window" for messages. Borrowed. */
const char *pl_win_label(const struct pl_win *win);

/* Memory of this rank, mapped for those who can; then that of the others, where `cards` says. window_memory.c. */
struct pl_win_card {
    int64_t size, disp_unit;
    uint64_t place, bytes; /* of the area with cell and memory; 0 bytes: not shared */
    uint64_t ctl, base;    /* addresses there, of the cell and of the user's memory */
    int32_t node, error;
};
int pl_win_memory_make(struct pl_win *win, struct pl_win_card *own);
int pl_win_memory_map(struct pl_win *win, const struct pl_win_card *cards);
void pl_win_memory_unmap(struct pl_win *win);
/* Not everybody reaches everybody: then nobody does. */
void pl_win_cma_none(struct pl_win *win);
void pl_win_memory_release(struct pl_win *win, bool reuse);

/* Dynamic windows. */
int pl_win_attach(struct pl_win *win, void *base, MPI_Aint size);
int pl_win_detach(struct pl_win *win, const void *base);
bool pl_win_is_attached(const struct pl_win_regions *regions, uintptr_t address, size_t bytes);

/* Where a rank's memory can be read and written directly: MPI_Win_shared_query(). */
int pl_win_query(const struct pl_win *win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void **base);

/* window_info.c: NULL: nothing. MPI_ERR_NO_MEM. */
int pl_win_info_set(struct pl_win *win, struct pl_info *info);
int pl_win_info_get(struct pl_win *win, struct pl_info *used);

/* Epochs: window_epoch.c. */
int pl_win_fence(struct pl_win *win, int assertion);
int pl_win_post(struct pl_win *win, struct pl_group *group, int assertion);
int pl_win_start(struct pl_win *win, struct pl_group *group, int assertion);
int pl_win_complete(struct pl_win *win);
int pl_win_wait(struct pl_win *win);
int pl_win_test(struct pl_win *win, bool *done);

/* Locks: window_lock.c. `rank` PL_WIN_ALL: all. */
enum { PL_WIN_ALL = -1 };
int pl_win_lock(struct pl_win *win, int type, int rank, int assertion);
int pl_win_unlock(struct pl_win *win, int rank);
int pl_win_lock_all(struct pl_win *win, int assertion);
int pl_win_unlock_all(struct pl_win *win);
int pl_win_flush(struct pl_win *win, int rank, bool local);

/* Waits until all that went out by messages has been done at its targets. */
int pl_win_finish(struct pl_win *win);

/* A program that waits for what others do to its memory may call nothing but flush, unlock or sync: those make
 * progress. */
void pl_win_poll(struct pl_win *win);

/* The word of a lock: tries to take it; gives it back: true when somebody may wait for it, who is then to be woken
 * (engine's lock). */
bool pl_win_try(struct pl_win_ctl *ctl, int type);
bool pl_win_give(struct pl_win_ctl *ctl, int type);
void pl_win_ring(struct pl_win *win, struct pl_win_ctl *ctl);

static inline uint64_t pl_win_bit(int rank)
{
    return (uint64_t)1 << (rank % 64);
}

#endif
