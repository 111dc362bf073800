/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a communicator in one process, for tests of schedules and of the collectives' algorithms: the program holds
 * its own copy of core/coll/schedule*.c and core/coll/collective.c, whose messages go through the functions here.
 *
 * Messages move, and sends complete, one at a time in random order and as late as possible. The data is read from the
 * sender's memory only when it is delivered, which reveals an algorithm that touches a buffer too early. Sizes must be
 * equal on both sides. When nothing can move and a rank still waits, that is a deadlock.
 */
#ifndef PLENUM_TESTS_RANKS_H
#define PLENUM_TESTS_RANKS_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/algorithm.h"
#include "core/coll/collective.h"
#include "core/coll/schedule.h"
#include "core/coll/select.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"

/* libcheck takes note of every check that passes; these are too many for that. */
#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

#ifndef RANKS_LIMIT
#define RANKS_LIMIT 17
#endif
enum { RANKS_MAX = RANKS_LIMIT, MESSAGES_MAX = 1 << 16 };

/* Communicators of each rank: the whole, the ranks of its node, the leaders. */
enum { RANKS_WHOLE, RANKS_HERE, RANKS_LEADERS, RANKS_PARTS };

struct message {
    bool send;
    bool moved; /* a send whose data is delivered and that is not complete yet */
    int part;   /* the communicator */
    int from, to, tag;
    struct pl_block data;
    struct pl_request *request;
};

static struct pl_instance ranks_instance[RANKS_MAX];
static struct pl_comm ranks_comm[RANKS_MAX];
static struct pl_comm ranks_parts[RANKS_MAX][RANKS_PARTS]; /* [RANKS_WHOLE] is not used */
static int ranks_node[RANKS_MAX];                          /* of each rank */
static int ranks_crossings;                                /* messages from node to node */
static void (*ranks_let_others)(void); /* ranks are threads, and one that waits calls this; NULL: it moves messages */
static struct pl_group ranks_group = { .stride = 1 };
static struct pl_group ranks_sides[2] = { { .stride = 1 }, { .stride = 1 } }; /* of an intercommunicator */
static int ranks_size;
static struct message messages[MESSAGES_MAX]; /* in order of their start */
static int message_count;
static bool ranks_strict = true;                   /* sizes must be equal */
static int ranks_failing = -1;                     /* messages to and from this rank fail; -1: none */
static const struct pl_algorithm *ranks_algorithm; /* to use; NULL: as selected */

/* --- random numbers, the same in every run ----------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static inline unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 32) % n);
}

/* --- numbers of ranks, through both groups of an intercommunicator --------------------------------------------- */

static inline int ranks_part(const struct pl_comm *comm)
{
    bool whole = comm >= ranks_comm && comm < ranks_comm + RANKS_MAX;
    return whole ? RANKS_WHOLE : (int)(comm - ranks_parts[0]) % RANKS_PARTS;
}

static inline int ranks_number(const struct pl_comm *comm)
{
    return ranks_part(comm) == RANKS_WHOLE ? (int)(comm - ranks_comm) : (int)(comm - ranks_parts[0]) / RANKS_PARTS;
}

static inline int ranks_peer(const struct pl_comm *comm, int rank)
{
    if (comm->inter.remote)
        return comm->inter.remote == &ranks_sides[1] ? ranks_sides[0].size + rank : rank;
    return PL_PROC_RANK(pl_group_proc(comm->group, rank));
}

/* --- what stands in for the library ------------------------------------------------------------------------------ */

static int start_message(bool send, struct pl_comm *comm, struct pl_block data, int peer, int tag,
                         struct pl_request **request)
{
    struct pl_request *made = pl_request_create(send ? PL_REQ_SEND : PL_REQ_RECV, comm, NULL, true);
    if (!made)
        return MPI_ERR_NO_MEM;
    int rank = ranks_number(comm);
    EXPECT(message_count < MESSAGES_MAX, "too many messages");
    EXPECT(peer >= 0 && peer < pl_comm_targets(comm), "rank %d has rank %d of %d as its peer", rank, peer,
           pl_comm_targets(comm));
    made->args.peer_rank = peer;
    peer = ranks_peer(comm, peer);
    EXPECT(peer != rank, "rank %d is its own peer", rank);
    pl_engine_enter(&comm->instance->engine); /* as the real ones do: the caller must not hold it */
    pl_engine_leave(&comm->instance->engine);
    messages[message_count++] =
        (struct message){ send, false, ranks_part(comm), send ? rank : peer, send ? peer : rank, tag, data, made };
    ranks_crossings += send && ranks_node[rank] != ranks_node[peer];
    *request = made;
    return MPI_SUCCESS;
}

static int ranks_isend(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest,
                       int tag, struct pl_request **request)
{
    return start_message(true, comm, pl_block(buf, count, type), dest, tag, request);
}

