/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/job/segment.h"

/* Once the runtime is gone, the descriptor may mean something else: only the pipe is written to. */
static bool is_notes_pipe(const struct stat *st, const struct pl_job_segment *job)
{
    return S_ISFIFO(st->st_mode) && st->st_ino == job->note_pipe_inode;
}

/* A process that is short of descriptors has the most to tell: its soft limit is raised for a moment. */
static int note_open(const char *path)
{
    const int how = O_RDWR | O_NONBLOCK | O_CLOEXEC; /* for reading, too: if the runtime goes now, the pipe still has a
                                                        reader, and writing raises no SIGPIPE */
    struct rlimit soft, hard;
    int fd = open(path, how);
    if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &soft) != 0 || soft.rlim_cur >= soft.rlim_max)
        return fd;
    hard = soft;
    hard.rlim_cur = soft.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &hard) != 0)
        return fd;
    fd = open(path, how);
    int why = errno;
    setrlimit(RLIMIT_NOFILE, &soft);
    errno = why;
    return fd;
}

/* In a container /proc may not show the runtime, or not let this process open what the runtime has. */
static bool note_find_inherited(const struct pl_job_segment *job, char *path, size_t size)
{
    struct stat st;
    snprintf(path, size, "/proc/self/fd/%d", (int)job->notes_fd);
    return job->notes_fd > 0 && fstat(job->notes_fd, &st) == 0 && is_notes_pipe(&st, job);
}

bool pl_job_note_send(const struct pl_job_segment *job, struct pl_job_note *note)
{
    char path[48];
    struct stat st;
    errno = 0;
    if (!job || !job->note_pipe_inode)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)job->runtime_pid, (int)job->note_pipe_fd);
    if ((stat(path, &st) != 0 || !is_notes_pipe(&st, job)) && !note_find_inherited(job, path, sizeof path))
        return false;
    int fd = note_open(path);
    if (fd < 0)
        return false;
    note->magic = PL_NOTE_MAGIC;
    note->cookie = job->cookie;
    bool sent =
        fstat(fd, &st) == 0 && is_notes_pipe(&st, job) && write(fd, note, sizeof *note) == (ssize_t)sizeof *note;
    int why = errno;
    close(fd);
    errno = why;
    return sent;
}
