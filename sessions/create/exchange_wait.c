/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in an exchange. A participant that gives up tells the coordinator and accepts the coordinator's reply to
 * that, which may be a regular answer that was on its way. It leaves without a reply only if none arrives within
 * LEAVE_MS.
 */
#include "sessions/create/exchange_wait.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"
#include "sessions/create/exchange_message.h"
#include "sessions/create/listener.h"

enum {
    CHECK_MS = 20,          /* between checks for ended members */
    CHECK_ROUNDS = 64,      /* rounds of progress before the clock is read */
    UNREACHABLE_MS = 5000,  /* of grace: an unreachable listener may have just closed */
    PROBE_AFTER_MS = 1000,  /* before a participant checks on the other members, ... */
    PROBE_EACH_MS = 100,    /* ... and after each of them */
    LEAVE_MS = 1000,        /* for the coordinator to reply to a participant that gives up */
    CATCH_UP_ROUNDS = 1000, /* of progress at most: other processes may send to the listener without a pause */
    SLEEP_MAX_US = 10000,   /* while the coordinator's listener is not open */
    NAMED_MAX = 8,          /* processes that a message names */
};

/* A listener that cannot be reached may have just closed, with its address still posted: true for a while. */
static bool exchange_tolerates_unreachable(struct pl_exchange *exchange)
{
    int64_t now = pl_clock_ns();
    if (!exchange->unreachable_since)
        exchange->unreachable_since = now;
    return now - exchange->unreachable_since < UNREACHABLE_MS * PL_NS_PER_MS;
}

/* --- missing members ------------------------------------------------------------------------------------------- */

/* A list of processes at the end of a message; it is cut where the message is full. */
struct exchange_names {
    char *at;
    size_t left;
    int named, more;
};

static void exchange_append(struct exchange_names *names, const char *format, int a, int b)
{
    int length = snprintf(names->at, names->left, format, a, b);
    size_t used = length < 0 ? 0 : (size_t)length < names->left ? (size_t)length : names->left - 1;
    names->at += used;
    names->left -= used;
}

/* `member` is negative for a process outside the group. */
static void exchange_name_process(struct exchange_names *names, int member, int job_rank)
{
    if (names->named++ >= NAMED_MAX)
        names->more++;
    else if (member >= 0)
        exchange_append(names, names->named > 1 ? ", rank %d (%d in the job)" : " rank %d (%d in the job)", member,
                        job_rank);
    else
        exchange_append(names, names->named > 1 ? ", rank %d in the job" : " rank %d in the job", job_rank, 0);
}

static void exchange_finish_names(struct exchange_names *names)
{
    if (names->more)
        exchange_append(names, " and %d more", names->more, 0);
}

/* A participant knows only about the coordinator. */
static bool exchange_is_missing(const struct pl_exchange *exchange, uint32_t i)
{
    return i != exchange->rank && (exchange->requests ? !exchange->requests[i] : i == exchange->coordinator);
}

void pl_exchange_describe_missing(const struct pl_exchange *exchange, char why[PL_DETAIL_MAX])
{
    if (exchange->inner) { /* all have joined this one, and wait for that one */
        pl_exchange_describe_missing(exchange->inner, why);
        return;
    }
    int64_t waited = (pl_clock_ns() - exchange->began) / PL_NS_PER_MS;
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": these %s have not joined within %d.%d s:", exchange->tag,
                          exchange->members, (int)(waited / 1000), (int)(waited % 1000 / 100));
    struct exchange_names names = { .at = why + length, .left = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < exchange->size; i++)
        if (exchange_is_missing(exchange, i))
            exchange_name_process(&names, (int)i, pl_exchange_job_rank(exchange, i));
    exchange_finish_names(&names);
}

/* --- ended members --------------------------------------------------------------------------------------------- */

static struct pl_peer *exchange_peer(const struct pl_exchange *exchange, uint32_t i)
{
    if (!exchange->requests)
        return i == exchange->coordinator ? exchange->asked : NULL;
    return exchange->requests[i] ? exchange->requests[i]->peer : NULL;
}

/* A participant that waits for long connects to one member more each PROBE_EACH_MS. The coordinator may have given up
 * before this one asked, because of a member that has ended. */