static int ranks_irecv(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source,
                       int tag, struct pl_request **request)
{
    return start_message(false, comm, pl_block(buf, count, type), source, tag, request);
}

/* Sends never complete at once, so that their buffers are read as late as possible. */
static bool ranks_send_short(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type,
                             int dest, int tag)
{
    (void)comm, (void)buf, (void)count, (void)type, (void)dest, (void)tag;
    return false;
}

/* A message that has arrived is sometimes received without a request. */
static ptrdiff_t ranks_recv_short(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type,
                                  int source, int tag, bool wait)
{
    struct message *first = NULL;
    struct pl_block to = pl_block(buf, count, type);
    int rank = ranks_number(comm), part = ranks_part(comm);
    (void)wait;
    source = ranks_peer(comm, source);
    for (int i = message_count - 1; i >= 0; i--) {
        struct message *m = &messages[i];
        if (m->part != part || m->from != source || m->to != rank || m->tag != tag || m->moved)
            continue;
        EXPECT(m->send, "rank %d takes a message from rank %d that a posted receive has to get", rank, source);
        first = m;
    }
    bool fits = first && pl_block_size(first->data) == pl_block_size(to);
    if (!fits || rank == ranks_failing || source == ranks_failing || random_below(2) == 0)
        return PL_PENDING;
    pl_type_copy(first->data.buf, first->data.count, first->data.type, buf, count, type);
    first->moved = true;
    return (ptrdiff_t)pl_block_size(to);
}

static void finish_message(int i, int error)
{
    struct pl_request *request = messages[i].request;
    memmove(&messages[i], &messages[i + 1], (size_t)(--message_count - i) * sizeof messages[0]);
    pl_request_complete(request, error);
}

static int ranks_cancel(struct pl_request *request)
{
    for (int i = 0; i < message_count; i++)
        if (messages[i].request == request) {
            finish_message(i, MPI_SUCCESS);
            break;
        }
    return MPI_SUCCESS;
}

/* Mostly the user's function: another test is for predefined operations. No lock may be held; only builds with
 * assertions know which thread holds one. */
static void ranks_apply(const struct pl_op *op, const void *in, void *inout, MPI_Count count,
                        const struct pl_type *type)
{
#ifndef NDEBUG
    for (int rank = 0; rank < ranks_size; rank++)
        EXPECT(!pl_lock_held(&ranks_instance[rank].engine.lock),
               "an operation runs with the lock of rank %d's engine held", rank);
#endif
    if (!op->user) {
        pl_op_apply(op, in, inout, count, type);
        return;
    }
    int n = (int)count;
    MPI_Datatype handle = (MPI_Datatype)type;
    op->user((void *)in, inout, &n, &handle);
}

static const struct pl_algorithm *ranks_select(const struct pl_coll *coll)
{
    return ranks_algorithm ? ranks_algorithm : pl_coll_select(coll);
}

static int ranks_wait(struct pl_request *request);
struct pl_waiting;
static void ranks_wait_among(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *all)
{
    (void)engine;
    (void)all;
    ranks_wait(request);
}

/* A rank that fails tells no other: each finds out by itself. */
static int ranks_broken(struct pl_comm *comm, int class)
{
    (void)comm;
    return class;
}

static void ranks_broken_locked(struct pl_comm *comm, int class, const char *why)
{
    (void)comm, (void)class, (void)why;
}

#define pl_coll_isend                ranks_isend
#define pl_coll_irecv                ranks_irecv
#define pl_coll_send_fast            ranks_send_short
#define pl_coll_recv_fast            ranks_recv_short
#define pl_cancel                    ranks_cancel
#define pl_op_apply                  ranks_apply
#define pl_comm_break_for_all        ranks_broken
#define pl_comm_break_for_all_locked ranks_broken_locked
#define pl_coll_select               ranks_select
#define pl_engine_wait_among         ranks_wait_among
#include "core/coll/collective.c"
#include "core/coll/schedule.c"
#include "core/coll/schedule_run.c"
#include "core/datatype/cursor.h"
#undef pl_coll_select

/* --- the world turns --------------------------------------------------------------------------------------------- */

static void ranks_open(int size)
{
    ranks_size = ranks_group.size = size;
    message_count = 0;
    for (int rank = 0; rank < size; rank++) {
        struct pl_engine *engine = &ranks_instance[rank].engine;
        memset(engine, 0, sizeof *engine);
        pl_lock_init(&engine->lock, PL_RANK_ENGINE, true);
        pl_list_init(&engine->deferred.frees);
        pl_list_init(&engine->deferred.work);
        pl_list_init(&engine->hooks);
        ranks_comm[rank] = (struct pl_comm){
            .obj.predefined = true, .instance = &ranks_instance[rank], .rank = rank, .size = size, .group = &ranks_group
        };
        pl_list_init(&ranks_comm[rank].requests.spares);
        pl_list_init(&ranks_comm[rank].coll.persistent);
    }
}

