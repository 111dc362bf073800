/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of ranks to their runtime, and the requests for processes that notes name: whole and damaged ones, of any kind
 * and job. Texts that become events are printable lines; a valid request is answered. No process is started. */
#include "fuzz.h"

#include <fcntl.h>

#include "api/plenum.h"
#include "core/job/sets.h"
#include "core/job/spawn.h"
#include "world/runtime/job.h"
#include "world/runtime/job/segment_make.h"

static int fuzz_launch(struct plenum_job *job);

#include "world/runtime/job/notes.c"
#define plenum_job_launch fuzz_launch
#undef LINK
#include "world/runtime/job/spawn_tree.c"
#undef plenum_job_launch

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
    FUZZ_CHECK(job->desc.size > 0 && job->tree.request);
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
    job->phase = PL_JOB_RUNNING;
    pl_list_append(&runtime->alive, &job->alive);
    return job;
}

static void end_job(struct plenum_job *job)
{
    pl_list_remove(&job->alive);
    job->segment = NULL;
    job->shared = NULL;
    job->phase = PL_JOB_FINISHED;
    plenum_job_close(job);
}

/* The memory file of a request, and its descriptor. */
static int make_request(void)
{
    static const char valid_text[] = "{ \"programs\": [ { \"argv\": [\"b\"], \"ranks\": 2 } ] }";
    struct pl_job_spawn spawn = { .magic = PL_SPAWN_MAGIC, .state = PL_SPAWN_ASKED };
    int fd = memfd_create(fuzz_byte(input) % 16 ? PL_SPAWN_NAME : "other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    char text[TEXT_MAX];
    size_t length = 0;
    if (fuzz_byte(input) % 2) {
        length = fuzz_left(input) < sizeof text ? fuzz_left(input) : sizeof text;
        memcpy(text, input->at, length);
    } else {
        length = sizeof valid_text;
        memcpy(text, valid_text, length);
        length = fuzz_damage(input, (unsigned char *)text, length);
    }
    spawn.length = fuzz_byte(input) % 8 ? (uint32_t)length - (length > 0) : (uint32_t)fuzz_number(input);
    if (fuzz_byte(input) % 16 == 15)
        spawn.magic = (uint32_t)fuzz_number(input);
    if (fuzz_byte(input) % 16 == 15)
        spawn.state = (uint32_t)fuzz_number(input);
    FUZZ_CHECK(fd >= 0 && write(fd, &spawn, sizeof spawn) == sizeof spawn &&
               write(fd, text, length) == (ssize_t)length);
    if (fuzz_byte(input) % 16 == 15)
        FUZZ_CHECK(ftruncate(fd, (off_t)(fuzz_number(input) % (32u << 20))) == 0);
    if (fuzz_byte(input) % 16)
        FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    return fd;
}

static void put_text(char *text, size_t size)
{
    size_t length = fuzz_byte(input) % 8 == 7 ? size : fuzz_byte(input) % 20;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(i < 20 ? fuzz_byte(input) : 'x');
}

static void write_note(int request)
{
    static struct pl_job_note note;
    note = (struct pl_job_note){
        .magic = fuzz_byte(input) % 16 ? PL_NOTE_MAGIC : (uint32_t)fuzz_number(input),
        .kind = fuzz_byte(input) % 8 ? fuzz_byte(input) % (PL_NOTE_SPAWN + 1) : (uint32_t)fuzz_number(input),
        .cookie = fuzz_byte(input) % 16 ? COOKIE : fuzz_number(input),
        .rank = fuzz_byte(input) % 8 ? (int32_t)fuzz_byte(input) % SIZE : (int32_t)fuzz_number(input),
        .code = fuzz_byte(input) % 8 ? request : (int32_t)fuzz_number(input),
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
    int request = fuzz_byte(&from) % 2 ? -1 : make_request();
    for (unsigned i = 0; i < NOTES_MAX && fuzz_left(&from) > 0; i++) {
        write_note(request);
        pthread_mutex_lock(&runtime->lock);
        if (fuzz_byte(&from) % 2)
            notes_ready(&runtime->notes.source);
        pthread_mutex_unlock(&runtime->lock);
    }
    pthread_mutex_lock(&runtime->lock);
    pl_notes_drain(job);
    pthread_mutex_unlock(&runtime->lock);
    FUZZ_CHECK(job->tree.pending == 0);
    check_events();
    if (request >= 0)
        close(request);
    end_job(job);
    return 0;
}
