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
#include "core/job/process.h"
#include "core/engine/wait_report.h"
#include "sessions/create/listener.h"
#include "sessions/create/exchange_parts.h"

enum {
    LOOK_MS = 20,        /* between looks at who lives */
    LOOK_ROUNDS = 64,    /* rounds of progress before the first look at the clock */
    UNREACHED_MS = 5000, /* a door that cannot be reached may be one that has just closed: no error for so long */
    PARTING_MS = 1000,   /* for the host to answer one that gives up */
    NAP_US = 10000,      /* the longest sleep of one who waits for a door to open */
    NAMED = 8,           /* processes that a message names */
};

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A door that cannot be reached may be one that has just closed, whose address is still posted: true for a while. */
static bool put_up_with(struct pl_meeting *meeting)
{
    long now = now_ms();
    if (!meeting->failing_since)
        meeting->failing_since = now;
    return now - meeting->failing_since < UNREACHED_MS;
}

static bool is_host(const struct pl_meeting *meeting)
{
    return meeting->guests != NULL;
}

/* --- who is missing -------------------------------------------------------------------------------------------- */

/* A text that grows; what has no room is cut. */
struct text {
    char *at;
    size_t room;
    int named, more;
};

static void append(struct text *text, const char *format, int a, int b)
{
    int length = snprintf(text->at, text->room, format, a, b);
    size_t used = length < 0 ? 0 : (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += used;
    text->room -= used;
}

static void name(struct text *text, int in_group, int in_job)
{
    if (text->named++ == NAMED)
        text->more++;
    else if (text->more)
        text->more++;
    else if (in_group >= 0)
        append(text, text->named > 1 ? ", rank %d (%d in the job)" : " rank %d (%d in the job)", in_group, in_job);
    else
        append(text, text->named > 1 ? ", rank %d in the job" : " rank %d in the job", in_job, 0);
}

static void close_text(struct text *text)
{
    if (text->more)
        append(text, " and %d more", text->more, 0);
}

/* A guest only knows about the host. */
static bool is_missing(const struct pl_meeting *meeting, uint32_t i)
{
    return i != meeting->me && (is_host(meeting) ? !meeting->guests[i] : i == meeting->host);
}

void pl_meeting_describe_missing(const struct pl_meeting *meeting, char why[PL_DETAIL_MAX])
{
    if (meeting->inner) { /* all have come here, and wait for those */
        pl_meeting_describe_missing(meeting->inner, why);
        return;
    }
    long waited = now_ms() - meeting->began;
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": of %s these have not come within %ld.%ld s:", meeting->tag,
                          meeting->who, waited / 1000, waited % 1000 / 100);
    struct text text = { .at = why + length, .room = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < meeting->members; i++)
        if (is_missing(meeting, i))
            name(&text, (int)i, pl_meeting_rank(meeting, i));
    close_text(&text);
}

/* --- who has ended --------------------------------------------------------------------------------------------- */

static struct pl_peer *peer_of(const struct pl_meeting *meeting, uint32_t i)
{
    if (!is_host(meeting))
        return i == meeting->host ? meeting->asked : NULL;
    return meeting->guests[i] ? meeting->guests[i]->peer : NULL;
}

/* Where the launcher does not tell, a connection that stays lost does. */
static bool has_ended(struct pl_meeting *meeting, uint32_t i)
{
    int rc = pl_process_alive(PL_PROC(0, pl_meeting_rank(meeting, i)));
    const struct pl_peer *peer = peer_of(meeting, i);
    return rc == MPI_ERR_PROC_ABORTED || (rc == PL_AGAIN && peer && peer->error && !put_up_with(meeting));
}

/* True, and who they are, when some of those whom this process waits for have ended. */
static bool describe_ended(struct pl_meeting *meeting, char why[PL_DETAIL_MAX])
{
    int length = snprintf(why, PL_DETAIL_MAX, "\"%.80s\": of %s these have ended:", meeting->tag, meeting->who);
    struct text text = { .at = why + length, .room = PL_DETAIL_MAX - (size_t)length };
    for (uint32_t i = 0; i < meeting->members; i++)
        if (i != meeting->me && has_ended(meeting, i))
            name(&text, (int)i, pl_meeting_rank(meeting, i));
    for (int i = 0; meeting->others && i < meeting->others->size; i++)
        if (pl_process_alive(pl_group_proc(meeting->others, i)) == MPI_ERR_PROC_ABORTED)
            name(&text, -1, PL_PROC_RANK(pl_group_proc(meeting->others, i)));
    close_text(&text);
    return text.named > 0;
}

