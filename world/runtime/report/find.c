/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See find.h. From each rank that waits, in one thread or in several for the same rank, the search follows the chain of
 * ranks that wait for each other. A chain ends in a cycle, with a rank that does not wait in MPI, or with a rank that
 * waits for no particular rank.
 *
 * The processes do not answer at the same moment. So only waits that had lasted for a while when they were reported
 * count: there was a moment at which all of them held, and messages under way at that moment have arrived.
 */
#include "world/runtime/report/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/report/text.h"

enum {
    CYCLE_NAMED = 8,    /* ranks of a cycle that are named */
    MISMATCHES = 3,     /* sentences about messages that do not match */
    LIKELY_MAX = 24,    /* sentences in all */
    LASTING = 100000000 /* nanoseconds: only longer waits count */
};

struct search {
    struct pl_report *report;
    int *seen;    /* [size] the last walk that visited the rank, from 1 */
    int *end;     /* [waits] the rank that ends the chain; -1: a cycle */
    bool *named;  /* [size] the rank is part of a sentence */
    bool *marked; /* [size] */
    char *text;
};

/* --- sentences --------------------------------------------------------------------------------------------- */

static FILE *report_find_begin(struct search *s)
{
    s->text = NULL;
    return pl_text_open(&s->text);
}

static void report_find_end(struct search *s, FILE *out)
{
    struct pl_report *report = s->report;
    fclose(out);
    if (report->likelies == LIKELY_MAX) {
        free(s->text);
        return;
    }
    char **more = pl_realloc(report->likely, ((size_t)report->likelies + 1) * sizeof *more);
    if (more)
        report->likely = more;
    if (more && s->text)
        more[report->likelies++] = s->text;
    else
        free(s->text);
}

/* --- chains ------------------------------------------------------------------------------------------------ */

static bool report_find_lasts(const struct pl_report_wait *wait)
{
    return wait->item->waited >= LASTING;
}

/* The wait of a rank; NULL: it does not wait, or not for long, or its threads wait for different ranks. */
static const struct pl_report_wait *report_find_only_wait(const struct pl_report *report, int rank)
{
    const struct pl_report_wait *wait = report->first[rank];
    int waits = report->rank[rank].waits;
    for (int i = 0; i < waits; i++)
        if (!report_find_lasts(&wait[i]) ||
            (waits > 1 && (wait[i].item->awaited_count == 0 || wait[i].item->awaited[0] != wait->item->awaited[0])))
            return NULL;
    return waits > 0 ? wait : NULL;
}

static void report_find_write_cycle(struct search *s, int first)
{
    struct pl_report *report = s->report;
    int count = 0;
    FILE *out = report_find_begin(s);
    if (!out)
        return;
    memset(s->marked, 0, (size_t)report->size * sizeof *s->marked);
    for (int r = first; !s->marked[r]; r = report_find_only_wait(report, r)->item->awaited[0])
        s->marked[r] = s->named[r] = true;
    pl_report_write_ranks(s->marked, report->size, out);
    fputs(report_find_only_wait(report, first)->item->awaited[0] == first ? " waits for itself: "
                                                                          : " wait for each other: ",
          out);
    int r = first;
    do {
        const struct pl_report_wait *wait = report_find_only_wait(report, r);
        fprintf(out, "%srank %d for rank %d (%s", count ? ", " : "", r, wait->item->awaited[0], wait->function);
        if (wait->item->tag != PL_ANY && wait->item->what != PL_WHAT_COLLECTIVE)
            fprintf(out, ", tag %d", wait->item->tag);
        pl_report_write_on(wait->item, out);
        if (wait->item->what == PL_WHAT_COLLECTIVE && wait->item->call[0])
            fprintf(out, ", of %s", wait->item->call);
        fputc(')', out);
        r = wait->item->awaited[0];
    } while (++count < CYCLE_NAMED && r != first);
    if (r != first)
        fputs(", and so on", out);
    report_find_end(s, out);
}

