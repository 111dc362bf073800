/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes from the processes of all jobs (core/job/note.h): one pipe a runtime. inotify would do without the pipe's
 * name, but closing it takes the kernel 14 ms. Where the processes cannot open the pipe, changes of process sets are
 * told with the next end of a process, and errors go to the process's own log.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/job/note.h"
#include "world/runtime/job/spawn_tree.h"

enum { NOTES = 16 };

static void tell_error(struct plenum_job *job, struct pl_job_note *note)
{
    note->object[sizeof note->object - 1] = note->message[sizeof note->message - 1] = '\0';
    if (note->rank >= 0 && note->rank < job->size)
        pl_event_queue(job->runtime, pl_event_of_object(job, PLENUM_EVENT_ERROR, note->rank, note->code, note->object,
                                                        note->message));
}

static void notes_take(struct plenum_runtime *rt, struct pl_job_note *note)
{
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive) {
        if (job->cookie != note->cookie)
            continue;
        if (note->kind == PL_NOTE_SPAWN) {
            pl_spawn_tree_spawn(job, note);
            return; /* the jobs may be others by now */
        }
        if (note->kind == PL_NOTE_ERROR)
            tell_error(job, note);
        else
            pl_job_psets_check(job);
    }
}

/* What is not a whole note was not written by our library: it is thrown away with what came together with it. One
 * look at a time: who writes without end must not keep the runtime here. */
static void notes_ready(struct pl_source *source)
{
    struct plenum_runtime *rt = PL_CONTAINER(source, struct plenum_runtime, notes_source);
    struct pl_job_note note[NOTES];
    ssize_t bytes = read(rt->notes[0], note, sizeof note);
    for (size_t i = 0; bytes > 0 && (i + 1) * sizeof *note <= (size_t)bytes && note[i].magic == PL_NOTE_MAGIC; i++)
        notes_take(rt, &note[i]);
}

static void open_pipe(struct plenum_runtime *rt)
{
    if (pipe2(rt->notes, O_NONBLOCK | O_CLOEXEC) != 0)
        return;
    rt->notes_source.ready = notes_ready;
    if (pl_runtime_watch(rt, rt->notes[0], &rt->notes_source) == PLENUM_OK)
        return;
    close(rt->notes[0]);
    close(rt->notes[1]);
    rt->notes[0] = rt->notes[1] = -1;
}

void pl_job_notes_watch(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    struct pl_job_segment *segment = (struct pl_job_segment *)job->segment;
    struct stat st;
    if (rt->notes[0] < 0)
        open_pipe(rt);
    job->psets_told = 0;
    if (rt->notes[0] < 0 || fstat(rt->notes[1], &st) != 0)
        return;
    segment->note_pipe_fd = rt->notes[1];
    segment->note_pipe_inode = st.st_ino;
}
