/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings: waiting, and what ends it: the arrival of all, the end of a process, the end of patience.
 *
 * A guest that gives up tells the host, and takes what the host says to that, which may be that all is well: the
 * answer may have been on its way. Only a host that does not answer within a moment is left without another word.
 */
#include <stdio.h>
#include <time.h>

#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"
#include "sessions/create/exchange_parts.h"
#include "sessions/create/listener.h"

enum {
    LOOK_MS = 20,        /* between looks at who lives */
    LOOK_ROUNDS = 64,    /* rounds of progress before the first look at the clock */
    UNREACHED_MS = 5000, /* a door that cannot be reached may be one that has just closed: no error for so long */
    PARTING_MS = 1000,   /* for the host to answer one that gives up */
    NAP_US = 10000,      /* the longest sleep of one who waits for a door to open */
    NAMED = 8,           /* processes that a message names */
};

static long exchange_wait_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A door that cannot be reached may be one that has just closed, whose address is still posted: true for a while. */
static bool tolerate_for(struct pl_exchange *exchange)
{
    long now = exchange_wait_now_ms();
    if (!exchange->failing_since)
        exchange->failing_since = now;
    return now - exchange->failing_since < UNREACHED_MS;
}

static bool is_coordinator(const struct pl_exchange *exchange)
{
    return exchange->participants != NULL;
}

/* --- who is missing -------------------------------------------------------------------------------------------- */

/* A text that grows; what has no room is cut. */
struct text {
    char *at;
    size_t room;
    int named, more;
};

static void exchange_wait_append(struct text *text, const char *format, int a, int b)
{
    int length = snprintf(text->at, text->room, format, a, b);
    size_t used = length < 0 ? 0 : (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += used;
    text->room -= used;
}

static void exchange_wait_name(struct text *text, int in_group, int in_job)
{
    if (text->named++ == NAMED)
        text->more++;
    else if (text->more)
        text->more++;
    else if (in_group >= 0)
        exchange_wait_append(text, text->named > 1 ? ", rank %d (%d in the job)" : " rank %d (%d in the job)", in_group,
                             in_job);
    else
        exchange_wait_append(text, text->named > 1 ? ", rank %d in the job" : " rank %d in the job", in_job, 0);
}

static void close_text(struct text *text)
{
    if (text->more)
        exchange_wait_append(text, " and %d more", text->more, 0);
}

/* A guest only knows about the host. */
static bool is_missing(const struct pl_exchange *exchange, uint32_t i)
{
    return i != exchange->me && (is_coordinator(exchange) ? !exchange->participants[i] : i == exchange->coordinator);
}

void pl_exchange_describe_missing(const struct pl_exchange *exchange, char why[PL_DETAIL_MAX])
{
    if (exchange->inner) { /* all have come here, and wait for those */
        pl_exchange_describe_missing(exchange->inner, why);
        return;
    }
    long waited = exchange_wait_now_ms() - exchange->began;
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": of %s these have not come within %ld.%ld s:", exchange->tag,
                          exchange->who, waited / 1000, waited % 1000 / 100);
    struct text text = { .at = why + length, .room = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < exchange->members; i++)
        if (is_missing(exchange, i))
            exchange_wait_name(&text, (int)i, pl_exchange_rank(exchange, i));
    close_text(&text);
}

/* --- who has ended --------------------------------------------------------------------------------------------- */

static struct pl_peer *peer_of(const struct pl_exchange *exchange, uint32_t i)
{
    if (!is_coordinator(exchange))
        return i == exchange->coordinator ? exchange->asked : NULL;
    return exchange->participants[i] ? exchange->participants[i]->peer : NULL;
}

/* Where the launcher does not tell, a connection that stays lost does. */
static bool has_ended(struct pl_exchange *exchange, uint32_t i)
{
    int rc = pl_process_alive(PL_PROC(0, pl_exchange_rank(exchange, i)));
    const struct pl_peer *peer = peer_of(exchange, i);
    return rc == MPI_ERR_PROC_ABORTED || (rc == PL_AGAIN && peer && peer->error && !tolerate_for(exchange));
}

/* True, and who they are, when some of those whom this process waits for have ended. */
static bool describe_ended(struct pl_exchange *exchange, char why[PL_DETAIL_MAX])
{
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": of %s these have ended:", exchange->tag, exchange->who);
    struct text text = { .at = why + length, .room = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < exchange->members; i++)
        if (i != exchange->me && has_ended(exchange, i))
            exchange_wait_name(&text, (int)i, pl_exchange_rank(exchange, i));
    for (int i = 0; exchange->others && i < exchange->others->size; i++)
        if (pl_process_alive(pl_group_proc(exchange->others, i)) == MPI_ERR_PROC_ABORTED)
            exchange_wait_name(&text, -1, PL_PROC_RANK(pl_group_proc(exchange->others, i)));
    close_text(&text);
    return text.named > 0;
}

