/* SPDX-License-Identifier: BSD-3-Clause */
/* Between exchange.c (what arrives and is said at the door) and exchange_wait.c (who waits, and how long). The door's
 * lock is held in all of it. */
#ifndef PLENUM_SESSIONS_CREATE_EXCHANGE_PARTS_H
#define PLENUM_SESSIONS_CREATE_EXCHANGE_PARTS_H

#include <stdbool.h>

#include "core/object/group.h"
#include "core/engine/transport.h"
#include "sessions/create/exchange.h"

/* What a message between doors is about; its tag. */
enum pl_door_message {
    PL_DOOR_JOIN = 1, /* a guest comes: struct pl_join, key, gift; the token is its name for the meeting */
    PL_DOOR_ANSWER,   /* to that token: an error class (4 bytes), then what the host tells, or why it failed */
    PL_DOOR_LEAVE,    /* who has that token gives up: an error class, then why */
    PL_DOOR_REFUSAL,  /* a member will not come: struct pl_join, key, then as for leaving */
    PL_DOOR_CALL,     /* to a port: sessions/port/parts.h, as all that follow; the token is its name for the call */
    PL_DOOR_OFFER,    /* to that token: somebody accepts, or why nobody will */
    PL_DOOR_TAKE,     /* who has that token is connected */
    PL_DOOR_HANG_UP,  /* who has that token has given up, or was never there */
};

struct pl_join {
    uint32_t members, rank, key_length, gift_length;
};

/* A request, as it arrived. */
struct pl_guest {
    struct pl_list link;          /* in a list of those who have no place, or none */
    const struct pl_origin *from;
    struct pl_peer *peer;         /* the way to it; NULL: not connected */
    uint64_t token;
    struct pl_join head;          /* copied from `data`, and checked */
    unsigned char data[];
};

/* A member's rank in the job. */
static inline int pl_meeting_rank(const struct pl_meeting *meeting, uint32_t member)
{
    return PL_PROC_RANK(pl_group_proc(meeting->group, (int)member));
}

/* exchange.c */
int pl_meeting_send_join(struct pl_meeting *meeting, struct pl_peer *peer);
void pl_meeting_send_leave(struct pl_meeting *meeting, int error);
void pl_meeting_send_refusal(struct pl_meeting *meeting, struct pl_peer *peer);
void pl_meeting_send_errors(struct pl_meeting *meeting);
void pl_meeting_expel(struct pl_meeting *meeting, uint32_t member); /* takes its place away */
void pl_meeting_forget_peer(struct pl_engine *door, struct pl_peer *peer); /* no meeting knows it any more */

/* exchange_wait.c: who has not come, in words. */
void pl_meeting_describe_missing(const struct pl_meeting *meeting, char text[PL_DETAIL_MAX]);

#endif