static bool exchange_probes(const struct pl_exchange *exchange, uint32_t member)
{
    int64_t waited = (pl_clock_ns() - exchange->began) / PL_NS_PER_MS - PROBE_AFTER_MS;
    return exchange->requests || member == exchange->coordinator || (int64_t)member * PROBE_EACH_MS < waited;
}

/* A member on another machine of a pool: no launcher tells of its end, so a connection must. Its address never changes.
 * One that has closed cannot join any more; but it may have got the answer that a participant still waits for. */
static bool exchange_far_has_ended(struct pl_exchange *exchange, uint32_t member)
{
    struct pl_peer *peer;
    if (!exchange_probes(exchange, member))
        return false;
    int rc = pl_listener_peer(exchange->listener, pl_exchange_job_rank(exchange, member), &peer);
    if (rc || peer->error)
        return rc != PL_AGAIN && rc != MPI_ERR_NO_MEM;
    bool may_be_answered = !exchange->requests && member != exchange->coordinator;
    return peer->closed && !(may_be_answered && exchange_tolerates_unreachable(exchange));
}

/* Where the launcher does not report it, a connection that stays lost does. */
bool pl_exchange_has_ended(struct pl_exchange *exchange, uint32_t member)
{
    int rc = pl_process_alive(PL_PROC(0, pl_exchange_job_rank(exchange, member)));
    if (rc == PL_AGAIN && pl_process.identity.attached)
        return exchange_far_has_ended(exchange, member);
    const struct pl_peer *peer = exchange_peer(exchange, member);
    return rc == MPI_ERR_PROC_ABORTED ||
           (rc == PL_AGAIN && peer && peer->error && !exchange_tolerates_unreachable(exchange));
}

/* True: processes that this one waits for have ended; the message names them. */
static bool exchange_describe_ended(struct pl_exchange *exchange, char why[PL_DETAIL_MAX])
{
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": these %s have ended:", exchange->tag, exchange->members);
    struct exchange_names names = { .at = why + length, .left = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < exchange->size; i++)
        if (i != exchange->rank && pl_exchange_has_ended(exchange, i))
            exchange_name_process(&names, (int)i, pl_exchange_job_rank(exchange, i));
    for (int i = 0; exchange->watch && i < exchange->watch->size; i++) {
        uint64_t proc = pl_group_proc(exchange->watch, i);
        if (pl_process_alive(proc) == MPI_ERR_PROC_ABORTED)
            exchange_name_process(&names, -1, PL_PROC_RANK(proc));
    }
    exchange_finish_names(&names);
    return names.named > 0;
}

void pl_exchange_forget_ended(struct pl_exchange *exchange)
{
    for (uint32_t i = 0; i < exchange->size; i++) {
        bool ended = i != exchange->rank && pl_exchange_has_ended(exchange, i);
        struct pl_peer *peer = ended ? exchange_peer(exchange, i) : NULL;
        if (exchange->requests && peer)
            pl_exchange_drop_request(exchange, i);
        if (peer)
            pl_listener_forget(exchange->listener, peer);
    }
}

/* --- the outcome ------------------------------------------------------------------------------------------------- */

static int exchange_fail(const struct pl_exchange *exchange)
{
    return pl_fail(exchange->error, "%s", exchange->why);
}

bool pl_exchange_coordinator_listens(const struct pl_exchange *exchange)
{
    return exchange->asked && !exchange->asked->error;
}

/* The coordinator gives up at once; a participant that has asked waits for the coordinator's reply. */
static int exchange_give_up(struct pl_exchange *exchange, int error)
{
    if (exchange->requests || !pl_exchange_coordinator_listens(exchange)) {
        exchange->error = error;
        return exchange_fail(exchange);
    }
    pl_exchange_send_leave(exchange, error);
    exchange->leaving = error;
    exchange->leaving_deadline = pl_deadline_after_ms(LEAVE_MS);
    return MPI_SUCCESS;
}

static bool exchange_is_settled(const struct pl_exchange *exchange)
{
    return exchange->requests ? exchange->joined == exchange->size : exchange->answered;
}

