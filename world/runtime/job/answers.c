/* SPDX-License-Identifier: BSD-3-Clause */
/* See answers.h. Everything that a process has written is copied or checked before it is used. */
#include "world/runtime/job/answers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/shared.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/published_names.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/job/span_sets.h"
#include "world/runtime/job/spawn_tree.h"

#define ANSWERS_LINK "/memfd:" PL_QUESTION_NAME " (deleted)"

enum { ANSWERS_OPEN_MAX = 4096 /* questions of a job's part that an agent has passed on */ };

/* In an agent: a question that was passed on. */
struct answers_passed {
    struct pl_list node; /* in runtime->answers.passed */
    struct pl_asker from;
    enum pl_question_kind kind;
};

/* --- the asking process ------------------------------------------------------------------------------------------ */

/* The descriptor of the file that the note names; -1: it names none. */
static int answers_open_file(const struct plenum_job *job, const struct pl_job_note *note)
{
    char path[48], link[sizeof ANSWERS_LINK + 1];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pl_job_known_pid(&job->shared->ranks[note->rank]), note->code);
    if (readlink(path, link, sizeof link) != (ssize_t)sizeof ANSWERS_LINK - 1 ||
        memcmp(link, ANSWERS_LINK, sizeof ANSWERS_LINK - 1) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Maps the question of a rank of the job; false: it is not a valid one. */
static bool answers_map(const struct plenum_job *job, const struct pl_job_note *note, struct pl_asker *from)
{
    struct stat st;
    void *at = MAP_FAILED;
    int fd = answers_open_file(job, note);
    if (fd < 0)
        return false;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals >= 0 && seals & F_SEAL_SHRINK && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        st.st_size >= (off_t)sizeof(struct pl_job_question) &&
        st.st_size <= (off_t)sizeof(struct pl_job_question) + PL_QUESTION_MAX)
        at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    *from = (struct pl_asker){ .job = job->id, .rank = note->rank, .file = at, .bytes = (size_t)st.st_size };
    if (pl_read_shared(&from->file->magic) == PL_QUESTION_MAGIC && atomic_load(&from->file->state) == PL_QUESTION_OPEN)
        return true;
    pl_answers_close(from);
    return false;
}

void pl_answers_close(struct pl_asker *to)
{
    if (to->file)
        munmap(to->file, to->bytes);
    *to = (struct pl_asker){ .job = 0 };
}

static void answers_write(struct pl_job_question *file, enum pl_question_state state, const char *text)
{
    if (text)
        snprintf(file->answer, sizeof file->answer, "%s", text);
    atomic_store_explicit(&file->state, state, memory_order_release);
}

/* The runtime may be short of descriptors or memory: without an answer the process would wait for ever. */
static void answers_tell_unread(const struct plenum_job *job, int rank)
{
    struct pl_job_told *told = pl_job_told(job->segment, rank);
    if (told)
        atomic_fetch_add(&told->unread, 1);
}

/* A copy of the question, which the process cannot change. NULL: it is damaged, or memory is short. */
static struct pl_asked *answers_copy(const struct pl_asker *from)
{
    uint32_t length = pl_read_shared(&from->file->length), kind = pl_read_shared(&from->file->kind);
    if (length > from->bytes - sizeof *from->file || kind >= PL_QUESTION_KINDS)
        return NULL;
    struct pl_asked *asked = pl_malloc(sizeof *asked + length);
    if (!asked)
        return NULL;
    pl_list_init(&asked->node);
    asked->from = *from;
    asked->kind = (enum pl_question_kind)kind;
    asked->length = length;
    pl_copy_shared(asked->data, from->file->data, length);
    return asked;
}

/* --- in an agent ------------------------------------------------------------------------------------------------- */

static int answers_count_passed(const struct plenum_job *job)
{
    int count = 0;
    PL_LIST_EACH(passed, &job->runtime->answers.passed, struct answers_passed, node)
        count += passed->from.job == job->id;
    return count;
}

