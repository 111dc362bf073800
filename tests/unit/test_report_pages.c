/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of several tenants of a rank become one: items and traces one after the other, modules once each, and what
 * has no room is counted. Any bytes as pages give a page that is whole. A report goes from host to host as bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "world/runtime/job.h"
#include "world/runtime/report/read.h"
#include "world/runtime/report/report_pack.h"

enum { SIZE = 4 };

static struct pl_job_record *to, *from;

static void setup(void)
{
    to = calloc(1, sizeof *to);
    from = calloc(1, sizeof *from);
    ck_assert(to && from);
}

static void teardown(void)
{
    free(to);
    free(from);
}

static void put_module(struct pl_job_record *page, const char *path)
{
    snprintf(page->module[page->modules++], sizeof page->module[0], "%s", path);
}

/* A wait with a trace of one frame in each of two modules; `offset` tells it from others. */
static void put_wait(struct pl_job_record *page, const char *object, uint64_t offset, uint32_t inner, uint32_t outer)
{
    struct pl_job_trace *trace = &page->trace[page->traces++];
    *trace = (struct pl_job_trace){
        .count = 2, .frame = { { .offset = offset, .module = inner }, { .offset = offset + 1, .module = outer } }
    };
    struct pl_job_item *item = &page->item[page->items++];
    *item = (struct pl_job_item){ .kind = PL_ITEM_WAIT, .what = PL_WHAT_RECV, .trace = page->traces };
    snprintf(item->object, sizeof item->object, "%s", object);
}

static void check_frame(const struct pl_job_trace *trace, int i, uint64_t offset, const char *module)
{
    ck_assert_uint_eq(trace->frame[i].offset, offset);
    ck_assert_uint_lt(trace->frame[i].module, to->modules);
    ck_assert_str_eq(to->module[trace->frame[i].module], module);
}

START_TEST(items_traces_modules)
{
    put_module(to, "/bin/app");
    put_module(to, "/lib/libc.so");
    put_wait(to, "ocean", 100, 1, 0);
    put_module(from, "/lib/libsolver.so");
    put_module(from, "/lib/libc.so");
    put_module(from, "/bin/app");
    put_wait(from, "ice", 200, 1, 0);
    put_wait(from, "sea", 300, 0, 2);
    to->left_out[PL_ITEM_WAIT] = 2;
    from->left_out[PL_ITEM_WAIT] = 3;
    pl_report_join_pages(to, from);
    ck_assert_uint_eq(to->items, 3);
    ck_assert_uint_eq(to->traces, 3);
    ck_assert_uint_eq(to->modules, 3);
    ck_assert_uint_eq(to->left_out[PL_ITEM_WAIT], 5);
    ck_assert_str_eq(to->item[0].object, "ocean");
    ck_assert_str_eq(to->item[1].object, "ice");
    ck_assert_str_eq(to->item[2].object, "sea");
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(to->item[i].trace, i + 1);
    check_frame(&to->trace[0], 0, 100, "/lib/libc.so");
    check_frame(&to->trace[0], 1, 101, "/bin/app");
    check_frame(&to->trace[1], 0, 200, "/lib/libc.so");
    check_frame(&to->trace[1], 1, 201, "/lib/libsolver.so");
    check_frame(&to->trace[2], 0, 300, "/lib/libsolver.so");
    check_frame(&to->trace[2], 1, 301, "/bin/app");
}
END_TEST

/* An item without a trace, and one whose frame has no module, remain so. */
START_TEST(nothing_known)
{
    put_wait(from, "ice", 200, 0, 7);
    from->item[from->items++] = (struct pl_job_item){ .kind = PL_ITEM_WAIT };
    pl_report_join_pages(to, from);
    ck_assert_uint_eq(to->items, 2);
    ck_assert_uint_eq(to->traces, 1);
    ck_assert_uint_eq(to->modules, 0);
    ck_assert_uint_ge(to->trace[0].frame[0].module, to->modules);
    ck_assert_uint_ge(to->trace[0].frame[1].module, to->modules);
    ck_assert_uint_eq(to->item[1].trace, 0);
}
END_TEST

START_TEST(too_many)
{
    char path[32];
    for (int i = 0; i < PL_RECORD_MODULES; i++) {
        snprintf(path, sizeof path, "/lib/%d", i);
        put_module(to, path);
    }
    while (to->items < PL_RECORD_ITEMS - 1 && to->traces < PL_RECORD_TRACES - 1)
        put_wait(to, "ocean", 100, 0, 0);
    to->items = PL_RECORD_ITEMS - 1;
    put_module(from, "/lib/new");
    put_wait(from, "ice", 200, 0, 0);
    put_wait(from, "sea", 300, 0, 0);
    put_wait(from, "air", 400, 0, 0);
    uint32_t traces = to->traces;
    pl_report_join_pages(to, from);
    ck_assert_uint_eq(to->items, PL_RECORD_ITEMS);
    ck_assert_str_eq(to->item[PL_RECORD_ITEMS - 1].object, "ice");
    ck_assert_uint_eq(to->item[PL_RECORD_ITEMS - 1].trace, traces < PL_RECORD_TRACES - 1 ? traces + 1 : 0);
    ck_assert_uint_eq(to->modules, PL_RECORD_MODULES);
    ck_assert_uint_eq(to->left_out[PL_ITEM_WAIT], 2);
    ck_assert_uint_lt(to->traces, PL_RECORD_TRACES); /* the last one is a crash's */
}
END_TEST