/* --- giving up ------------------------------------------------------------------------------------------------- */

static int report(const struct pl_meeting *meeting)
{
    return pl_fail(meeting->error, "%s", meeting->why);
}

static bool host_listens(const struct pl_meeting *meeting)
{
    return meeting->asked && !meeting->asked->error;
}

/* The host gives up at once; a guest that has asked waits for a word of the host. */
static int give_up(struct pl_meeting *meeting, int error, long now)
{
    if (is_host(meeting) || !host_listens(meeting)) {
        meeting->error = error;
        return report(meeting);
    }
    pl_meeting_send_leave(meeting, error);
    meeting->parting = error;
    meeting->parting_until = now + PARTING_MS;
    return MPI_SUCCESS;
}

static bool settled(const struct pl_meeting *meeting)
{
    return is_host(meeting) ? meeting->arrived == meeting->members : meeting->done;
}

/* What the ended had said before is read. */
static void catch_up(struct pl_meeting *meeting)
{
    for (int i = 0; i < 1000 && pl_engine_progress(meeting->door) > 0; i++)
        continue;
}

/* Nothing more is said to the ended, and the door does not wait, when it closes, for them to take what was. */
static void forget_ended(struct pl_meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->members; i++) {
        struct pl_peer *peer = i == meeting->me || !has_ended(meeting, i) ? NULL : peer_of(meeting, i);
        if (is_host(meeting) && peer)
            pl_meeting_expel(meeting, i);
        if (peer)
            pl_meeting_forget_peer(meeting->door, peer);
    }
}

/* Looks who still lives, and at the clock. */
static int look(struct pl_meeting *meeting, long now)
{
    char why[PL_DETAIL_MAX];
    meeting->look_at = now + LOOK_MS;
    if (meeting->parting) {
        if (now < meeting->parting_until && host_listens(meeting))
            return MPI_SUCCESS;
        meeting->error = meeting->parting;
        return report(meeting);
    }
    if (describe_ended(meeting, why)) {
        catch_up(meeting);
        if (settled(meeting) || meeting->error)
            return MPI_SUCCESS;
        forget_ended(meeting);
        snprintf(meeting->why, sizeof meeting->why, "%s", why);
        return give_up(meeting, MPI_ERR_PROC_ABORTED, now);
    }
    if (!meeting->patience || now - meeting->began < meeting->patience)
        return MPI_SUCCESS;
    pl_meeting_describe_missing(meeting, meeting->why);
    return give_up(meeting, MPIX_ERR_TIMEOUT, now);
}

/* --- waiting --------------------------------------------------------------------------------------------------- */

/*
 * Asks at the host's door, if it is open and is not the one where we asked before. The door may also be about to close,
 * when the host is still busy with the end of an earlier life: what we said there is forgotten, and a new door opens
 * with a new address. So we look again while we wait, and ask again at the new one. An answer is never lost that way:
 * a door closes only when all that it sent was taken.
 */
static int ask(struct pl_meeting *meeting)
{
    struct pl_peer *peer;
    if (meeting->parting)
        return MPI_SUCCESS;
    int rc = pl_door_peer(meeting->door, pl_meeting_rank(meeting, meeting->host), &peer);
    if (rc == PL_AGAIN || (rc == MPI_SUCCESS && peer == meeting->asked))
        return MPI_SUCCESS;
    if (rc)
        return put_up_with(meeting) ? MPI_SUCCESS : rc;
    if (meeting->asked)
        pl_meeting_forget_peer(meeting->door,
                               meeting->asked); /* that door has closed, and will not say that it got our request */
    meeting->asked = peer;
    meeting->failing_since = 0;
    return pl_meeting_send_join(meeting, peer);
}

/* Nothing wakes a guest when the host's door opens: it sleeps for a small part of the time that it has waited already,
 * so that it comes only a little late. */
