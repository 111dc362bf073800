/* SPDX-License-Identifier: BSD-3-Clause */
/* See event_pack.h. */
#include "world/runtime/event/event_pack.h"

#include <string.h>

enum { PACK_TEXT_MAX = 1 << 26 };

void pl_event_pack(struct pl_writer *to, const struct plenum_event *e)
{
    pl_write_leb128(to, (uint64_t)e->kind);
    pl_write_leb128(to, e->flags);
    pl_write_folded(to, e->rank);
    pl_write_folded(to, e->pid);
    pl_write_folded(to, e->code);
    pl_write_leb128(to, (uint64_t)e->signal);
    pl_write_leb128(to, (uint64_t)e->stream);
    pl_write_folded(to, e->time_us);
    pl_write_folded(to, e->run_us);
    pl_write_folded(to, e->user_us);
    pl_write_folded(to, e->system_us);
    pl_write_folded(to, e->peak);
    pl_write_blob(to, e->text, e->text ? e->length : 0);
    pl_write_text(to, e->object ? e->object : "");
    pl_write_text(to, e->report ? e->report : "");
}

static int pack_read_int(struct pl_reader *from)
{
    int64_t value = pl_read_folded(from);
    pl_reader_expect(from, value >= INT32_MIN && value <= INT32_MAX);
    return from->failed ? 0 : (int)value;
}

bool pl_event_unpack(struct pl_reader *from, struct pl_event_view *view)
{
    struct plenum_event *e = &view->event;
    *view = (struct pl_event_view){ .event = { 0 } };
    e->kind = (enum plenum_event_kind)pl_read_leb128(from);
    e->flags = (unsigned)pl_read_leb128(from);
    e->rank = pack_read_int(from);
    e->pid = pack_read_int(from);
    e->code = pack_read_int(from);
    e->signal = (int)(pl_read_leb128(from) & 127);
    e->stream = (int)(pl_read_leb128(from) & 3);
    e->time_us = pl_read_folded(from);
    e->run_us = pl_read_folded(from);
    e->user_us = pl_read_folded(from);
    e->system_us = pl_read_folded(from);
    e->peak = pl_read_folded(from);
    view->text = (const char *)pl_read_blob(from, PACK_TEXT_MAX, &view->length);
    view->object = pl_read_text(from, PACK_TEXT_MAX, &view->object_length);
    view->report = pl_read_text(from, PACK_TEXT_MAX, &view->report_length);
    return pl_reader_done(from);
}

static char *pack_put(char *to, const char *text, size_t length)
{
    memcpy(to, text, length);
    to[length] = '\0';
    return to + length + 1;
}

struct pl_event *pl_event_of_view(struct plenum_job *job, const struct pl_event_view *view)
{
    size_t more = view->object_length + view->report_length + 2;
    struct pl_event *event = pl_event_new(job, view->event.kind, view->event.rank, view->length + more);
    if (!event)
        return NULL;
    struct plenum_event *e = &event->public;
    char *text = (char *)(event + 1);
    char *object = pack_put(text, view->text, view->length);
    char *report = pack_put(object, view->object, view->object_length);
    pack_put(report, view->report, view->report_length);
    e->text = view->length ? text : NULL;
    e->length = view->length;
    e->object = view->object_length ? object : NULL;
    e->report = view->report_length ? report : NULL;
    e->flags = view->event.flags & ~(unsigned)PL_EVENT_OWN;
    e->pid = view->event.pid;
    e->code = view->event.code;
    e->signal = view->event.signal;
    e->stream = view->event.stream;
    e->time_us = view->event.time_us;
    e->run_us = view->event.run_us;
    e->user_us = view->event.user_us;
    e->system_us = view->event.system_us;
    e->peak = view->event.peak;
    return event;
}
