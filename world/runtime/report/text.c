/* SPDX-License-Identifier: BSD-3-Clause */
/* See text.h. Ranks in the same state share one paragraph; likely causes are at the end. */
#include "world/runtime/report/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "mpi.h"
#include "world/runtime/report/read.h"

enum {
    DETAILS = 8, /* ranks of a paragraph whose pending operations and messages are listed */
    NAMED = 4,   /* operations, and messages, that are listed for a rank; the others are counted */
    JOINED = 4,  /* this many ranks beside the first that wait for another rank each share a paragraph */
};

/* --- words ------------------------------------------------------------------------------------------------- */

void pl_report_write_ranks(const bool *marked, int size, FILE *out)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += marked[r];
    fputs(count == 1 ? "rank" : "ranks", out);
    const char *separator = " ";
    for (int r = 0; r < size; r++) {
        int last = r;
        if (!marked[r])
            continue;
        while (last + 1 < size && marked[last + 1])
            last++;
        fprintf(out, last > r ? "%s%d-%d" : "%s%d", separator, r, last);
        separator = ", ";
        r = last;
    }
}

void pl_report_write_on(const struct pl_job_item *item, FILE *out)
{
    static const char *const kinds[PL_OBJECT_KINDS] = { "", "window ", "file " };
    if (item->object[0])
        fprintf(out, " on %s%s", kinds[item->object_kind], item->object);
}

void pl_report_write_arguments(const struct pl_job_item *item, FILE *out)
{
    const char *before = " with ";
    if (item->root != PL_NO_ROOT) {
        fprintf(out, "%sroot ", before);
        if (item->root == MPI_ROOT || item->root == MPI_PROC_NULL)
            fputs(item->root == MPI_ROOT ? "MPI_ROOT" : "MPI_PROC_NULL", out);
        else
            fprintf(out, "%d", item->root);
        before = ", ";
    }
    if (item->data[0])
        fprintf(out, "%s%s", before, item->data);
    before = item->data[0] ? ", " : before;
    if (item->op[0])
        fprintf(out, "%s%s", before, item->op);
}

static void report_text_on(const struct pl_job_item *item, FILE *out)
{
    pl_report_write_on(item, out);
    if (item->session[0] && strcmp(item->session, "World") != 0)
        fprintf(out, " (%s)", item->session);
}

static void report_text_tag(const struct pl_job_item *item, FILE *out)
{
    if (item->tag == PL_ANY)
        fputs(" with any tag", out);
    else
        fprintf(out, " with tag %d", item->tag);
}

static void report_text_awaited(const struct pl_job_item *item, FILE *out)
{
    fputs(item->awaited_count == 1 ? "rank" : "ranks", out);
    for (uint32_t i = 0; i < item->awaited_count; i++)
        fprintf(out, "%s %d", i ? "," : "", item->awaited[i]);
}

/* A rank of the communicator; a process of another job also by its rank there. */
static void report_text_peer(const struct pl_job_item *item, FILE *out)
{
    if (item->peer >= 0)
        fprintf(out, "rank %d", item->peer);
    else
        fputs(item->peer == PL_EACH ? "another rank each" : "any rank", out);
    if (item->peer >= 0 && item->far >= 0)
        fprintf(out, " (rank %d of job %s)", item->far, item->far_job);
}

static void report_text_message(const struct pl_job_item *item, FILE *out)
{
    fputs("a message ", out);
    if (item->kind == PL_ITEM_MESSAGE && item->bytes >= 0)
        fprintf(out, "of %lld bytes ", (long long)item->bytes);
    fputs("from ", out);
    report_text_peer(item, out);
    report_text_tag(item, out);
}

void pl_report_write_item(const struct pl_job_item *item, FILE *out)
{
    switch ((enum pl_item_what)item->what) {
    case PL_WHAT_RECV:
    case PL_WHAT_PROBE: report_text_message(item, out); break;
    case PL_WHAT_SEND:
        report_text_peer(item, out);
        fprintf(out, " to receive its message of %lld bytes", (long long)item->bytes);
        report_text_tag(item, out);
        if (item->unsent)
            fputs(" (not sent yet)", out);
        break;
    case PL_WHAT_COLLECTIVE:
        if (item->peer >= 0)
            report_text_peer(item, out);
        else
            fputs("the others", out);
        fprintf(out, " in %s", item->call[0] ? item->call : "a collective operation");
        break;
    case PL_WHAT_ANY: fputs("one of several operations", out); break;
    case PL_WHAT_EXCHANGE:
        if (item->awaited_count)
            report_text_awaited(item, out);
        else
            fputs("an answer", out);
        fprintf(out, " to create the communicator of \"%s\"", item->object);
        return;
    case PL_WHAT_CLOSE:
        if (item->awaited_count)
            report_text_awaited(item, out);
        else
            fputs("others", out);
        fputs(" to receive what it has sent", out);
        break;
    case PL_WHAT_ADDRESS: fprintf(out, "rank %d to be initialized", item->peer); break;
    case PL_WHAT_ACCEPT: fputs("another job to connect to its port", out); break;
    case PL_WHAT_CONNECT: fputs("another job to accept at the port to which it connects", out); break;
    case PL_WHAT_LOCK: fprintf(out, "the window lock of rank %d", item->peer); break;
    case PL_WHAT_REQUEST: fputs("a generalized request, which the program must complete", out); break;
    default:
        if (item->kind == PL_ITEM_MESSAGE)
            report_text_message(item, out);
        else
            fputs("an operation", out);
    }
    report_text_on(item, out);
}

