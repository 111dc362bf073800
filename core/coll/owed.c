/* SPDX-License-Identifier: BSD-3-Clause */
/* See owed.h. */
#include "core/coll/owed.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "core/coll/astray.h"
#include "core/coll/persistent.h"
#include "core/coll/schedule.h"
#include "core/coll/schedule_run.h"
#include "core/coll/statement.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_table.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

/* The header's `part`. Its tag is the collective's, or that in the area: pl_comm_coll.area.count. Its token is the
 * start (persistent.h) that the rank that asks is in. */
enum owed_part { PART_MESSAGE, PART_AREA, PART_NO_MESSAGE, PART_NO_AREA, PART_SENT };

/* The data of an answer that there is no message: which collective the rank that answers is in, if it knows. */
struct owed_words {
    char text[48];
};

/* The collective with this tag that this rank waits in: a thread in a long wait, or a nonblocking one. Empty: not
 * known. */
static struct owed_words owed_words_of(const struct pl_engine *engine, const struct pl_comm *comm, int tag)
{
    struct owed_words words = { "" };
    if (comm && comm->coll.owed.stands && comm->coll.owed.stands->tag == tag && comm->coll.owed.stands_in)
        pl_coll_words(comm->coll.owed.stands_in, words.text, sizeof words.text);
    PL_LIST_EACH(hook, &engine->hooks, struct pl_hook, link) {
        const struct pl_schedule *schedule = pl_schedule_of_hook(hook);
        if (comm && schedule && schedule->comm == comm && schedule->tag == tag)
            pl_coll_words_started(schedule, words.text, sizeof words.text);
    }
    return words;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static struct pl_header owed_question(const struct pl_comm *comm, enum owed_part part, int rank, int tag)
{
    return (struct pl_header){
        .home = comm->id.home, .serial = comm->id.serial, .source = rank, .tag = tag, .kind = PL_MSG_OWED, .part = part
    };
}

static void owed_send(struct pl_comm *comm, struct pl_header question)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_peer *peer;
    int rank = question.source;
    question.source = comm->rank;
    if (pl_engine_resolve(comm, rank, &peer) == MPI_SUCCESS && pl_list_empty(&peer->pending))
        pl_engine_control(engine, peer, &question, NULL, 0); /* else it asks later */
}

/* Questions are collected first, as sending them may change the lists. */
struct owed_questions {
    struct pl_header list[64];
    int count;
};

static void owed_add(struct owed_questions *questions, const struct pl_comm *comm, enum owed_part part, int rank,
                     int tag)
{
    const int most = sizeof questions->list / sizeof *questions->list;
    if (questions->count == most)
        return;
    struct pl_header *question = &questions->list[questions->count++];
    *question = owed_question(comm, part, rank, tag);
    question->token = pl_persistent_start(comm, tag);
}

/* Messages of a persistent collective that have not been taken. Of other collectives the receiver knows them. */
static void owed_add_sent(struct owed_questions *questions, const struct pl_comm *comm)
{
    PL_LIST_EACH(each, &comm->coll.persistent, struct pl_persistent, link) {
        const struct pl_schedule *schedule = PL_CONTAINER(each, const struct pl_schedule, persistent);
        bool waits = !pl_list_empty(&schedule->hook.link) && !schedule->busy;
        for (int i = schedule->settled; waits && i < schedule->next; i++) {
            const struct pl_step *step = &schedule->steps[i];
            if (step->kind == PL_STEP_SEND && step->request && !pl_request_done(step->request))
                owed_add(questions, comm, PART_SENT, step->peer, schedule->tag);
        }
    }
}

/* Is it time to ask again in this collective? After 1, 2, 4, ... 64 seconds: a rank that computes reads nothing. */
static bool owed_is_time(struct pl_comm *comm, const struct pl_header *question)
{
    uint32_t collective = (uint32_t)question->tag + (uint32_t)question->token;
    const long first = 1000000000, longest = 64 * first;
    struct pl_comm_owed *owed = &comm->coll.owed;
    long now = pl_clock_ns(), pause = owed->pause && owed->asked_in == collective ? owed->pause : first;
    if (now - owed->asked < pause)
        return false;
    owed->pause = 2 * pause < longest ? 2 * pause : longest;
    owed->asked = now;
    owed->asked_in = collective;
    return true;
}