/* Steals the mapping of the question. */
static void answers_pass_on(struct plenum_job *job, struct pl_asked *asked)
{
    struct answers_passed *passed = answers_count_passed(job) < ANSWERS_OPEN_MAX ? pl_calloc(1, sizeof *passed) : NULL;
    if (!passed) {
        answers_write(asked->from.file, PL_QUESTION_REFUSED, "too many questions of this host have no answer yet");
        pl_answers_close(&asked->from);
        return;
    }
    asked->from.number = ++job->runtime->answers.last;
    passed->from = asked->from;
    passed->kind = asked->kind;
    pl_list_append(&job->runtime->answers.passed, &passed->node);
    struct pl_writer *to = pl_wire_begin(job->runtime->agent, PL_FRAME_QUESTION, job->launch.span->id);
    pl_write_u32(to, asked->from.number);
    pl_write_u32(to, (uint32_t)asked->from.rank);
    pl_write_u8(to, (uint8_t)asked->kind);
    pl_write_blob(to, asked->data, asked->length);
    pl_wire_end(job->runtime->agent);
}

static void answers_end_passed(struct answers_passed *passed)
{
    pl_list_remove(&passed->node);
    pl_answers_close(&passed->from);
    free(passed);
}

void pl_answers_pass(struct plenum_job *job, struct pl_reader *from)
{
    uint32_t number = pl_read_u32(from), state = pl_read_u8(from);
    char text[PL_ANSWER_MAX];
    size_t length;
    const char *answer = pl_read_text(from, sizeof text - 1, &length);
    if (!pl_reader_done(from) || state == PL_QUESTION_OPEN || state > PL_QUESTION_ENDED)
        return;
    snprintf(text, sizeof text, "%.*s", (int)length, answer);
    PL_LIST_EACH(passed, &job->runtime->answers.passed, struct answers_passed, node) {
        if (passed->from.job != job->id || passed->from.number != number)
            continue;
        answers_write(passed->from.file, (enum pl_question_state)state, text);
        if (passed->kind != PL_QUESTION_SPAWN || state != PL_QUESTION_DONE)
            answers_end_passed(passed);
        return;
    }
}

