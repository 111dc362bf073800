/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization of windows: fences; post, start, complete, wait; locks and flushes. */
#include "api/call.h"
#include "api/pmpi.h"
#include "core/rma/window_lock.h"
#include "core/rma/window_wait.h"

static void arg_assert(struct pl_call *call, int assertion, int allowed)
{
    if (assertion & ~allowed)
        pl_call_error(call, MPI_ERR_ASSERT, "assert is %#x; it must be 0 or an OR of this function's MPI_MODE_*",
                      assertion);
}

/* --- active targets -------------------------------------------------------------------------------------------- */

int MPI_Win_fence(int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_fence);
    struct pl_win *w = pl_arg_win(&call, win);
    arg_assert(&call, assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
    if (!call.err)
        call.err = pl_win_fence(w, assert);
    return pl_call_leave(&call);
}

static struct pl_group *arg_members(struct pl_call *call, const struct pl_win *win, MPI_Group group)
{
    struct pl_group *g = pl_arg_group(call, group, "group");
    if (!call->err)
        pl_arg_subset(call, win->comm, g);
    return g;
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_post);
    struct pl_win *w = pl_arg_win(&call, win);
    struct pl_group *g = arg_members(&call, w, group);
    arg_assert(&call, assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    if (!call.err)
        call.err = pl_win_post(w, g, assert);
    return pl_call_leave(&call);
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_start);
    struct pl_win *w = pl_arg_win(&call, win);
    struct pl_group *g = arg_members(&call, w, group);
    arg_assert(&call, assert, MPI_MODE_NOCHECK);
    if (!call.err)
        call.err = pl_win_start(w, g, assert);
    return pl_call_leave(&call);
}

/* For functions whose only argument is the window. */
static int mpi_win_sync_act(struct pl_call *call, MPI_Win win, int (*worker)(struct pl_win *win))
{
    struct pl_win *w = pl_arg_win(call, win);
    if (!call->err)
        call->err = worker(w);
    return pl_call_leave(call);
}

int MPI_Win_complete(MPI_Win win)
{
    return mpi_win_sync_act(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_complete), win, pl_win_complete);
}

int MPI_Win_wait(MPI_Win win)
{
    return mpi_win_sync_act(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_wait), win, pl_win_wait);
}

int MPI_Win_test(MPI_Win win, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Win_test);
    struct pl_win *w = pl_arg_win(&call, win);
    bool done = false;
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        call.err = pl_win_test(w, &done);
    if (!call.err)
        *flag = done;
    return pl_call_leave(&call);
}

/* --- passive targets ------------------------------------------------------------------------------------------- */

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_lock);
    struct pl_win *w = pl_arg_win(&call, win);
    pl_arg_dest(&call, w ? w->comm : NULL, rank);
    if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        pl_call_error(&call, MPI_ERR_LOCKTYPE, "lock_type is %d; it must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED",
                      lock_type);
    arg_assert(&call, assert, MPI_MODE_NOCHECK);
    if (!call.err && rank != MPI_PROC_NULL)
        call.err = pl_win_lock(w, lock_type, rank, assert);
    return pl_call_leave(&call);
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_unlock);
    struct pl_win *w = pl_arg_win(&call, win);
    pl_arg_dest(&call, w ? w->comm : NULL, rank);
    if (!call.err && rank != MPI_PROC_NULL)
        call.err = pl_win_unlock(w, rank);
    return pl_call_leave(&call);
}

int MPI_Win_lock_all(int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_lock_all);
    struct pl_win *w = pl_arg_win(&call, win);
    arg_assert(&call, assert, MPI_MODE_NOCHECK);
    if (!call.err)
        call.err = pl_win_lock_all(w, assert);
    return pl_call_leave(&call);
}

int MPI_Win_unlock_all(MPI_Win win)
{
    return mpi_win_sync_act(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_unlock_all), win, pl_win_unlock_all);
}

static int mpi_win_sync_flush(struct pl_call *call, int rank, MPI_Win win, bool local)
{
    struct pl_win *w = pl_arg_win(call, win);
    pl_arg_dest(call, w ? w->comm : NULL, rank);
    if (!call->err && rank != MPI_PROC_NULL)
        call->err = pl_win_flush(w, rank, local);
    return pl_call_leave(call);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    return mpi_win_sync_flush(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_flush), rank, win, false);
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
    return mpi_win_sync_flush(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_flush_local), rank, win, true);
}

static int mpi_win_sync_flush_all(struct pl_call *call, MPI_Win win, bool local)
{
    struct pl_win *w = pl_arg_win(call, win);
    if (!call->err)
        call->err = pl_win_flush(w, PL_WIN_ALL, local);
    return pl_call_leave(call);
}

int MPI_Win_flush_all(MPI_Win win)
{
    return mpi_win_sync_flush_all(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_flush_all), win, false);
}

int MPI_Win_flush_local_all(MPI_Win win)
{
    return mpi_win_sync_flush_all(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_flush_local_all), win, true);
}

/* The memory model is unified: there is one copy, and a memory barrier is enough. */
int MPI_Win_sync(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_sync);
    struct pl_win *w = pl_arg_win(&call, win);
    if (w)
        pl_win_poll(w);
    atomic_thread_fence(memory_order_seq_cst);
    return pl_call_leave(&call);
}

PL_NAMES_WIN_SYNC(PL_PMPI)
