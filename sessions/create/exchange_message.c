/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of exchanges. Formats:
 *     JOIN      u32 size of the group, u32 rank in it, blob key; i32 MPI_SUCCESS and the payload, or an error
 *     REFUSAL   u32 size of the group, u32 rank in it, blob key; an error
 *     ANSWER    an error, or i32 MPI_SUCCESS and the answer
 *     LEAVE     an error
 *     an error  i32 error class; its text
 *
 * `exchanges` has those that are open; `early` the requests that arrived before the coordinator opened the exchange.
 * The listener's lock protects both, and everything in an exchange. Nothing that arrives is trusted.
 */
#include "sessions/create/exchange_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory_libc.h"
#include "core/engine/engine.h"
#include "core/engine/peer.h"
#include "sessions/create/exchange_wait.h"
#include "sessions/create/listener.h"

/* A request that a LEAVE has overtaken follows at once, so few are remembered at a time; those that were answered
 * before the LEAVE came would otherwise stay for ever. */
enum { WITHDRAWN_MAX = 64 };

static struct pl_list exchanges = { &exchanges, &exchanges };
static struct pl_list early = { &early, &early };
/* Participants that gave up before their request was here: a long request may arrive after the short LEAVE. */
static struct pl_list withdrawn = { &withdrawn, &withdrawn };
static int withdrawn_count;
static uint64_t exchange_tokens; /* given to exchanges so far */

void pl_exchange_request_free(struct pl_exchange_request *request)
{
    if (request)
        pl_origin_release(request->from);
    free(request);
}

/* --- answers --------------------------------------------------------------------------------------------------- */

int pl_exchange_send_answer(struct pl_engine *listener, struct pl_exchange_request *request,
                            const struct pl_writer *message)
{
    int rc = request->peer ? MPI_SUCCESS
                           : pl_engine_peer(listener, request->from->card, request->from->card_length, UINT64_MAX,
                                            &request->peer);
    return rc ? rc
              : pl_listener_send(listener, request->peer, PL_EXCHANGE_ANSWER, request->token, message->data,
                                 message->length);
}

static void exchange_write_error(struct pl_writer *to, int error, const char *why)
{
    pl_write_i32(to, error);
    pl_write_raw(to, why, strlen(why));
}

/* The rest of a message. False: it is damaged. */
static bool exchange_read_error(struct pl_reader *from, int *error, char why[PL_DETAIL_MAX])
{
    int32_t class = pl_read_i32(from);
    size_t length = pl_reader_left(from);
    pl_reader_expect(from, length < PL_DETAIL_MAX);
    if (from->failed)
        return false;
    pl_read_copy(from, why, length);
    why[length] = '\0';
    *error = pl_error_class_name(class) && class != MPI_SUCCESS ? class : MPI_ERR_OTHER;
    return true;
}

/* A participant that cannot be told has gone. */
static void exchange_send_error(struct pl_engine *listener, struct pl_exchange_request *request, int error,
                                const char *why)
{
    unsigned char space[sizeof(int32_t) + PL_DETAIL_MAX];
    struct pl_writer message = pl_writer_fixed(space, sizeof space);
    exchange_write_error(&message, error, why);
    pl_exchange_send_answer(listener, request, &message);
}

/* --- requests -------------------------------------------------------------------------------------------------- */

/* Reads what JOIN and REFUSAL begin with. */
static void exchange_read_head(struct pl_reader *from, struct pl_exchange_request *request)
{
    request->size = pl_read_u32(from);
    request->rank = pl_read_u32(from);
    request->key = pl_read_blob(from, pl_reader_left(from), &request->key_length);
}

static bool exchange_read_request(struct pl_exchange_request *request, size_t size)
{
    struct pl_reader from = pl_reader(request->data, size);
    exchange_read_head(&from, request);
    request->declined = pl_read_i32(&from);
    pl_reader_expect(&from, request->rank < request->size && pl_error_class_name(request->declined) != NULL);
    request->payload_length = pl_reader_left(&from);
    request->payload = pl_read_raw(&from, request->payload_length);
    return pl_reader_done(&from);
}

static bool exchange_has_key(const struct pl_exchange *exchange, const struct pl_exchange_request *request)
{
    return request->key_length == exchange->key_length &&
           memcmp(request->key, exchange->key, exchange->key_length) == 0;
}

