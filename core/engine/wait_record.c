/* SPDX-License-Identifier: BSD-3-Clause */
/* See wait_record.h. Locking: `lock` protects this process's page; it is taken inside an engine's lock. */
#include "core/engine/wait_record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"
#include "core/job/jobs.h"
#include "core/job/process.h"
#include "core/job/trace.h"

enum {
    TESTS_SAME = 120000000, /* ns of the same unsuccessful test, until it counts as a wait */
    TESTS_ANY = 240000000,  /* ns of changing tests, until the last one does: before the runtime stops asking */
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_REPORT);
static uint32_t begun; /* the question that the page answers */
static _Thread_local uint32_t answered;

/* --- items ----------------------------------------------------------------------------------- */

/* Clears the page for a new answer, unless another thread has. Lock held. */
static void wait_record_begin(struct pl_job_record *page, uint32_t question)
{
    if (begun == question)
        return;
    begun = question;
    page->items = page->traces = page->modules = 0;
    memset(page->left_out, 0, sizeof page->left_out);
}

static struct pl_job_item *wait_record_add(struct pl_job_record *page, enum pl_item_kind kind, enum pl_item_what what)
{
    if (page->items == PL_RECORD_ITEMS) {
        page->left_out[kind]++;
        return NULL;
    }
    struct pl_job_item *item = &page->item[page->items++];
    *item = (struct pl_job_item){ .kind = kind,
                                  .what = what,
                                  .peer = PL_NO_PEER,
                                  .tag = PL_ANY,
                                  .far = PL_NO_PEER,
                                  .bytes = -1,
                                  .root = PL_NO_ROOT };
    return item;
}

void pl_wait_record_add_rank(struct pl_job_item *item, int rank)
{
    if (item->awaited_count < PL_ITEM_AWAITED)
        item->awaited[item->awaited_count++] = rank;
}

/* Adds a group's members in the order of their ranks there; a run of consecutive job ranks is one range. */
static void put_members(struct pl_job_item *item, const struct pl_comm *comm)
{
    const struct pl_group *group = comm->group;
    for (int i = 0; comm->inter.remote && i < comm->inter.remote->size; i++)
        if (PL_PROC_JOB(pl_group_proc(comm->inter.remote, i)) != 0)
            item->ranges_cut = 1;
    for (int i = 0; i < group->size; i++) {
        uint64_t proc = pl_group_proc(group, i);
        uint32_t rank = (uint32_t)PL_PROC_RANK(proc);
        if (PL_PROC_JOB(proc) != 0) {
            item->ranges_cut = 1;
            continue;
        }
        uint32_t(*last)[2] = item->range_count ? &item->range[item->range_count - 1] : NULL;
        if (last && (*last)[1] + 1 == rank) {
            (*last)[1] = rank;
        } else if (item->range_count < PL_ITEM_RANGES) {
            item->range[item->range_count][0] = item->range[item->range_count][1] = rank;
            item->range_count++;
        } else {
            item->ranges_cut = 1;
            return;
        }
    }
}

static void put_session(struct pl_job_item *item, const struct pl_instance *instance)
{
    if (!instance)
        snprintf(item->session, sizeof item->session, "listener");
    else if (instance->world)
        snprintf(item->session, sizeof item->session, "World");
    else
        snprintf(item->session, sizeof item->session, "session %llu", (unsigned long long)instance->serial);
}

/* The end of a long file name says more than its beginning. */
static void put_object(struct pl_job_item *item, const struct pl_comm *comm)
{
    char given[MPI_MAX_OBJECT_NAME];
    pl_comm_name(comm, given, sizeof given);
    const char *name = given[0] ? given : pl_comm_label(comm);
    const char *serves = given[0] && comm->role.serves ? comm->role.serves : "";
    size_t length = strlen(name), most = sizeof item->object - 1;
    bool file = strcmp(serves, "file") == 0;
    item->object_kind = file ? PL_OBJECT_FILE : strcmp(serves, "window") == 0 ? PL_OBJECT_WINDOW : PL_OBJECT_COMM;
    if (file && length > most)
        snprintf(item->object, sizeof item->object, "...%s", name + length - (most - 3));
    else
        snprintf(item->object, sizeof item->object, "%.63s", name);
}

static void put_comm(struct pl_job_item *item, const struct pl_comm *comm)
{
    if (!comm)
        return;
    item->home = comm->id.home;
    item->serial = comm->id.serial;
    put_object(item, comm);
    put_session(item, comm->instance);
    put_members(item, comm);
}

