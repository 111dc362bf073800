/* SPDX-License-Identifier: BSD-3-Clause */
/* See report_json.h. Texts that are not UTF-8 are left out. */
#include "world/runtime/report/report_json.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "world/runtime/report/read.h"

static void report_json_put_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, json_string(text));
}

static void report_json_put_number(json_t *object, const char *key, long long number)
{
    json_object_set_new(object, key, json_integer(number));
}

/* PL_ANY is "any". */
static void report_json_put_envelope(json_t *object, const char *key, int value)
{
    if (value == PL_ANY)
        json_object_set_new(object, key, json_string("any"));
    else if (value != PL_NO_PEER)
        report_json_put_number(object, key, value);
}

static json_t *report_json_item(const struct pl_job_item *item)
{
    static const char *const names[PL_WHAT_KINDS] = { "operation", "receive",     "send",  "probe",   "collective",
                                                      "some",      "exchange",    "close", "address", "accept",
                                                      "connect",   "generalized", "lock" };
    static const char *const objects[PL_OBJECT_KINDS] = { "communicator", "window", "file" };
    json_t *object = json_object();
    if (item->kind != PL_ITEM_MESSAGE)
        report_json_put_text(object, "for", names[item->what]);
    report_json_put_text(object, item->what == PL_WHAT_EXCHANGE ? "tag" : objects[item->object_kind], item->object);
    report_json_put_text(object, "session", item->session);
    report_json_put_envelope(object, "peer", item->peer);
    if (item->far >= 0) {
        report_json_put_number(object, "peer_rank", item->far);
        report_json_put_text(object, "peer_job", item->far_job);
    }
    if (item->what == PL_WHAT_RECV || item->what == PL_WHAT_SEND || item->what == PL_WHAT_PROBE ||
        item->kind == PL_ITEM_MESSAGE)
        report_json_put_envelope(object, "tag", item->tag);
    if (item->bytes >= 0)
        report_json_put_number(object, "bytes", item->bytes);
    if (item->root != PL_NO_ROOT)
        report_json_put_number(object, "root", item->root);
    report_json_put_text(object, "collective", item->call);
    report_json_put_text(object, "operation", item->op);
    report_json_put_text(object, "data", item->data);
    return object;
}

static json_t *report_json_frame(const struct pl_report_frame *frame)
{
    const struct pl_symbol *symbol = &frame->symbol;
    json_t *object = json_object();
    if (symbol->function) {
        report_json_put_text(object, "function", symbol->function);
        report_json_put_number(object, "into", (long long)symbol->into);
    }
    if (symbol->source) {
        report_json_put_text(object, "file", symbol->source);
        report_json_put_number(object, "line", symbol->line);
    }
    if (frame->module)
        report_json_put_text(object, "module", frame->module);
    report_json_put_number(object, "offset", (long long)frame->offset);
    return object;
}

static json_t *report_json_trace(struct pl_symbols *symbols, const struct pl_job_record *page,
                                 const struct pl_job_trace *trace)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < trace->count; i++) {
        struct pl_report_frame frame = pl_report_frame(symbols, page, trace, i);
        json_array_append_new(array, report_json_frame(&frame));
    }
    return array;
}

static json_t *report_json_wait(struct pl_report *report, const struct pl_report_wait *wait)
{
    const struct pl_job_item *item = wait->item;
    const struct pl_job_record *page = report->rank[wait->rank].page;
    json_t *object = report_json_item(item), *awaited = json_array();
    report_json_put_text(object, "function", wait->function);
    if (wait->called)
        json_object_set_new(object, "caller", report_json_frame(&wait->caller));
    report_json_put_number(object, "thread", item->thread);
    json_object_set_new(object, "seconds", json_real((double)item->waited * 1e-9));
    for (uint32_t i = 0; i < item->awaited_count; i++)
        json_array_append_new(awaited, json_integer(item->awaited[i]));
    json_object_set_new(object, "awaited", awaited);
    if (item->trace)
        json_object_set_new(object, "trace",
                            report_json_trace(report->rank[wait->rank].symbols, page, &page->trace[item->trace - 1]));
    return object;
}