/* All have joined, or the coordinator has answered: the exchange fails if a member has failed before. */
static int exchange_settle(struct pl_exchange *exchange)
{
    for (uint32_t i = 0; exchange->requests && i < exchange->size && !exchange->error; i++) {
        size_t length;
        const char *text = pl_exchange_payload(exchange, i, &length);
        char why[PL_DETAIL_MAX];
        exchange->error = i == exchange->rank ? exchange->declined : exchange->requests[i]->declined;
        if (!exchange->error)
            continue;
        snprintf(why, sizeof why, "\"%.80s\": rank %u (%d in the job) has failed: %.*s", exchange->tag, i,
                 pl_exchange_job_rank(exchange, i), (int)(length < sizeof why ? length : sizeof why), text);
        snprintf(exchange->why, sizeof exchange->why, "%s", why);
    }
    if (!exchange->error)
        exchange->error = exchange->declined;
    return exchange->error ? exchange_fail(exchange) : MPI_SUCCESS;
}

/* Reads what the ended members sent before. */
static void exchange_catch_up(struct pl_exchange *exchange)
{
    for (int i = 0; i < CATCH_UP_ROUNDS && pl_engine_progress(exchange->listener) > 0; i++)
        continue;
}

static int exchange_check_ended(struct pl_exchange *exchange, const char why[PL_DETAIL_MAX])
{
    exchange_catch_up(exchange);
    if (exchange_is_settled(exchange) || exchange->error)
        return MPI_SUCCESS;
    pl_exchange_forget_ended(exchange);
    snprintf(exchange->why, sizeof exchange->why, "%s", why);
    return exchange_give_up(exchange, MPI_ERR_PROC_ABORTED);
}

/* A member of another version cannot tell the coordinator so; the card that it has published can. */
static int exchange_check_versions(struct pl_exchange *exchange)
{
    int rc = MPI_SUCCESS;
    for (uint32_t i = 0; exchange->requests && i < exchange->size && !rc; i++) {
        unsigned char card[PL_CARD_MAX];
        size_t length;
        uint64_t proc = pl_group_proc(exchange->group, (int)i);
        if (exchange_is_missing(exchange, i) && pl_process_lookup(proc, PL_CARD_LISTENER, card, &length) == MPI_SUCCESS)
            rc = pl_engine_check_version(card, length, proc);
    }
    if (!rc)
        return MPI_SUCCESS;
    snprintf(exchange->why, sizeof exchange->why, "%s", pl_error_detail(NULL));
    return exchange_give_up(exchange, rc);
}

/* Checks every CHECK_MS that the members live and the limit has not expired. */
static int exchange_check(struct pl_exchange *exchange)
{
    char why[PL_DETAIL_MAX];
    int64_t now = pl_clock_ns();
    if (now < exchange->next_check)
        return MPI_SUCCESS;
    exchange->next_check = now + CHECK_MS * PL_NS_PER_MS;
    if (exchange->leaving) {
        if (now < exchange->leaving_deadline && pl_exchange_coordinator_listens(exchange))
            return MPI_SUCCESS;
        exchange->error = exchange->leaving;
        return exchange_fail(exchange);
    }
    bool ended = exchange_describe_ended(exchange, why);
    uint32_t check = ++exchange->checks; /* the versions are compared less and less often */
    int rc = ended || (check & (check - 1)) == 0 ? exchange_check_versions(exchange) : MPI_SUCCESS;
    if (rc || exchange->error)
        return rc;
    if (ended)
        return exchange_check_ended(exchange, why);
    const struct pl_peer *asked = exchange->asked;
    if (asked && asked->error && !asked->closed && !exchange_tolerates_unreachable(exchange)) {
        snprintf(exchange->why, sizeof exchange->why,
                 "\"%.80s\": the connection to the coordinator, rank %d in the job, is lost", exchange->tag,
                 pl_exchange_job_rank(exchange, exchange->coordinator));
        return exchange_give_up(exchange, asked->error);
    }
    if (!pl_deadline_passed(exchange->deadline))
        return MPI_SUCCESS;
    pl_exchange_describe_missing(exchange, exchange->why);
    return exchange_give_up(exchange, MPIX_ERR_TIMEOUT);
}

/* --- waiting --------------------------------------------------------------------------------------------------- */

/*
 * Sends the request to the coordinator's listener, if that is open and is another one than before. A listener may be
 * about to close, while the coordinator finishes an earlier life: then the request is lost, and a new listener opens at
 * a new address. So a participant checks again while it waits, and sends its request to the new listener. That never
 * loses an answer: a listener closes only when everything that it sent was taken.
 */
