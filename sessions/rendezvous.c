/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rendezvous of a group's members. Who waits is in `meetings`; who came before the first member asked is in `early`.
 * Both, and everything in a meeting, are protected by the front door's engine lock.
 */
#include "sessions/rendezvous.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/comm.h"
#include "core/errhandler.h"
#include "core/error.h"
#include "core/group.h"
#include "core/info.h"
#include "core/instance.h"
#include "core/memory.h"
#include "sessions/door.h"

/* A member's request, as it arrives: these numbers, then the ranks, the tag, the address card. */
struct join {
    uint32_t members, tag_length, card_length, rank;
};

/* The answer: the id, then for every member the length (2 bytes) and the bytes of its card. */
struct answer {
    uint64_t home;
    uint32_t serial, members;
};

enum { KIND_JOIN = 1, KIND_ANSWER = 2 };
enum { PATIENCE = 5 }; /* seconds */

struct meeting {
    struct pl_list link;
    const int32_t *ranks;        /* [members] ranks in the job */
    const char *tag;
    uint32_t members, tag_length;
    struct pl_book *book;        /* filled as they come (first member), or by the answer */
    struct pl_comm_id id;
    const struct pl_origin **from; /* [members] first member only: whom to answer; NULL: has not come */
    uint64_t *tokens;            /* [members] what they call their meeting */
    uint32_t arrived;
    int error;
    bool done;
};

/* A request that came before the meeting was opened here. */
struct early {
    struct pl_list link;
    const struct pl_origin *from;
    uint64_t token;
    size_t size;
    unsigned char data[];
};

static struct pl_list meetings = { &meetings, &meetings };
static struct pl_list early = { &early, &early };

/* --- arrivals, with the door's lock held ------------------------------------------------------------------------------ */

/* The parts of a request, checked to lie inside it. */
static bool read_join(const void *data, size_t size, struct join *join, const int32_t **ranks, const char **tag, const void **card)
{
    if (size < sizeof *join)
        return false;
    memcpy(join, data, sizeof *join);
    size_t list = (size_t)join->members * sizeof **ranks;
    if (join->card_length > PL_CARD_MAX || size != sizeof *join + list + join->tag_length + join->card_length || join->rank >= join->members)
        return false;
    *ranks = (const void *)((const char *)data + sizeof *join);
    *tag = (const char *)data + sizeof *join + list;
    *card = *tag + join->tag_length;
    return true;
}

static bool same_meeting(const struct meeting *meeting, const struct join *join, const int32_t *ranks, const char *tag)
{
    return meeting->from && meeting->members == join->members && meeting->tag_length == join->tag_length &&
           memcmp(meeting->ranks, ranks, join->members * sizeof *ranks) == 0 && memcmp(meeting->tag, tag, join->tag_length) == 0;
}

static void set_card(struct pl_book *book, uint32_t rank, const void *card, size_t length)
{
    book->cards[rank].length = (uint16_t)length;
    memcpy(book->cards[rank].data, card, length);
}

/* True when the request belongs to this meeting. */
static bool take_join(struct meeting *meeting, const struct pl_origin *from, uint64_t token, const void *data, size_t size)
{
    struct join join;
    const int32_t *ranks;
    const char *tag;
    const void *card;
    if (!read_join(data, size, &join, &ranks, &tag, &card) || !same_meeting(meeting, &join, ranks, tag) || meeting->from[join.rank])
        return false;
    meeting->from[join.rank] = from;
    meeting->tokens[join.rank] = token;
    meeting->arrived++;
    set_card(meeting->book, join.rank, card, join.card_length);
    return true;
}

static void join_arrived(const struct pl_origin *from, uint64_t token, const void *data, size_t size)
{
    PL_LIST_EACH(meeting, &meetings, struct meeting, link)
        if (take_join(meeting, from, token, data, size))
            return;
    struct early *kept = pl_malloc(sizeof *kept + size);
    if (!kept)
        return;
    kept->from = from;
    kept->token = token;
    kept->size = size;
    memcpy(kept->data, data, size);
    pl_list_append(&early, &kept->link);
}

static bool read_answer(struct meeting *meeting, const unsigned char *data, size_t size)
{
    struct answer answer;
    const unsigned char *at = data + sizeof answer, *end = data + size;
    if (size < sizeof answer)
        return false;
    memcpy(&answer, data, sizeof answer);
    if (answer.members != meeting->members)
        return false;
    for (uint32_t i = 0; i < answer.members; i++) {
        uint16_t length;
        if (end - at < (ptrdiff_t)sizeof length)
            return false;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length > PL_CARD_MAX || end - at < length)
            return false;
        set_card(meeting->book, i, at, length);
        at += length;
    }
    meeting->id = (struct pl_comm_id){ answer.home, answer.serial };
    return true;
}

