/* SPDX-License-Identifier: BSD-3-Clause */
/* See read.h. */
#include "world/runtime/report/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/shared.h"
#include "world/runtime/job.h"
#include "world/runtime/report/text.h"

/* --- pages ------------------------------------------------------------------------------------------------- */

static void report_read_limit(uint32_t *count, uint32_t most)
{
    if (*count > most)
        *count = most;
}

void pl_report_tidy(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

static void report_read_tidy_item(struct pl_job_item *item, int size)
{
    uint32_t good = 0;
    if (item->what >= PL_WHAT_KINDS)
        item->what = PL_WHAT_OTHER;
    report_read_limit(&item->trace, PL_RECORD_TRACES - 1);
    report_read_limit(&item->awaited_count, PL_ITEM_AWAITED);
    for (uint32_t i = 0; i < item->awaited_count; i++)
        if (item->awaited[i] >= 0 && item->awaited[i] < size)
            item->awaited[good++] = item->awaited[i];
    item->awaited_count = good;
    report_read_limit(&item->range_count, PL_ITEM_RANGES);
    for (uint32_t i = 0; i < item->range_count; i++) {
        report_read_limit(&item->range[i][1], (uint32_t)size - 1);
        report_read_limit(&item->range[i][0], item->range[i][1]);
    }
    if (item->object_kind >= PL_OBJECT_KINDS)
        item->object_kind = PL_OBJECT_COMM;
    pl_report_tidy(item->object, sizeof item->object);
    pl_report_tidy(item->session, sizeof item->session);
    pl_report_tidy(item->far_job, sizeof item->far_job);
    pl_report_tidy(item->call, sizeof item->call);
    pl_report_tidy(item->op, sizeof item->op);
    pl_report_tidy(item->data, sizeof item->data);
}

void pl_report_tidy_page(struct pl_job_record *page, int size)
{
    report_read_limit(&page->items, PL_RECORD_ITEMS);
    report_read_limit(&page->modules, PL_RECORD_MODULES);
    for (uint32_t i = 0; i < page->modules; i++)
        pl_report_tidy(page->module[i], sizeof page->module[i]);
    for (int i = 0; i < PL_RECORD_TRACES; i++)
        report_read_limit(&page->trace[i].count, PL_RECORD_FRAMES);
    for (uint32_t i = 0; i < page->items; i++)
        report_read_tidy_item(&page->item[i], size);
}

struct pl_job_record *pl_report_copy_page(const struct pl_job_record *page, int size)
{
    struct pl_job_record *copy = pl_malloc(sizeof *copy);
    if (!copy)
        return NULL;
    pl_copy_shared(copy, page, sizeof *copy);
    pl_report_tidy_page(copy, size);
    return copy;
}

/* Where a trace of `from` is in `to`, from 1; 0: there is no room. */
static uint32_t report_read_join_trace(struct pl_job_record *to, const struct pl_job_record *from, uint32_t trace)
{
    if (trace == 0 || trace > PL_RECORD_TRACES || to->traces >= PL_RECORD_TRACES - 1)
        return 0;
    struct pl_job_trace *made = &to->trace[to->traces];
    *made = from->trace[trace - 1];
    for (uint32_t f = 0; f < made->count; f++) {
        uint32_t module = made->frame[f].module, at = 0;
        while (module < from->modules && at < to->modules && strcmp(to->module[at], from->module[module]) != 0)
            at++;
        bool known = module < from->modules && at < PL_RECORD_MODULES;
        if (known && at == to->modules)
            memcpy(to->module[to->modules++], from->module[module], sizeof to->module[at]);
        made->frame[f].module = known ? at : PL_RECORD_MODULES;
    }
    return ++to->traces;
}

void pl_report_join_pages(struct pl_job_record *to, const struct pl_job_record *from)
{
    report_read_limit(&to->traces, PL_RECORD_TRACES);
    for (int kind = 0; kind < PL_ITEM_KINDS; kind++)
        to->left_out[kind] += from->left_out[kind];
    for (uint32_t i = 0; i < from->items; i++) {
        if (to->items == PL_RECORD_ITEMS) {
            to->left_out[from->item[i].kind < PL_ITEM_KINDS ? from->item[i].kind : 0]++;
            continue;
        }
        struct pl_job_item *item = &to->item[to->items++];
        *item = from->item[i];
        item->trace = report_read_join_trace(to, from, item->trace);
    }
}

/* --- traces ------------------------------------------------------------------------------------------------ */

const char *pl_report_module(const struct pl_job_record *page, const struct pl_job_frame *frame)
{
    return frame->module < page->modules ? page->module[frame->module] : NULL;
}

static struct pl_symbol report_read_symbol(struct pl_symbols *symbols, const struct pl_job_record *page,
                                           const struct pl_job_trace *trace, uint32_t i, bool line)
{
    uint64_t address = pl_report_address(trace, i);
    const char *module = pl_report_module(page, &trace->frame[i]);
    struct pl_symbol symbol = { 0 };
    if (module)
        symbol = pl_symbols_find(symbols, module, address, line);
    symbol.into += trace->frame[i].offset - address;
    return symbol;
}

struct pl_report_frame pl_report_frame(struct pl_symbols *symbols, const struct pl_job_record *page,
                                       const struct pl_job_trace *trace, uint32_t i)
{
    const struct pl_job_frame *frame = &trace->frame[i];
    return (struct pl_report_frame){ pl_report_module(page, frame), frame->offset,
                                     report_read_symbol(symbols, page, trace, i, true) };
}

static bool report_read_is_mpi(const char *name)
{
    name += name[0] == 'P';
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MPIX_", 5) == 0;
}

bool pl_report_place(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     char function[64], struct pl_report_frame *caller)
{
    snprintf(function, 64, "MPI");
    for (uint32_t i = trace->count; i-- > 0;) {
        const char *name = report_read_symbol(symbols, page, trace, i, false).function;
        if (!name || !report_read_is_mpi(name))
            continue;
        size_t length = strcspn(name, ".@"); /* "MPI_Recv.cold" */
        snprintf(function, 64, "%.*s", (int)length, name);
        if (i + 1 < trace->count)
            *caller = pl_report_frame(symbols, page, trace, i + 1);
        return i + 1 < trace->count;
    }
    return false;
}

/* --- processes --------------------------------------------------------------------------------------------- */

static void report_read_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    if (!file)
        return;
    if (!fgets(text, (int)size, file))
        text[0] = '\0';
    fclose(file);
}

