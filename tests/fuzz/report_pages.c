/* SPDX-License-Identifier: BSD-3-Clause */
/* Job reports from pages that the ranks wrote: texts and JSON are whole, printable, and end. A report is the same after
 * it came from another host as bytes; damaged bytes give another one, or none. */
#include "fuzz.h"

#include <jansson.h>

#include "world/runtime/job.h"
#include "world/runtime/report/find.h"
#include "world/runtime/report/read.h"
#include "world/runtime/report/report_json.h"
#include "world/runtime/report/report_pack.h"
#include "world/runtime/report/text.h"

enum { SIZE = 3, PAGES = 3, TENANTS = 2 };

static struct plenum_job job;
static struct pl_rank ranks[SIZE];
static struct pl_job_segment description;
static struct pl_job_shared *shared;

FUZZ(NULL, "\x02\x01\x02\x03\x04\x05\x06\x07", "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01")

static void make(void)
{
    size_t pages = (sizeof *shared + SIZE * sizeof(struct pl_job_rank) + 4095) / 4096 * 4096;
    if (!shared)
        shared = aligned_alloc(4096, TENANTS * (pages + SIZE * PL_RECORD_BYTES));
    memset(shared, 0, TENANTS * (pages + SIZE * PL_RECORD_BYTES));
    description = (struct pl_job_segment){
        .size = SIZE, .records = pages, .report = 1, .tenants = TENANTS, .tenant_bytes = pages + SIZE * PL_RECORD_BYTES
    };
    shared->tenant[1] = 1;
    job = (struct plenum_job){ .desc.size = SIZE, .segment = &description, .shared = shared, .ranks = ranks };
}

static void fill_text(struct fuzz *from, char *text, size_t size)
{
    unsigned length = fuzz_byte(from) % 8 == 7 ? (unsigned)size : fuzz_byte(from) % (unsigned)size % 12;
    for (unsigned i = 0; i < length; i++)
        text[i] = (char)fuzz_byte(from);
}

static void fill_item(struct fuzz *from, struct pl_job_item *item)
{
    *item = (struct pl_job_item){
        .kind = fuzz_byte(from) % (PL_ITEM_KINDS + 1),
        .what = fuzz_byte(from) % (PL_WHAT_KINDS + 2),
        .peer = (int32_t)fuzz_number(from),
        .tag = (int32_t)fuzz_number(from),
        .serial = fuzz_byte(from) % 3,
        .home = fuzz_byte(from) % 3,
        .bytes = (int64_t)fuzz_number(from),
        .waited = (int64_t)fuzz_number(from),
        .trace = (uint32_t)fuzz_number(from),
        .unsent = fuzz_byte(from) % 3,
        .awaited_count = fuzz_byte(from) % 6 == 5 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 4,
        .range_count = fuzz_byte(from) % 6 == 5 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 3,
    };
    for (int i = 0; i < 4 && i < PL_ITEM_AWAITED; i++)
        item->awaited[i] = (int32_t)fuzz_byte(from) % (SIZE + 2) - 1;
    for (int i = 0; i < 2 && i < PL_ITEM_RANGES; i++) {
        item->range[i][0] = fuzz_byte(from) % 5;
        item->range[i][1] = (uint32_t)fuzz_number(from);
    }
    fill_text(from, item->object, sizeof item->object);
    fill_text(from, item->session, sizeof item->session);
    fill_text(from, item->far_job, sizeof item->far_job);
}