static bool exchange_expects(const struct pl_exchange *exchange, const struct pl_exchange_request *request)
{
    return exchange->requests && !exchange->complete && !exchange->error && request->size == exchange->size &&
           request->rank != exchange->rank && exchange_has_key(exchange, request);
}

/* A process that joins from another listener has closed the earlier one: the earlier request is void. */
static bool exchange_request_replaces(const struct pl_exchange_request *request,
                                      const struct pl_exchange_request *earlier)
{
    return request->from->engine != earlier->from->engine;
}

/* True: the exchange has taken the request. The connection to the participant is made at once, so that its end is
 * noticed. */
static bool exchange_take_request(struct pl_exchange *exchange, struct pl_exchange_request *request)
{
    struct pl_exchange_request **slot = exchange_expects(exchange, request) ? &exchange->requests[request->rank] : NULL;
    if (!slot || (*slot && !exchange_request_replaces(request, *slot)))
        return false;
    pl_list_remove(&request->link);
    exchange->joined += !*slot;
    pl_exchange_request_free(*slot);
    *slot = request;
    if (pl_engine_peer(exchange->listener, request->from->card, request->from->card_length,
                       PL_PROC(0, pl_exchange_job_rank(exchange, request->rank)), &request->peer))
        request->peer = NULL; /* the answer tries again, and reports the error */
    return true;
}

static void exchange_drop_replaced(const struct pl_exchange_request *request)
{
    PL_LIST_EACH(earlier, &early, struct pl_exchange_request, link)
        if (earlier->rank == request->rank && earlier->key_length == request->key_length &&
            exchange_request_replaces(request, earlier) &&
            memcmp(earlier->key, request->key, request->key_length) == 0) {
            pl_list_remove(&earlier->link);
            pl_exchange_request_free(earlier);
        }
}

static bool exchange_is_request(const struct pl_exchange_request *request, const struct pl_origin *from, uint64_t token)
{
    return request->from->engine == from->engine && request->token == token;
}

static void exchange_free_withdrawn(struct pl_exchange_request *request)
{
    pl_list_remove(&request->link);
    pl_exchange_request_free(request);
    withdrawn_count--;
}

static bool exchange_was_withdrawn(const struct pl_origin *from, uint64_t token)
{
    PL_LIST_EACH(request, &withdrawn, struct pl_exchange_request, link)
        if (exchange_is_request(request, from, token)) {
            exchange_free_withdrawn(request);
            return true;
        }
    return false;
}

static void exchange_end(struct pl_exchange *exchange, int error, const char *why)
{
    if (exchange->error)
        return;
    exchange->error = error;
    snprintf(exchange->why, sizeof exchange->why, "%s", why);
    pl_listener_wake(exchange->listener);
}

/* There is no memory for a request: its sender is told, and the exchange that it is for, if that is open. */
static void exchange_starve(struct pl_engine *listener, const struct pl_origin *from, uint64_t token, const void *data,
                            size_t size)
{
    static const char why[] = "the coordinator is out of memory for a member's request";
    struct pl_exchange_request request = { .from = from, .token = token }, head;
    struct pl_reader message = pl_reader(data, size);
    exchange_send_error(listener, &request, MPI_ERR_NO_MEM, why);
    exchange_read_head(&message, &head);
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (!message.failed && exchange->requests && exchange_has_key(exchange, &head))
            exchange_end(exchange, MPI_ERR_NO_MEM, why);
}

static void exchange_join_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                                  const void *data, size_t size)
{
    struct pl_exchange_request *request = pl_malloc(sizeof *request + size);
    if (!request) {
        exchange_starve(listener, from, token, data, size);
        return;
    }
    *request = (struct pl_exchange_request){ .from = from, .token = token };
    pl_origin_hold(from);
    pl_list_init(&request->link);
    if (size)
        memcpy(request->data, data, size);
    if (!exchange_read_request(request, size) || exchange_was_withdrawn(from, token)) {
        pl_exchange_request_free(request);
        return;
    }
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange_take_request(exchange, request))
            return;
    exchange_drop_replaced(request);
    pl_list_append(&early, &request->link);
}

