/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of ranks to their runtime, and the questions that notes name: whole and damaged ones, of any kind and job, to a
 * runtime and to an agent, which passes them on and gets answers. Texts that become events are printable lines; a valid
 * question is answered. No process is started. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "api/plenum.h"
#include "core/job/question.h"
#include "core/job/sets.h"
#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"
#include "world/runtime/job/segment_make.h"

static int fuzz_launch(struct plenum_job *job);

#include "world/runtime/job/notes.c"
#define plenum_job_launch fuzz_launch
#include "world/runtime/job/spawn_tree.c"
#undef plenum_job_launch
#include "world/runtime/job/answers.c"

enum { SIZE = 3, NOTES_MAX = 12, COOKIE = 77, CAPACITY = 1024, TEXT_MAX = 4096 };

static struct plenum_runtime *runtime;
static struct pl_job_segment description;
static struct pl_job_shared *shared;
static size_t shared_bytes;
static struct fuzz *input;

static void start(void)
{
    size_t ranks = (sizeof *shared + SIZE * sizeof(struct pl_job_rank) + 63) / 64 * 64;
    shared_bytes = ranks + PL_JOB_TABLE_BYTES(CAPACITY);
    shared = aligned_alloc(64, (shared_bytes + 63) / 64 * 64);
    description = (struct pl_job_segment){ .size = SIZE, .table = ranks, .table_capacity = CAPACITY, .tenants = 1 };
    FUZZ_CHECK(plenum_runtime_open(&runtime) == PLENUM_OK && pipe2(runtime->notes.pipe, O_NONBLOCK | O_CLOEXEC) == 0);
}

FUZZ(start, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "\x02\x02{ \"programs\": [ { \"argv\": [\"true\"], \"ranks\": 3, \"env\": { \"A\": \"b\" } } ] }",
     "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02")

static int fuzz_launch(struct plenum_job *job)
{
    FUZZ_CHECK(job->desc.size > 0 && job->tree.parents.file && job->tree.port);
    if (fuzz_byte(input) % 4 == 3)
        return pl_rt_fail(PLENUM_ERR_SYSTEM, "no processes");
    pl_spawn_tree_started(job);
    return PLENUM_OK;
}

/* A job that has this segment, and would run. */
static struct plenum_job *make_job(void)
{
    struct plenum_job *job;
    FUZZ_CHECK(plenum_job_create_json(runtime, "{ \"programs\": [ { \"argv\": [\"a\"], \"ranks\": 3 } ] }", &job) ==
               PLENUM_OK);
    memset(shared, 0, shared_bytes);
    for (int r = 0; r < SIZE; r++)
        atomic_store(&shared->ranks[r].process, (int32_t)getpid());
    job->segment = &description;
    job->shared = shared;
    job->cookie = COOKIE;
    job->ranks = calloc(SIZE, sizeof *job->ranks);
    FUZZ_CHECK(job->ranks);
    job->phase = PL_JOB_RUNNING;
    pl_list_append(&runtime->alive, &job->alive);
    return job;
}

static void end_job(struct plenum_job *job)
{
    pl_list_remove(&job->alive);
    job->segment = NULL;
    job->shared = NULL;
    free(job->ranks);
    job->ranks = NULL;
    job->phase = PL_JOB_FINISHED;
    plenum_job_close(job);
}

/* The data of a question for processes, or anything. */
static void put_data(struct pl_writer *to)
{
    static const char valid_text[] = "{ \"programs\": [ { \"argv\": [\"b\"], \"ranks\": 2 } ] }";
    if (fuzz_byte(input) % 4 == 3) {
        pl_write_raw(to, input->at, fuzz_left(input) < TEXT_MAX / 2 ? fuzz_left(input) : TEXT_MAX / 2);
        return;
    }
    pl_write_text(to, "a port");
    if (fuzz_byte(input) % 2) {
        size_t length = fuzz_left(input) < TEXT_MAX / 2 ? fuzz_left(input) : TEXT_MAX / 2;
        pl_write_blob(to, input->at, length);
    } else {
        pl_write_text(to, valid_text);
    }
    unsigned count = fuzz_byte(input) % 4;
    pl_write_leb128(to, count);
    for (unsigned i = 0; i < count; i++)
        pl_write_text(to, fuzz_byte(input) % 2 ? "a:2,b" : "");
}

