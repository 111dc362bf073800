/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges: their life, and the coordinator's and a participant's part. Messages: exchange_message.c. Waiting:
 * exchange_wait.c. */
#include "sessions/create/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/engine/engine.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait.h"
#include "sessions/create/exchange_message.h"
#include "sessions/create/exchange_wait.h"
#include "sessions/create/listener.h"

enum { REFUSAL_MS = 1000 }; /* to find the listener of a coordinator that this process has not asked */

/* --- life ------------------------------------------------------------------------------------------------------ */

int pl_exchange_open(struct pl_exchange *exchange)
{
    pl_list_init(&exchange->link);
    if (pl_exchange_is_coordinator(exchange)) {
        exchange->requests = pl_calloc(exchange->size, sizeof *exchange->requests);
        if (!exchange->requests)
            return pl_fail_memory("an exchange between a group's members");
    }
    int rc = pl_listener_open(&exchange->listener);
    if (rc)
        return rc;
    pl_engine_enter(exchange->listener);
    pl_exchange_register(exchange);
    pl_engine_leave(exchange->listener);
    return MPI_SUCCESS;
}

void pl_exchange_close(struct pl_exchange *exchange)
{
    if (exchange->listener) {
        pl_engine_enter(exchange->listener);
        pl_list_remove(&exchange->link);
        for (uint32_t i = 0; exchange->requests && i < exchange->size; i++)
            pl_exchange_request_free(exchange->requests[i]);
        pl_engine_leave(exchange->listener);
    }
    free(exchange->requests);
    free(exchange->answer);
}

void pl_exchange_decline(struct pl_exchange *exchange, int error)
{
    int recorded;
    const char *detail = pl_error_detail(&recorded);
    exchange->declined = error;
    snprintf(exchange->why, sizeof exchange->why, "%s", recorded == error ? detail : pl_error_class_text(error));
    exchange->payload = exchange->why;
    exchange->payload_length = strlen(exchange->why);
}

/* --- the coordinator ------------------------------------------------------------------------------------------- */

int pl_exchange_gather(struct pl_exchange *exchange)
{
    return pl_exchange_wait(exchange);
}

const void *pl_exchange_payload(const struct pl_exchange *exchange, uint32_t member, size_t *length)
{
    if (member == exchange->rank) {
        *length = exchange->payload_length;
        return exchange->payload;
    }
    const struct pl_exchange_request *request = exchange->requests[member];
    *length = request->payload_length;
    return request->payload;
}

static int exchange_answer_member(struct pl_exchange *exchange, uint32_t member, const struct pl_writer *message)
{
    struct pl_exchange_request *request = exchange->requests[member];
    int rank = pl_exchange_job_rank(exchange, member);
    int rc = pl_exchange_send_answer(exchange->listener, request, message);
    if (rc && pl_failure_engine_is_dead(request->from->engine, PL_PROC(0, rank)))
        rc = pl_fail(MPI_ERR_PROC_ABORTED, "\"%.80s\": rank %d (%d in the job) has died", exchange->tag, (int)member,
                     rank);
    return rc;
}

int pl_exchange_answer(struct pl_exchange *exchange, const void *data, size_t length)
{
    struct pl_writer message = pl_writer_growing(NULL, 0);
    int rc = MPI_SUCCESS;
    pl_write_i32(&message, MPI_SUCCESS);
    pl_write_raw(&message, data, length);
    if (message.failed)
        rc = pl_fail_memory("the answer to a group's members");
    pl_engine_enter(exchange->listener);
    for (uint32_t i = 0; !message.failed && i < exchange->size; i++) {
        int sent = exchange->requests[i] ? exchange_answer_member(exchange, i, &message) : MPI_SUCCESS;
        rc = rc ? rc : sent;
    }
    pl_engine_leave(exchange->listener);
    pl_writer_fini(&message);
    return rc;
}

/* --- a participant --------------------------------------------------------------------------------------------- */

int pl_exchange_join(struct pl_exchange *exchange, const void **data, size_t *length)
{
    int rc = pl_exchange_wait(exchange);
    if (rc == MPI_SUCCESS) {
        *data = exchange->answer;
        *length = exchange->answer_length;
    }
    return rc;
}

/* --- failure --------------------------------------------------------------------------------------------------- */

/* Tells a coordinator that may be waiting, although this process has not asked it: its listener must be found first. */
static void exchange_refuse_unasked(struct pl_exchange *exchange)
{
    struct pl_wait wait = { 0 };
    int64_t deadline = pl_deadline_after_ms(REFUSAL_MS);
    struct pl_peer *peer;
    int rc = PL_AGAIN;
    while (!pl_deadline_passed(deadline) && !pl_exchange_has_ended(exchange, exchange->coordinator) &&
           (rc = pl_listener_peer(exchange->listener, pl_exchange_job_rank(exchange, exchange->coordinator), &peer)) ==
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
    int recorded;
    snprintf(why, sizeof why, "%s", pl_error_detail(&recorded));
    if (recorded != error)
        snprintf(why, sizeof why, "%s", pl_error_class_text(error));
    pl_engine_enter(exchange->listener);
    exchange->error = error;
    snprintf(exchange->why, sizeof exchange->why, "%s", why);
    pl_exchange_forget_ended(exchange);
    if (pl_exchange_is_coordinator(exchange))
        pl_exchange_send_errors(exchange);
    else if (!exchange->asked && exchange->outer)
        exchange_refuse_unasked(exchange);
    else if (!exchange->answered && !exchange->leaving && pl_exchange_coordinator_listens(exchange))
        pl_exchange_send_leave(exchange, error);
    pl_engine_leave(exchange->listener);
    pl_fail(error, "%s", why); /* the search for the listener may have recorded another error */
}