/* --- giving up ------------------------------------------------------------------------------------------------- */

static int exchange_wait_report(const struct pl_exchange *exchange)
{
    return pl_fail(exchange->error, "%s", exchange->why);
}

static bool host_listens(const struct pl_exchange *exchange)
{
    return exchange->asked && !exchange->asked->error;
}

/* The host gives up at once; a guest that has asked waits for a word of the host. */
static int exchange_wait_give_up(struct pl_exchange *exchange, int error, long now)
{
    if (is_coordinator(exchange) || !host_listens(exchange)) {
        exchange->error = error;
        return exchange_wait_report(exchange);
    }
    pl_exchange_send_leave(exchange, error);
    exchange->parting = error;
    exchange->parting_until = now + PARTING_MS;
    return MPI_SUCCESS;
}

static bool exchange_wait_settled(const struct pl_exchange *exchange)
{
    return is_coordinator(exchange) ? exchange->arrived == exchange->members : exchange->done;
}

/* What the ended had said before is read. */
static void catch_up(struct pl_exchange *exchange)
{
    for (int i = 0; i < 1000 && pl_engine_progress(exchange->listener) > 0; i++)
        continue;
}

/* Nothing more is said to the ended, and the door does not wait, when it closes, for them to take what was. */
static void forget_ended(struct pl_exchange *exchange)
{
    for (uint32_t i = 0; i < exchange->members; i++) {
        struct pl_peer *peer = i == exchange->me || !has_ended(exchange, i) ? NULL : peer_of(exchange, i);
        if (is_coordinator(exchange) && peer)
            pl_exchange_expel(exchange, i);
        if (peer)
            pl_exchange_forget_peer(exchange->listener, peer);
    }
}

/* Looks who still lives, and at the clock. */
static int exchange_wait_look(struct pl_exchange *exchange, long now)
{
    char why[PL_DETAIL_MAX];
    exchange->look_at = now + LOOK_MS;
    if (exchange->parting) {
        if (now < exchange->parting_until && host_listens(exchange))
            return MPI_SUCCESS;
        exchange->error = exchange->parting;
        return exchange_wait_report(exchange);
    }
    if (describe_ended(exchange, why)) {
        catch_up(exchange);
        if (exchange_wait_settled(exchange) || exchange->error)
            return MPI_SUCCESS;
        forget_ended(exchange);
        snprintf(exchange->why, sizeof exchange->why, "%s", why);
        return exchange_wait_give_up(exchange, MPI_ERR_PROC_ABORTED, now);
    }
    if (!exchange->patience || now - exchange->began < exchange->patience)
        return MPI_SUCCESS;
    pl_exchange_describe_missing(exchange, exchange->why);
    return exchange_wait_give_up(exchange, MPIX_ERR_TIMEOUT, now);
}

/* --- waiting --------------------------------------------------------------------------------------------------- */

/*
 * Asks at the host's door, if it is open and is not the one where we asked before. The door may also be about to close,
 * when the host is still busy with the end of an earlier life: what we said there is forgotten, and a new door opens
 * with a new address. So we look again while we wait, and ask again at the new one. An answer is never lost that way:
 * a door closes only when all that it sent was taken.
 */
static int exchange_wait_ask(struct pl_exchange *exchange)
{
    struct pl_peer *peer;
    if (exchange->parting)
        return MPI_SUCCESS;
    int rc = pl_listener_peer(exchange->listener, pl_exchange_rank(exchange, exchange->coordinator), &peer);
    if (rc == PL_AGAIN || (rc == MPI_SUCCESS && peer == exchange->asked))
        return MPI_SUCCESS;
    if (rc)
        return tolerate_for(exchange) ? MPI_SUCCESS : rc;
    if (exchange->asked)
        pl_exchange_forget_peer(exchange->listener,
                                exchange->asked); /* that door has closed, and will not say that it got our request */
    exchange->asked = peer;
    exchange->failing_since = 0;
    return pl_exchange_send_join(exchange, peer);
}

/* Nothing wakes a guest when the host's door opens: it sleeps for a small part of the time that it has waited already,
 * so that it comes only a little late. */