/* Follows the chain from a wait. Returns the rank at its end; -1: a cycle, which gets its sentence. */
static int report_find_follow(struct search *s, int walk)
{
    struct pl_report *report = s->report;
    const struct pl_report_wait *wait = &report->wait[walk];
    s->seen[wait->rank] = walk + 1;
    while (wait->item->awaited_count > 0) {
        int next = wait->item->awaited[0];
        if (s->seen[next] == walk + 1 && report_find_only_wait(report, next)) {
            if (!s->named[next])
                report_find_write_cycle(s, next);
            return -1;
        }
        s->seen[next] = walk + 1;
        wait = report_find_only_wait(report, next);
        if (!wait)
            return next;
    }
    return wait->rank;
}

/* --- missing ranks ----------------------------------------------------------------------------------------- */

static bool report_find_same_place(const struct pl_report_wait *a, const struct pl_report_wait *b)
{
    return strcmp(a->function, b->function) == 0 && a->item->what == b->item->what && a->item->home == b->item->home &&
           a->item->serial == b->item->serial && strcmp(a->item->object, b->item->object) == 0;
}

/* Marks the ranks that a collective or an exchange misses: the ranks that do not wait, and the end of the chain. */
static void report_find_mark_missing(struct search *s, const struct pl_report_wait *wait, int last)
{
    const struct pl_job_item *item = wait->item;
    const struct pl_report_rank *rank = s->report->rank;
    memset(s->marked, 0, (size_t)s->report->size * sizeof *s->marked);
    for (uint32_t i = 0; item->what == PL_WHAT_COLLECTIVE && i < item->range_count; i++)
        for (uint32_t r = item->range[i][0]; r <= item->range[i][1]; r++)
            s->marked[r] = rank[r].waits == 0;
    for (uint32_t i = 0; item->what == PL_WHAT_EXCHANGE && i < item->awaited_count; i++)
        s->marked[item->awaited[i]] = rank[item->awaited[i]].waits == 0;
    s->marked[last] = true;
}

static bool report_find_same_outside(const struct pl_report_rank *a, const struct pl_report_rank *b)
{
    return strcmp(pl_report_outside(a, false), pl_report_outside(b, false)) == 0;
}

static void report_find_list_missing(struct search *s, const struct pl_report_wait *wait, int last, FILE *out)
{
    struct pl_report *report = s->report;
    report_find_mark_missing(s, wait, last);
    for (int r = 0; r < report->size; r++) {
        bool *same = s->marked[r] ? pl_calloc((size_t)report->size, sizeof *same) : NULL;
        int count = 0;
        for (int i = r; same && i < report->size; i++)
            if (s->marked[i] && report_find_same_outside(&report->rank[i], &report->rank[r])) {
                same[i] = true;
                s->marked[i] = false;
                count++;
            }
        if (!same)
            continue;
        fputs("; ", out);
        pl_report_write_ranks(same, report->size, out);
        fprintf(out, " %s", pl_report_outside(&report->rank[r], count > 1));
        free(same);
    }
}

/* One sentence for all ranks that wait at the same place and whose chains end with the same rank. */
static void report_find_write_missing(struct search *s, int first)
{
    struct pl_report *report = s->report;
    const struct pl_report_wait *wait = &report->wait[first];
    int last = s->end[first], count = 0;
    FILE *out = report_find_begin(s);
    if (!out)
        return;
    memset(s->marked, 0, (size_t)report->size * sizeof *s->marked);
    for (int i = first; i < report->waits; i++)
        if (s->end[i] == last && report_find_same_place(&report->wait[i], wait)) {
            count += !s->marked[report->wait[i].rank];
            s->marked[report->wait[i].rank] = true;
            s->end[i] = -1;
        }
    pl_report_write_ranks(s->marked, report->size, out);
    fprintf(out, " %s in %s", count == 1 ? "waits" : "wait", wait->function);
    if (wait->item->what != PL_WHAT_EXCHANGE)
        pl_report_write_on(wait->item, out);
    else if (wait->item->object[0])
        fprintf(out, " of \"%s\"", wait->item->object);
    if ((wait->item->awaited[0] != last || count > 1) && wait->item->what != PL_WHAT_COLLECTIVE)
        fprintf(out, ", ultimately for rank %d", last);
    if (report->rank[last].waits == 0) {
        report_find_list_missing(s, wait, last, out);
    } else {
        fprintf(out, "; rank %d is in ", last);
        pl_report_write_wait(report->first[last], out);
    }
    report_find_end(s, out);
}