/* A process of this job becomes an awaited rank. One of another job, which may have another runtime, is named. */
static void put_process(struct pl_job_item *item, const struct pl_comm *comm, int rank)
{
    const struct pl_group *group = comm->inter.remote ? comm->inter.remote : comm->group;
    uint64_t key, proc = rank < group->size ? pl_group_proc(group, rank) : UINT64_MAX;
    if (proc == UINT64_MAX)
        return;
    if (PL_PROC_JOB(proc) == 0) {
        pl_wait_record_add_rank(item, PL_PROC_RANK(proc));
        return;
    }
    item->far = PL_PROC_RANK(proc);
    snprintf(item->far_job, sizeof item->far_job, "%.63s", pl_jobs_name(PL_PROC_JOB(proc), &key));
}

void pl_wait_record_add_peer(struct pl_job_item *item, const struct pl_comm *comm, int peer)
{
    if (peer == MPI_ANY_SOURCE || peer == PL_ANY) {
        item->peer = PL_ANY;
        return;
    }
    item->peer = peer;
    if (comm && peer >= 0)
        put_process(item, comm, peer);
}

/* --- requests ----------------------------------------------------------------------------------- */

static bool is_message(const struct pl_request *request)
{
    return request->kind == PL_REQ_SEND || request->kind == PL_REQ_RECV;
}

static enum pl_item_what what_of(const struct pl_request *request)
{
    enum pl_item_what what = is_message(request) ? pl_message_ops[request->context].what : PL_WHAT_OTHER;
    return what != PL_WHAT_OTHER ? what : pl_request_ops[request->kind].what;
}

static void put_request(struct pl_job_item *item, const struct pl_request *request)
{
    put_comm(item, request->comm);
    if (item->what == PL_WHAT_REQUEST || (item->what == PL_WHAT_OTHER && request->kind != PL_REQ_PARTITIONED))
        return;
    if (pl_request_ops[request->kind].describe) {
        pl_request_ops[request->kind].describe(request, item);
        return;
    }
    pl_wait_record_add_peer(item, request->comm, request->args.peer_rank);
    if (is_message(request) && pl_message_ops[request->context].tag)
        item->tag = pl_message_ops[request->context].tag(request);
    else
        item->tag = request->args.tag == MPI_ANY_TAG ? PL_ANY : request->args.tag;
    if (item->what == PL_WHAT_SEND)
        item->bytes = (int64_t)request->out.data.total;
    else if (item->what == PL_WHAT_RECV)
        item->bytes = (int64_t)request->in.data.total;
    item->unsent = request->state == PL_STATE_QUEUED || request->state == PL_STATE_UNRESOLVED;
}

static void add_pending(struct pl_job_record *page, const struct pl_request *request, const struct pl_request *waited)
{
    if (request == waited || request->kind == PL_REQ_COMPLETE || pl_request_done(request) ||
        (request->is.persistent && !request->is.active))
        return;
    struct pl_job_item *item = wait_record_add(page, PL_ITEM_PENDING, what_of(request));
    if (item)
        put_request(item, request);
}

/* --- an engine's queues ----------------------------------------------------------------------------------- */

static void add_messages(struct pl_job_record *page, const struct pl_comm *comm)
{
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_P2P].unexpected, struct pl_unexpected, link) {
        struct pl_job_item *item = wait_record_add(page, PL_ITEM_MESSAGE, PL_WHAT_OTHER);
        if (!item)
            continue;
        put_comm(item, comm);
        pl_wait_record_add_peer(item, comm, message->header.source);
        item->tag = message->header.tag;
        item->bytes = (int64_t)message->header.size;
    }
}

static void add_list(struct pl_job_record *page, const struct pl_list *list, const struct pl_request *waited)
{
    PL_LIST_EACH(request, list, struct pl_request, link)
        if (request->comm && request->context == PL_MSG_P2P && !request->is.caller_owned) /* a thread waits for those */
            add_pending(page, request, waited);
}

/* Adds an engine's queues, once in each answer. Engine lock held. */
static void add_queues(struct pl_job_record *page, struct pl_engine *engine, const struct pl_request *waited)
{
    if (engine->wait.described == begun)
        return;
    engine->wait.described = begun;
    PL_TABLE_EACH(comm, &engine->comms.by_id, const struct pl_comm, by_id)
        add_messages(page, comm);
    PL_TABLE_EACH(comm, &engine->comms.by_id, const struct pl_comm, by_id)
        add_list(page, &comm->match.queues[PL_MSG_P2P].posted, waited);
    add_list(page, &engine->sends.unresolved, waited);
    add_list(page, &engine->sends.awaiting, waited);
    PL_LIST_EACH(peer, &engine->sends.busy, struct pl_peer, link)
        add_list(page, &peer->pending, waited);
}

/* --- the answer ----------------------------------------------------------------------------------- */

