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

#include "core/engine/engine.h"
#include "core/engine/peer_failure.h"
#include "core/base/memory.h"
#include "core/job/process.h"
#include "sessions/create/listener.h"
#include "sessions/create/exchange_parts.h"
#include "sessions/port/parts.h"

enum { GONE_MAX = 64 };

static struct pl_list meetings = { &meetings, &meetings };
static struct pl_list early = { &early, &early };
static struct pl_list gone = {
    &gone, &gone
}; /* who gave up before what they asked for was here: a long request comes later */
static int gone_count;
static uint64_t tokens; /* given to meetings so far */

/* --- who comes ------------------------------------------------------------------------------------------------- */

static bool read_guest(struct pl_guest *guest, size_t size)
{
    if (size < sizeof guest->head)
        return false;
    memcpy(&guest->head, guest->data, sizeof guest->head);
    return guest->head.rank < guest->head.members &&
           size == sizeof guest->head + (uint64_t)guest->head.key_length + guest->head.gift_length;
}

static const unsigned char *key_of(const struct pl_guest *guest)
{
    return guest->data + sizeof guest->head;
}

static bool wants(const struct pl_guest *guest, const struct pl_meeting *meeting)
{
    return meeting->guests && !meeting->gathered && !meeting->error && guest->head.members == meeting->members &&
           guest->head.rank != meeting->me && guest->head.key_length == meeting->key_length &&
           memcmp(key_of(guest), meeting->key, meeting->key_length) == 0;
}

/* Who comes from another door than before has closed that one: what it said there does not count any more. */
static bool replaces(const struct pl_guest *guest, const struct pl_guest *before)
{
    return guest->from->engine != before->from->engine;
}

/* True when the guest has a place now. Its connection is made at once, so that its end is noticed. */
static bool seat(struct pl_meeting *meeting, struct pl_guest *guest)
{
    struct pl_guest **place = wants(guest, meeting) ? &meeting->guests[guest->head.rank] : NULL;
    if (!place || (*place && !replaces(guest, *place)))
        return false;
    pl_list_remove(&guest->link);
    meeting->arrived += !*place;
    free(*place);
    *place = guest;
    if (pl_engine_peer(meeting->door, guest->from->card, guest->from->card_length,
                       PL_PROC(0, pl_meeting_rank(meeting, guest->head.rank)), &guest->peer))
        guest->peer = NULL; /* tried again, and reported, when it is told */
    return true;
}

static void drop_outdated(const struct pl_guest *guest)
{
    PL_LIST_EACH (before, &early, struct pl_guest, link)
        if (before->head.rank == guest->head.rank && before->head.key_length == guest->head.key_length &&
            replaces(guest, before) && memcmp(key_of(before), key_of(guest), guest->head.key_length) == 0) {
            pl_list_remove(&before->link);
            free(before);
        }
}

static bool same_request(const struct pl_guest *guest, const struct pl_origin *from, uint64_t token)
{
    return guest->from->engine == from->engine && guest->token == token;
}

static void forget_gone(struct pl_guest *left)
{
    pl_list_remove(&left->link);
    free(left);
    gone_count--;
}

static bool has_gone(const struct pl_guest *guest)
{
    PL_LIST_EACH (left, &gone, struct pl_guest, link)
        if (same_request(left, guest->from, guest->token)) {
            forget_gone(left);
            return true;
        }
    return false;
}

static void join_arrived(const struct pl_origin *from, uint64_t token, const void *data, size_t size)
{
    struct pl_guest *guest = pl_malloc(sizeof *guest + size);
    if (!guest)
        return;
    *guest = (struct pl_guest){ .from = from, .token = token };
    pl_list_init(&guest->link);
    memcpy(guest->data, data, size);
    if (!read_guest(guest, size) || has_gone(guest)) {
        free(guest);
        return;
    }
    PL_LIST_EACH (meeting, &meetings, struct pl_meeting, link)
        if (seat(meeting, guest))
            return;
    drop_outdated(guest);
    pl_list_append(&early, &guest->link);
}

/* --- who is told ----------------------------------------------------------------------------------------------- */

static int say(struct pl_engine *door, struct pl_peer *peer, int kind, uint64_t token, const void *data, size_t size)
{
    struct pl_header header = { .kind = PL_MSG_DOOR, .tag = kind, .token = token };
    return pl_engine_control(door, peer, &header, data, size);
}

static int answer(struct pl_engine *door, struct pl_guest *guest, const void *data, size_t size)
{
    int rc = guest->peer ? MPI_SUCCESS
                         : pl_engine_peer(door, guest->from->card, guest->from->card_length, UINT64_MAX, &guest->peer);
    return rc ? rc : say(door, guest->peer, PL_DOOR_ANSWER, guest->token, data, size);
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

static void answer_error(struct pl_engine *door, struct pl_guest *guest, int error, const char *why)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, error, why);
    answer(door, guest, message, size); /* who cannot be told has gone */
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