void pl_answers_forget(struct plenum_job *job)
{
    PL_LIST_EACH(passed, &job->runtime->answers.passed, struct answers_passed, node)
        if (passed->from.job == job->id)
            answers_end_passed(passed);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

void pl_answers_give(struct plenum_runtime *rt, const struct pl_asker *to, enum pl_question_state state,
                     const char *text)
{
    if (to->file) {
        answers_write(to->file, state, text);
        return;
    }
    struct plenum_job *job = to->job ? pl_job_find(rt, to->job) : NULL;
    if (!job || !pl_job_is_spread(job) || !pl_job_alive(job))
        return;
    struct pl_host *host = pl_span_host_of(job, (int)job->launch.span->host_of[to->rank]);
    if (!host)
        return;
    char answer[PL_ANSWER_MAX];
    snprintf(answer, sizeof answer, "%s", text ? text : "");
    struct pl_writer *out = pl_wire_begin(&host->wire, PL_FRAME_ANSWER, job->launch.span->id);
    pl_write_u32(out, to->number);
    pl_write_u8(out, (uint8_t)state);
    pl_write_text(out, answer);
    pl_wire_end(&host->wire);
    pl_host_flush(host);
}

static void answers_refuse(struct plenum_runtime *rt, struct pl_asker *to, const char *why)
{
    pl_answers_give(rt, to, PL_QUESTION_REFUSED, why);
    pl_answers_close(to);
}

/* The name and the value of a question about a name, for free(). False: it is damaged. */
static bool answers_read_name(struct pl_reader *from, char **name, char **value)
{
    const char *text[2];
    size_t length[2] = { 0, 0 };
    text[0] = pl_read_text(from, PL_ANSWER_MAX - 1, &length[0]);
    text[1] = value ? pl_read_text(from, PL_ANSWER_MAX - 1, &length[1]) : "";
    if (!pl_reader_done(from))
        return false;
    *name = pl_strndup(text[0], length[0]);
    if (value)
        *value = pl_strndup(text[1], length[1]);
    return true;
}

/* A name is published or withdrawn, or looked up. */
static void answers_about_name(struct plenum_job *job, struct pl_asked *asked)
{
    bool wants_value = asked->kind == PL_QUESTION_LOOKUP;
    struct pl_reader from = pl_reader(asked->data, asked->length);
    struct pl_name_owner owner = { job, asked->from.rank, wants_value ? 0 : pl_read_i32(&from) };
    char *name = NULL, *value = NULL, text[PL_ANSWER_MAX] = "the question about a name is damaged";
    bool done = answers_read_name(&from, &name, wants_value ? NULL : &value);
    if (done && (!name || (!wants_value && !value))) {
        snprintf(text, sizeof text, "out of memory for a published name");
        done = false;
    }
    if (done && wants_value)
        done = pl_job_names_find(job->runtime, name, text);
    else if (done && asked->kind == PL_QUESTION_PUBLISH)
        done = pl_job_names_publish(&owner, name, value, text);
    else if (done)
        done = pl_job_names_withdraw(&owner, name, value, text);
    pl_answers_give(job->runtime, &asked->from, done ? PL_QUESTION_DONE : PL_QUESTION_REFUSED,
                    done && !wants_value ? NULL : text);
    free(name);
    free(value);
}

static void answers_about_host(struct plenum_job *job, struct pl_asked *asked)
{
    if (!pl_job_is_spread(job))
        answers_refuse(job->runtime, &asked->from, "the job is not on hosts, and has this on its own machine");
    else if (asked->kind == PL_QUESTION_SET || asked->kind == PL_QUESTION_NO_SET)
        pl_span_sets_answer(job, asked);
    else
        answers_about_name(job, asked);
}

/* Steals the question. */
static void answers_handle(struct plenum_job *job, struct pl_asked *asked)
{
    if (asked->kind == PL_QUESTION_SPAWN) {
        pl_list_append(&job->runtime->answers.asked, &asked->node);
        return;
    }
    answers_about_host(job, asked);
    pl_answers_close(&asked->from);
    free(asked);
}

void pl_answers_take(struct plenum_job *job, const struct pl_job_note *note, bool ended)
{
    struct pl_asker from;
    if (ended || !job->segment || note->rank < 0 || note->rank >= job->desc.size)
        return;
    if (!answers_map(job, note, &from)) {
        answers_tell_unread(job, note->rank);
        return;
    }
    struct pl_asked *asked = answers_copy(&from);
    if (!asked) {
        answers_refuse(job->runtime, &from, "the question is damaged, or the runtime is short of memory");
    } else if (pl_job_is_part(job) && job->runtime->agent) {
        answers_pass_on(job, asked);
        free(asked);
    } else {
        answers_handle(job, asked);
    }
}

/* Has the rank ended, or will it soon? */
static const char *answers_reason_to_refuse(const struct plenum_job *job, int rank)
{
    if (job->phase != PL_JOB_RUNNING)
        return "the job is ending";
    return job->ranks[rank].ended ? "the process has ended" : NULL;
}

void pl_answers_hear(struct plenum_job *job, int part, struct pl_reader *from)
{
    uint32_t number = pl_read_u32(from), rank = pl_read_u32(from), kind = pl_read_u8(from);
    size_t length;
    const unsigned char *data = pl_read_blob(from, PL_QUESTION_MAX, &length);
    if (!pl_reader_done(from) || rank >= (uint32_t)job->desc.size || job->launch.span->host_of[rank] != (uint32_t)part)
        return;
    struct pl_asker asker = { .job = job->id, .rank = (int)rank, .number = number };
    const char *why = kind < PL_QUESTION_KINDS ? answers_reason_to_refuse(job, (int)rank) : "the question is unknown";
    struct pl_asked *asked = why ? NULL : pl_malloc(sizeof *asked + length);
    if (!asked) {
        answers_refuse(job->runtime, &asker, why ? why : "the runtime is short of memory");
        return;
    }
    *asked = (struct pl_asked){ .from = asker, .kind = (enum pl_question_kind)kind, .length = length };
    pl_list_init(&asked->node);
    memcpy(asked->data, data, length);
    answers_handle(job, asked);
}

void pl_answers_advance(struct plenum_runtime *rt)
{
    struct pl_list *node;
    while (!rt->use.stopped && (node = pl_list_pop(&rt->answers.asked))) {
        struct pl_asked *asked = PL_CONTAINER(node, struct pl_asked, node);
        pl_spawn_tree_spawn(rt, asked);
        pl_answers_close(&asked->from);
        free(asked);
    }
}

void pl_answers_free(struct plenum_runtime *rt)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&rt->answers.asked))) {
        struct pl_asked *asked = PL_CONTAINER(node, struct pl_asked, node);
        pl_answers_close(&asked->from);
        free(asked);
    }
    PL_LIST_EACH(passed, &rt->answers.passed, struct answers_passed, node)
        answers_end_passed(passed);
    pl_job_names_free(rt);
}