void pl_owed_ask(struct pl_comm *comm, const struct pl_waiting *what)
{
    struct owed_questions questions;
    questions.count = 0;
    if (what && what->comm == comm && what->schedule) {
        comm->coll.owed.stands = what->schedule;
        comm->coll.owed.stands_in = what->describe == pl_coll_describe ? what->context : NULL;
        what->schedule->stands = true;
    }
    if (what && what->comm == comm && what->what == PL_WHAT_COLLECTIVE && !what->schedule)
        owed_add(&questions, comm, PART_AREA, what->peer, (int)comm->coll.area.count);
    PL_LIST_EACH(request, &comm->match.queues[PL_MSG_COLL].posted, struct pl_request, link)
        if (request->args.tag >= 0)
            owed_add(&questions, comm, PART_MESSAGE, request->args.peer_rank, request->args.tag);
    owed_add_sent(&questions, comm);
    if (questions.count == 0 || !owed_is_time(comm, &questions.list[0]))
        return;
    for (int i = 0; i < questions.count; i++)
        owed_send(comm, questions.list[i]);
}

void pl_owed_go_on(struct pl_schedule *schedule)
{
    struct pl_engine *engine = &schedule->comm->instance->engine;
    pl_engine_enter(engine);
    schedule->comm->coll.owed.stands = NULL;
    schedule->stands = false;
    pl_engine_leave(engine);
}

/* --- answering ---------------------------------------------------------------------------------------------------- */

/* Has a schedule sent all that it has for a rank? */
static bool owed_is_sent(const struct pl_schedule *schedule, int rank)
{
    if (schedule->busy || schedule->part)
        return false;
    for (int i = 0; i < schedule->count; i++) {
        const struct pl_step *step = &schedule->steps[i];
        if (step->kind == PL_STEP_SEND && step->peer == rank &&
            (i >= schedule->next || (step->request && !pl_request_done(step->request))))
            return false;
    }
    return true;
}

/* Has this rank sent all that its nonblocking collective with this tag has for a rank? In the checking mode it has
 * another tag first. */
static bool owed_are_sent(struct pl_engine *engine, const struct pl_comm *comm, int tag, int rank)
{
    PL_LIST_EACH(hook, &engine->hooks, struct pl_hook, link) {
        const struct pl_schedule *schedule = pl_schedule_of_hook(hook);
        if (schedule && schedule->comm == comm && (schedule->tag == tag || schedule->tag >= PL_AGREE_TAGS) &&
            !owed_is_sent(schedule, rank))
            return false;
    }
    return true;
}

static bool owed_is_over_blocking(const struct pl_comm *comm, int tag, int rank)
{
    const struct pl_schedule *stands = comm->coll.owed.stands;
    return stands && stands->tag == tag ? owed_is_sent(stands, rank) : pl_comm_has_ended(comm, tag);
}

static bool owed_is_over_nonblocking(struct pl_engine *engine, const struct pl_comm *comm, int tag, int rank)
{
    return pl_comm_has_started(comm, tag) && owed_are_sent(engine, comm, tag, rank);
}

static bool owed_is_over_persistent(const struct pl_schedule *schedule, uint32_t start, int rank)
{
    int32_t ahead = (int32_t)(pl_persistent_start(schedule->comm, schedule->tag) - start);
    if (ahead != 0)
        return ahead > 0;
    if (pl_request_done(schedule->persistent.request))
        return true;
    return !pl_list_empty(&schedule->hook.link) && owed_is_sent(schedule, rank);
}