static json_t *report_json_items(const struct pl_job_record *page, enum pl_item_kind kind)
{
    json_t *array = json_array();
    for (uint32_t i = 0; page && i < page->items; i++)
        if (page->item[i].kind == kind)
            json_array_append_new(array, report_json_item(&page->item[i]));
    return array;
}

static json_t *report_json_rank(struct pl_report *report, int rank)
{
    static const char *const lives[PL_LIVES] = { "before",    "world", "session", "between",
                                                 "finalized", "ended", "unknown", "unable" };
    const struct pl_report_rank *r = &report->rank[rank];
    json_t *object = json_object(), *waits = json_array();
    report_json_put_number(object, "rank", rank);
    report_json_put_number(object, "pid", r->pid);
    report_json_put_text(object, "host", r->host ? r->host : "");
    report_json_put_text(object, "life", lives[r->life]);
    report_json_put_text(object, "state", (char[]){ r->state, '\0' });
    report_json_put_text(object, "sleeps", r->sleeps);
    for (int i = 0; i < report->waits; i++)
        if (report->wait[i].rank == rank)
            json_array_append_new(waits, report_json_wait(report, &report->wait[i]));
    json_object_set_new(object, "waits", waits);
    json_object_set_new(object, "pending", report_json_items(r->page, PL_ITEM_PENDING));
    json_object_set_new(object, "messages", report_json_items(r->page, PL_ITEM_MESSAGE));
    if (r->page)
        report_json_put_number(object, "left_out",
                               (long long)r->page->left_out[PL_ITEM_PENDING] + r->page->left_out[PL_ITEM_MESSAGE]);
    return object;
}

static char *report_json_dump(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

static json_t *report_json_job(struct pl_report *report)
{
    json_t *object = json_object(), *ranks = json_array(), *likely = json_array();
    if (report->job)
        report_json_put_text(object, "job", report->job);
    if (report->first_rank)
        report_json_put_number(object, "first_rank", report->first_rank);
    for (int i = 0; i < report->likelies; i++)
        json_array_append_new(likely, json_string(report->likely[i]));
    for (int r = 0; r < report->size; r++)
        json_array_append_new(ranks, report_json_rank(report, r));
    report_json_put_number(object, "size", report->size);
    json_object_set_new(object, "likely", likely);
    json_object_set_new(object, "ranks", ranks);
    return object;
}

char *pl_report_json(struct pl_report *report, int count)
{
    json_t *object = report_json_job(report), *spawned = count > 1 ? json_array() : NULL;
    for (int i = 1; i < count; i++)
        json_array_append_new(spawned, report_json_job(&report[i]));
    if (spawned)
        json_object_set_new(object, "spawned", spawned);
    return report_json_dump(object);
}

char *pl_report_json_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank)
{
    const struct pl_job_trace *trace = &page->trace[PL_RECORD_TRACES - 1];
    json_t *object = json_object();
    char function[64];
    struct pl_report_frame caller;
    bool called = pl_report_place(symbols, page, trace, function, &caller);
    report_json_put_number(object, "rank", rank);
    report_json_put_number(object, "signal", page->crashed);
    report_json_put_number(object, "thread", page->crash_thread);
    if (strcmp(function, "MPI") != 0)
        report_json_put_text(object, "function", function);
    if (called)
        json_object_set_new(object, "caller", report_json_frame(&caller));
    if (page->crash_sender > 0)
        report_json_put_number(object, "sender", page->crash_sender);
    else if (page->crash_code > 0)
        report_json_put_number(object, "address", (long long)page->crash_address);
    json_object_set_new(object, "trace", report_json_trace(symbols, page, trace));
    return report_json_dump(object);
}