static void report_read_state(struct pl_report_rank *r)
{
    char stat[512], wchan[48];
    r->state = '?';
    if (r->life == PL_LIFE_ENDED || r->pid <= 0)
        return;
    report_read_proc(r->pid, "stat", stat, sizeof stat);
    const char *end = strrchr(stat, ')'); /* of the program's name */
    if (end && end[1] == ' ' && isalpha((unsigned char)end[2]))
        r->state = end[2];
    report_read_proc(r->pid, "wchan", wchan, sizeof wchan);
    if (r->state != 'R' && isalpha((unsigned char)wchan[0]))
        snprintf(r->sleeps, sizeof r->sleeps, "%s", wchan);
    pl_report_tidy(r->sleeps, sizeof r->sleeps);
}

/* The life of a rank in one tenant. */
static enum pl_report_life report_read_life_of(const struct plenum_job *job, const struct pl_job_rank *slot, int rank)
{
    uint32_t state = atomic_load(&slot->state);
    int32_t owner = atomic_load(&slot->owner);
    if (job->ranks[rank].ended)
        return PL_LIFE_ENDED;
    if (state == PL_PROCESS_FINALIZED && owner <= 0)
        return PL_LIFE_FINALIZED;
    if ((state == PL_PROCESS_UNABLE || state == PL_PROCESS_GIVEN_UP) && owner <= 0)
        return PL_LIFE_UNABLE;
    if (owner == 0)
        return PL_LIFE_BEFORE;
    if (owner < 0)
        return PL_LIFE_BETWEEN;
    return state == PL_PROCESS_INITIALIZED ? PL_LIFE_WORLD : PL_LIFE_SESSION;
}

/* Does a process in this state in one tenant do more than one in that state in another? */
static bool report_read_is_livelier(enum pl_report_life life, enum pl_report_life than)
{
    static const int order[] = {
        [PL_LIFE_BEFORE] = 0,  [PL_LIFE_BETWEEN] = 1, [PL_LIFE_UNABLE] = 2, [PL_LIFE_FINALIZED] = 3,
        [PL_LIFE_SESSION] = 4, [PL_LIFE_WORLD] = 5,   [PL_LIFE_ENDED] = 6
    };
    return order[life] > order[than];
}

