/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows: memory that the members of a communicator open to each other's one-sided operations (MPI-5.0 chapter 12).
 *
 * An origin has one path to each target (path.h): direct, by CMA, remote, or by messages. Window locks and accumulate
 * locks are in the target's window control block (window_ctl.h), which all paths use.
 *
 * A window has a communicator of its own for its messages (PL_MSG_RMA) and collectives. The messages from one origin to
 * one target form the target's operation queue: it executes them in order, except that puts and gets may pass puts
 * whose data is still being fetched (target.c).
 *
 * Locking: comm->lock protects name, error handler and hints; attributes have a lock of their own; cma.lock protects
 * what the CMA path keeps; the engine lock protects queues and counts of messages, and the attached regions. Open
 * epochs are atomic because operations check them without a lock. The user orders the calls that open and close epochs
 * with the operations in them.
 */
#ifndef PLENUM_CORE_RMA_WINDOW_H
#define PLENUM_CORE_RMA_WINDOW_H

#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/transport.h"
#include "core/rma/path.h"
#include "core/rma/path_cma.h"
#include "core/rma/path_message.h"
#include "core/rma/target.h"
#include "core/rma/window_ctl.h"
#include "core/rma/window_dynamic.h"
#include "core/rma/window_epoch.h"
#include "core/rma/window_info.h"
#include "core/rma/window_memory.h"

/* A rank of the window: as the target of operations from here, and as an origin of operations that come here. */
struct pl_win_target {
    const struct pl_rma_path *path;
    char *memory; /* the start of its memory, mapped here or (CMA) in its address space; NULL in a dynamic window */
    MPI_Aint size, disp_unit;
    _Atomic uint8_t open;      /* enum pl_win_open */
    uint16_t locked;           /* MPI_LOCK_* that this process holds there, or has asked for; 0: none */
    struct pl_win_ctl *ctl;    /* NULL: not mapped here */
    uint32_t posts, completes; /* its MPI_Win_post and MPI_Win_complete that were not waited for yet; engine lock */
    struct pl_message_target msg;
    struct pl_cma_target cma;
    struct pl_remote_target remote;
    struct pl_win_origin origin;
};

struct pl_win {
    struct pl_object obj;
    struct pl_comm *comm;          /* one handle; its name is the window's */
    struct pl_win_target *targets; /* [comm->size] */
    int flavor;                    /* MPI_WIN_FLAVOR_* */
    struct pl_win_epoch epoch;
    struct {
        bool by_target; /* some target's path has that flag */
        bool deferred;  /* some target's path has drain() or request_flush() */
    } paths;
    _Atomic unsigned polls; /* calls of pl_win_poll() */

    void *base; /* this process's memory */
    MPI_Aint size, disp_unit;
    int disp_unit_int, model; /* attributes point to these two */
    struct pl_win_memory memory;
    struct pl_win_dynamic dynamic;
    struct pl_message_window msg;
    struct pl_cma_window cma;

    struct pl_errhandler *errhandler; /* retained */
    struct pl_attrs *attrs;
    struct pl_win_hints hints;
};

/* The address that the program gets. A rank that asked for no bytes has none: the standard leaves it open, and programs
 * written for other libraries expect NULL. */
static inline void *pl_win_address(const struct pl_win *win, void *memory, MPI_Aint size)
{
    bool allocated = win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
    return allocated && size == 0 ? NULL : memory;
}

/* What a window is made of. All pointers are borrowed for the call, `base` until the window is freed. */
struct pl_win_spec {
    int flavor;
    void *base; /* of MPI_Win_create; else NULL */
    MPI_Aint size, disp_unit;
    struct pl_info *info; /* NULL: none */
};

/* Creates a window with one handle. Collective. */
int pl_win_create(struct pl_comm *comm, const struct pl_win_spec *spec, struct pl_win **win);

/* Drops the handle. Collective: waits for all ranks. With MPI_ERR_RMA_SYNC (an epoch is open), or an error of the
 * user's callbacks, the window stays. With any other error a member has died, and the window is freed. */
int pl_win_free(struct pl_win *win);

/* The instance closes while the user still holds the window. */
void pl_win_orphan(struct pl_comm *comm);
extern const struct pl_kind_errors pl_win_errors;
void pl_win_destroy(void *win);

/* The name for error messages: "halo", or "unnamed window". Borrowed. */
const char *pl_win_label(const struct pl_win *win);

/* This process's control block. */
static inline struct pl_win_ctl *pl_win_own_ctl(const struct pl_win *win)
{
    return win->targets[win->comm->rank].ctl;
}

#endif
