/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leak report needs no bookkeeping: the instance has a list of its communicators, and each object that the user
 * holds (a request, a matched message) has a reference to its communicator.
 *
 * Locking: the instance's lock for the list; inside it the engine's.
 */
#include "core/engine/leak_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/log.h"
#include "core/base/vec.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/request.h"

struct leaks {
    int handles, posted, others, unreceived;
    int source, tag; /* of the first posted receive */
    int from, with;  /* source and tag of the first message that was not received */
};

static struct leaks leak_report_count(struct pl_comm *comm)
{
    struct leaks leaks = { 0 };
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    if (!comm->obj.predefined) {
        leaks.handles = atomic_load(&comm->obj.handles);
        leaks.others = atomic_load(&comm->obj.refs) - leaks.handles - comm->requests.spare_count;
    }
    PL_LIST_EACH(request, &comm->match.queues[PL_MSG_P2P].posted, struct pl_request, link)
        if (leaks.posted++ == 0) {
            leaks.source = request->args.peer_rank;
            leaks.tag = request->args.tag;
        }
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_P2P].unexpected, struct pl_unexpected, link)
        if (leaks.unreceived++ == 0) {
            leaks.from = message->header.source;
            leaks.with = message->header.tag;
        }
    pl_engine_leave(engine);
    leaks.others = leaks.others > leaks.posted ? leaks.others - leaks.posted : 0;
    return leaks;
}

/* What is left, in words. Objects with the same words share a line. */
struct line {
    const char *noun; /* "communicator"; the text follows it */
    int count;        /* objects */
    char text[512];
    size_t used;
    bool more; /* a reason precedes */
};
struct lines {
    PL_VEC(struct line);
};

static PL_PRINTF(2, 3) void leak_report_add(struct line *line, const char *format, ...)
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

/* `"ocean"`, or where it comes from: `of MPI_Comm_dup`. */
static void add_name(struct line *line, const struct pl_comm *comm)
{
    char name[MPI_MAX_OBJECT_NAME];
    pl_comm_name(comm, name, sizeof name);
    if (name[0])
        leak_report_add(line, " \"%s\"", name);
    else if (comm->role.maker)
        leak_report_add(line, " of %s", comm->role.maker);
    else
        leak_report_add(line, " without a name");
}

/* `communicator "ocean" (not freed; 2 receives under way, the first from rank 3 with tag 7)`; false: the
 * user has freed it. */
static bool leak_report_describe(struct pl_comm *comm, struct line *line)
{
    struct leaks leaks = leak_report_count(comm);
    bool part = comm->role.serves != NULL;
    if (leaks.handles <= 0 && !leaks.posted && !leaks.others && !leaks.unreceived && !part)
        return false;
    line->noun = part ? comm->role.serves : "communicator";
    add_name(line, comm);
    if (leaks.handles > 0 || part) {
        add_reason(line);
        leak_report_add(line, "not freed");
    }
    if (leaks.posted) {
        add_reason(line);
        leak_report_add(line, "%d receive%s under way", leaks.posted, leak_report_plural(leaks.posted));
        add_where(line, leaks.source, leaks.tag);
    }
    if (leaks.others && !part) {
        add_reason(line);
        leak_report_add(line, "%d %srequest%s or matched message%s", leaks.others, leaks.posted ? "more " : "",
                        leak_report_plural(leaks.others), leak_report_plural(leaks.others));
    }
    if (leaks.unreceived) {
        add_reason(line);
        leak_report_add(line, "%d message%s not received", leaks.unreceived, leak_report_plural(leaks.unreceived));
        add_where(line, leaks.from, leaks.with);
    }
    if (line->more)
        leak_report_add(line, ")");
    return true;
}

/* Counts the object in the line that has its words, a new one if there is none yet. Out of memory: in none. */
static void leak_report_enter(struct lines *lines, const struct line *line)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->items[i].noun == line->noun && strcmp(lines->items[i].text, line->text) == 0) {
            lines->items[i].count++;
            return;
        }
    struct line *added = PL_VEC_PUSH(lines);
    if (added)
        *added = *line;
}

static int leak_report_gather(struct pl_instance *instance, struct lines *lines)
{
    int found = 0;
    pl_lock_take(&instance->lock);
    PL_LIST_EACH(comm, &instance->comms, struct pl_comm, siblings) {
        struct line line = { .count = 1 };
        if ((comm->role.serves && !*comm->role.serves) || !leak_report_describe(comm, &line))
            continue;
        leak_report_enter(lines, &line);
        found++;
    }
    pl_lock_drop(&instance->lock);
    return found;
}

static void leak_report_print(const struct line *line, char *text, size_t capacity)
{
    if (line->count == 1)
        snprintf(text, capacity, "%s%s", line->noun, line->text);
    else
        snprintf(text, capacity, "%d %ss%s", line->count, line->noun, line->text);
}

int pl_leak_report(struct pl_instance *instance, char *text, size_t capacity)
{
    struct lines lines = { 0 };
    size_t used = 0;
    if (capacity)
        *text = '\0';
    pl_engine_enter(&instance->engine);
    pl_engine_progress(&instance->engine); /* counts messages that have arrived; completes sends that have left */
    pl_engine_leave(&instance->engine);
    int found = leak_report_gather(instance, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        char words[sizeof lines.items->text + 64];
        leak_report_print(&lines.items[i], words, sizeof words);
        pl_log("session", 1, "left at the end of %s: %s", instance->world ? "the World" : "a session", words);
        int length = snprintf(text + used, capacity - used, "%s%s", i ? ", " : "", words);
        bool fits = length > 0 && (size_t)length < capacity - used;
        if (!fits && used > 0)
            text[used] = '\0'; /* the first is cut short; others that do not fit are left out */
        used += fits ? (size_t)length : used || !capacity ? 0 : capacity - 1;
    }
    PL_VEC_FINI(&lines);
    return found;
}
