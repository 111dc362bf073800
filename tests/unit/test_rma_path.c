/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of RMA paths: which slots go together (path.h), the path of a process to its own memory, and the remote
 * path over a transport that this test is. */
#include "unit.h"

#include "core/engine/comm.h"
#include "core/engine/comm_peers.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"
#include "core/rma/message_response.h"
#include "core/rma/path_direct.h"
#include "core/rma/path_remote.h"
#include "core/rma/rma.h"
#include "core/rma/window.h"

START_TEST(tables)
{
    const struct pl_rma_path *const paths[] = { &pl_rma_path_direct, &pl_rma_path_cma, &pl_rma_path_message };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct pl_rma_path *path = paths[i];
        ck_assert(path->name && path->put && path->get && path->accumulate && path->lock && path->unlock);
        ck_assert_int_eq(!path->request_flush, !path->wait_flush);
        ck_assert_int_eq(path->by_target, path->wait_flush != NULL); /* what the target executes must be awaited */
        ck_assert_int_eq(path->by_target, path->try_lock == NULL);   /* the others have its control block mapped */
        ck_assert(!path->mapped || (!path->drain && !path->request_flush && !path->wait_local));
    }
}
END_TEST

static MPI_Session session;
static MPI_Comm comm;
static MPI_Win handle;

static struct pl_win *open_window(int *memory)
{
    MPI_Group group;
    ck_assert_int_eq(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_from_group(group, "path", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_free(&group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, comm, &handle), MPI_SUCCESS);
    return (struct pl_win *)handle;
}

static void close_window(void)
{
    ck_assert_int_eq(MPI_Win_free(&handle), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free(&comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_finalize(&session), MPI_SUCCESS);
}

START_TEST(own_memory)
{
    int memory = 0, value = 7;
    const struct pl_win *win = open_window(&memory);
    ck_assert_str_eq(win->targets[0].path->name, "direct");
    UNIT_CHECK(win->targets[0].memory == (char *)&memory);
    UNIT_CHECK(!win->paths.by_target && !win->paths.deferred);
    ck_assert_int_eq(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, handle), MPI_SUCCESS);
    ck_assert_int_eq(win->targets[0].locked, MPI_LOCK_EXCLUSIVE);
    ck_assert_int_eq(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, handle), MPI_SUCCESS);
    ck_assert_int_eq(memory, 7);
    ck_assert_int_eq(MPI_Win_unlock(0, handle), MPI_SUCCESS);
    ck_assert_int_eq(win->targets[0].locked, 0);
    ck_assert_int_eq(atomic_load(&pl_win_own_ctl(win)->lock), 0);
    close_window();
}
END_TEST

/* --- the remote path --------------------------------------------------------------------------------------------- */

/* A transport that moves data when it is told to. */
static struct {
    int imports, forgotten, moves, completes;
    int result;               /* of the next move() or complete() */
    struct pl_moving *moving; /* what is under way */
    struct pl_move move;
} wire;

static int link_import(struct pl_endpoint *owner, const void *key, size_t length, void **imported)
{
    (void)owner;
    wire.imports++;
    ck_assert(length == 4 && memcmp(key, "key", 4) == 0);
    *imported = &wire;
    return MPI_SUCCESS;
}

static void link_forget(void *imported)
{
    wire.forgotten += imported == &wire;
}

static int link_move(struct pl_endpoint *owner, const struct pl_move *move, struct pl_moving *moving)
{
    (void)owner;
    wire.moves++;
    wire.move = *move;
    wire.moving = moving;
    ck_assert_ptr_eq(move->imported, &wire);
    return wire.result;
}

static int link_complete(struct pl_endpoint *owner, struct pl_moving *moving)
{
    (void)owner, (void)moving;
    wire.completes++;
    return wire.result;
}

static void link_done(struct pl_engine *engine, int error)
{
    pl_engine_enter(engine);
    wire.moving->done(wire.moving, error);
    pl_engine_leave(engine);
}

static int put(struct pl_win *win, const int *value, struct pl_request **request)
{
    const struct pl_rma rma = {
        .kind = PL_RMA_PUT,
        .win = win,
        .count = sizeof *value,
        .type = PL_TYPE_BYTE,
        .origin = value,
        .origin_count = sizeof *value,
        .origin_type = PL_TYPE_BYTE,
    };
    return pl_rma_path_remote.put(&rma, 0, request);
}

START_TEST(remote)
{
    static const struct pl_transport_ops ops = {
        .import = link_import, .forget = link_forget, .move = link_move, .complete = link_complete
    };
    struct pl_endpoint endpoint = { .ops = &ops };
    struct pl_peer peer = { .engine = 17, .endpoint = &endpoint, .uses = 100 };
    struct pl_request *request = NULL;
    int memory = 0, value = 7;
    struct pl_win *win = open_window(&memory);
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_remote_target *target = &win->targets[0].remote;
    pl_comm_peer_keep(win->comm, 0, &peer);
    ck_assert_ptr_eq(pl_comm_peer(win->comm, 0), &peer);
    win->memory.remote.keys = (unsigned char *)strdup("key");
    win->memory.remote.longest = target->key_length = 4;
    target->base = (uint64_t)(uintptr_t)&memory;
    wire.result = MPI_SUCCESS; /* done at once */
    ck_assert_int_eq(put(win, &value, NULL), MPI_SUCCESS);
    ck_assert(wire.imports == 1 && wire.moves == 1 && target->pending == 0 && target->dirty);
    ck_assert(wire.move.write && wire.move.here == (char *)&value && wire.move.bytes == sizeof value);
    ck_assert_uint_eq(wire.move.there, (uint64_t)(uintptr_t)&memory);
    ck_assert_int_eq(pl_rma_path_remote.drain(win, 0), MPI_SUCCESS);
    ck_assert(wire.completes == 1 && !target->dirty);
    ck_assert_int_eq(pl_rma_path_remote.drain(win, 0), MPI_SUCCESS);
    ck_assert_int_eq(wire.completes, 1); /* there was nothing to complete */
    wire.result = PL_PENDING;
    ck_assert_int_eq(put(win, &value, NULL), MPI_SUCCESS);
    ck_assert(wire.imports == 1 && target->pending == 1 && win->msg.in_flight == 1);
    link_done(engine, MPI_SUCCESS);
    ck_assert(target->pending == 0 && win->msg.in_flight == 0);
    ck_assert_int_eq(pl_win_take_fault(win, 0), MPI_SUCCESS);
    ck_assert_int_eq(put(win, &value, NULL), MPI_SUCCESS); /* the target's process dies */
    link_done(engine, MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(pl_win_take_fault(win, 0), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(pl_win_take_fault(win, 0), MPI_SUCCESS); /* told once */
    ck_assert_int_eq(put(win, &value, &request), MPI_SUCCESS);
    ck_assert(request && !request->done);
    link_done(engine, MPI_ERR_PROC_ABORTED);
    ck_assert(request->done && request->outcome.error == MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(pl_win_take_fault(win, 0), MPI_SUCCESS); /* the request tells it */
    pl_handle_drop(request);
    wire.result = MPI_ERR_PROC_ABORTED;
    ck_assert_int_eq(pl_rma_path_remote.drain(win, 0), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(put(win, &value, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert(target->pending == 0 && win->msg.in_flight == 0);
    pl_comm_peers_hide(win->comm);
    close_window();
    ck_assert_int_eq(wire.forgotten, 1);
}
END_TEST

UNIT_MAIN("rma_path", tables, own_memory, remote)