/* The memory file of a question, and its descriptor. */
static int make_question(void)
{
    unsigned char data[TEXT_MAX];
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    struct pl_job_question question = { .magic = PL_QUESTION_MAGIC, .state = PL_QUESTION_OPEN };
    int fd = memfd_create(fuzz_byte(input) % 16 ? PL_QUESTION_NAME : "other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    put_data(&to);
    size_t length = fuzz_byte(input) % 4 == 3 ? fuzz_damage(input, data, to.length) : to.length;
    question.kind = fuzz_byte(input) % 4 ? PL_QUESTION_SPAWN : (uint32_t)fuzz_byte(input) % (PL_QUESTION_KINDS + 1);
    question.length = fuzz_byte(input) % 8 ? (uint32_t)length : (uint32_t)fuzz_number(input);
    if (fuzz_byte(input) % 16 == 15)
        question.magic = (uint32_t)fuzz_number(input);
    if (fuzz_byte(input) % 16 == 15)
        question.state = (uint32_t)fuzz_number(input);
    FUZZ_CHECK(fd >= 0 && write(fd, &question, sizeof question) == sizeof question &&
               write(fd, data, length) == (ssize_t)length);
    if (fuzz_byte(input) % 16 == 15)
        FUZZ_CHECK(ftruncate(fd, (off_t)(fuzz_number(input) % (32u << 20))) == 0);
    if (fuzz_byte(input) % 16)
        FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    return fd;
}

/* The job becomes a part of one over two hosts, and its runtime an agent's. */
static void make_part(struct plenum_job *job)
{
    static struct pl_wire wire;
    int pair[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    close(pair[1]);
    wire = (struct pl_wire){ .in = -1 };
    pl_wire_open(&wire, pair[0], pair[0]);
    job->launch.span = calloc(1, sizeof *job->launch.span);
    job->launch.span->host_of = calloc(SIZE, sizeof *job->launch.span->host_of);
    job->launch.span->host_of[SIZE - 1] = 1;
    job->launch.span->hosts = 2;
    runtime->agent = &wire;
}

static void end_part(void)
{
    if (!runtime->agent)
        return;
    pl_wire_close(runtime->agent);
    runtime->agent = NULL;
}

/* What the other runtime answers to the agent. */
static void answer(struct plenum_job *job)
{
    unsigned char body[512];
    struct pl_writer to = pl_writer_fixed(body, sizeof body);
    pl_write_u32(&to, fuzz_byte(input) % 8 ? runtime->answers.last : (uint32_t)fuzz_number(input));
    pl_write_u8(&to, (uint8_t)(fuzz_byte(input) % (PL_QUESTION_ENDED + 2)));
    pl_write_text(&to, fuzz_byte(input) % 2 ? "a port" : "");
    size_t length = fuzz_byte(input) % 8 == 7 ? fuzz_damage(input, body, to.length) : to.length;
    struct pl_reader from = pl_reader(body, length);
    pl_answers_pass(job, &from);
}

static void put_text(char *text, size_t size)
{
    size_t length = fuzz_byte(input) % 8 == 7 ? size : fuzz_byte(input) % 20;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(i < 20 ? fuzz_byte(input) : 'x');
}

static void write_note(int question)
{
    static struct pl_job_note note;
    note = (struct pl_job_note){
        .magic = fuzz_byte(input) % 16 ? PL_NOTE_MAGIC : (uint32_t)fuzz_number(input),
        .kind = fuzz_byte(input) % 8 ? fuzz_byte(input) % (PL_NOTE_QUESTION + 1) : (uint32_t)fuzz_number(input),
        .cookie = fuzz_byte(input) % 16 ? COOKIE : fuzz_number(input),
        .rank = fuzz_byte(input) % 8 ? (int32_t)fuzz_byte(input) % SIZE : (int32_t)fuzz_number(input),
        .code = fuzz_byte(input) % 8 ? question : (int32_t)fuzz_number(input),
    };
    put_text(note.object, sizeof note.object);
    put_text(note.message, sizeof note.message);
    size_t bytes = fuzz_byte(input) % 16 ? sizeof note : fuzz_below(input, sizeof note);
    if (bytes > 0)
        FUZZ_CHECK(write(runtime->notes.pipe[1], &note, bytes) == (ssize_t)bytes);
}

static void check_events(void)
{
    PL_LIST_EACH(event, &runtime->events, struct pl_event, node) {
        const struct plenum_event *e = &event->public;
        char *line = plenum_event_json(e);
        FUZZ_CHECK(line);
        free(line);
        if (e->kind == PLENUM_EVENT_ERROR && e->text)
            FUZZ_ONE_LINE(e->text);
        if (e->kind == PLENUM_EVENT_ERROR && e->object)
            FUZZ_ONE_LINE(e->object);
        pl_list_remove(&event->node);
        plenum_event_free(&event->public);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    input = &from;
    struct plenum_job *job = make_job();
    int question = fuzz_byte(&from) % 2 ? -1 : make_question();
    if (fuzz_byte(&from) % 4 == 3)
        make_part(job);
    for (unsigned i = 0; i < NOTES_MAX && fuzz_left(&from) > 0; i++) {
        write_note(question);
        pthread_mutex_lock(&runtime->lock);
        if (fuzz_byte(&from) % 2)
            notes_ready(&runtime->notes.source);
        pl_answers_advance(runtime);
        if (runtime->agent && fuzz_byte(&from) % 2)
            answer(job);
        pthread_mutex_unlock(&runtime->lock);
    }
    pthread_mutex_lock(&runtime->lock);
    pl_notes_drain(job);
    pl_answers_advance(runtime);
    pl_answers_forget(job);
    FUZZ_CHECK(pl_list_empty(&runtime->answers.passed) && pl_list_empty(&runtime->answers.asked));
    pthread_mutex_unlock(&runtime->lock);
    FUZZ_CHECK(job->tree.pending == 0);
    check_events();
    if (question >= 0)
        close(question);
    end_job(job);
    end_part();
    return 0;
}