/* --- messages that do not match ---------------------------------------------------------------------------- */

static bool report_find_fits(int wanted, int has)
{
    return wanted == PL_ANY || wanted == has;
}

static void report_find_write_mismatch(struct search *s, const struct pl_report_wait *wait,
                                       const struct pl_job_item *message)
{
    const struct pl_job_item *item = wait->item;
    bool comm = item->home == message->home && item->serial == message->serial;
    bool peer = item->peer == PL_ANY
                    ? message->awaited_count > 0
                    : item->awaited_count > 0 && message->awaited_count > 0 && item->awaited[0] == message->awaited[0];
    bool tag = report_find_fits(item->tag, message->tag);
    if (comm + peer + tag != 2) /* exactly one of the three is wrong */
        return;
    FILE *out = report_find_begin(s);
    if (!out)
        return;
    fprintf(out, "rank %d is in ", wait->rank);
    pl_report_write_wait(wait, out);
    fprintf(out, "; it has received ");
    pl_report_write_item(message, out);
    fprintf(out, ": the %s differs", !comm ? "communicator" : !tag ? "tag" : "rank");
    report_find_end(s, out);
}

static void report_find_mismatches(struct search *s)
{
    for (int i = 0; i < s->report->waits && s->report->likelies < MISMATCHES; i++) {
        const struct pl_report_wait *wait = &s->report->wait[i];
        const struct pl_job_record *page = s->report->rank[wait->rank].page;
        int before = report_find_lasts(wait) ? s->report->likelies : -1;
        for (uint32_t k = 0; k < page->items && s->report->likelies == before; k++)
            if (page->item[k].kind == PL_ITEM_MESSAGE &&
                (wait->item->what == PL_WHAT_RECV || wait->item->what == PL_WHAT_PROBE))
                report_find_write_mismatch(s, wait, &page->item[k]);
    }
}

/* --- collectives that differ ------------------------------------------------------------------------------- */

/* Are two ranks in the collective with the same number of the same communicator? */
static bool report_find_same_collective(const struct pl_report_wait *a, const struct pl_report_wait *b)
{
    return a->item->what == PL_WHAT_COLLECTIVE && b->item->what == PL_WHAT_COLLECTIVE && a->item->tag >= 0 &&
           a->item->tag == b->item->tag && a->item->home == b->item->home && a->item->serial == b->item->serial &&
           report_find_lasts(a) && report_find_lasts(b);
}

/* Which collective it is, not where the thread is. */
static const char *report_find_call(const struct pl_report_wait *wait)
{
    return wait->item->call[0] ? wait->item->call : wait->function;
}

/* How two ranks in one collective differ; NULL: they do not, as far as they said. */
static const char *report_find_difference(const struct pl_report_wait *a, const struct pl_report_wait *b)
{
    const struct pl_job_item *one = a->item, *other = b->item;
    if (strcmp(report_find_call(a), report_find_call(b)) != 0)
        return "collectives at the same time";
    if (one->root >= 0 && other->root >= 0 && one->root != other->root)
        return "roots of one collective";
    if (one->op[0] && other->op[0] && strcmp(one->op, other->op) != 0)
        return "operations of one collective";
    if (one->bytes >= 0 && other->bytes >= 0 && one->bytes != other->bytes)
        return "amounts of data in one collective";
    return NULL;
}

