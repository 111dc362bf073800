/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings: what arrives at the front door, and what is said there. Waiting: exchange_wait.c.
 *
 * Who waits is in `meetings`; who came before the host asked is in `early`. Both, and everything in a meeting, are
 * protected by the door's lock. Nothing that arrives is trusted.
 */
#include "sessions/create/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/engine/engine.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "sessions/create/exchange_parts.h"
#include "sessions/create/listener.h"
#include "sessions/port/parts.h"

enum { GONE_MAX = 64 };

static struct pl_list exchanges = { &exchanges, &exchanges };
static struct pl_list early = { &early, &early };
static struct pl_list gone = {
    &gone, &gone
}; /* who gave up before what they asked for was here: a long request comes later */
static int gone_count;
static uint64_t tokens; /* given to meetings so far */

/* --- who comes ------------------------------------------------------------------------------------------------- */

static bool read_participant(struct pl_participant *participant, size_t size)
{
    if (size < sizeof participant->head)
        return false;
    memcpy(&participant->head, participant->data, sizeof participant->head);
    return participant->head.rank < participant->head.members &&
           size == sizeof participant->head + (uint64_t)participant->head.key_length + participant->head.payload_length;
}

static const unsigned char *exchange_key_of(const struct pl_participant *participant)
{
    return participant->data + sizeof participant->head;
}

static bool exchange_wants(const struct pl_participant *participant, const struct pl_exchange *exchange)
{
    return exchange->participants && !exchange->gathered && !exchange->error &&
           participant->head.members == exchange->members && participant->head.rank != exchange->me &&
           participant->head.key_length == exchange->key_length &&
           memcmp(exchange_key_of(participant), exchange->key, exchange->key_length) == 0;
}

/* Who comes from another door than before has closed that one: what it said there does not count any more. */
static bool exchange_replaces(const struct pl_participant *participant, const struct pl_participant *before)
{
    return participant->from->engine != before->from->engine;
}

/* True when the guest has a place now. Its connection is made at once, so that its end is noticed. */
static bool exchange_seat(struct pl_exchange *exchange, struct pl_participant *participant)
{
    struct pl_participant **place =
        exchange_wants(participant, exchange) ? &exchange->participants[participant->head.rank] : NULL;
    if (!place || (*place && !exchange_replaces(participant, *place)))
        return false;
    pl_list_remove(&participant->link);
    exchange->arrived += !*place;
    free(*place);
    *place = participant;
    if (pl_engine_peer(exchange->listener, participant->from->card, participant->from->card_length,
                       PL_PROC(0, pl_exchange_rank(exchange, participant->head.rank)), &participant->peer))
        participant->peer = NULL; /* tried again, and reported, when it is told */
    return true;
}

static void drop_outdated(const struct pl_participant *participant)
{
    PL_LIST_EACH(before, &early, struct pl_participant, link)
        if (before->head.rank == participant->head.rank && before->head.key_length == participant->head.key_length &&
            exchange_replaces(participant, before) &&
            memcmp(exchange_key_of(before), exchange_key_of(participant), participant->head.key_length) == 0) {
            pl_list_remove(&before->link);
            free(before);
        }
}

static bool same_request(const struct pl_participant *participant, const struct pl_origin *from, uint64_t token)
{
    return participant->from->engine == from->engine && participant->token == token;
}

static void forget_gone(struct pl_participant *left)
{
    pl_list_remove(&left->link);
    free(left);
    gone_count--;
}

static bool exchange_has_gone(const struct pl_participant *participant)
{
    PL_LIST_EACH(left, &gone, struct pl_participant, link)
        if (same_request(left, participant->from, participant->token)) {
            forget_gone(left);
            return true;
        }
    return false;
}

