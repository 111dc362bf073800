/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See notes.h. inotify would need no name for the pipe, but closing it takes the kernel 14 ms. Where the processes
 * cannot open the pipe, the runtime finds changes of process sets when the next process ends, and errors go to the
 * process's own log.
 */
#include "world/runtime/job/notes.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/job/note.h"
#include "world/runtime/event/event.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/job_psets.h"
#include "world/runtime/job/span_slots.h"
#include "world/runtime/job/spawn_tree.h"

enum {
    NOTES = 16,       /* in one read */
    NOTES_READS = 64, /* as many as empty a full pipe of 64 KiB, whatever the size of a note */
};

static void notes_queue_error(struct plenum_job *job, struct pl_job_note *note)
{
    note->object[sizeof note->object - 1] = note->message[sizeof note->message - 1] = '\0';
    if (note->rank >= 0 && note->rank < job->desc.size)
        pl_event_queue(job->runtime, pl_event_of_object(job, PLENUM_EVENT_ERROR, note->rank, note->code, note->object,
                                                        note->message));
}

/* `ended`: a job whose processes have all ended; its questions have no answers any more. NULL: none. */
static void notes_handle(struct plenum_runtime *rt, struct pl_job_note *note, const struct plenum_job *ended)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        if (job->cookie != note->cookie)
            continue;
        if (note->kind == PL_NOTE_QUESTION)
            pl_answers_take(job, note, job == ended);
        else if (note->kind == PL_NOTE_ERROR)
            notes_queue_error(job, note);
        else if (note->kind == PL_NOTE_UNABLE)
            pl_spawn_tree_check_unable(job); /* of all ranks: one that fails because of another may tell first */
        else
            pl_job_psets_check(job);
    }
}

/* Handles the whole notes among the bytes; our library did not write what is between them. Moves the rest, which may be
 * the beginning of a note, to the front, and returns its length. */
static size_t notes_find(struct plenum_runtime *rt, char *bytes, size_t length, const struct plenum_job *ended)
{
    struct pl_job_note note;
    size_t at = 0;
    while (length - at >= sizeof note) {
        memcpy(&note, bytes + at, sizeof note);
        if (note.magic == PL_NOTE_MAGIC)
            notes_handle(rt, &note, ended);
        at += note.magic == PL_NOTE_MAGIC ? sizeof note : 1;
    }
    memmove(bytes, bytes + at, length - at);
    return length - at;
}

/* Reads once, or until a note that was read in part is whole; false: there was nothing. */
static bool notes_read(struct plenum_runtime *rt, const struct plenum_job *ended)
{
    char bytes[NOTES * sizeof(struct pl_job_note)];
    size_t left = 0;
    int reads = 0;
    for (ssize_t got; reads < NOTES_READS; reads++) {
        got = reads == 0 || left > 0 ? read(rt->notes.pipe[0], bytes + left, sizeof bytes - left) : 0;
        if (got <= 0)
            break;
        left = notes_find(rt, bytes, left + (size_t)got, ended);
    }
    if (rt->agent && reads > 0) /* a note of a slot may have found the pipe full */
        PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
            pl_slots_check(job);
    return reads > 0;
}

/* Once: a process that writes notes without end must not keep the runtime here. */
static void notes_ready(struct pl_source *source)
{
    notes_read(PL_CONTAINER(source, struct plenum_runtime, notes.source), NULL);
}

void pl_notes_drain(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    for (int reads = 0; rt->notes.pipe[0] >= 0 && reads < NOTES_READS && notes_read(rt, job); reads++)
        ;
}

static void notes_open_pipe(struct plenum_runtime *rt)
{
    if (pipe2(rt->notes.pipe, O_NONBLOCK | O_CLOEXEC) != 0)
        return;
    rt->notes.source.ready = notes_ready;
    if (pl_runtime_watch(rt, rt->notes.pipe[0], &rt->notes.source) == PLENUM_OK)
        return;
    close(rt->notes.pipe[0]);
    close(rt->notes.pipe[1]);
    rt->notes.pipe[0] = rt->notes.pipe[1] = -1;
}

void pl_notes_watch(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    struct pl_job_segment *segment = (struct pl_job_segment *)job->segment;
    struct stat st;
    if (rt->notes.pipe[0] < 0)
        notes_open_pipe(rt);
    job->psets_version = 0;
    if (rt->notes.pipe[0] < 0 || fstat(rt->notes.pipe[1], &st) != 0)
        return;
    segment->note_pipe_fd = rt->notes.pipe[1];
    segment->note_pipe_inode = st.st_ino;
}
