/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges: processes of the job that know each other's ranks and share a key trade data through their listeners.
 *
 * One member, known to all, is the coordinator. The other members are participants: each sends the key and a payload to
 * the coordinator, which sends one answer to all participants once it has every payload. Keys are compared in full, so
 * different exchanges never mix. One key may serve again and again, one exchange after the other.
 *
 * An exchange fails for all members that wait in it when a member has ended, or when the limit of a member expires. The
 * first process that notices tells the coordinator, and the coordinator tells the participants which members are
 * missing. Each participant itself notices the end of the coordinator.
 *
 * A member that has failed before takes part all the same (pl_exchange_decline()), since the others wait for it: once
 * all have joined, the exchange fails for all of them, with that member's error.
 *
 * The functions return MPI error classes: MPI_ERR_PROC_ABORTED, MPIX_ERR_TIMEOUT, or what went wrong. They take the
 * listener's lock; callers must not hold it. One thread uses an exchange.
 */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/object/group.h"
#include "mpi-ext.h"

struct pl_engine;
struct pl_exchange_request;
struct pl_peer;

/* The caller sets the first part before pl_exchange_open(). Its pointers are borrowed until pl_exchange_close(). */
struct pl_exchange {
    const void *key;
    size_t key_length;
    const struct pl_group *group;     /* the members, all of this job */
    uint32_t size, rank, coordinator; /* of the group; this process's rank in it; the coordinator's */
    const void *payload;
    size_t payload_length;
    const char *tag;              /* for messages */
    const char *members;          /* for messages: "processes of the group" */
    long timeout;                 /* milliseconds; 0: no limit */
    struct pl_exchange *outer;    /* its failure ends this one too; this process coordinates it. NULL: none */
    const struct pl_group *watch; /* processes whose end also fails the exchange; NULL: none */

    /* The exchange's own part, under the listener's lock. */
    struct pl_list link;
    struct pl_engine *listener;
    struct pl_exchange *inner; /* the one whose `outer` is this one, while it waits */
    int64_t began, deadline;   /* of pl_clock_ns(), as all times here */
    int64_t next_check, unreachable_since;
    uint32_t checks;         /* so far */
    int declined;            /* the error with which this member takes part; 0: none */
    int error;               /* the class of what ended it; 0: nothing has */
    char why[PL_DETAIL_MAX]; /* ... and the text */

    /* The coordinator's. */
    struct pl_exchange_request **requests; /* [size] of the members that have joined */
    uint32_t joined;                       /* members, this process included */
    bool complete; /* all have joined and their payloads are in use: no later request replaces theirs */

    /* A participant's. */
    uint64_t token;           /* names its request */
    struct pl_peer *asked;    /* the coordinator's listener that has the request; NULL: none has */
    unsigned char *answer;    /* what the coordinator answered */
    size_t answer_length;     /* ... in bytes */
    bool answered;            /* it has answered, or reported the failure */
    int leaving;              /* this participant has told the coordinator that it gives up with this error */
    int64_t leaving_deadline; /* ... and waits for the answer until then */
};

/* A process's rank in the job. */
static inline int pl_exchange_job_rank(const struct pl_exchange *exchange, uint32_t member)
{
    return PL_PROC_RANK(pl_group_proc(exchange->group, (int)member));
}

static inline bool pl_exchange_is_coordinator(const struct pl_exchange *exchange)
{
    return exchange->rank == exchange->coordinator;
}

/* Opens the listener and receives requests. pl_exchange_close() must follow, also after a failure. */
int pl_exchange_open(struct pl_exchange *exchange);
void pl_exchange_close(struct pl_exchange *exchange);

/* Before it waits: this member has failed, for the reason recorded last, of class `error`. */
void pl_exchange_decline(struct pl_exchange *exchange, int error);

/* The coordinator waits for all members. */
int pl_exchange_gather(struct pl_exchange *exchange);

/* After it: a member's payload, the coordinator's own included. Borrowed until the exchange closes. */
const void *pl_exchange_payload(const struct pl_exchange *exchange, uint32_t member, size_t *length);

/* The coordinator answers all participants. */
int pl_exchange_answer(struct pl_exchange *exchange, const void *data, size_t length);

/* A participant joins, and waits for the answer; it is borrowed until the exchange closes. */
int pl_exchange_join(struct pl_exchange *exchange, const void **data, size_t *length);

/* It has failed here, for the reason recorded last, of class `error`: tells the members that wait. */
void pl_exchange_refuse(struct pl_exchange *exchange, int error);

#endif