void pl_report_frame_text(const struct pl_report_frame *frame, char text[PL_FRAME_TEXT])
{
    char place[256], source[112] = "";
    const struct pl_symbol *symbol = &frame->symbol;
    unsigned long long offset = frame->offset, into = symbol->into;
    if (!frame->module)
        snprintf(place, sizeof place, "0x%llx", offset);
    else
        snprintf(place, sizeof place, "%s(+0x%llx)", frame->module, offset);
    if (symbol->source) {
        const char *slash = strrchr(symbol->source, '/');
        snprintf(source, sizeof source, " at %.80s:%d", slash ? slash + 1 : symbol->source, symbol->line);
    }
    if (symbol->function)
        snprintf(text, PL_FRAME_TEXT, "%.90s+0x%llx in %s%s", symbol->function, into, place, source);
    else
        snprintf(text, PL_FRAME_TEXT, "%s%s", place, source);
}

/* Says why the report has no names. */
static void report_text_write_missing(bool missing, FILE *out)
{
    if (missing)
        fputs("functions and source lines are not known: plenum/symbolizer, which needs libdw, cannot be run\n", out);
}

void pl_report_write_wait(const struct pl_report_wait *wait, FILE *out)
{
    fputs(wait->function, out);
    if (wait->item->what == PL_WHAT_COLLECTIVE) {
        report_text_on(wait->item, out);
        if (wait->item->call[0])
            fprintf(out, ", of %s", wait->item->call);
        pl_report_write_arguments(wait->item, out);
        return;
    }
    fputs(", waiting for ", out);
    pl_report_write_item(wait->item, out);
}

const char *pl_report_outside(const struct pl_report_rank *rank, bool several)
{
    switch (rank->life) {
    case PL_LIFE_BEFORE: return several ? "have not initialized MPI" : "has not initialized MPI";
    case PL_LIFE_BETWEEN: return several ? "have no session any more" : "has no session any more";
    case PL_LIFE_FINALIZED: return several ? "have finalized MPI" : "has finalized MPI";
    case PL_LIFE_ENDED: return several ? "have ended" : "has ended";
    case PL_LIFE_UNABLE: return "could not initialize MPI";
    case PL_LIFE_UNKNOWN: return several ? "have given no answer" : "has given no answer";
    default: return several ? "are not waiting in MPI" : "is not waiting in MPI";
    }
}

/* --- paragraphs -------------------------------------------------------------------------------------------- */

static char *report_text_of(const struct pl_report_wait *wait)
{
    char *text = NULL;
    FILE *out = pl_text_open(&text);
    if (!out)
        return NULL;
    pl_report_write_wait(wait, out);
    fclose(out);
    return text;
}

/* Does it wait for one rank of its job by point-to-point communication? */
static bool report_text_has_peer(const struct pl_report_wait *wait)
{
    const struct pl_job_item *item = wait->item;
    return item->peer >= 0 && item->far < 0 && item->awaited_count == 1 &&
           (item->what == PL_WHAT_RECV || item->what == PL_WHAT_SEND || item->what == PL_WHAT_PROBE);
}

static char *report_text_of_each(const struct pl_report_wait *wait)
{
    struct pl_job_item item = *wait->item;
    struct pl_report_wait each = *wait;
    item.peer = PL_EACH;
    each.item = &item;
    return report_text_of(&each);
}

/* Gives one text to many ranks that wait at the same place, each for another rank, as in a halo exchange. */
static void report_text_join(const struct pl_report *report, int first, char **text)
{
    char *each = report_text_has_peer(&report->wait[first]) ? report_text_of_each(&report->wait[first]) : NULL;
    bool *same = each ? pl_calloc((size_t)report->waits, sizeof *same) : NULL;
    int others = 0;
    for (int i = first; same && i < report->waits; i++) {
        char *own = report_text_has_peer(&report->wait[i]) &&
                            strcmp(report->wait[i].caller_text, report->wait[first].caller_text) == 0
                        ? report_text_of_each(&report->wait[i])
                        : NULL;
        same[i] = own && strcmp(own, each) == 0;
        others += same[i] && strcmp(text[i], text[first]) != 0;
        free(own);
    }
    for (int i = first; others >= JOINED && i < report->waits; i++) {
        char *own = same[i] ? pl_strdup(each) : NULL;
        if (own) {
            free(text[i]);
            text[i] = own;
        }
    }
    free(same);
    free(each);
}