static struct pl_job_record *random_page(uint64_t *seed)
{
    struct pl_job_record *raw = malloc(sizeof *raw);
    ck_assert_ptr_nonnull(raw);
    for (size_t i = 0; i < sizeof *raw / 8; i++)
        ((uint64_t *)raw)[i] = unit_random(seed);
    if (unit_random(seed) % 2) {
        raw->items %= PL_RECORD_ITEMS + 1;
        raw->traces %= PL_RECORD_TRACES + 1;
        raw->modules %= PL_RECORD_MODULES + 1;
    }
    struct pl_job_record *page = pl_report_copy_page(raw, SIZE);
    free(raw);
    ck_assert_ptr_nonnull(page);
    return page;
}

START_TEST(anything)
{
    uint64_t seed = 0;
    for (int round = 0; round < 200; round++) {
        struct pl_job_record *a = random_page(&seed), *b = random_page(&seed);
        pl_report_join_pages(a, b);
        UNIT_CHECK(a->items <= PL_RECORD_ITEMS && a->modules <= PL_RECORD_MODULES && a->traces <= PL_RECORD_TRACES);
        for (int t = 0; t < PL_RECORD_TRACES; t++)
            UNIT_CHECK(a->trace[t].count <= PL_RECORD_FRAMES);
        for (uint32_t m = 0; m < a->modules; m++)
            UNIT_CHECK(memchr(a->module[m], '\0', sizeof a->module[m]));
        free(a);
        free(b);
    }
}
END_TEST

/* --- from host to host --------------------------------------------------------------------------------------- */

/* What the agent of host 1 says: its ranks are 1 and 3. */
static struct pl_writer agent_answer(struct plenum_job *job)
{
    struct pl_writer packed = pl_writer_growing(NULL, 0);
    struct pl_report report;
    ck_assert(pl_report_begin(job, 0, &report));
    put_module(from, "/bin/app");
    put_wait(from, "ice", 200, 0, 0);
    from->trace[0].exact = 1;
    pl_symbols_learn(&job->symbols, "/bin/app", 200, &(struct pl_symbol){ "inner", 4, "", 0 });
    pl_symbols_learn(&job->symbols, "/bin/app", 200, &(struct pl_symbol){ "too late", 5, "", 0 });
    from->trace[0].frame[1].offset = 300;
    pl_symbols_learn(&job->symbols, "/bin/app", 299, &(struct pl_symbol){ "outer", 7, "/src/ice.c", 12 });
    report.rank[3] = (struct pl_report_rank){
        .life = PL_LIFE_WORLD, .pid = 77, .state = 'S', .sleeps = "pause", .page = from, .symbols = report.symbols
    };
    report.rank[1].life = PL_LIFE_ENDED;
    pl_report_pack(&packed, job, &report);
    report.rank[3].page = NULL;
    pl_report_fini(&report);
    ck_assert(!packed.failed);
    return packed;
}

static struct pl_report told_of(struct plenum_job *job, const struct pl_writer *packed, uint32_t host, bool whole)
{
    struct pl_report report;
    struct pl_reader body = pl_reader(packed->data, packed->length);
    ck_assert(pl_report_begin(job, 2, &report));
    ck_assert(pl_report_unpack(&body, job->launch.span->host_of, host, &report) == whole);
    ck_assert(pl_report_arrange(&report));
    return report;
}

START_TEST(other_host)
{
    uint32_t host_of[SIZE] = { 0, 1, 0, 1 };
    struct pl_span span = { .hosts = 2, .here = 1, .host_of = host_of };
    struct plenum_job job = { .desc.size = SIZE, .launch.span = &span };
    struct pl_writer packed = agent_answer(&job);
    struct pl_report report = told_of(&job, &packed, 1, true);
    struct pl_report_rank *r = report.rank;
    ck_assert(r[0].life == PL_LIFE_UNKNOWN && r[1].life == PL_LIFE_ENDED && r[3].life == PL_LIFE_WORLD);
    ck_assert(r[3].pid == 77 && r[3].state == 'S' && r[3].waits == 1 && report.waits == 1 && !r[1].page);
    ck_assert_str_eq(r[3].sleeps, "pause");
    ck_assert_str_eq(r[3].page->item[0].object, "ice");
    struct pl_report_frame frame = pl_report_frame(r[3].symbols, r[3].page, &r[3].page->trace[0], 0);
    ck_assert_str_eq(frame.symbol.function, "inner");
    ck_assert(frame.symbol.into == 4 && !frame.symbol.source && frame.offset == 200);
    frame = pl_report_frame(r[3].symbols, r[3].page, &r[3].page->trace[0], 1);
    ck_assert_str_eq(frame.symbol.function, "outer");
    ck_assert_str_eq(frame.symbol.source, "/src/ice.c");
    ck_assert_str_eq(frame.module, "/bin/app");
    ck_assert(frame.symbol.into == 8 && frame.symbol.line == 12 && frame.offset == 300);
    pl_report_fini(&report);
    report = told_of(&job, &packed, 0, false); /* these are not its ranks */
    ck_assert(report.rank[3].life == PL_LIFE_UNKNOWN && !report.rank[3].page);
    pl_report_fini(&report);
    pl_writer_fini(&packed);
    pl_symbols_fini(&job.symbols);
}
END_TEST

UNIT_MAIN_WITH("report_pages", setup, teardown, items_traces_modules, nothing_known, too_many, anything, other_host)