static void join_arrived(const struct pl_origin *from, uint64_t token, const void *data, size_t size)
{
    struct pl_participant *participant = pl_malloc(sizeof *participant + size);
    if (!participant)
        return;
    *participant = (struct pl_participant){ .from = from, .token = token };
    pl_list_init(&participant->link);
    memcpy(participant->data, data, size);
    if (!read_participant(participant, size) || exchange_has_gone(participant)) {
        free(participant);
        return;
    }
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange_seat(exchange, participant))
            return;
    drop_outdated(participant);
    pl_list_append(&early, &participant->link);
}

/* --- who is told ----------------------------------------------------------------------------------------------- */

static int exchange_say(struct pl_engine *listener, struct pl_peer *peer, int kind, uint64_t token, const void *data,
                        size_t size)
{
    struct pl_header header = { .kind = PL_MSG_LISTENER, .tag = kind, .token = token };
    return pl_engine_control(listener, peer, &header, data, size);
}

static int exchange_answer(struct pl_engine *listener, struct pl_participant *participant, const void *data,
                           size_t size)
{
    int rc = participant->peer ? MPI_SUCCESS
                               : pl_engine_peer(listener, participant->from->card, participant->from->card_length,
                                                UINT64_MAX, &participant->peer);
    return rc ? rc : exchange_say(listener, participant->peer, PL_LISTENER_ANSWER, participant->token, data, size);
}

/* An answer that is an error: its class, then why. Returns its length. */
static size_t write_error(unsigned char *message, int error, const char *why)
{
    int32_t class = error;
    size_t length = strlen(why);
    memcpy(message, &class, sizeof class);
    memcpy(message + sizeof class, why, length);
    return sizeof class + length;
}

static void exchange_answer_error(struct pl_engine *listener, struct pl_participant *participant, int error,
                                  const char *why)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, error, why);
    exchange_answer(listener, participant, message, size); /* who cannot be told has gone */
}

/* A class and a text, as write_error() put them. False: damaged. */
static bool read_error(const unsigned char *data, size_t size, int *error, char why[PL_DETAIL_MAX])
{
    int32_t class;
    if (size < sizeof class || size - sizeof class >= PL_DETAIL_MAX)
        return false;
    memcpy(&class, data, sizeof class);
    memcpy(why, data + sizeof class, size - sizeof class);
    why[size - sizeof class] = '\0';
    *error = pl_error_class_name(class) && class != MPI_SUCCESS ? class : MPI_ERR_OTHER;
    return true;
}

static void exchange_wake(struct pl_engine *listener)
{
    if (atomic_load(&listener->wait.sleepers) > 0)
        pl_engine_wake(listener);
}

static void answer_arrived(struct pl_engine *listener, uint64_t token, const unsigned char *data, size_t size)
{
    int32_t class;
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link) {
        if (exchange->token != token || exchange->participants || exchange->done)
            continue;
        exchange->done = true;
        exchange_wake(listener);
        if (size < sizeof class || (exchange->answer = pl_malloc(size)) == NULL) {
            exchange->error = MPI_ERR_OTHER;
            snprintf(exchange->why, sizeof exchange->why, "the answer of rank %d of the job is lost",
                     pl_exchange_rank(exchange, exchange->coordinator));
            return;
        }
        memcpy(exchange->answer, data, size);
        exchange->answer_length = size;
        memcpy(&class, data, sizeof class);
        if (class != MPI_SUCCESS && !read_error(data, size, &exchange->error, exchange->why))
            exchange->error = MPI_ERR_OTHER;
    }
}

/* --- who gives up ---------------------------------------------------------------------------------------------- */

static void exchange_end(struct pl_exchange *exchange, int error, const char *why)
{
    if (exchange->error)
        return;
    exchange->error = error;
    snprintf(exchange->why, sizeof exchange->why, "%s", why);
    exchange_wake(exchange->listener);
}

/* Or what they asked for has been answered already, so that there is nothing to come: the oldest are forgotten. */
static void remember_gone(const struct pl_origin *from, uint64_t token)
{
    struct pl_participant *left = pl_malloc(sizeof *left);
    if (!left)
        return;
    *left = (struct pl_participant){ .from = from, .token = token };
    pl_list_append(&gone, &left->link);
    if (++gone_count > GONE_MAX)
        forget_gone(PL_CONTAINER(gone.next, struct pl_participant, link));
}