static void idle(struct pl_meeting *meeting, struct pl_wait *wait)
{
    long waited = is_host(meeting) || meeting->asked || wait->rounds < LOOK_ROUNDS ? 0 : now_ms() - meeting->began;
    if (waited == 0) {
        pl_door_idle(meeting->door, wait);
        return;
    }
    pl_report_look(meeting->door, NULL, wait);
    if (pl_engine_nudge_others(meeting->door) > 0)
        return;
    long microseconds = waited * 1000 / 8;
    nanosleep(&(struct timespec){ .tv_nsec = 1000 * (microseconds < NAP_US ? microseconds : NAP_US) }, NULL);
}

/* Who has not come, for a report. Lock held. */
static void describe_wait(const void *context, struct pl_job_item *item)
{
    const struct pl_meeting *meeting = context;
    snprintf(item->object, sizeof item->object, "%.63s", meeting->tag);
    item->waited = (now_ms() - meeting->began) * 1000000;
    for (uint32_t i = 0; i < meeting->members; i++)
        if (is_missing(meeting, i))
            pl_report_await(item, pl_meeting_rank(meeting, i));
}

static int wait_for_all(struct pl_meeting *meeting)
{
    struct pl_engine *door = meeting->door;
    const struct pl_waiting what = {
        .what = PL_WHAT_MEETING, .peer = PL_NOBODY, .tag = PL_ANY, .describe = describe_wait, .context = meeting
    };
    struct pl_wait wait = { .what = &what };
    unsigned turns = 0;
    for (;;) {
        int events = pl_engine_progress(door), rc = MPI_SUCCESS;
        if (meeting->error)
            return report(meeting);
        if (meeting->outer && meeting->outer->error)
            return report(meeting->outer);
        if (settled(meeting))
            return MPI_SUCCESS;
        if (!is_host(meeting))
            rc = ask(meeting);
        if (rc == MPI_SUCCESS && (wait.rounds > LOOK_ROUNDS || ++turns % LOOK_ROUNDS == 0)) {
            long now = now_ms();
            if (now >= meeting->look_at)
                rc = look(meeting, now);
        }
        if (rc)
            return rc;
        pl_engine_leave(door);
        wait.rounds = events ? 0 : wait.rounds;
        idle(meeting, &wait);
        pl_engine_enter(door);
    }
}

static int wait_inside(struct pl_meeting *meeting)
{
    pl_engine_enter(meeting->door);
    meeting->began = now_ms();
    if (meeting->outer)
        meeting->outer->inner = meeting;
    int rc = wait_for_all(meeting);
    if (meeting->outer)
        meeting->outer->inner = NULL;
    meeting->gathered = rc == MPI_SUCCESS;
    pl_engine_leave(meeting->door);
    return rc;
}

int pl_meeting_gather(struct pl_meeting *meeting)
{
    return wait_inside(meeting);
}

int pl_meeting_attend(struct pl_meeting *meeting, const void **data, size_t *length)
{
    int rc = wait_inside(meeting);
    if (rc == MPI_SUCCESS) {
        *data = meeting->answer + sizeof(int32_t);
        *length = meeting->answer_length - sizeof(int32_t);
    }
    return rc;
}

/* To a host that may wait already, though nobody here has asked it. Its door may have to be found yet. */
static void refuse_at_door(struct pl_meeting *meeting)
{
    struct pl_wait wait = { 0 };
    long until = now_ms() + PARTING_MS;
    struct pl_peer *peer;
    int rc = PL_AGAIN;
    while (now_ms() < until && !has_ended(meeting, meeting->host) &&
           (rc = pl_door_peer(meeting->door, pl_meeting_rank(meeting, meeting->host), &peer)) == PL_AGAIN) {
        pl_engine_leave(meeting->door);
        pl_door_idle(meeting->door, &wait);
        pl_engine_enter(meeting->door);
        pl_engine_progress(meeting->door);
    }
    if (rc == MPI_SUCCESS)
        pl_meeting_send_refusal(meeting, peer);
}

void pl_meeting_refuse(struct pl_meeting *meeting, int error)
{
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    pl_engine_enter(meeting->door);
    meeting->error = error;
    snprintf(meeting->why, sizeof meeting->why, "%s", why);
    forget_ended(meeting);
    if (is_host(meeting))
        pl_meeting_send_errors(meeting);
    else if (!meeting->asked && meeting->outer)
        refuse_at_door(meeting);
    else if (!meeting->done && !meeting->parting && host_listens(meeting))
        pl_meeting_send_leave(meeting, error);
    pl_engine_leave(meeting->door);
    pl_fail(error, "%s", why); /* looking for the door may have recorded another */
}