static void report_find_write_different(struct search *s, int first, const char *what)
{
    struct pl_report *report = s->report;
    const struct pl_report_wait *wait = report->wait;
    FILE *out = report_find_begin(s);
    if (!out)
        return;
    fprintf(out, "different %s", what);
    pl_report_write_on(wait[first].item, out);
    fputs(": ", out);
    for (int i = first; i < report->waits; i++) {
        if (s->named[wait[i].rank] || !report_find_same_collective(&wait[i], &wait[first]))
            continue;
        memset(s->marked, 0, (size_t)report->size * sizeof *s->marked);
        for (int k = i; k < report->waits; k++)
            if (report_find_same_collective(&wait[k], &wait[first]) && !report_find_difference(&wait[k], &wait[i]))
                s->marked[wait[k].rank] = s->named[wait[k].rank] = true;
        fputs(i > first ? "; " : "", out);
        pl_report_write_ranks(s->marked, report->size, out);
        fprintf(out, " in %s", report_find_call(&wait[i]));
        pl_report_write_arguments(wait[i].item, out);
    }
    report_find_end(s, out);
}

/* Names the ranks, so that a cycle that results from the mistake gets no sentence. */
static void report_find_different(struct search *s)
{
    const struct pl_report_wait *wait = s->report->wait;
    for (int i = 0; i < s->report->waits; i++)
        for (int k = i + 1; k < s->report->waits && !s->named[wait[i].rank]; k++)
            if (report_find_same_collective(&wait[i], &wait[k]) && report_find_difference(&wait[i], &wait[k]))
                report_find_write_different(s, i, report_find_difference(&wait[i], &wait[k]));
}

/* --- the search -------------------------------------------------------------------------------------------- */

/* Can a process of another job, of which this report says nothing, end the wait? */
static bool report_find_is_open(const struct pl_job_item *item)
{
    return item->far >= 0 || item->ranges_cut || item->what == PL_WHAT_ACCEPT || item->what == PL_WHAT_CONNECT;
}

/* All ranks wait, and none for a particular rank. */
static void report_find_idle(struct search *s)
{
    for (int i = 0; i < s->report->waits; i++)
        if (!report_find_lasts(&s->report->wait[i]) || report_find_is_open(s->report->wait[i].item))
            return;
    for (int r = 0; r < s->report->size; r++)
        if (s->report->rank[r].waits == 0 && s->report->rank[r].life != PL_LIFE_ENDED &&
            s->report->rank[r].life != PL_LIFE_FINALIZED)
            return;
    FILE *out = s->report->waits && s->report->likelies == 0 ? report_find_begin(s) : NULL;
    if (!out)
        return;
    fputs("all processes wait, and none of them sends a message that another process would receive", out);
    report_find_end(s, out);
}

void pl_report_find(struct pl_report *report)
{
    size_t size = (size_t)report->size;
    struct search s = {
        .report = report,
        .seen = pl_calloc(size, sizeof *s.seen),
        .end = pl_calloc((size_t)report->waits + 1, sizeof *s.end),
        .named = pl_calloc(size, sizeof *s.named),
        .marked = pl_calloc(size, sizeof *s.marked),
    };
    if (s.seen && s.end && s.named && s.marked) {
        report_find_mismatches(&s);
        report_find_different(&s);
        for (int i = 0; i < report->waits; i++)
            s.end[i] = report_find_lasts(&report->wait[i]) ? report_find_follow(&s, i) : -1;
        for (int i = 0; i < report->waits; i++)
            if (s.end[i] >= 0 && s.end[i] != report->wait[i].rank &&
                (report->rank[s.end[i]].waits == 0 || report_find_only_wait(report, s.end[i])))
                report_find_write_missing(&s, i);
        report_find_idle(&s);
    }
    free(s.seen);
    free(s.end);
    free(s.named);
    free(s.marked);
}