static void wake(struct pl_engine *door)
{
    if (atomic_load(&door->sleepers) > 0)
        pl_engine_wake(door);
}

static void answer_arrived(struct pl_engine *door, uint64_t token, const unsigned char *data, size_t size)
{
    int32_t class;
    PL_LIST_EACH (meeting, &meetings, struct pl_meeting, link) {
        if (meeting->token != token || meeting->guests || meeting->done)
            continue;
        meeting->done = true;
        wake(door);
        if (size < sizeof class || (meeting->answer = pl_malloc(size)) == NULL) {
            meeting->error = MPI_ERR_OTHER;
            snprintf(meeting->why, sizeof meeting->why, "the answer of rank %d of the job is lost",
                     pl_meeting_rank(meeting, meeting->host));
            return;
        }
        memcpy(meeting->answer, data, size);
        meeting->answer_length = size;
        memcpy(&class, data, sizeof class);
        if (class != MPI_SUCCESS && !read_error(data, size, &meeting->error, meeting->why))
            meeting->error = MPI_ERR_OTHER;
    }
}

/* --- who gives up ---------------------------------------------------------------------------------------------- */

static void end(struct pl_meeting *meeting, int error, const char *why)
{
    if (meeting->error)
        return;
    meeting->error = error;
    snprintf(meeting->why, sizeof meeting->why, "%s", why);
    wake(meeting->door);
}

/* Or what they asked for has been answered already, so that there is nothing to come: the oldest are forgotten. */
static void remember_gone(const struct pl_origin *from, uint64_t token)
{
    struct pl_guest *left = pl_malloc(sizeof *left);
    if (!left)
        return;
    *left = (struct pl_guest){ .from = from, .token = token };
    pl_list_append(&gone, &left->link);
    if (++gone_count > GONE_MAX)
        forget_gone(PL_CONTAINER(gone.next, struct pl_guest, link));
}

/* A guest gives up. The one that the host has not even asked for gets its answer here: the host has not come. */
static void leave_arrived(struct pl_engine *door, const struct pl_origin *from, uint64_t token,
                          const unsigned char *data, size_t size)
{
    int error;
    char why[PL_DETAIL_MAX];
    if (!read_error(data, size, &error, why))
        return;
    PL_LIST_EACH (guest, &early, struct pl_guest, link)
        if (same_request(guest, from, token)) {
            pl_list_remove(&guest->link);
            answer_error(door, guest, error, why);
            free(guest);
            return;
        }
    PL_LIST_EACH (meeting, &meetings, struct pl_meeting, link)
        for (uint32_t i = 0; meeting->guests && i < meeting->members; i++) {
            struct pl_guest *guest = meeting->guests[i];
            if (!guest || !same_request(guest, from, token))
                continue;
            if (error == MPIX_ERR_TIMEOUT) /* the host knows better who is missing */
                pl_meeting_describe_missing(meeting, why);
            end(meeting, error, why);
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
    PL_LIST_EACH (meeting, &meetings, struct pl_meeting, link)
        if (meeting->guests && meeting->key_length == head.key_length &&
            memcmp(meeting->key, key, head.key_length) == 0) {
            end(meeting, error, why);
            return;
        }
}

static void arrived(struct pl_engine *door, const struct pl_origin *from, const struct pl_header *header,
                    const void *data)
{
    switch (header->tag) {
    case PL_DOOR_JOIN: join_arrived(from, header->token, data, header->size); break;
    case PL_DOOR_ANSWER: answer_arrived(door, header->token, data, header->size); break;
    case PL_DOOR_LEAVE: leave_arrived(door, from, header->token, data, header->size); break;
    case PL_DOOR_REFUSAL: refusal_arrived(data, header->size); break;
    default: pl_port_arrived(door, from, header, data); break;
    }
}

int pl_meeting_door(struct pl_engine **door)
{
    return pl_door_open(arrived, door);
}

/* --- what is said ---------------------------------------------------------------------------------------------- */

static int send_join(struct pl_meeting *meeting, struct pl_peer *peer, int kind, const void *gift, size_t gift_length)
{
    struct pl_join head = { meeting->members, meeting->me, meeting->key_length, (uint32_t)gift_length };
    size_t size = sizeof head + meeting->key_length + gift_length;
    unsigned char few[512], *message = size <= sizeof few ? few : pl_malloc(size);
    if (!message)
        return pl_fail_memory("a request to a group's first member");
    memcpy(message, &head, sizeof head);
    memcpy(message + sizeof head, meeting->key, meeting->key_length);
    if (gift_length)
        memcpy(message + sizeof head + meeting->key_length, gift, gift_length);
    int rc = say(meeting->door, peer, kind, meeting->token, message, size);
    if (message != few)
        free(message);
    return rc;
}

int pl_meeting_send_join(struct pl_meeting *meeting, struct pl_peer *peer)
{
    return send_join(meeting, peer, PL_DOOR_JOIN, meeting->gift, meeting->gift_length);
}

void pl_meeting_send_leave(struct pl_meeting *meeting, int error)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, error, meeting->why);
    say(meeting->door, meeting->asked, PL_DOOR_LEAVE, meeting->token, message, size);
}