/* A guest gives up. The one that the host has not even asked for gets its answer here: the host has not come. */
static void leave_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                          const unsigned char *data, size_t size)
{
    int error;
    char why[PL_DETAIL_MAX];
    if (!read_error(data, size, &error, why))
        return;
    PL_LIST_EACH(participant, &early, struct pl_participant, link)
        if (same_request(participant, from, token)) {
            pl_list_remove(&participant->link);
            exchange_answer_error(listener, participant, error, why);
            free(participant);
            return;
        }
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        for (uint32_t i = 0; exchange->participants && i < exchange->members; i++) {
            struct pl_participant *participant = exchange->participants[i];
            if (!participant || !same_request(participant, from, token))
                continue;
            if (error == MPIX_ERR_TIMEOUT) /* the host knows better who is missing */
                pl_exchange_describe_missing(exchange, why);
            exchange_end(exchange, error, why);
            return;
        }
    remember_gone(from, token);
}

/* A member that never asked says that it will not come: of use to a host that is waiting just now, and to nobody
 * later. */
static void refusal_arrived(const unsigned char *data, size_t size)
{
    struct pl_join head;
    int error;
    char why[PL_DETAIL_MAX];
    if (size < sizeof head)
        return;
    memcpy(&head, data, sizeof head);
    const unsigned char *key = data + sizeof head;
    if (size - sizeof head < head.key_length ||
        !read_error(key + head.key_length, size - sizeof head - head.key_length, &error, why))
        return;
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange->participants && exchange->key_length == head.key_length &&
            memcmp(exchange->key, key, head.key_length) == 0) {
            exchange_end(exchange, error, why);
            return;
        }
}

static void exchange_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                             const void *data)
{
    switch (header->tag) {
    case PL_LISTENER_JOIN: join_arrived(from, header->token, data, header->size); break;
    case PL_LISTENER_ANSWER: answer_arrived(listener, header->token, data, header->size); break;
    case PL_LISTENER_LEAVE: leave_arrived(listener, from, header->token, data, header->size); break;
    case PL_LISTENER_REFUSAL: refusal_arrived(data, header->size); break;
    default: pl_port_arrived(listener, from, header, data); break;
    }
}

int pl_exchange_listener(struct pl_engine **listener)
{
    return pl_listener_open(exchange_arrived, listener);
}

/* --- what is said ---------------------------------------------------------------------------------------------- */

static int send_join(struct pl_exchange *exchange, struct pl_peer *peer, int kind, const void *payload,
                     size_t payload_length)
{
    struct pl_join head = { exchange->members, exchange->me, exchange->key_length, (uint32_t)payload_length };
    size_t size = sizeof head + exchange->key_length + payload_length;
    unsigned char few[512], *message = size <= sizeof few ? few : pl_malloc(size);
    if (!message)
        return pl_fail_memory("a request to a group's first member");
    memcpy(message, &head, sizeof head);
    memcpy(message + sizeof head, exchange->key, exchange->key_length);
    if (payload_length)
        memcpy(message + sizeof head + exchange->key_length, payload, payload_length);
    int rc = exchange_say(exchange->listener, peer, kind, exchange->token, message, size);
    if (message != few)
        free(message);
    return rc;
}

int pl_exchange_send_join(struct pl_exchange *exchange, struct pl_peer *peer)
{
    return send_join(exchange, peer, PL_LISTENER_JOIN, exchange->payload, exchange->payload_length);
}

void pl_exchange_send_leave(struct pl_exchange *exchange, int error)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, error, exchange->why);
    exchange_say(exchange->listener, exchange->asked, PL_LISTENER_LEAVE, exchange->token, message, size);
}

void pl_exchange_send_refusal(struct pl_exchange *exchange, struct pl_peer *peer)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, exchange->error, exchange->why);
    send_join(exchange, peer, PL_LISTENER_REFUSAL, message, size);
}

