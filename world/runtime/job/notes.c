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
#include "world/runtime/job/job_psets.h"
#include "world/runtime/job/slots.h"
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

/* `ended`: a job whose processes have all ended; it spawns nothing any more. NULL: none. */
static void notes_handle(struct plenum_runtime *rt, struct pl_job_note *note, const struct plenum_job *ended)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        if (job->cookie != note->cookie)
            continue;
        if (note->kind == PL_NOTE_SPAWN) {
            if (job != ended && !pl_job_is_part(job))
                pl_spawn_tree_spawn(job, note);
            return; /* the list of jobs may have changed */
        }
        if (note->kind == PL_NOTE_ERROR)
            notes_queue_error(job, note);
        else
            pl_job_psets_check(job);
    }
}

/* Reads once; false: there was nothing. Bytes that are not a whole note were not written by our library: they are
 * discarded with the rest of the read. */
static bool notes_read(struct plenum_runtime *rt, const struct plenum_job *ended)
{
    struct pl_job_note note[NOTES];
    ssize_t bytes = read(rt->notes.pipe[0], note, sizeof note);
    for (size_t i = 0; bytes > 0 && (i + 1) * sizeof *note <= (size_t)bytes && note[i].magic == PL_NOTE_MAGIC; i++)
        notes_handle(rt, &note[i], ended);
    if (rt->agent && bytes > 0) /* a note of a slot may have found the pipe full */
        PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
            pl_slots_check(job);
    return bytes > 0;
}

/* Once: a process that writes without end must not keep the runtime here. */
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