static int exchange_ask(struct pl_exchange *exchange)
{
    struct pl_peer *peer;
    if (exchange->leaving)
        return MPI_SUCCESS;
    int rc = pl_listener_peer(exchange->listener, pl_exchange_job_rank(exchange, exchange->coordinator), &peer);
    if (rc == PL_AGAIN || (rc == MPI_SUCCESS && peer == exchange->asked))
        return MPI_SUCCESS;
    if (rc)
        return exchange_tolerates_unreachable(exchange) ? MPI_SUCCESS : rc;
    if (exchange->asked) /* that listener has closed, and will not acknowledge the request */
        pl_listener_forget(exchange->listener, exchange->asked);
    exchange->asked = peer;
    rc = pl_exchange_send_join(exchange, peer);
    if (rc == MPI_SUCCESS) {
        exchange->unreachable_since = 0;
    } else if (rc != MPI_ERR_NO_MEM && exchange_tolerates_unreachable(exchange)) {
        exchange->asked = NULL; /* nothing went out, and this listener is asked again if it is still there */
        rc = MPI_SUCCESS;
    }
    return rc;
}

/* Nothing wakes a participant when the coordinator's listener opens. It sleeps for an eighth of the time that it has
 * waited, at most SLEEP_MAX_US, and so notices only a little late. */
static void exchange_idle(struct pl_exchange *exchange, struct pl_wait *wait)
{
    if (exchange->requests || exchange->asked || wait->rounds < CHECK_ROUNDS) {
        pl_listener_idle(exchange->listener, wait);
        return;
    }
    pl_wait_record_check(exchange->listener, NULL, wait);
    if (pl_engine_nudge_others(exchange->listener) > 0)
        return;
    int64_t eighth = (pl_clock_ns() - exchange->began) / 8;
    pl_clock_sleep_ns(eighth < SLEEP_MAX_US * PL_NS_PER_US ? eighth : SLEEP_MAX_US * PL_NS_PER_US);
}

/* The members that have not joined, for a job report. Lock held. */
static void exchange_describe_wait(const void *context, struct pl_job_item *item)
{
    const struct pl_exchange *exchange = context;
    snprintf(item->object, sizeof item->object, "%.63s", exchange->tag);
    item->waited = pl_clock_ns() - exchange->began;
    for (uint32_t i = 0; i < exchange->size; i++)
        if (exchange_is_missing(exchange, i))
            pl_wait_record_add_rank(item, pl_exchange_job_rank(exchange, i));
}

/* The lock is released while the thread idles. */
static int exchange_wait_locked(struct pl_exchange *exchange)
{
    struct pl_engine *listener = exchange->listener;
    const struct pl_waiting what = {
        .what = PL_WHAT_EXCHANGE,
        .peer = PL_NO_PEER,
        .tag = PL_ANY,
        .describe = exchange_describe_wait,
        .context = exchange,
    };
    struct pl_wait wait = { .what = &what };
    unsigned rounds = 0;
    for (;;) {
        int events = pl_engine_progress(listener), rc = MPI_SUCCESS;
        if (exchange->error)
            return exchange_fail(exchange);
        if (exchange->outer && exchange->outer->error && !exchange->declined)
            return exchange_fail(exchange->outer);
        if (exchange_is_settled(exchange))
            return exchange_settle(exchange);
        if (!exchange->requests)
            rc = exchange_ask(exchange);
        if (rc == MPI_SUCCESS && (wait.rounds > CHECK_ROUNDS || ++rounds % CHECK_ROUNDS == 0))
            rc = exchange_check(exchange);
        if (rc)
            return rc;
        pl_engine_leave(listener);
        wait.rounds = events ? 0 : wait.rounds;
        exchange_idle(exchange, &wait);
        pl_engine_enter(listener);
    }
}

int pl_exchange_wait(struct pl_exchange *exchange)
{
    pl_engine_enter(exchange->listener);
    exchange->began = pl_clock_ns();
    exchange->deadline = exchange->timeout ? pl_deadline_after_ms(exchange->timeout) : PL_CLOCK_NEVER;
    if (exchange->outer)
        exchange->outer->inner = exchange;
    int rc = exchange_wait_locked(exchange);
    if (exchange->outer)
        exchange->outer->inner = NULL;
    exchange->complete = rc == MPI_SUCCESS;
    pl_engine_leave(exchange->listener);
    return rc;
}