static void exchange_read_answer(struct pl_exchange *exchange, const void *data, size_t size)
{
    struct pl_reader from = pl_reader(data, size), again = from;
    bool succeeded = pl_read_i32(&from) == MPI_SUCCESS && !from.failed;
    exchange->answered = true;
    if (!succeeded) {
        if (!exchange_read_error(&again, &exchange->error, exchange->why)) {
            exchange->error = MPI_ERR_OTHER;
            snprintf(exchange->why, sizeof exchange->why, "the answer of rank %d of the job is damaged",
                     pl_exchange_job_rank(exchange, exchange->coordinator));
        }
        return;
    }
    exchange->answer_length = pl_reader_left(&from);
    exchange->answer = pl_memdup(from.at, exchange->answer_length);
    if (!exchange->answer) {
        exchange->error = MPI_ERR_NO_MEM;
        snprintf(exchange->why, sizeof exchange->why, "out of memory for the answer of rank %d of the job",
                 pl_exchange_job_rank(exchange, exchange->coordinator));
    }
}

static void exchange_answer_arrived(struct pl_engine *listener, uint64_t token, const void *data, size_t size)
{
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange->token == token && !exchange->requests && !exchange->answered) {
            exchange_read_answer(exchange, data, size);
            pl_listener_wake(listener);
        }
}

/* --- members that give up -------------------------------------------------------------------------------------- */

/* Its request is still on its way, or has been answered, and then none will come: the oldest ones are forgotten. */
static void exchange_note_withdrawn(const struct pl_origin *from, uint64_t token)
{
    struct pl_exchange_request *request = pl_malloc(sizeof *request);
    if (!request)
        return;
    *request = (struct pl_exchange_request){ .from = from, .token = token };
    pl_origin_hold(from);
    pl_list_append(&withdrawn, &request->link);
    if (++withdrawn_count > WITHDRAWN_MAX)
        exchange_free_withdrawn(PL_CONTAINER(withdrawn.next, struct pl_exchange_request, link));
}

/* A participant gives up. If the coordinator has not opened the exchange, the answer is sent from here: the coordinator
 * has not come. */
static void exchange_leave_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                                   const void *data, size_t size)
{
    struct pl_reader message = pl_reader(data, size);
    int error;
    char why[PL_DETAIL_MAX];
    if (!exchange_read_error(&message, &error, why))
        return;
    PL_LIST_EACH(request, &early, struct pl_exchange_request, link)
        if (exchange_is_request(request, from, token)) {
            pl_list_remove(&request->link);
            exchange_send_error(listener, request, error, why);
            pl_exchange_request_free(request);
            return;
        }
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        for (uint32_t i = 0; exchange->requests && i < exchange->size; i++) {
            struct pl_exchange_request *request = exchange->requests[i];
            if (!request || !exchange_is_request(request, from, token))
                continue;
            if (error == MPIX_ERR_TIMEOUT) /* the coordinator knows better which members are missing */
                pl_exchange_describe_missing(exchange, why);
            exchange_end(exchange, error, why);
            return;
        }
    exchange_note_withdrawn(from, token);
}

/* Only a coordinator that waits at this moment has a use for it. */
static void exchange_refusal_arrived(const void *data, size_t size)
{
    struct pl_reader message = pl_reader(data, size);
    struct pl_exchange_request head;
    int error;
    char why[PL_DETAIL_MAX];
    exchange_read_head(&message, &head);
    if (!exchange_read_error(&message, &error, why))
        return;
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange->requests && exchange_has_key(exchange, &head)) {
            exchange_end(exchange, error, why);
            return;
        }
}

/* Each exchange that waits for a message ends; which of them the message was for is not known. */
void pl_exchange_message_starved(const char *why)
{
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link)
        if (exchange->requests ? exchange->joined < exchange->size : exchange->asked && !exchange->answered)
            exchange_end(exchange, MPI_ERR_NO_MEM, why);
}