static void answer_arrived(uint64_t token, const void *data, size_t size)
{
    PL_LIST_EACH(meeting, &meetings, struct meeting, link)
        if ((uint64_t)(uintptr_t)meeting == token && !meeting->done) {
            if (!read_answer(meeting, data, size))
                meeting->error = pl_fail(MPI_ERR_OTHER, "the answer of the group's first member is damaged");
            meeting->done = true;
        }
}

static void door_arrived(struct pl_engine *door, const struct pl_origin *from, const struct pl_header *header, const void *data)
{
    (void)door;
    if (header->tag == KIND_JOIN)
        join_arrived(from, header->token, data, header->size);
    else if (header->tag == KIND_ANSWER)
        answer_arrived(header->token, data, header->size);
}

/* --- the two roles ------------------------------------------------------------------------------------------------------ */

static int send_answers(struct pl_engine *door, struct meeting *meeting)
{
    size_t size = sizeof(struct answer);
    for (uint32_t i = 0; i < meeting->members; i++)
        size += 2 + meeting->book->cards[i].length;
    unsigned char *message = pl_malloc(size), *at = message;
    if (!message)
        return pl_fail_memory("the answer to a group's members");
    struct answer answer = { meeting->id.home, meeting->id.serial, meeting->members };
    memcpy(at, &answer, sizeof answer);
    at += sizeof answer;
    for (uint32_t i = 0; i < meeting->members; i++) {
        uint16_t length = meeting->book->cards[i].length;
        memcpy(at, &length, sizeof length);
        memcpy(at + sizeof length, meeting->book->cards[i].data, length);
        at += sizeof length + length;
    }
    int rc = MPI_SUCCESS;
    for (uint32_t i = 1; i < meeting->members; i++) {
        struct pl_peer *peer;
        struct pl_header header = { .kind = PL_MSG_DOOR, .tag = KIND_ANSWER, .token = meeting->tokens[i] };
        int sent = pl_engine_peer(door, meeting->from[i]->card, meeting->from[i]->card_length, PL_PROC(0, meeting->ranks[i]), &peer);
        if (sent == MPI_SUCCESS)
            sent = pl_engine_control(door, peer, &header, message, size);
        rc = rc ? rc : sent;
    }
    free(message);
    return rc;
}

/* The first member: gathers, chooses, answers. */
static int host_meeting(struct pl_engine *door, struct meeting *meeting)
{
    unsigned rounds = 0;
    pl_engine_enter(door);
    PL_LIST_EACH(guest, &early, struct early, link)
        if (take_join(meeting, guest->from, guest->token, guest->data, guest->size)) {
            pl_list_remove(&guest->link);
            free(guest);
        }
    for (;;) {
        int events = pl_engine_progress(door);
        if (meeting->arrived == meeting->members)
            break;
        pl_engine_leave(door);
        rounds = events ? 0 : rounds;
        pl_door_idle(door, &rounds);
        pl_engine_enter(door);
    }
    meeting->id = pl_comm_new_id();
    int rc = send_answers(door, meeting);
    pl_engine_leave(door);
    return rc;
}

static int send_join(struct pl_engine *door, struct pl_peer *peer, struct meeting *meeting, uint32_t rank, const struct pl_engine *engine)
{
    struct join join = { meeting->members, meeting->tag_length, (uint32_t)engine->card_length, rank };
    size_t list = meeting->members * sizeof *meeting->ranks, size = sizeof join + list + join.tag_length + join.card_length;
    unsigned char *message = pl_malloc(size), *at = message;
    if (!message)
        return pl_fail_memory("a request to a group's first member");
    memcpy(at, &join, sizeof join);
    memcpy(at += sizeof join, meeting->ranks, list);
    memcpy(at += list, meeting->tag, join.tag_length);
    memcpy(at + join.tag_length, engine->card, join.card_length);
    struct pl_header header = { .kind = PL_MSG_DOOR, .tag = KIND_JOIN, .token = (uint64_t)(uintptr_t)meeting };
    int rc = pl_engine_control(door, peer, &header, message, size);
    free(message);
    return rc;
}

/* Where a member has asked, and since when the first member's door could not be reached. */
struct quest {
    struct pl_peer *asked;
    struct timespec since;
    bool failing;
};

/* A door that cannot be reached may be one that has just closed, whose address is still posted: for a while that is no
 * error. */
static int put_up_with(struct quest *quest, int error)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!quest->failing)
        quest->since = now;
    quest->failing = true;
    return now.tv_sec - quest->since.tv_sec < PATIENCE ? MPI_SUCCESS : error;
}

/* Asks at the first member's door, if it is open and is not the one where we asked before. */
static int ask(struct pl_engine *door, struct meeting *meeting, uint32_t rank, const struct pl_engine *engine, struct quest *quest)
{
    struct pl_peer *peer;
    int rc = pl_door_peer(door, meeting->ranks[0], &peer);
    if (rc == PL_AGAIN || (rc == MPI_SUCCESS && peer == quest->asked))
        return MPI_SUCCESS;
    if (rc)
        return put_up_with(quest, rc);
    if (quest->asked)
        pl_engine_forget(door, quest->asked); /* that door has closed, and will not say that it got our request */
    quest->asked = peer;
    quest->failing = false;
    return send_join(door, peer, meeting, rank, engine);
}

