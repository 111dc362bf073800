/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leftovers of an instance. Nothing is kept for this while the instance is at work: its communicators are in its list,
 * and whatever the user holds of one (a request, a matched message) holds a reference to it.
 *
 * Locking: the instance's for the list of communicators, with a communicator's own or the engine's inside.
 */
#include "core/engine/leak_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/request.h"

struct left {
    int handles, posted, others, unreceived;
    int source, tag; /* of the first receive that is posted */
    int from, with;  /* of the first message that nobody received */
};

static struct left leak_report_count(struct pl_comm *comm)
{
    struct left left = { 0 };
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    if (!comm->obj.predefined) {
        left.handles = atomic_load(&comm->obj.handles);
        left.others = atomic_load(&comm->obj.refs) - left.handles - comm->spares.count;
    }
    PL_LIST_EACH(request, &comm->match.queues[PL_MSG_P2P].posted, struct pl_request, link)
        if (left.posted++ == 0) {
            left.source = request->args.peer_rank;
            left.tag = request->args.tag;
        }
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_P2P].unexpected, struct pl_unexpected, link)
        if (left.unreceived++ == 0) {
            left.from = message->header.source;
            left.with = message->header.tag;
        }
    pl_engine_leave(engine);
    left.others = left.others > left.posted ? left.others - left.posted : 0;
    return left;
}

struct line {
    char text[512];
    size_t used;
    bool more; /* not the first of the reasons */
};

__attribute__((format(printf, 2, 3))) static void leak_report_add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used +=
            (size_t)length < sizeof line->text - line->used ? (size_t)length : sizeof line->text - line->used - 1;
}

static void add_reason(struct line *line)
{
    leak_report_add(line, "%s", line->more ? "; " : " (");
    line->more = true;
}

static const char *leak_report_plural(int count)
{
    return count == 1 ? "" : "s";
}

static void add_where(struct line *line, int rank, int tag)
{
    char words[2][32];
    snprintf(words[0], sizeof words[0], rank == MPI_ANY_SOURCE ? "any rank" : "rank %d", rank);
    snprintf(words[1], sizeof words[1], tag == MPI_ANY_TAG ? "any tag" : "tag %d", tag);
    leak_report_add(line, ", the first from %s with %s", words[0], words[1]);
}

/* `communicator "ocean" (not freed; 2 receives under way, the first from rank 3 with tag 7)`; false: nothing is
 * left. */
static bool leak_report_describe(struct pl_comm *comm, struct line *line)
{
    struct left left = leak_report_count(comm);
    bool part = comm->serves != NULL;
    if (left.handles <= 0 && !left.posted && !left.others && !left.unreceived && !part)
        return false;
    pl_lock_take(&comm->lock);
    if (part && !comm->name[0])
        leak_report_add(line, "unnamed %s", comm->serves);
    else
        leak_report_add(line, "%s \"%s\"", part ? comm->serves : "communicator", pl_comm_label(comm));
    pl_lock_drop(&comm->lock);
    if (left.handles > 0 || part) {
        add_reason(line);
        leak_report_add(line, "not freed");
    }
    if (left.posted) {
        add_reason(line);
        leak_report_add(line, "%d receive%s under way", left.posted, leak_report_plural(left.posted));
        add_where(line, left.source, left.tag);
    }
    if (left.others && !part) {
        add_reason(line);
        leak_report_add(line, "%d %srequest%s or matched message%s", left.others, left.posted ? "more " : "",
                        leak_report_plural(left.others), leak_report_plural(left.others));
    }
    if (left.unreceived) {
        add_reason(line);
        leak_report_add(line, "%d message%s not received", left.unreceived, leak_report_plural(left.unreceived));
        add_where(line, left.from, left.with);
    }
    if (line->more)
        leak_report_add(line, ")");
    return true;
}

int pl_leak_report(struct pl_instance *instance, char *text, size_t room)
{
    int found = 0;
    size_t used = 0;
    if (room)
        *text = '\0';
    pl_engine_enter(&instance->engine);
    pl_engine_progress(&instance->engine); /* what has arrived counts, what has left does not */
    pl_engine_leave(&instance->engine);
    pl_lock_take(&instance->lock);
    PL_LIST_EACH(comm, &instance->comms, struct pl_comm, siblings) {
        struct line line = { .used = 0 };
        if ((comm->serves && !*comm->serves) || !leak_report_describe(comm, &line))
            continue;
        pl_log("session", 1, "left at the end of %s: %s", instance->world ? "the World" : "a session", line.text);
        int length = snprintf(text + used, room - used, "%s%s", found++ ? ", " : "", line.text);
        bool fits = length > 0 && (size_t)length < room - used;
        if (!fits && used > 0)
            text[used] = '\0'; /* the first is cut short, others that do not fit are left out */
        used += fits ? (size_t)length : used || !room ? 0 : room - 1;
    }
    pl_lock_drop(&instance->lock);
    return found;
}