void pl_exchange_message_arrived(struct pl_engine *listener, const struct pl_origin *from,
                                 const struct pl_header *header, const void *data)
{
    switch (header->tag) {
    case PL_EXCHANGE_JOIN: exchange_join_arrived(listener, from, header->token, data, header->size); break;
    case PL_EXCHANGE_ANSWER: exchange_answer_arrived(listener, header->token, data, header->size); break;
    case PL_EXCHANGE_LEAVE: exchange_leave_arrived(listener, from, header->token, data, header->size); break;
    case PL_EXCHANGE_REFUSAL: exchange_refusal_arrived(data, header->size); break;
    default: break;
    }
}

/* --- sending --------------------------------------------------------------------------------------------------- */

/* JOIN with a payload, JOIN and REFUSAL with an error and its text. */
static int exchange_send_request(struct pl_exchange *exchange, struct pl_peer *peer, enum pl_listener_message kind,
                                 int error, const void *data, size_t length)
{
    unsigned char few[512];
    struct pl_writer message = pl_writer_growing(few, sizeof few);
    pl_write_u32(&message, exchange->size);
    pl_write_u32(&message, exchange->rank);
    pl_write_blob(&message, exchange->key, exchange->key_length);
    pl_write_i32(&message, error);
    pl_write_raw(&message, data, length);
    int rc = message.failed
                 ? pl_fail_memory("a request to a group's coordinator")
                 : pl_listener_send(exchange->listener, peer, kind, exchange->token, message.data, message.length);
    pl_writer_fini(&message);
    return rc;
}

int pl_exchange_send_join(struct pl_exchange *exchange, struct pl_peer *peer)
{
    return exchange_send_request(exchange, peer, PL_EXCHANGE_JOIN, exchange->declined, exchange->payload,
                                 exchange->payload_length);
}

void pl_exchange_send_leave(struct pl_exchange *exchange, int error)
{
    unsigned char space[sizeof(int32_t) + PL_DETAIL_MAX];
    struct pl_writer message = pl_writer_fixed(space, sizeof space);
    exchange_write_error(&message, error, exchange->why);
    pl_listener_send(exchange->listener, exchange->asked, PL_EXCHANGE_LEAVE, exchange->token, message.data,
                     message.length);
}

void pl_exchange_send_refusal(struct pl_exchange *exchange, struct pl_peer *peer)
{
    exchange_send_request(exchange, peer, PL_EXCHANGE_REFUSAL, exchange->error, exchange->why, strlen(exchange->why));
}

void pl_exchange_send_errors(struct pl_exchange *exchange)
{
    for (uint32_t i = 0; i < exchange->size; i++)
        if (exchange->requests[i])
            exchange_send_error(exchange->listener, exchange->requests[i], exchange->error, exchange->why);
}

/* --- the lists ------------------------------------------------------------------------------------------------- */

void pl_exchange_register(struct pl_exchange *exchange)
{
    exchange->token = ++exchange_tokens;
    exchange->joined = 1;
    pl_list_append(&exchanges, &exchange->link);
    bool taken = false;
    PL_LIST_EACH(request, &early, struct pl_exchange_request, link)
        taken |= exchange_take_request(exchange, request);
    while (taken && pl_engine_progress(exchange->listener) > 0) /* some participants may have given up since */
        continue;
}

void pl_exchange_drop_request(struct pl_exchange *exchange, uint32_t member)
{
    pl_exchange_request_free(exchange->requests[member]);
    exchange->requests[member] = NULL;
    exchange->joined--;
}

void pl_exchange_forget_peer(const struct pl_peer *peer)
{
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link) {
        if (exchange->asked == peer)
            exchange->asked = NULL;
        for (uint32_t i = 0; exchange->requests && i < exchange->size; i++)
            if (exchange->requests[i] && exchange->requests[i]->peer == peer)
                exchange->requests[i]->peer = NULL;
    }
}

bool pl_exchange_holds_peer(const struct pl_peer *peer)
{
    PL_LIST_EACH(exchange, &exchanges, struct pl_exchange, link) {
        if (exchange->asked == peer)
            return true;
        for (uint32_t i = 0; exchange->requests && i < exchange->size; i++)
            if (exchange->requests[i] && exchange->requests[i]->peer == peer)
                return true;
    }
    return false;
}

void pl_exchange_forget_early(void)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&early)) != NULL || (node = pl_list_pop(&withdrawn)) != NULL)
        free(PL_CONTAINER(node, struct pl_exchange_request, link));
    withdrawn_count = 0;
}