static void fill_page(struct fuzz *from, struct pl_job_record *page)
{
    page->answered = fuzz_byte(from) % 8 ? 1 : 0;
    page->items = fuzz_byte(from) % 8 == 7 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 4;
    page->traces = fuzz_byte(from) % 8 == 7 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 3;
    page->modules = fuzz_byte(from) % 8 == 7 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 3;
    page->crashed = fuzz_byte(from);
    page->crash_code = (int32_t)fuzz_number(from);
    for (uint32_t i = 0; i < page->items && i < 4; i++)
        fill_item(from, &page->item[i]);
    for (int i = 0; i < 2; i++) {
        page->trace[i].count = fuzz_byte(from) % 8 == 7 ? (uint32_t)fuzz_number(from) : fuzz_byte(from) % 4;
        for (int k = 0; k < 3; k++) {
            page->trace[i].frame[k].module = (uint32_t)fuzz_number(from);
            page->trace[i].frame[k].offset = fuzz_number(from);
        }
        fill_text(from, page->module[i], sizeof page->module[i]);
    }
    for (unsigned n = fuzz_byte(from) % 4; n > 0; n--)
        ((unsigned char *)page)[fuzz_bits(from, 4) % sizeof *page] = (unsigned char)fuzz_byte(from);
}

static void check_text(char *text)
{
    FUZZ_CHECK(text);
    for (const char *at = text; *at; at++)
        FUZZ_CHECK(*at == '\n' || ((unsigned char)*at >= ' ' && *at != 127));
    free(text);
}

static void check_json(char *text)
{
    json_t *value = text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    FUZZ_CHECK(value);
    json_decref(value);
    free(text);
}

static void say(struct pl_report *report, char **text, char **json)
{
    size_t bytes;
    FUZZ_CHECK(pl_report_arrange(report));
    pl_report_find(report);
    FILE *out = open_memstream(text, &bytes);
    pl_report_write(report, out);
    fclose(out);
    *json = pl_report_json(report, 1);
    FUZZ_CHECK(*text && *json);
}

/* What the runtime says of a packed report. */
static bool say_packed(const unsigned char *packed, size_t length, char **text, char **json)
{
    static const uint32_t host_of[SIZE];
    struct pl_report report;
    struct pl_reader from = pl_reader(packed, length);
    FUZZ_CHECK(pl_report_begin(&job, 1, &report));
    bool whole = pl_report_unpack(&from, host_of, 0, &report);
    say(&report, text, json);
    pl_report_fini(&report);
    return whole;
}

static void check_report(struct fuzz *from)
{
    struct pl_report report;
    struct pl_writer packed = pl_writer_growing(NULL, 0);
    char *text, *json, *far_text, *far_json;
    FUZZ_CHECK(pl_report_read(&job, &report));
    say(&report, &text, &json);
    pl_report_pack(&packed, &job, &report);
    FUZZ_CHECK(!packed.failed && say_packed(packed.data, packed.length, &far_text, &far_json));
    FUZZ_CHECK(strcmp(text, far_text) == 0 && strcmp(json, far_json) == 0);
    pl_report_fini(&report);
    check_text(text);
    check_json(json);
    free(far_text);
    free(far_json);
    say_packed(packed.data, fuzz_damage(from, packed.data, packed.length), &far_text, &far_json);
    check_text(far_text);
    check_json(far_json);
    pl_writer_fini(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    char *text = NULL;
    size_t bytes;
    make();
    for (int r = 0; r < SIZE; r++) {
        /* Reading /proc takes most of the time of an input. */
        shared->ranks[r].process = fuzz_byte(&from) % 64 ? 0 : getpid();
        ranks[r].ended = fuzz_byte(&from) % 8 == 7;
        for (uint32_t t = 0; t < TENANTS; t++) {
            struct pl_job_shared *part = pl_job_part(&description, shared, t);
            part->ranks[r].owner = getpid();
            fill_page(&from, pl_job_record(&description, part, r));
        }
    }
    check_report(&from);
    struct pl_job_record *copy = pl_report_copy_page(pl_job_record(&description, shared, 0), SIZE);
    FILE *out = open_memstream(&text, &bytes);
    pl_report_write_crash(&job.symbols, copy, 0, out);
    fclose(out);
    check_text(text);
    check_json(pl_report_json_crash(&job.symbols, copy, 0));
    free(copy);
    pl_symbols_rest(&job.symbols);
    pl_symbols_fini(&job.symbols);
    return 0;
}