/* Adds the receivers of pending sends. */
static void await_receivers(struct pl_job_item *item, const struct pl_engine *engine)
{
    PL_LIST_EACH(peer, &engine->sends.busy, struct pl_peer, link)
        if (peer->proc != UINT64_MAX && PL_PROC_JOB(peer->proc) == 0)
            pl_wait_record_add_rank(item, PL_PROC_RANK(peer->proc));
}

static void put_waiting(struct pl_job_item *item, const struct pl_waiting *waiting)
{
    put_comm(item, waiting->comm);
    if (waiting->what == PL_WHAT_LOCK)
        item->peer = waiting->peer;
    else if (waiting->what != PL_WHAT_ANY)
        pl_wait_record_add_peer(item, waiting->comm, waiting->peer);
    item->tag = waiting->tag;
}

/* Adds the requests of a wait for several that are in no queue. */
static void add_requests(struct pl_job_record *page, const struct pl_engine *engine, const struct pl_waiting *waiting,
                         const struct pl_request *waited)
{
    for (int i = 0; i < waiting->count; i++) {
        const struct pl_request *request = waiting->requests[i];
        if ((uintptr_t)request >= PL_ABI_CONSTANTS && request->engine == engine &&
            (request->state == PL_STATE_MOVING || request->state == PL_STATE_IDLE))
            add_pending(page, request, waited);
    }
}

/* The engine's lock, if there is an engine, and `lock` are held. */
static void write_answer(struct pl_job_record *page, struct pl_engine *engine, const struct pl_request *request,
                         const struct pl_wait *wait)
{
    enum pl_item_what what = request ? what_of(request) : wait->what ? wait->what->what : PL_WHAT_OTHER;
    struct pl_job_item *item = wait_record_add(page, PL_ITEM_WAIT, what);
    if (!item)
        return;
    if (request && request->kind == PL_REQ_PAIR) {
        request = pl_sendrecv_part(request);
        item->what = what_of(request);
    }
    item->thread = (int32_t)gettid();
    item->waited = wait->since ? pl_clock_ns() - wait->since : 0;
    if (page->traces < PL_RECORD_TRACES - 1) {
        item->trace = ++page->traces;
        pl_trace_take(page, &page->trace[item->trace - 1], NULL);
    }
    if (engine)
        put_session(item, engine->instance);
    if (request)
        put_request(item, request);
    else if (wait->what)
        put_waiting(item, wait->what);
    if (what == PL_WHAT_CLOSE)
        await_receivers(item, engine);
    if (wait->what && wait->what->describe)
        wait->what->describe(wait->what->context, item);
    if (wait->what)
        add_requests(page, engine, wait->what, request);
    if (engine)
        add_queues(page, engine, request);
}

/* One unsuccessful test says little; a repeated one is a wait. True: report it, as a wait since *since. */
static bool keeps_testing(uint32_t question, const struct pl_request *request, const struct pl_wait *wait, long *since)
{
    static _Thread_local struct {
        uint32_t question;
        const void *subject;
        int peer, tag;
        long first, since;
    } last;
    const struct pl_waiting *what = wait->what;
    const void *subject = request               ? (const void *)request
                          : what && what->count ? (const void *)what->requests
                          : what                ? (const void *)what->comm
                                                : NULL;
    int peer = what ? what->peer : 0, tag = what ? what->tag : 0;
    long time = (long)pl_clock_ns();
    if (last.question != question)
        last.first = time;
    if (last.question != question || last.subject != subject || last.peer != peer || last.tag != tag)
        last.since = time;
    last.question = question;
    last.subject = subject;
    last.peer = peer;
    last.tag = tag;
    *since = last.since;
    return time - last.since >= TESTS_SAME || time - last.first >= TESTS_ANY;
}

void pl_wait_record_check(struct pl_engine *engine, const struct pl_request *request, const struct pl_wait *wait)
{
    const struct pl_job_segment *job = pl_process.identity.job;
    uint32_t question = job ? atomic_load_explicit(&job->report, memory_order_relaxed) : 0;
    struct pl_wait lasting = *wait;
    if (question == 0 || question == answered)
        return;
    if (!wait->since && !keeps_testing(question, request, wait, &lasting.since))
        return;
    answered = question;
    struct pl_job_record *page = pl_job_record(job, pl_process.identity.shared, pl_process.identity.rank);
    if (!page)
        return;
    if (engine)
        pl_engine_enter(engine);
    pl_lock_take(&lock);
    wait_record_begin(page, question);
    write_answer(page, engine, request, &lasting);
    atomic_store_explicit(&page->answered, question, memory_order_release);
    pl_lock_drop(&lock);
    if (engine)
        pl_engine_leave(engine);
}