static void report_text_each(const struct pl_report *report, const bool *marked, FILE *out)
{
    int told = 0;
    fputs("    ", out);
    for (int r = 0; r < report->size && told < DETAILS; r++)
        if (marked[r])
            fprintf(out, "%srank %d for %d", told++ ? ", " : "", r, report->first[r]->item->peer);
    fputs(told == DETAILS ? " ...\n" : "\n", out);
}

static void report_text_kind(const struct pl_job_record *page, int rank, enum pl_item_kind kind, const char *does,
                             FILE *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < page->items; i++) {
        if (page->item[i].kind != kind || ++count > NAMED)
            continue;
        fprintf(out, "    rank %d %s ", rank, does);
        pl_report_write_item(&page->item[i], out);
        fputc('\n', out);
    }
    unsigned long more = (count > NAMED ? count - NAMED : 0) + (unsigned long)page->left_out[kind];
    if (more)
        fprintf(out, "    rank %d %s %lu more\n", rank, does, more);
}

static void report_text_queues(const struct pl_report *report, int rank, FILE *out)
{
    report_text_kind(report->rank[rank].page, rank, PL_ITEM_PENDING, "also waits for", out);
    report_text_kind(report->rank[rank].page, rank, PL_ITEM_MESSAGE, "has, and does not receive,", out);
}

static void report_text_place(const struct pl_report_rank *r, bool several, FILE *out)
{
    fprintf(out, " (pid %d%s%s%s)", (int)r->pid, r->host ? " on " : "", r->host ? r->host : "",
            several ? " and others" : "");
}

/* One paragraph for all waits with the same text, from `first` on. Marks them as told. */
static void report_text_waits(const struct pl_report *report, int first, char *const *text, bool *told, bool *marked,
                              FILE *out)
{
    double least = 1e18, most = 0;
    int details = 0, count = 0;
    memset(marked, 0, (size_t)report->size * sizeof *marked);
    for (int i = first; i < report->waits; i++) {
        const struct pl_report_wait *wait = &report->wait[i];
        if (told[i] || strcmp(text[i], text[first]) != 0 ||
            strcmp(wait->caller_text, report->wait[first].caller_text) != 0)
            continue;
        double seconds = (double)wait->item->waited * 1e-9;
        least = seconds < least ? seconds : least;
        most = seconds > most ? seconds : most;
        count += !marked[wait->rank];
        told[i] = marked[wait->rank] = true;
    }
    fputs("  ", out);
    pl_report_write_ranks(marked, report->size, out);
    fprintf(out, ": in %s", text[first]);
    if (most > 0)
        fprintf(out, most - least < 0.1 ? ", for %.1f s" : ", for %.1f to %.1f s", least, most);
    if (report->rank[report->wait[first].rank].host)
        report_text_place(&report->rank[report->wait[first].rank], count > 1, out);
    fputc('\n', out);
    if (report->wait[first].called)
        fprintf(out, "    called from %s\n", report->wait[first].caller_text);
    if (strstr(text[first], "another rank each"))
        report_text_each(report, marked, out);
    for (int r = 0; r < report->size && details < DETAILS; r++)
        if (marked[r] && report->first[r] >= &report->wait[first] && ++details)
            report_text_queues(report, r, out);
}

static void report_text_process(const struct pl_report_rank *r, FILE *out)
{
    const char *what = r->state == 'R'                      ? "running"
                       : r->state == 'T' || r->state == 't' ? "stopped"
                       : r->state == 'S'                    ? "sleeping"
                       : r->state == 'D'                    ? "waiting for a device"
                                                            : NULL;
    if (what && r->sleeps[0])
        fprintf(out, "; %s in %s", what, r->sleeps);
    else if (what)
        fprintf(out, "; %s", what);
}

/* Ranks that have given no answer are told by their hosts. */
static bool report_text_same_outside(const struct pl_report_rank *a, const struct pl_report_rank *b)
{
    bool hosts = a->life == PL_LIFE_UNKNOWN && a->host && b->host;
    return (!hosts || strcmp(a->host, b->host) == 0) && a->waits == b->waits &&
           strcmp(pl_report_outside(a, false), pl_report_outside(b, false)) == 0 && a->state == b->state &&
           strcmp(a->sleeps, b->sleeps) == 0;
}