/* Will this rank send nothing more to the one that asks, in the collective with this tag? */
static bool owed_is_over(struct pl_engine *engine, const struct pl_comm *comm, const struct pl_header *question)
{
    int tag = question->tag, rank = question->source;
    if (tag < 0)
        return false;
    if (tag < PL_NONBLOCKING_TAGS)
        return owed_is_over_blocking(comm, tag, rank);
    const struct pl_schedule *persistent = pl_persistent_find(comm, tag);
    return persistent ? owed_is_over_persistent(persistent, (uint32_t)question->token, rank)
                      : owed_is_over_nonblocking(engine, comm, tag, rank);
}

static bool owed_has_left(struct pl_engine *engine, const struct pl_comm *comm, const struct pl_header *question)
{
    if (question->part == PART_AREA)
        return (int)(comm->coll.area.count - (unsigned)question->tag) > 0;
    return owed_is_over(engine, comm, question);
}

static void owed_answer(struct pl_engine *engine, const struct pl_comm *comm, const struct pl_origin *from,
                        const struct pl_header *question)
{
    const struct pl_comm_freed *freed = comm ? NULL : pl_engine_freed_comm(engine, question);
    struct pl_header answer = *question;
    struct pl_peer *peer;
    if (comm ? !owed_has_left(engine, comm, question) : !freed || freed->failed)
        return;
    if (comm && atomic_load(&comm->health.failed)) { /* that is why it sends nothing */
        pl_comm_break_repeat(comm, from);
        return;
    }
    struct owed_words words = owed_words_of(engine, comm, question->tag);
    answer.source = comm ? comm->rank : freed->rank;
    answer.part = question->part == PART_AREA ? PART_NO_AREA : PART_NO_MESSAGE;
    answer.size = answer.part == PART_NO_MESSAGE ? sizeof words : 0;
    if (pl_engine_peer(engine, from->card, from->card_length, UINT64_MAX, &peer) == MPI_SUCCESS)
        pl_engine_control(engine, peer, &answer, &words, answer.size); /* else the question comes again */
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

bool pl_owed_nothing_by(const struct pl_comm *comm, int rank)
{
    return comm->coll.owed.left_by == rank + 1 && comm->coll.owed.left_in == comm->coll.area.count;
}

static bool owed_is_awaited(const struct pl_comm *comm, const struct pl_header *answer)
{
    PL_LIST_EACH(request, &comm->match.queues[PL_MSG_COLL].posted, struct pl_request, link)
        if (request->args.peer_rank == answer->source && request->args.tag == answer->tag)
            return pl_persistent_start(comm, answer->tag) == answer->token;
    return false;
}

static void owed_break(struct pl_comm *comm, const struct pl_header *answer, const struct owed_words *there)
{
    struct owed_words here = owed_words_of(&comm->instance->engine, comm, answer->tag);
    char why[160], other[64] = "";
    if (there && there->text[0])
        snprintf(other, sizeof other, "; it is in %.47s", there->text);
    if (here.text[0])
        snprintf(why, sizeof why, "the calls differ: rank %d sends nothing for %s here%s", answer->source, here.text,
                 other);
    else
        snprintf(why, sizeof why, "the calls differ: rank %d sends nothing for which this rank waits in a collective%s",
                 answer->source, other);
    pl_comm_break_for_all_locked(comm, MPI_ERR_OTHER, why);
}

static void owed_told(struct pl_comm *comm, const struct pl_header *answer, const void *data)
{
    if (answer->part == PART_NO_AREA) {
        comm->coll.owed.left_by = answer->source + 1;
        comm->coll.owed.left_in = (unsigned)answer->tag;
    } else if (owed_is_awaited(comm, answer)) {
        owed_break(comm, answer, data && answer->size == sizeof(struct owed_words) ? data : NULL);
    }
}

void pl_owed_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                     const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    (void)rndv; /* the data has been fetched */
    if (header->part == PART_MESSAGE || header->part == PART_AREA)
        owed_answer(engine, comm, from, header);
    else if (comm && !atomic_load(&comm->health.failed) && header->part == PART_SENT)
        pl_astray_sent(comm, header->source, header->tag, (uint32_t)header->token);
    else if (comm && !atomic_load(&comm->health.failed))
        owed_told(comm, header, data);
}
