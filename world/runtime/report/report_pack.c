/* SPDX-License-Identifier: BSD-3-Clause */
/* See report_pack.h. */
#include "world/runtime/report/report_pack.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "world/runtime/job.h"
#include "world/runtime/report/read.h"

enum {
    PACK_SYMBOL_MAX = 4096,             /* bytes of a function's name, and of a file's */
    PACK_TRACES = PL_RECORD_TRACES - 1, /* without that of a crash */
};

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void report_pack_write_item(struct pl_writer *to, const struct pl_job_item *item)
{
    pl_write_leb128(to, item->kind);
    pl_write_leb128(to, item->what);
    pl_write_folded(to, item->thread);
    pl_write_folded(to, item->peer);
    pl_write_folded(to, item->tag);
    pl_write_leb128(to, item->serial);
    pl_write_u64(to, item->home);
    pl_write_folded(to, item->bytes);
    pl_write_folded(to, item->waited);
    pl_write_leb128(to, item->trace);
    pl_write_leb128(to, item->unsent);
    pl_write_leb128(to, item->awaited_count);
    for (uint32_t i = 0; i < item->awaited_count; i++)
        pl_write_folded(to, item->awaited[i]);
    pl_write_leb128(to, item->range_count);
    for (uint32_t i = 0; i < item->range_count; i++) {
        pl_write_leb128(to, item->range[i][0]);
        pl_write_leb128(to, item->range[i][1]);
    }
    pl_write_leb128(to, item->ranges_cut);
    pl_write_folded(to, item->far);
    pl_write_text(to, item->far_job);
    pl_write_text(to, item->object);
    pl_write_text(to, item->session);
    pl_write_leb128(to, item->object_kind);
    pl_write_folded(to, item->root);
    pl_write_text(to, item->call);
    pl_write_text(to, item->op);
    pl_write_text(to, item->data);
}

static void report_pack_write_frame(struct pl_writer *to, struct pl_symbols *symbols, const struct pl_job_record *page,
                                    const struct pl_job_trace *trace, uint32_t i)
{
    const struct pl_job_frame *frame = &trace->frame[i];
    const char *module = pl_report_module(page, frame);
    struct pl_symbol symbol = { 0 };
    if (module)
        symbol = pl_symbols_find(symbols, module, pl_report_address(trace, i), true);
    pl_write_leb128(to, frame->module);
    pl_write_u64(to, frame->offset);
    pl_write_text(to, symbol.function ? symbol.function : "");
    pl_write_leb128(to, symbol.into);
    pl_write_text(to, symbol.source ? symbol.source : "");
    pl_write_folded(to, symbol.line);
}

static bool report_pack_is_used(const struct pl_job_record *page, uint32_t trace)
{
    bool used = false;
    for (uint32_t i = 0; i < page->items; i++)
        used |= page->item[i].kind == PL_ITEM_WAIT && page->item[i].trace == trace + 1;
    return used;
}

static void report_pack_write_page(struct pl_writer *to, struct pl_symbols *symbols, const struct pl_job_record *page)
{
    for (int kind = 0; kind < PL_ITEM_KINDS; kind++)
        pl_write_leb128(to, page->left_out[kind]);
    pl_write_leb128(to, page->modules);
    for (uint32_t m = 0; m < page->modules; m++)
        pl_write_text(to, page->module[m]);
    for (uint32_t t = 0; t < PACK_TRACES; t++) {
        const struct pl_job_trace *trace = &page->trace[t];
        uint32_t count = report_pack_is_used(page, t) ? trace->count : 0;
        pl_write_leb128(to, count);
        pl_write_leb128(to, trace->exact);
        for (uint32_t i = 0; i < count; i++)
            report_pack_write_frame(to, symbols, page, trace, i);
    }
    pl_write_leb128(to, page->items);
    for (uint32_t i = 0; i < page->items; i++)
        report_pack_write_item(to, &page->item[i]);
}