/* Adds what a rank says in one tenant. False: out of memory. */
static bool report_read_tenant(const struct plenum_job *job, uint32_t tenant, int rank, struct pl_report *report)
{
    struct pl_report_rank *r = &report->rank[rank];
    struct pl_job_shared *part = pl_job_part(job->segment, job->shared, tenant);
    const struct pl_job_record *page = pl_job_record(job->segment, part, rank);
    enum pl_report_life life = report_read_life_of(job, &part->ranks[rank], rank);
    if (tenant == 0 || report_read_is_livelier(life, r->life))
        r->life = life;
    if (life == PL_LIFE_ENDED || !page ||
        atomic_load_explicit(&page->answered, memory_order_acquire) != atomic_load(&job->segment->report))
        return true;
    struct pl_job_record *copy = pl_report_copy_page(page, report->size);
    if (copy && r->page) {
        pl_report_join_pages(r->page, copy);
        free(copy);
    } else {
        r->page = copy;
    }
    return copy != NULL;
}

static bool report_read_rank(const struct plenum_job *job, int rank, struct pl_report *report)
{
    struct pl_report_rank *r = &report->rank[rank];
    int32_t process = pl_job_known_pid(&job->shared->ranks[rank]);
    bool read = true;
    for (uint32_t t = 0; read && t < job->segment->tenants; t++)
        read = !pl_job_has_tenant(job->shared, t) || report_read_tenant(job, t, rank, report);
    r->pid = process > 0 ? process : job->ranks[rank].pid;
    report_read_state(r);
    return read;
}

static void report_read_count_waits(struct pl_report *report, struct pl_report_rank *r)
{
    r->waits = 0;
    for (uint32_t i = 0; r->page && i < r->page->items; i++)
        r->waits += r->page->item[i].kind == PL_ITEM_WAIT;
    report->waits += r->waits;
}

static void report_read_waits(struct pl_report *report, int rank, int *at)
{
    const struct pl_job_record *page = report->rank[rank].page;
    for (uint32_t i = 0; page && i < page->items; i++) {
        if (page->item[i].kind != PL_ITEM_WAIT)
            continue;
        struct pl_report_wait *wait = &report->wait[(*at)++];
        static const struct pl_job_trace nowhere;
        uint32_t trace = page->item[i].trace;
        wait->rank = rank;
        wait->item = &page->item[i];
        wait->called = pl_report_place(report->rank[rank].symbols, page, trace ? &page->trace[trace - 1] : &nowhere,
                                       wait->function, &wait->caller);
        if (wait->called)
            pl_report_frame_text(&wait->caller, wait->caller_text);
        if (!report->first[rank])
            report->first[rank] = wait;
    }
}

bool pl_report_begin(struct plenum_job *job, int hosts, struct pl_report *report)
{
    *report = (struct pl_report){
        .job = job->nspace,
        .first_rank = job->tree.first_rank,
        .size = job->desc.size,
        .rank = pl_calloc((size_t)job->desc.size, sizeof *report->rank),
        .symbols = hosts ? pl_calloc((size_t)hosts, sizeof *report->symbols) : &job->symbols,
        .hosts = hosts,
    };
    for (int r = 0; report->rank && r < report->size; r++)
        report->rank[r] = (struct pl_report_rank){ .life = PL_LIFE_UNKNOWN, .state = '?', .symbols = report->symbols };
    return report->rank && report->symbols;
}

bool pl_report_read(struct plenum_job *job, struct pl_report *report)
{
    if (!pl_report_begin(job, 0, report))
        return false;
    for (int r = 0; r < job->desc.size; r++)
        if (pl_job_is_here(job, r) && !report_read_rank(job, r, report))
            return false;
    return true;
}

bool pl_report_arrange(struct pl_report *report)
{
    int at = 0;
    for (int r = 0; r < report->size; r++)
        report_read_count_waits(report, &report->rank[r]);
    report->wait = pl_calloc((size_t)report->waits + 1, sizeof *report->wait);
    report->first = pl_calloc((size_t)report->size, sizeof *report->first);
    if (!report->wait || !report->first)
        return false;
    for (int r = 0; r < report->size; r++)
        report_read_waits(report, r, &at);
    return true;
}

void pl_report_fini(struct pl_report *report)
{
    for (int r = 0; report->rank && r < report->size; r++)
        free(report->rank[r].page);
    for (int i = 0; i < report->likelies; i++)
        free(report->likely[i]);
    free(report->likely);
    free(report->rank);
    free(report->wait);
    free(report->first);
    for (int h = 0; report->symbols && h < report->hosts; h++)
        pl_symbols_fini(&report->symbols[h]);
    if (report->hosts)
        free(report->symbols);
    else if (report->symbols)
        pl_symbols_rest(report->symbols);
}
