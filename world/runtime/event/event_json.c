/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as JSON, for embedders that keep a log. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum.h"
#include "core/base/memory.h"
#include "core/base/visible.h"

/* JSON holds only Unicode: each byte that is not part of UTF-8 becomes the replacement character, U+FFFD. */
static json_t *event_json_replaced(const char *text, size_t length)
{
    char *valid = pl_malloc(length * 3 + 1), *to = valid;
    for (size_t at = 0, bytes; valid && at < length; at += bytes ? bytes : 1) {
        bytes = pl_utf8_length(text + at, length - at);
        to = bytes ? mempcpy(to, text + at, bytes) : mempcpy(to, "\xef\xbf\xbd", 3);
    }
    json_t *value = valid ? json_stringn(valid, (size_t)(to - valid)) : NULL;
    free(valid);
    return value;
}

static json_t *event_json_text(const char *text, size_t length)
{
    json_t *value = json_stringn(text, length);
    return value ? value : event_json_replaced(text, length);
}

static const char *event_kind_name(enum plenum_event_kind kind)
{
    switch (kind) {
    case PLENUM_EVENT_STARTED: return "started";
    case PLENUM_EVENT_UNSTARTED: return "unstarted";
    case PLENUM_EVENT_OUTPUT: return "output";
    case PLENUM_EVENT_EXITED: return "exited";
    case PLENUM_EVENT_LOST: return "lost";
    case PLENUM_EVENT_ABORTED: return "aborted";
    case PLENUM_EVENT_TIMEOUT: return "timeout";
    case PLENUM_EVENT_FINISHED: return "finished";
    case PLENUM_EVENT_QUEUED: return "queued";
    case PLENUM_EVENT_PSETS: return "psets";
    case PLENUM_EVENT_REPORT: return "report";
    case PLENUM_EVENT_ERROR: return "error";
    case PLENUM_EVENT_HOST: return "host";
    }
    return "unknown";
}

static void event_json_add_flags(json_t *object, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *name;
    } all[] = {
        { PLENUM_EVENT_EXPECTED, "expected" },   { PLENUM_EVENT_UNFINALIZED, "unfinalized" },
        { PLENUM_EVENT_PARTIAL, "partial" },     { PLENUM_EVENT_CORE, "core" },
        { PLENUM_EVENT_CANCELLED, "cancelled" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (flags & all[i].flag)
            json_object_set_new(object, all[i].name, json_true());
}

static void event_json_add_usage(json_t *object, const struct plenum_event *e)
{
    json_object_set_new(object, "time", json_real((double)e->time_us / 1e6));
    if (e->kind != PLENUM_EVENT_EXITED && e->kind != PLENUM_EVENT_LOST && e->kind != PLENUM_EVENT_FINISHED)
        return;
    json_object_set_new(object, "seconds", json_real((double)e->run_us / 1e6));
    json_object_set_new(object, "user", json_real((double)e->user_us / 1e6));
    json_object_set_new(object, "system", json_real((double)e->system_us / 1e6));
    json_object_set_new(object, "peak", json_integer((json_int_t)e->peak));
}

char *plenum_event_json(const struct plenum_event *e)
{
    json_t *object = e ? json_object() : NULL;
    if (!object)
        return NULL;
    json_object_set_new(object, "event", json_string(event_kind_name(e->kind)));
    json_object_set_new(object, "job", json_integer((json_int_t)e->job_id));
    if (e->rank >= 0)
        json_object_set_new(object, "rank", json_integer(e->rank));
    if (e->pid > 0)
        json_object_set_new(object, "pid", json_integer(e->pid));
    if (e->kind == PLENUM_EVENT_OUTPUT)
        json_object_set_new(object, "stream", json_string(e->stream == 1 ? "stdout" : "stderr"));
    else
        json_object_set_new(object, "code", json_integer(e->code));
    if (e->signal)
        json_object_set_new(object, "signal", json_integer(e->signal));
    if (e->text)
        json_object_set_new(object, "text", event_json_text(e->text, e->length));
    if (e->object)
        json_object_set_new(object, "object", event_json_text(e->object, strlen(e->object)));
    if (e->report)
        json_object_set_new(object, "report", json_loads(e->report, 0, NULL));
    event_json_add_usage(object, e);
    event_json_add_flags(object, e->flags);
    char *line = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return line;
}