static void report_text_which(const struct pl_report_rank *r, bool several, FILE *out)
{
    if (r->life == PL_LIFE_UNKNOWN && r->host)
        fprintf(out, ", nor has host %s", r->host);
    if (r->life != PL_LIFE_ENDED && r->life != PL_LIFE_UNKNOWN)
        report_text_place(r, several, out);
}

static void report_text_outside(const struct pl_report *report, int first, bool *told, bool *marked, FILE *out)
{
    int count = 0;
    memset(marked, 0, (size_t)report->size * sizeof *marked);
    for (int r = first; r < report->size; r++)
        if (!told[r] && report_text_same_outside(&report->rank[r], &report->rank[first])) {
            told[r] = marked[r] = true;
            count++;
        }
    fputs("  ", out);
    pl_report_write_ranks(marked, report->size, out);
    fprintf(out, ": %s", pl_report_outside(&report->rank[first], count > 1));
    report_text_which(&report->rank[first], count > 1, out);
    report_text_process(&report->rank[first], out);
    fputc('\n', out);
}

static bool report_text_misses(const struct pl_report *report)
{
    bool missing = false;
    for (int h = 0; h < (report->hosts ? report->hosts : 1); h++)
        missing |= report->symbols[h].missing;
    return missing;
}

static void report_text_head(const struct pl_report *report, FILE *out)
{
    int first = report->first_rank, last = first + report->size - 1;
    fprintf(out, "state of the %d %s of the ", report->size, report->size == 1 ? "process" : "processes");
    if (!report->job)
        fputs("job:\n", out);
    else if (first == 0)
        fprintf(out, "job %s:\n", report->job);
    else if (first == last)
        fprintf(out, "spawned job %s (rank %d of all):\n", report->job, first);
    else
        fprintf(out, "spawned job %s (ranks %d-%d of all):\n", report->job, first, last);
}

void pl_report_write(const struct pl_report *report, FILE *out)
{
    size_t most = (size_t)(report->waits > report->size ? report->waits : report->size);
    char **text = pl_calloc(most + 1, sizeof *text);
    bool *told = pl_calloc(most, sizeof *told), *marked = pl_calloc(most, sizeof *marked);
    bool good = text && told && marked;
    for (int i = 0; good && i < report->waits; i++)
        good = (text[i] = report_text_of(&report->wait[i])) != NULL;
    if (good) {
        report_text_head(report, out);
        for (int i = 0; i < report->waits; i++)
            if (strstr(text[i], "another rank each") == NULL)
                report_text_join(report, i, text);
        for (int i = 0; i < report->waits; i++)
            if (!told[i])
                report_text_waits(report, i, text, told, marked, out);
        memset(told, 0, most * sizeof *told);
        for (int r = 0; r < report->size; r++)
            if (!told[r] && report->rank[r].waits == 0)
                report_text_outside(report, r, told, marked, out);
        for (int i = 0; i < report->likelies; i++)
            fprintf(out, "likely: %s\n", report->likely[i]);
        report_text_write_missing(report_text_misses(report), out);
    }
    for (int i = 0; text && i < report->waits; i++)
        free(text[i]);
    free(text);
    free(told);
    free(marked);
}

/* --- crashes ----------------------------------------------------------------------------------------------- */

void pl_report_write_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank, FILE *out)
{
    const struct pl_job_trace *trace = &page->trace[PL_RECORD_TRACES - 1];
    int signo = (int)page->crashed;
    const char *name = sigdescr_np(signo);
    char function[64], text[PL_FRAME_TEXT];
    struct pl_report_frame frame;
    pl_report_place(symbols, page, trace, function, &frame);
    fprintf(out, "rank %d crashed", rank);
    if (strcmp(function, "MPI") != 0)
        fprintf(out, " in %s", function);
    else if (!symbols->missing)
        fputs(" outside of MPI", out);
    fprintf(out, ": signal %d (%s)", signo, name ? name : "unknown");
    if (page->crash_sender > 0)
        fprintf(out, ", sent by process %d", (int)page->crash_sender);
    else if (page->crash_code > 0 && (signo == SIGSEGV || signo == SIGBUS))
        fprintf(out, " at address 0x%llx", (unsigned long long)page->crash_address);
    fputc('\n', out);
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t last = i;
        frame = pl_report_frame(symbols, page, trace, i);
        pl_report_frame_text(&frame, text);
        fprintf(out, "  #%u %s", i, text);
        while (last + 1 < trace->count && trace->frame[last + 1].offset == trace->frame[i].offset &&
               trace->frame[last + 1].module == trace->frame[i].module)
            last++;
        fprintf(out, last > i ? ", %u times\n" : "\n", last - i + 1);
        i = last;
    }
    if (trace->count == PL_RECORD_FRAMES)
        fputs("  (deeper frames were not recorded)\n", out);
    report_text_write_missing(symbols->missing, out);
}