static void exchange_wait_idle(struct pl_exchange *exchange, struct pl_wait *wait)
{
    long waited = is_coordinator(exchange) || exchange->asked || wait->rounds < LOOK_ROUNDS
                      ? 0
                      : exchange_wait_now_ms() - exchange->began;
    if (waited == 0) {
        pl_listener_idle(exchange->listener, wait);
        return;
    }
    pl_wait_record_check(exchange->listener, NULL, wait);
    if (pl_engine_nudge_others(exchange->listener) > 0)
        return;
    long microseconds = waited * 1000 / 8;
    nanosleep(&(struct timespec){ .tv_nsec = 1000 * (microseconds < NAP_US ? microseconds : NAP_US) }, NULL);
}

/* Who has not come, for a report. Lock held. */
static void describe_wait(const void *context, struct pl_job_item *item)
{
    const struct pl_exchange *exchange = context;
    snprintf(item->object, sizeof item->object, "%.63s", exchange->tag);
    item->waited = (exchange_wait_now_ms() - exchange->began) * 1000000;
    for (uint32_t i = 0; i < exchange->members; i++)
        if (is_missing(exchange, i))
            pl_wait_record_add_rank(item, pl_exchange_rank(exchange, i));
}

static int wait_for_all(struct pl_exchange *exchange)
{
    struct pl_engine *listener = exchange->listener;
    const struct pl_waiting what = {
        .what = PL_WHAT_EXCHANGE, .peer = PL_NOBODY, .tag = PL_ANY, .describe = describe_wait, .context = exchange
    };
    struct pl_wait wait = { .what = &what };
    unsigned rounds = 0;
    for (;;) {
        int events = pl_engine_progress(listener), rc = MPI_SUCCESS;
        if (exchange->error)
            return exchange_wait_report(exchange);
        if (exchange->outer && exchange->outer->error)
            return exchange_wait_report(exchange->outer);
        if (exchange_wait_settled(exchange))
            return MPI_SUCCESS;
        if (!is_coordinator(exchange))
            rc = exchange_wait_ask(exchange);
        if (rc == MPI_SUCCESS && (wait.rounds > LOOK_ROUNDS || ++rounds % LOOK_ROUNDS == 0)) {
            long now = exchange_wait_now_ms();
            if (now >= exchange->look_at)
                rc = exchange_wait_look(exchange, now);
        }
        if (rc)
            return rc;
        pl_engine_leave(listener);
        wait.rounds = events ? 0 : wait.rounds;
        exchange_wait_idle(exchange, &wait);
        pl_engine_enter(listener);
    }
}

static int wait_inside(struct pl_exchange *exchange)
{
    pl_engine_enter(exchange->listener);
    exchange->began = exchange_wait_now_ms();
    if (exchange->outer)
        exchange->outer->inner = exchange;
    int rc = wait_for_all(exchange);
    if (exchange->outer)
        exchange->outer->inner = NULL;
    exchange->gathered = rc == MPI_SUCCESS;
    pl_engine_leave(exchange->listener);
    return rc;
}

int pl_exchange_gather(struct pl_exchange *exchange)
{
    return wait_inside(exchange);
}

int pl_exchange_join(struct pl_exchange *exchange, const void **data, size_t *length)
{
    int rc = wait_inside(exchange);
    if (rc == MPI_SUCCESS) {
        *data = exchange->answer + sizeof(int32_t);
        *length = exchange->answer_length - sizeof(int32_t);
    }
    return rc;
}

/* To a host that may wait already, though nobody here has asked it. Its door may have to be found yet. */
static void refuse_at_listener(struct pl_exchange *exchange)
{
    struct pl_wait wait = { 0 };
    long until = exchange_wait_now_ms() + PARTING_MS;
    struct pl_peer *peer;
    int rc = PL_AGAIN;
    while (exchange_wait_now_ms() < until && !has_ended(exchange, exchange->coordinator) &&
           (rc = pl_listener_peer(exchange->listener, pl_exchange_rank(exchange, exchange->coordinator), &peer)) ==
               PL_AGAIN) {
        pl_engine_leave(exchange->listener);
        pl_listener_idle(exchange->listener, &wait);
        pl_engine_enter(exchange->listener);
        pl_engine_progress(exchange->listener);
    }
    if (rc == MPI_SUCCESS)
        pl_exchange_send_refusal(exchange, peer);
}

void pl_exchange_refuse(struct pl_exchange *exchange, int error)
{
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    pl_engine_enter(exchange->listener);
    exchange->error = error;
    snprintf(exchange->why, sizeof exchange->why, "%s", why);
    forget_ended(exchange);
    if (is_coordinator(exchange))
        pl_exchange_send_errors(exchange);
    else if (!exchange->asked && exchange->outer)
        refuse_at_listener(exchange);
    else if (!exchange->done && !exchange->parting && host_listens(exchange))
        pl_exchange_send_leave(exchange, error);
    pl_engine_leave(exchange->listener);
    pl_fail(error, "%s", why); /* looking for the door may have recorded another */
}
