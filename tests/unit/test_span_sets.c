/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets of a job on two hosts, when any allocation fails: a set is published and all hosts are told, or it is
 * not published. So no rank waits for ever. */
#include "unit.h"

#include "core/base/memory.h"
#include "core/job/question.h"
#include "fake_host.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/job/span_sets.h"

enum { HOSTS = 2 };

static struct plenum_runtime *runtime;
static struct plenum_job *job;
static struct pl_host *hosts[HOSTS];
static struct pl_wire agent[HOSTS];

/* What the agents have heard. */
static struct {
    uint64_t sets[HOSTS]; /* the version of the last sets */
    int answers;
    enum pl_question_state state; /* of the last answer */
} heard;

static void hear_frame(int host, struct pl_frame *frame)
{
    if (frame->kind == PL_FRAME_SETS)
        heard.sets[host] = pl_read_u64(&frame->body);
    if (frame->kind != PL_FRAME_ANSWER)
        return;
    pl_read_u32(&frame->body);
    heard.state = (enum pl_question_state)pl_read_u8(&frame->body);
    heard.answers++;
}

static void hear_all(void)
{
    struct pl_frame frame;
    for (int i = 0; i < HOSTS; i++)
        while (pl_wire_fill(&agent[i]) > 0)
            while (pl_wire_next(&agent[i], &frame))
                hear_frame(i, &frame);
}

static void open_job(void)
{
    struct plenum_event *event;
    ck_assert_int_eq(plenum_runtime_open(&runtime), PLENUM_OK);
    for (int i = 0; i < HOSTS; i++)
        hosts[i] = fake_host_add(runtime, i ? "b" : "a", &agent[i]);
    ck_assert_int_eq(plenum_job_create_json(runtime, "{ \"programs\": [ { \"argv\": [\"a\"], \"ranks\": 3 } ] }", &job),
                     PLENUM_OK);
    ck_assert_int_eq(plenum_job_launch(job), PLENUM_OK);
    for (int i = 0; i < HOSTS; i++)
        pl_wire_flush(&agent[i]); /* the greeting */
    while (plenum_runtime_next_event(runtime, &event) == PLENUM_OK && event)
        plenum_event_free(event);
    hear_all();
}

static void close_job(void)
{
    pl_memory_fail_at(0);
    for (int i = 0; i < HOSTS; i++) {
        pl_wire_close(&agent[i]);
        fake_host_lose(hosts[i]);
    }
    plenum_job_close(job);
    for (int i = 0; i < HOSTS; i++)
        fake_host_remove(hosts[i]);
    plenum_runtime_close(runtime);
}

static uint64_t version_now(void)
{
    struct pl_job_table table = pl_span_sets_table(job);
    return table.memory ? pl_job_sets_version(&table) : 0;
}

static void expect_told(void)
{
    hear_all();
    for (int i = 0; i < HOSTS; i++)
        ck_assert_msg(heard.sets[i] == version_now(), "the agents know version %d", (int)heard.sets[i]);
}

START_TEST(published)
{
    char name[32];
    int refused = 0;
    bool failed = true;
    for (long nth = 1; failed; nth++) {
        uint64_t before = version_now();
        snprintf(name, sizeof name, "app://%ld", nth);
        pl_memory_fail_at(nth);
        int err = plenum_job_pset_publish(job, name, (const int[][2]){ { 0, 1 } }, 1);
        failed = pl_memory_failed();
        pl_memory_fail_at(0);
        refused += err != PLENUM_OK;
        ck_assert_uint_eq(version_now(), before + (err == PLENUM_OK));
        expect_told();
    }
    ck_assert_int_gt(refused, 0);
}
END_TEST

/* Rank 0 asks for a set of this name. */
static void ask(const char *name)
{
    unsigned char body[64];
    struct pl_writer to = pl_writer_fixed(body, sizeof body);
    pl_write_text(&to, name);
    pl_write_leb128(&to, 1);
    pl_write_u32(&to, 0);
    pl_write_u32(&to, 1);
    struct pl_asked *asked = calloc(1, sizeof *asked + to.length);
    ck_assert_ptr_nonnull(asked);
    *asked = (struct pl_asked){ .from = { .job = job->id }, .kind = PL_QUESTION_SET, .length = to.length };
    memcpy(asked->data, body, to.length);
    pl_span_sets_answer(job, asked);
    free(asked);
}

/* Both agents say which sets they know. */
static void say_known(void)
{
    for (int i = 0; i < HOSTS; i++) {
        unsigned char body[8];
        struct pl_writer to = pl_writer_fixed(body, sizeof body);
        pl_write_u64(&to, heard.sets[i]);
        struct pl_reader from = pl_reader(body, to.length);
        pl_span_sets_known(job, i, &from);
    }
}

START_TEST(answered)
{
    char name[32];
    int refused = 0;
    bool failed = true;
    for (long nth = 1; failed; nth++) {
        uint64_t before = version_now();
        heard.answers = 0;
        snprintf(name, sizeof name, "app://%ld", nth);
        ck_assert_int_eq(pl_runtime_enter(runtime), PLENUM_OK);
        pl_memory_fail_at(nth);
        ask(name);
        failed = pl_memory_failed();
        pl_memory_fail_at(0);
        hear_all();
        say_known();
        pl_runtime_leave(runtime, PLENUM_OK);
        expect_told();
        ck_assert_int_eq(heard.answers, 1);
        ck_assert_uint_eq(version_now(), before + (heard.state == PL_QUESTION_DONE));
        refused += heard.state == PL_QUESTION_REFUSED;
    }
    ck_assert_int_gt(refused, 0);
}
END_TEST

UNIT_MAIN_WITH("span sets", open_job, close_job, published, answered)