static void report_pack_write_rank(struct pl_writer *to, const struct pl_report *report, int rank)
{
    const struct pl_report_rank *r = &report->rank[rank];
    pl_write_u8(to, 1);
    pl_write_leb128(to, (uint64_t)rank);
    pl_write_folded(to, r->pid);
    pl_write_u8(to, (uint8_t)r->life);
    pl_write_u8(to, (uint8_t)r->state);
    pl_write_text(to, r->sleeps);
    pl_write_u8(to, r->page != NULL);
    if (r->page)
        report_pack_write_page(to, r->symbols, r->page);
}

void pl_report_pack(struct pl_writer *to, const struct plenum_job *job, struct pl_report *report)
{
    size_t begin = to->length;
    for (int r = 0; r < report->size; r++) {
        size_t before = to->length;
        if (!pl_job_is_here(job, r))
            continue;
        report_pack_write_rank(to, report, r);
        if (to->length - begin > PL_REPORT_PACKED_MAX)
            pl_writer_trim(to, before);
    }
    pl_write_u8(to, 0);
    pl_write_u8(to, report->symbols->missing);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static int32_t report_pack_read_signed(struct pl_reader *from)
{
    int64_t value = pl_read_folded(from);
    pl_reader_expect(from, value >= INT32_MIN && value <= INT32_MAX);
    return from->failed ? 0 : (int32_t)value;
}

static uint32_t report_pack_read_unsigned(struct pl_reader *from, uint32_t max)
{
    uint64_t value = pl_read_leb128(from);
    pl_reader_expect(from, value <= max);
    return from->failed ? 0 : (uint32_t)value;
}

static void report_pack_read_words(struct pl_reader *from, char *text, size_t size)
{
    size_t length;
    const char *at = pl_read_text(from, size - 1, &length);
    if (at)
        memcpy(text, at, length);
    text[at ? length : 0] = '\0';
}

static void report_pack_read_item(struct pl_reader *from, struct pl_job_item *item)
{
    item->kind = report_pack_read_unsigned(from, UINT32_MAX);
    item->what = report_pack_read_unsigned(from, UINT32_MAX);
    item->thread = report_pack_read_signed(from);
    item->peer = report_pack_read_signed(from);
    item->tag = report_pack_read_signed(from);
    item->serial = report_pack_read_unsigned(from, UINT32_MAX);
    item->home = pl_read_u64(from);
    item->bytes = pl_read_folded(from);
    item->waited = pl_read_folded(from);
    item->trace = report_pack_read_unsigned(from, PACK_TRACES);
    item->unsent = report_pack_read_unsigned(from, UINT32_MAX);
    item->awaited_count = report_pack_read_unsigned(from, PL_ITEM_AWAITED);
    for (uint32_t i = 0; i < item->awaited_count; i++)
        item->awaited[i] = report_pack_read_signed(from);
    item->range_count = report_pack_read_unsigned(from, PL_ITEM_RANGES);
    for (uint32_t i = 0; i < item->range_count; i++) {
        item->range[i][0] = report_pack_read_unsigned(from, UINT32_MAX);
        item->range[i][1] = report_pack_read_unsigned(from, UINT32_MAX);
    }
    item->ranges_cut = report_pack_read_unsigned(from, UINT32_MAX);
    item->far = report_pack_read_signed(from);
    report_pack_read_words(from, item->far_job, sizeof item->far_job);
    report_pack_read_words(from, item->object, sizeof item->object);
    report_pack_read_words(from, item->session, sizeof item->session);
    item->object_kind = report_pack_read_unsigned(from, UINT32_MAX);
    item->root = report_pack_read_signed(from);
    report_pack_read_words(from, item->call, sizeof item->call);
    report_pack_read_words(from, item->op, sizeof item->op);
    report_pack_read_words(from, item->data, sizeof item->data);
}

static void report_pack_read_frame(struct pl_reader *from, struct pl_symbols *symbols, const struct pl_job_record *page,
                                   struct pl_job_trace *trace, uint32_t i)
{
    char function[PACK_SYMBOL_MAX], source[PACK_SYMBOL_MAX];
    struct pl_job_frame *frame = &trace->frame[i];
    struct pl_symbol symbol = { .function = function, .source = source };
    frame->module = report_pack_read_unsigned(from, UINT32_MAX);
    frame->offset = pl_read_u64(from);
    report_pack_read_words(from, function, sizeof function);
    symbol.into = pl_read_leb128(from);
    report_pack_read_words(from, source, sizeof source);
    symbol.line = report_pack_read_signed(from);
    const char *module = pl_report_module(page, frame);
    if (!module || from->failed)
        return;
    pl_report_tidy(function, sizeof function);
    pl_report_tidy(source, sizeof source);
    pl_symbols_learn(symbols, module, pl_report_address(trace, i), &symbol);
}

static struct pl_job_record *report_pack_read_page(struct pl_reader *from, struct pl_symbols *symbols, int size)
{
    struct pl_job_record *page = pl_calloc(1, sizeof *page);
    if (!page)
        return NULL;
    for (int kind = 0; kind < PL_ITEM_KINDS; kind++)
        page->left_out[kind] = report_pack_read_unsigned(from, UINT32_MAX);
    page->modules = report_pack_read_unsigned(from, PL_RECORD_MODULES);
    for (uint32_t m = 0; m < page->modules; m++) {
        report_pack_read_words(from, page->module[m], sizeof page->module[m]);
        pl_report_tidy(page->module[m], sizeof page->module[m]);
    }
    for (uint32_t t = 0; t < PACK_TRACES; t++) {
        page->trace[t].count = report_pack_read_unsigned(from, PL_RECORD_FRAMES);
        page->trace[t].exact = report_pack_read_unsigned(from, UINT32_MAX);
        for (uint32_t i = 0; i < page->trace[t].count; i++)
            report_pack_read_frame(from, symbols, page, &page->trace[t], i);
    }
    page->items = report_pack_read_unsigned(from, PL_RECORD_ITEMS);
    for (uint32_t i = 0; i < page->items; i++)
        report_pack_read_item(from, &page->item[i]);
    pl_report_tidy_page(page, size);
    return page;
}

/* A rank has what was read of it, or nothing if that was not whole. */
static void report_pack_read_rank(struct pl_reader *from, const uint32_t *host_of, uint32_t host,
                                  struct pl_report *report)
{
    uint32_t rank = report_pack_read_unsigned(from, (uint32_t)report->size - 1);
    struct pl_report_rank *r = &report->rank[rank], read = { .host = r->host, .symbols = &report->symbols[host] };
    pl_reader_expect(from, host_of[rank] == host && !r->page);
    read.pid = report_pack_read_signed(from);
    read.life = (enum pl_report_life)pl_read_u8(from);
    read.state = (char)pl_read_u8(from);
    report_pack_read_words(from, read.sleeps, sizeof read.sleeps);
    pl_report_tidy(read.sleeps, sizeof read.sleeps);
    bool has_page = pl_read_u8(from);
    pl_reader_expect(from, read.life < PL_LIVES && (unsigned char)read.state >= ' ' && (unsigned char)read.state < 127);
    if (!from->failed && has_page)
        read.page = report_pack_read_page(from, read.symbols, report->size);
    pl_reader_expect(from, !has_page || read.page);
    if (from->failed)
        free(read.page);
    else
        *r = read;
}

bool pl_report_unpack(struct pl_reader *from, const uint32_t *host_of, uint32_t host, struct pl_report *report)
{
    while (pl_read_u8(from))
        report_pack_read_rank(from, host_of, host, report);
    report->symbols[host].missing = pl_read_u8(from);
    return pl_reader_done(from);
}
