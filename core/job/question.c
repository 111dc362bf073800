/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking process's side of a question. See question.h. */
#include "core/job/question.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/shared.h"
#include "core/job/note.h"
#include "core/job/process.h"

enum {
    QUESTION_SLEEP_NS = 20000, /* the first time; then twice as long each, */
    QUESTION_SLEEP_MAX_NS = 2000000,
    QUESTION_TRIES = 5000, /* a millisecond apart, to write a note into a pipe that is full */
};

bool pl_question_is_for_hosts(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    return identity->job && !identity->attached && identity->job->hosts > 0;
}

static int question_make_file(struct pl_question *question, enum pl_question_kind kind, const struct pl_writer *data)
{
    if (data->failed)
        return pl_fail(question->class, "out of memory for a question to the launcher");
    if (data->length > PL_QUESTION_MAX)
        return pl_fail(question->class, "the question to the launcher has %zu bytes, at most %d are allowed",
                       data->length, PL_QUESTION_MAX);
    question->bytes = sizeof *question->file + data->length;
    if (!pl_file_may_have(question->bytes))
        return pl_fail(question->class,
                       "a question to the launcher needs a memory file of %zu bytes, more than the limit "
                       "allows (ulimit -f)",
                       question->bytes);
    question->fd = memfd_create(PL_QUESTION_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (question->fd < 0 || ftruncate(question->fd, (off_t)question->bytes) != 0 ||
        fcntl(question->fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        return pl_fail_errno(question->class, "cannot create a memory file for a question to the launcher");
    void *at = mmap(NULL, question->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, question->fd, 0);
    if (at == MAP_FAILED)
        return pl_fail_errno(question->class, "cannot map a memory file of %zu bytes", question->bytes);
    question->file = at;
    question->file->magic = PL_QUESTION_MAGIC;
    question->file->kind = kind;
    question->file->length = (uint32_t)data->length;
    if (data->length)
        memcpy(question->file->data, data->data, data->length);
    return MPI_SUCCESS;
}

static uint32_t question_count_unread(void)
{
    const struct pl_job_told *told = pl_job_told(pl_process.identity.job, pl_process.identity.rank);
    return told ? atomic_load(&told->unread) : 0;
}

static bool question_launcher_lives(void)
{
    return kill(pl_process.identity.job->runtime_pid, 0) == 0 || errno != ESRCH;
}

/* A pipe that is full is read soon. */
static bool question_send_note(const struct pl_question *question)
{
    struct pl_job_note note = { .kind = PL_NOTE_QUESTION, .rank = pl_process.identity.rank, .code = question->fd };
    for (int tries = 0; !pl_job_note_send(pl_process.identity.job, &note); tries++) {
        if (errno != EAGAIN || tries == QUESTION_TRIES)
            return false;
        pl_clock_sleep_ns(PL_NS_PER_MS);
    }
    return true;
}

int pl_question_ask(struct pl_question *question, enum pl_question_kind kind, const struct pl_writer *data, int class)
{
    *question = (struct pl_question){ .fd = -1, .class = class };
    if (pl_process.identity.hidden) /* the runtime finds the file by this process's pid */
        return pl_fail(class, "this process has a pid namespace of its own, or no /proc, so the runtime that started "
                              "the job does not find it: let its container have the pids of the host (--pid=host)");
    int rc = question_make_file(question, kind, data);
    question->unread = question_count_unread();
    if (rc == MPI_SUCCESS && !question_send_note(question))
        rc = pl_fail(class, "the runtime that started this job does not answer");
    return rc;
}

enum pl_question_state pl_question_state(const struct pl_question *question)
{
    return (enum pl_question_state)atomic_load_explicit(&question->file->state, memory_order_acquire);
}

void pl_question_answer(const struct pl_question *question, char answer[PL_ANSWER_MAX])
{
    pl_copy_shared(answer, question->file->answer, PL_ANSWER_MAX);
    answer[PL_ANSWER_MAX - 1] = '\0';
}

int pl_question_check(struct pl_question *question)
{
    char answer[PL_ANSWER_MAX];
    enum pl_question_state state = pl_question_state(question);
    if (state == PL_QUESTION_REFUSED) {
        pl_question_answer(question, answer);
        return pl_fail(question->class, "%s", answer);
    }
    if (state != PL_QUESTION_OPEN)
        return MPI_SUCCESS;
    if (!question_launcher_lives())
        return pl_fail(question->class, "the runtime that started this job has ended");
    if (question_count_unread() != question->unread)
        return pl_fail(question->class, "the runtime that started this job could not read the request: it may be "
                                        "short of descriptors or memory, or may not see this process in /proc");
    return PL_AGAIN;
}

int pl_question_await(struct pl_question *question, bool progress)
{
    int rc;
    int64_t sleep = QUESTION_SLEEP_NS;
    while ((rc = pl_question_check(question)) == PL_AGAIN) {
        if (progress && pl_process_progress() > 0)
            continue;
        pl_clock_sleep_ns(sleep);
        sleep = 2 * sleep < QUESTION_SLEEP_MAX_NS ? 2 * sleep : QUESTION_SLEEP_MAX_NS;
    }
    return rc;
}

void pl_question_settle(const struct pl_question *question)
{
    if (question->file)
        atomic_store(&question->file->state, PL_QUESTION_MET);
}

void pl_question_close(struct pl_question *question)
{
    if (question->file)
        munmap(question->file, question->bytes);
    if (question->fd >= 0)
        close(question->fd);
    *question = (struct pl_question){ .fd = -1 };
}