/*
 * Everybody else: asks, waits for the answer. The first member's door may not be open yet. It may also be about to
 * close, when the first member is still busy with the end of an earlier life: what we said there is forgotten, and a
 * new door opens with a new address. So we look again while we wait, and ask again at the new one. An answer is never
 * lost that way: a door closes only when all that it sent was taken.
 */
static int attend_meeting(struct pl_engine *door, struct meeting *meeting, uint32_t rank, const struct pl_engine *engine)
{
    struct quest quest = { .asked = NULL };
    unsigned rounds = 0;
    int rc = MPI_SUCCESS;
    pl_engine_enter(door);
    while (rc == MPI_SUCCESS) {
        int events = pl_engine_progress(door);
        if (meeting->done)
            break;
        rc = ask(door, meeting, rank, engine, &quest);
        if (rc)
            break;
        pl_engine_leave(door);
        rounds = events ? 0 : rounds;
        pl_door_idle(door, &rounds);
        pl_engine_enter(door);
    }
    pl_engine_leave(door);
    return rc ? rc : meeting->error;
}

static int meet(struct pl_group *group, const char *tag, const struct pl_engine *engine, struct pl_book *book, struct pl_comm_id *id)
{
    size_t n = (size_t)group->size;
    bool first = group->rank == 0;
    struct meeting meeting = { .members = (uint32_t)n, .tag = tag, .tag_length = (uint32_t)strlen(tag), .book = book };
    int32_t *ranks = pl_malloc(n * sizeof *ranks);
    meeting.from = first ? pl_calloc(n, sizeof *meeting.from) : NULL;
    meeting.tokens = first ? pl_calloc(n, sizeof *meeting.tokens) : NULL;
    int rc = MPI_SUCCESS;
    struct pl_engine *door = NULL;
    if (!ranks || (first && (!meeting.from || !meeting.tokens)))
        rc = pl_fail_memory("a meeting of a group");
    if (rc == MPI_SUCCESS)
        rc = pl_door_open(door_arrived, &door);
    if (rc)
        goto memory;
    for (size_t i = 0; i < n; i++)
        ranks[i] = PL_PROC_RANK(pl_group_proc(group, (int)i));
    meeting.ranks = ranks;
    set_card(book, (uint32_t)group->rank, engine->card, engine->card_length);
    meeting.arrived = 1;
    if (first)
        meeting.from[0] = &pl_door_self;

    pl_engine_enter(door);
    pl_list_append(&meetings, &meeting.link);
    pl_engine_leave(door);
    rc = first ? host_meeting(door, &meeting) : attend_meeting(door, &meeting, (uint32_t)group->rank, engine);
    pl_engine_enter(door);
    pl_list_remove(&meeting.link);
    pl_engine_leave(door);
    *id = meeting.id;
memory:
    free(meeting.tokens);
    free(meeting.from);
    free(ranks);
    return rc;
}

/* --- the communicator ----------------------------------------------------------------------------------------------------- */

/* The instance of a group, if it is still open. */
static struct pl_instance *instance_of(const struct pl_group *group)
{
    struct pl_instance *instance = (struct pl_instance *)group->instance;
    if (instance && instance == pl_world)
        return instance->serial == group->instance_serial ? instance : NULL;
    instance = pl_object_find(PL_SESSION, instance);
    return instance && instance->open && instance->serial == group->instance_serial ? instance : NULL;
}

int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler, struct pl_comm **comm)
{
    struct pl_comm *made;
    struct pl_comm_id id;
    *comm = NULL;
    if (group->size == 0)
        return MPI_SUCCESS;
    struct pl_instance *instance = instance_of(group);
    if (!instance)
        return pl_fail(MPI_ERR_GROUP, "the session of group is finalized");
    if (group->rank == MPI_UNDEFINED)
        return pl_fail(MPI_ERR_GROUP, "this process is not a member of group, which has %d", group->size);
    struct pl_book *book = pl_book_create(group);
    if (!book)
        return MPI_ERR_NO_MEM;
    int rc = MPI_SUCCESS;
    if (group->size > 1)
        rc = meet(group, tag, &instance->engine, book, &id);
    else
        id = pl_comm_new_id();
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(instance, NULL, group, NULL, id, &made);
    if (rc) {
        pl_book_release(book);
        return rc;
    }
    made->book = book;
    if (errhandler) {
        pl_object_release(made->errhandler);
        made->errhandler = pl_object_retain(errhandler);
    }
    if (info)
        made->info = pl_info_dup(info);
    *comm = made;
    return MPI_SUCCESS;
}

void pl_rendezvous_forget(void)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&early)) != NULL)
        free(PL_CONTAINER(node, struct early, link));
}
