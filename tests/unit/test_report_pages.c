/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of several tenants of a rank become one: items and traces one after the other, modules once each, and what
 * has no room is counted. Any bytes as pages give a page that is whole.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "world/runtime/report/read.h"

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

UNIT_MAIN_WITH("report_pages", setup, teardown, items_traces_modules, nothing_known, too_many, anything)
