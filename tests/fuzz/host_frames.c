/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the agents of two hosts to a runtime that runs a job of three ranks on them, which may spawn others: valid
 * ones in any order, damaged ones, and anything. Whatever comes, the job ends once when the hosts are lost, and each
 * rank once if it has started. No process is started. */
#include "fuzz_unit.h"

#include "core/job/question.h"
#include "fake_host.h"
#include "world/runtime/event/event_pack.h"
#include "world/runtime/job/span.h"

enum { HOSTS = 2, RANKS = 3, FRAMES_MAX = 24, BODY_MAX = 512 };

static struct plenum_runtime *runtime;
static struct pl_host *hosts[HOSTS];
static struct pl_wire agent[HOSTS]; /* the other ends */
static uint32_t job_id;

static void start(void)
{
    FUZZ_CHECK(plenum_runtime_open(&runtime) == PLENUM_OK);
}

FUZZ(start, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "\x01\x01\x01\x01\x02\x02\x02\x02\x03\x03\x03\x03\x04\x04\x04\x04\x05\x05\x05\x05\x06\x06\x06\x06\x07\x07\x07\x07",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static struct plenum_job *start_job(struct fuzz *from)
{
    static const char *const text[] = {
        "{ \"programs\": [ { \"argv\": [\"a\"], \"ranks\": 3 } ] }",
        "{ \"programs\": [ { \"argv\": [\"a\"], \"ranks\": 3 } ], \"keep_going\": true }",
    };
    struct plenum_job *job;
    FUZZ_CHECK(plenum_job_create_json(runtime, text[fuzz_byte(from) % 2], &job) == PLENUM_OK);
    FUZZ_CHECK(plenum_job_launch(job) == PLENUM_OK);
    job_id = job->launch.span->id;
    FUZZ_CHECK(plenum_runtime_host_resource(runtime, "a", "gpu", PLENUM_COUNT) == PLENUM_OK);
    return job;
}

/* --- what an agent sends ------------------------------------------------------------------------------------------ */

static void put_event(struct fuzz *from, struct pl_writer *to)
{
    struct plenum_event event = {
        .kind = (enum plenum_event_kind)(fuzz_byte(from) % 16 ? fuzz_byte(from) % 14 : fuzz_number(from)),
        .flags = fuzz_byte(from) % 4 ? 0 : (unsigned)fuzz_number(from),
        .rank = fuzz_byte(from) % 8 ? (int)(fuzz_byte(from) % (RANKS + 1)) - 1 : (int)fuzz_number(from),
        .pid = (int)fuzz_byte(from),
        .code = fuzz_byte(from) % 4 ? 0 : (int)fuzz_number(from),
        .signal = (int)(fuzz_byte(from) % 16),
        .stream = (int)(fuzz_byte(from) % 4),
    };
    if (fuzz_byte(from) % 2) {
        event.text = "some words\n";
        event.length = strlen(event.text);
        event.object = fuzz_byte(from) % 2 ? "app://a" : NULL;
        event.report = fuzz_byte(from) % 2 ? "{}" : NULL;
    }
    pl_event_pack(to, &event);
}

static void put_answer(struct fuzz *from, struct pl_writer *to)
{
    pl_write_u32(to, 1 + fuzz_byte(from) % 3);
    pl_write_u8(to, (uint8_t)(fuzz_byte(from) % 4));
    for (unsigned n = fuzz_byte(from) % 4; n > 0; n--) {
        pl_write_u8(to, 1);
        pl_write_leb128(to, fuzz_byte(from) % (RANKS + 1));
        pl_write_folded(to, fuzz_byte(from));
        pl_write_u8(to, (uint8_t)(fuzz_byte(from) % 8));
        pl_write_u8(to, 'S');
        pl_write_text(to, "pause");
        pl_write_u8(to, 0);
    }
    pl_write_u8(to, 0);
    pl_write_u8(to, (uint8_t)(fuzz_byte(from) % 2));
}

/* A question of a rank: about names, sets, or processes. */
static void put_question(struct fuzz *from, struct pl_writer *to)
{
    static const char *const texts[] = { "a name",  "another",     "app://a",
                                         "app://b", "mpi://WORLD", "{ \"argv\": [\"a\"], \"ranks\": 2 }" };
    unsigned char bytes[256];
    struct pl_writer data = pl_writer_fixed(bytes, sizeof bytes);
    unsigned kind = fuzz_byte(from) % 16 ? fuzz_byte(from) % PL_QUESTION_KINDS : fuzz_byte(from);
    if (kind == PL_QUESTION_PUBLISH || kind == PL_QUESTION_UNPUBLISH)
        pl_write_i32(&data, fuzz_byte(from) % 4);
    pl_write_text(&data, texts[fuzz_byte(from) % (sizeof texts / sizeof *texts)]);
    if (kind <= PL_QUESTION_UNPUBLISH)
        pl_write_text(&data, texts[kind == PL_QUESTION_SPAWN && fuzz_byte(from) % 4 ? 5 : fuzz_byte(from) % 2]);
    if (kind == PL_QUESTION_SET || kind == PL_QUESTION_SPAWN) {
        unsigned count = fuzz_byte(from) % 3;
        pl_write_leb128(&data, count);
        for (unsigned i = 0; i < count && kind == PL_QUESTION_SPAWN; i++)
            pl_write_text(&data, fuzz_byte(from) % 2 ? "a:2,b" : "localhost,b,b:3");
        for (unsigned i = 0; i < 2 * count && kind == PL_QUESTION_SET; i++)
            pl_write_u32(&data, fuzz_byte(from) % (RANKS + 1));
    }
    size_t length = fuzz_byte(from) % 8 == 7 ? fuzz_damage(from, bytes, data.length) : data.length;
    pl_write_u32(to, fuzz_byte(from));
    pl_write_u32(to, fuzz_byte(from) % 8 ? fuzz_byte(from) % RANKS : (uint32_t)fuzz_number(from));
    pl_write_u8(to, (uint8_t)kind);
    pl_write_blob(to, bytes, length);
}

static void put_body(struct fuzz *from, enum pl_frame_kind kind, struct pl_writer *to)
{
    if (kind == PL_FRAME_EVENT) {
        put_event(from, to);
        return;
    }
    if (kind == PL_FRAME_REPORT) {
        put_answer(from, to);
        return;
    }
    if (kind == PL_FRAME_QUESTION) {
        put_question(from, to);
        return;
    }
    if (kind == PL_FRAME_SETS) {
        pl_write_u64(to, fuzz_byte(from) % 8 ? fuzz_byte(from) % 8 : fuzz_number(from));
        return;
    }
    if (kind == PL_FRAME_RESOURCE) {
        pl_write_text(to, fuzz_byte(from) % 8 ? "gpu" : "port");
        pl_write_folded(to, fuzz_byte(from) % 8 ? fuzz_byte(from) : (int64_t)fuzz_number(from));
        return;
    }
    if (kind == PL_FRAME_REFUSED) {
        pl_write_u8(to, (uint8_t)fuzz_byte(from));
        pl_write_text(to, "no such program");
    } else {
        pl_write_u32(to, fuzz_byte(from) % 8 ? fuzz_byte(from) % RANKS : (uint32_t)fuzz_number(from));
    }
    for (unsigned n = fuzz_byte(from) % 12; n > 0; n--)
        pl_write_u8(to, (uint8_t)fuzz_byte(from));
}

static void send_frame(struct fuzz *from, struct pl_wire *wire)
{
    static const enum pl_frame_kind kinds[] = { PL_FRAME_EVENT,    PL_FRAME_EVENT,    PL_FRAME_EVENT,
                                                PL_FRAME_SLOT,     PL_FRAME_TAKEN,    PL_FRAME_DOOMED,
                                                PL_FRAME_HELLO,    PL_FRAME_REFUSED,  PL_FRAME_REPORT,
                                                PL_FRAME_RESOURCE, PL_FRAME_BOUND,    PL_FRAME_SETS,
                                                PL_FRAME_QUESTION, PL_FRAME_QUESTION, PL_FRAME_QUESTION };
    unsigned char body[BODY_MAX];
    struct pl_writer to = pl_writer_fixed(body, sizeof body);
    enum pl_frame_kind kind = kinds[fuzz_byte(from) % (sizeof kinds / sizeof *kinds)];
    if (fuzz_byte(from) % 16 == 15)
        kind = (enum pl_frame_kind)fuzz_number(from);
    put_body(from, kind, &to);
    size_t length = fuzz_byte(from) % 4 == 3 ? fuzz_damage(from, body, to.length) : to.length;
    uint32_t job = fuzz_byte(from) % 16 == 15 ? (uint32_t)fuzz_number(from) : job_id + fuzz_byte(from) % 8 / 7;
    pl_write_raw(pl_wire_begin(wire, kind, job), body, length);
    pl_wire_end(wire);
    if (fuzz_byte(from) % 32 == 31) /* damages what lies between the frames */
        fuzz_damage(from, wire->unsent.data + wire->sent, wire->unsent.length - wire->sent);
}

/* --- what the runtime tells --------------------------------------------------------------------------------------- */

struct told {
    int started, finished, ended[RANKS];
};

static void take_events(struct told *told)
{
    struct plenum_event *event;
    while (plenum_runtime_next_event(runtime, &event) == PLENUM_OK && event) {
        char text[1024];
        FUZZ_CHECK(plenum_event_describe(event, text, sizeof text) >= 0);
        if (event->kind == PLENUM_EVENT_STARTED)
            told->started++;
        if (event->kind == PLENUM_EVENT_FINISHED)
            told->finished++;
        if (event->kind == PLENUM_EVENT_EXITED || event->kind == PLENUM_EVENT_LOST) {
            FUZZ_CHECK(event->rank >= 0 && !told->finished);
            if (event->rank < RANKS) /* or one that was spawned */
                told->ended[event->rank]++;
        }
        plenum_event_free(event);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct told told = { 0 };
    for (int i = 0; i < HOSTS; i++)
        hosts[i] = fake_host_add(runtime, i ? "b" : "a", &agent[i]);
    struct plenum_job *job = start_job(&from);
    for (int i = 0; i < FRAMES_MAX && fuzz_left(&from) > 0; i++) {
        struct pl_wire *wire = &agent[fuzz_byte(&from) % HOSTS];
        if (fuzz_byte(&from) % 4 == 3)
            plenum_job_report(job); /* which may have finished */
        send_frame(&from, wire);
        if (fuzz_byte(&from) % 2)
            continue;
        pl_wire_flush(wire);
        take_events(&told);
    }
    for (int i = 0; i < HOSTS; i++) {
        pl_wire_flush(&agent[i]);
        pl_wire_close(&agent[i]);
        take_events(&told);
        fake_host_lose(hosts[i]);
        take_events(&told);
    }
    FUZZ_CHECK(told.finished == 1 && told.started <= 1);
    for (int r = 0; r < RANKS; r++)
        FUZZ_CHECK(told.ended[r] <= 1 && told.ended[r] >= told.started);
    plenum_job_close(job);
    for (int i = 0; i < HOSTS; i++)
        fake_host_remove(hosts[i]);
    take_events(&told);
    return 0;
}