/* Two groups of ranks. */
static inline void ranks_open_inter(int left, int right)
{
    ranks_open(left + right);
    ranks_sides[0].size = left;
    ranks_sides[1].size = right;
    for (int i = 0; i < left + right; i++) {
        int side = i >= left;
        ranks_comm[i].rank = side ? i - left : i;
        ranks_comm[i].size = ranks_sides[side].size;
        ranks_comm[i].group = &ranks_sides[side];
        ranks_comm[i].inter.remote = &ranks_sides[1 - side];
    }
}

static void deliver(int send, int receive)
{
    struct message *from = &messages[send], *to = &messages[receive];
    size_t bytes = pl_block_size(from->data), capacity = pl_block_size(to->data);
    int error = MPI_SUCCESS;
    EXPECT(!ranks_strict || bytes == capacity, "%zu bytes from rank %d meet a receive of %zu at rank %d", bytes,
           from->from, capacity, from->to);
    if (bytes > capacity)
        error = MPI_ERR_TRUNCATE;
    pl_type_copy(from->data.buf, from->data.count, from->data.type, to->data.buf, to->data.count, to->data.type);
    from->moved = true;
    to->request->outcome.bytes = (MPI_Count)(bytes < capacity ? bytes : capacity);
    finish_message(receive, error);
}

/* Delivers a receive, if it is the first of its kind and its message has arrived. */
static bool try_receive(int receive)
{
    const struct message *to = &messages[receive];
    int send = -1;
    for (int i = 0; i < message_count; i++) {
        const struct message *m = &messages[i];
        if (m->part != to->part || m->from != to->from || m->to != to->to || m->tag != to->tag || m->moved)
            continue;
        if (!m->send && i < receive)
            return false;
        if (m->send && send < 0)
            send = i;
    }
    if (send < 0)
        return false;
    deliver(send, receive);
    return true;
}

static bool try_message(int i)
{
    if (messages[i].from == ranks_failing || messages[i].to == ranks_failing) {
        finish_message(i, MPI_ERR_PROC_ABORTED);
        return true;
    }
    if (!messages[i].send)
        return try_receive(i);
    if (messages[i].moved)
        finish_message(i, MPI_SUCCESS);
    return false; /* a send does not move by itself, and no rank waits for its completion */
}

static bool run_hooks(int rank)
{
    struct pl_engine *engine = &ranks_instance[rank].engine;
    int events = 0;
    pl_engine_enter(engine);
    PL_LIST_EACH(hook, &engine->hooks, struct pl_hook, link)
        if (hook->run)
            hook->run(hook);
    struct pl_list deferred;
    pl_list_move(&deferred, &engine->deferred.work);
    pl_lock_drop(&engine->lock);
    struct pl_list *node;
    while ((node = pl_list_pop(&deferred)) != NULL) {
        struct pl_deferred *work = PL_CONTAINER(node, struct pl_deferred, link);
        work->ops->run(work);
        events++;
    }
    return events > 0;
}

/* One thing happens somewhere. False: nothing can. */
static bool ranks_step(void)
{
    int before = message_count;
    unsigned shift = message_count ? random_below((unsigned)message_count) : 0;
    if (random_below(2) && run_hooks((int)random_below((unsigned)ranks_size)))
        return true;
    for (int i = 0; i < before && message_count == before; i++)
        if (try_message((int)((i + shift) % (unsigned)before)))
            return true;
    if (message_count != before)
        return true;
    for (int rank = 0; rank < ranks_size; rank++)
        if (run_hooks(rank))
            return true;
    return false;
}

static int ranks_wait(struct pl_request *request)
{
    while (!pl_request_done(request))
        if (ranks_let_others)
            ranks_let_others();
        else
            EXPECT(ranks_step(), "deadlock of %d ranks", ranks_size);
    return request->outcome.error;
}

/* Starts what `coll` describes for each rank, in random order, and waits for all; error class of each. */
static inline void ranks_run(const struct pl_coll *coll, int *errors)
{
    struct pl_request *requests[RANKS_MAX];
    int first = (int)random_below((unsigned)ranks_size);
    for (int i = 0; i < ranks_size; i++) {
        int rank = (first + i) % ranks_size;
        errors[rank] = pl_coll_start(&coll[rank], &requests[rank]);
        EXPECT(errors[rank] == MPI_SUCCESS, "rank %d cannot start: error %d", rank, errors[rank]);
        if (random_below(2))
            ranks_step();
    }
    for (int rank = 0; rank < ranks_size; rank++) {
        errors[rank] = ranks_wait(requests[rank]);
        pl_handle_drop(requests[rank]);
    }
    EXPECT(message_count == 0, "%d messages are left", message_count);
    for (int rank = 0; rank < ranks_size; rank++)
        EXPECT(pl_list_empty(&ranks_instance[rank].engine.hooks), "rank %d is still in progress's list", rank);
}

#endif