void pl_meeting_send_refusal(struct pl_meeting *meeting, struct pl_peer *peer)
{
    unsigned char message[sizeof(int32_t) + PL_DETAIL_MAX];
    size_t size = write_error(message, meeting->error, meeting->why);
    send_join(meeting, peer, PL_DOOR_REFUSAL, message, size);
}

void pl_meeting_send_errors(struct pl_meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->members; i++)
        if (meeting->guests[i])
            answer_error(meeting->door, meeting->guests[i], meeting->error, meeting->why);
}

void pl_meeting_expel(struct pl_meeting *meeting, uint32_t member)
{
    free(meeting->guests[member]);
    meeting->guests[member] = NULL;
    meeting->arrived--;
}

void pl_meeting_forget_peer(struct pl_engine *door, struct pl_peer *peer)
{
    PL_LIST_EACH (meeting, &meetings, struct pl_meeting, link) {
        if (meeting->asked == peer)
            meeting->asked = NULL;
        for (uint32_t i = 0; meeting->guests && i < meeting->members; i++)
            if (meeting->guests[i] && meeting->guests[i]->peer == peer)
                meeting->guests[i]->peer = NULL;
    }
    pl_engine_forget(door, peer);
}

int pl_meeting_tell(struct pl_meeting *meeting, const void *data, size_t length)
{
    int32_t success = MPI_SUCCESS;
    unsigned char *message = pl_malloc(sizeof success + length);
    if (!message)
        return pl_fail_memory("the answer to a group's members");
    memcpy(message, &success, sizeof success);
    memcpy(message + sizeof success, data, length);
    int rc = MPI_SUCCESS;
    pl_engine_enter(meeting->door);
    for (uint32_t i = 0; i < meeting->members; i++)
        if (meeting->guests[i]) {
            int sent = answer(meeting->door, meeting->guests[i], message, sizeof success + length);
            if (sent && pl_lost_outlived(meeting->guests[i]->from->engine, PL_PROC(0, pl_meeting_rank(meeting, i))))
                sent = pl_fail(MPI_ERR_PROC_ABORTED, "\"%.80s\": of %s rank %d has died", meeting->tag, meeting->who,
                               (int)i);
            rc = rc ? rc : sent;
        }
    pl_engine_leave(meeting->door);
    free(message);
    return rc;
}

const void *pl_meeting_gift(const struct pl_meeting *meeting, uint32_t member, size_t *length)
{
    if (member == meeting->me) {
        *length = meeting->gift_length;
        return meeting->gift;
    }
    const struct pl_guest *guest = meeting->guests[member];
    *length = guest->head.gift_length;
    return key_of(guest) + guest->head.key_length;
}

/* --- life ------------------------------------------------------------------------------------------------------ */

int pl_meeting_open(struct pl_meeting *meeting)
{
    pl_list_init(&meeting->link);
    if (meeting->me == meeting->host) {
        meeting->guests = pl_calloc(meeting->members, sizeof(struct pl_guest *));
        if (!meeting->guests)
            return pl_fail_memory("a meeting of a group");
    }
    int rc = pl_meeting_door(&meeting->door);
    if (rc)
        return rc;
    pl_engine_enter(meeting->door);
    meeting->token = ++tokens;
    meeting->arrived = 1;
    pl_list_append(&meetings, &meeting->link);
    bool seated = false;
    PL_LIST_EACH (guest, &early, struct pl_guest, link)
        seated |= seat(meeting, guest);
    while (seated && pl_engine_progress(meeting->door) > 0) /* some may have given up since */
        continue;
    pl_engine_leave(meeting->door);
    return MPI_SUCCESS;
}

void pl_meeting_close(struct pl_meeting *meeting)
{
    if (meeting->door) {
        pl_engine_enter(meeting->door);
        pl_list_remove(&meeting->link);
        pl_engine_leave(meeting->door);
    }
    for (uint32_t i = 0; meeting->guests && i < meeting->members; i++)
        free(meeting->guests[i]);
    free(meeting->guests);
    free(meeting->answer);
}

void pl_meeting_forget_early(void)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&early)) != NULL || (node = pl_list_pop(&gone)) != NULL)
        free(PL_CONTAINER(node, struct pl_guest, link));
    gone_count = 0;
}