void pl_exchange_send_errors(struct pl_exchange *exchange)
{
    for (uint32_t i = 0; i < exchange->members; i++)
        if (exchange->participants[i])
            exchange_answer_error(exchange->listener, exchange->participants[i], exchange->error, exchange->why);
}

void pl_exchange_expel(struct pl_exchange *exchange, uint32_t member)
{
    free(exchange->participants[member]);
    exchange->participants[member] = NULL;
    exchange->arrived--;
}

void pl_exchange_forget_peer(struct pl_engine *listener, struct pl_peer *peer)
{
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link) {
        if (exchange->asked == peer)
            exchange->asked = NULL;
        for (uint32_t i = 0; exchange->participants && i < exchange->members; i++)
            if (exchange->participants[i] && exchange->participants[i]->peer == peer)
                exchange->participants[i]->peer = NULL;
    }
    pl_engine_forget(listener, peer);
}

int pl_exchange_answer(struct pl_exchange *exchange, const void *data, size_t length)
{
    int32_t success = MPI_SUCCESS;
    unsigned char *message = pl_malloc(sizeof success + length);
    if (!message)
        return pl_fail_memory("the answer to a group's members");
    memcpy(message, &success, sizeof success);
    memcpy(message + sizeof success, data, length);
    int rc = MPI_SUCCESS;
    pl_engine_enter(exchange->listener);
    for (uint32_t i = 0; i < exchange->members; i++)
        if (exchange->participants[i]) {
            int sent = exchange_answer(exchange->listener, exchange->participants[i], message, sizeof success + length);
            if (sent &&
                pl_failure_outlived(exchange->participants[i]->from->engine, PL_PROC(0, pl_exchange_rank(exchange, i))))
                sent = pl_fail(MPI_ERR_PROC_ABORTED, "\"%.80s\": of %s rank %d has died", exchange->tag, exchange->who,
                               (int)i);
            rc = rc ? rc : sent;
        }
    pl_engine_leave(exchange->listener);
    free(message);
    return rc;
}

const void *pl_exchange_payload(const struct pl_exchange *exchange, uint32_t member, size_t *length)
{
    if (member == exchange->me) {
        *length = exchange->payload_length;
        return exchange->payload;
    }
    const struct pl_participant *participant = exchange->participants[member];
    *length = participant->head.payload_length;
    return exchange_key_of(participant) + participant->head.key_length;
}

/* --- life ------------------------------------------------------------------------------------------------------ */

int pl_exchange_open(struct pl_exchange *exchange)
{
    pl_list_init(&exchange->link);
    if (exchange->me == exchange->coordinator) {
        exchange->participants = pl_calloc(exchange->members, sizeof(struct pl_participant *));
        if (!exchange->participants)
            return pl_fail_memory("a meeting of a group");
    }
    int rc = pl_exchange_listener(&exchange->listener);
    if (rc)
        return rc;
    pl_engine_enter(exchange->listener);
    exchange->token = ++tokens;
    exchange->arrived = 1;
    pl_list_append(&exchanges, &exchange->link);
    bool seated = false;
    PL_LIST_EACH(participant, &early, struct pl_participant, link)
        seated |= exchange_seat(exchange, participant);
    while (seated && pl_engine_progress(exchange->listener) > 0) /* some may have given up since */
        continue;
    pl_engine_leave(exchange->listener);
    return MPI_SUCCESS;
}

void pl_exchange_close(struct pl_exchange *exchange)
{
    if (exchange->listener) {
        pl_engine_enter(exchange->listener);
        pl_list_remove(&exchange->link);
        pl_engine_leave(exchange->listener);
    }
    for (uint32_t i = 0; exchange->participants && i < exchange->members; i++)
        free(exchange->participants[i]);
    free(exchange->participants);
    free(exchange->answer);
}

void pl_exchange_forget_early(void)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&early)) != NULL || (node = pl_list_pop(&gone)) != NULL)
        free(PL_CONTAINER(node, struct pl_participant, link));
    gone_count = 0;
}
