/* SPDX-License-Identifier: BSD-3-Clause */
/* Between exchange.c (what arrives and is said at the door) and exchange_wait.c (who waits, and how long). The door's
 * lock is held in all of it. */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_PARTS_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_PARTS_H

#include <stdbool.h>

#include "core/engine/transport.h"
#include "core/object/group.h"
#include "sessions/create/exchange.h"

/* What a message between doors is about; its tag. */
enum pl_listener_message {
    PL_EXCHANGE_JOIN =
        1, /* a guest comes: struct pl_exchange_join_head, key, gift; the token is its name for the meeting */
    PL_EXCHANGE_ANSWER,  /* to that token: an error class (4 bytes), then what the host tells, or why it failed */
    PL_EXCHANGE_LEAVE,   /* who has that token gives up: an error class, then why */
    PL_EXCHANGE_REFUSAL, /* a member will not come: struct pl_exchange_join_head, key, then as for leaving */
    PL_PORT_CALL,        /* to a port: sessions/port/parts.h, as all that follow; the token is its name for the call */
    PL_PORT_PROPOSE,     /* to that token: somebody accepts, or why nobody will */
    PL_PORT_CONFIRM,     /* who has that token is connected */
    PL_PORT_HANG_UP,     /* who has that token has given up, or was never there */
};

struct pl_exchange_join_head {
    uint32_t members, rank, key_length, payload_length;
};

/* A request, as it arrived. */
struct pl_exchange_request {
    struct pl_list link; /* in a list of those who have no place, or none */
    const struct pl_origin *from;
    struct pl_peer *peer; /* the way to it; NULL: not connected */
    uint64_t token;
    struct pl_exchange_join_head head; /* copied from `data`, and checked */
    unsigned char data[];
};

/* A member's rank in the job. */
static inline int pl_exchange_rank(const struct pl_exchange *exchange, uint32_t member)
{
    return PL_PROC_RANK(pl_group_proc(exchange->group, (int)member));
}

/* exchange.c */
int pl_exchange_send_join(struct pl_exchange *exchange, struct pl_peer *peer);
void pl_exchange_send_leave(struct pl_exchange *exchange, int error);
void pl_exchange_send_refusal(struct pl_exchange *exchange, struct pl_peer *peer);
void pl_exchange_send_errors(struct pl_exchange *exchange);
void pl_exchange_expel(struct pl_exchange *exchange, uint32_t member);          /* takes its place away */
void pl_exchange_forget_peer(struct pl_engine *listener, struct pl_peer *peer); /* no meeting knows it any more */

/* exchange_wait.c: who has not come, in words. */
void pl_exchange_describe_missing(const struct pl_exchange *exchange, char text[PL_DETAIL_MAX]);

#endif
