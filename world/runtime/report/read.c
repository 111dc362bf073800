/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: what the processes wrote, copied and made safe, and what /proc says about them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world/runtime/report/report.h"
#include "world/runtime/runtime.h"

/* --- pages ------------------------------------------------------------------------------------------------- */

static void report_read_limit(uint32_t *count, uint32_t most)
{
    if (*count > most)
        *count = most;
}

/* A text from outside: it ends, and nothing in it moves the cursor. */
static void report_read_tidy(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

static void tidy_item(struct pl_job_item *item, int size)
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
    report_read_tidy(item->object, sizeof item->object);
    report_read_tidy(item->session, sizeof item->session);
    report_read_tidy(item->far_job, sizeof item->far_job);
}

struct pl_job_record *pl_report_copy_page(const struct pl_job_record *page, int size)
{
    struct pl_job_record *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    memcpy(copy, page, sizeof *copy);
    report_read_limit(&copy->items, PL_RECORD_ITEMS);
    report_read_limit(&copy->modules, PL_RECORD_MODULES);
    for (uint32_t i = 0; i < copy->modules; i++)
        report_read_tidy(copy->module[i], sizeof copy->module[i]);
    for (int i = 0; i < PL_RECORD_TRACES; i++)
        report_read_limit(&copy->trace[i].count, PL_RECORD_FRAMES);
    for (uint32_t i = 0; i < copy->items; i++)
        tidy_item(&copy->item[i], size);
    return copy;
}

/* --- traces ------------------------------------------------------------------------------------------------ */

static const char *report_read_module_of(const struct pl_job_record *page, const struct pl_job_frame *frame)
{
    return frame->module < page->modules ? page->module[frame->module] : NULL;
}

/* A return address may be behind the end of its function; the byte before it is not. */
static const char *function_of(struct pl_symbols *symbols, const struct pl_job_record *page,
                               const struct pl_job_trace *trace, uint32_t i, uint64_t *into)
{
    const struct pl_job_frame *frame = &trace->frame[i];
    uint64_t back = i > 0 || !trace->exact;
    const char *module = report_read_module_of(page, frame);
    const char *name = module ? pl_symbols_find(symbols, module, frame->offset - back, into) : NULL;
    *into += back;
    return name;
}

static bool is_mpi(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0 || strncmp(name, "MPIX_", 5) == 0;
}

void pl_report_frame(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     uint32_t i, char text[320])
{
    uint64_t into = 0;
    const char *name = function_of(symbols, page, trace, i, &into),
               *module = report_read_module_of(page, &trace->frame[i]);
    unsigned long long offset = trace->frame[i].offset;
    if (!module)
        snprintf(text, 320, "0x%llx", offset);
    else if (!name)
        snprintf(text, 320, "%s(+0x%llx)", module, offset);
    else
        snprintf(text, 320, "%.90s+0x%llx in %s(+0x%llx)", name, (unsigned long long)into, module, offset);
    report_read_tidy(text, 320);
}

void pl_report_place(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     char function[64], char caller[320])
{
    snprintf(function, 64, "MPI");
    caller[0] = '\0';
    for (uint32_t i = trace->count; i-- > 0;) {
        uint64_t into;
        const char *name = function_of(symbols, page, trace, i, &into);
        if (!name || !is_mpi(name))
            continue;
        size_t length = strcspn(name, ".@"); /* "MPI_Recv.cold" */
        snprintf(function, 64, "%.*s", (int)length, name);
        report_read_tidy(function, 64);
        if (i + 1 < trace->count)
            pl_report_frame(symbols, page, trace, i + 1, caller);
        return;
    }
}

/* --- processes --------------------------------------------------------------------------------------------- */

static void read_line(pid_t pid, const char *name, char *text, size_t size)
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

static void look_outside(struct pl_report_rank *r)
{
    char stat[512], wchan[48];
    r->state = '?';
    if (r->life == PL_LIFE_ENDED || r->pid <= 0)
        return;
    read_line(r->pid, "stat", stat, sizeof stat);
    const char *behind = strrchr(stat, ')');
    if (behind && behind[1] == ' ' && isalpha((unsigned char)behind[2]))
        r->state = behind[2];
    read_line(r->pid, "wchan", wchan, sizeof wchan);
    if (r->state != 'R' && isalpha((unsigned char)wchan[0]))
        snprintf(r->sleeps, sizeof r->sleeps, "%s", wchan);
    report_read_tidy(r->sleeps, sizeof r->sleeps);
}

static enum pl_report_life life_of(const struct plenum_job *job, int rank, int32_t owner)
{
    uint32_t state = atomic_load(&job->segment->ranks[rank].state);
    if (job->ranks[rank].ended)
        return PL_LIFE_ENDED;
    if (state == PL_PROCESS_FINALIZED && owner <= 0)
        return PL_LIFE_FINALIZED;
    if (owner == 0)
        return PL_LIFE_BEFORE;
    if (owner < 0)
        return PL_LIFE_BETWEEN;
    return state == PL_PROCESS_INITIALIZED ? PL_LIFE_WORLD : PL_LIFE_SESSION;
}

static bool read_rank(const struct plenum_job *job, int rank, struct pl_report *report)
{
    struct pl_report_rank *r = &report->rank[rank];
    const struct pl_job_record *page = pl_job_record(job->segment, rank);
    int32_t owner = atomic_load(&job->segment->ranks[rank].owner);
    r->life = life_of(job, rank, owner);
    r->pid = owner > 0 ? owner : job->ranks[rank].pid;
    look_outside(r);
    uint32_t question = atomic_load(&job->segment->report);
    if (r->life == PL_LIFE_ENDED || !page || atomic_load_explicit(&page->answered, memory_order_acquire) != question)
        return true;
    r->page = pl_report_copy_page(page, report->size);
    for (uint32_t i = 0; r->page && i < r->page->items; i++)
        r->waits += r->page->item[i].kind == PL_ITEM_WAIT;
    report->waits += r->waits;
    return r->page != NULL;
}

static void add_waits(struct pl_report *report, int rank, int *at)
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
        pl_report_place(&report->symbols, page, trace ? &page->trace[trace - 1] : &nowhere, wait->function,
                        wait->caller);
        if (!report->first[rank])
            report->first[rank] = wait;
    }
}

bool pl_report_read(const struct plenum_job *job, struct pl_report *report)
{
    int at = 0;
    *report = (struct pl_report){ .size = job->size, .rank = calloc((size_t)job->size, sizeof *report->rank) };
    if (!report->rank)
        return false;
    for (int r = 0; r < job->size; r++)
        if (!read_rank(job, r, report))
            return false;
    report->wait = calloc((size_t)report->waits + 1, sizeof *report->wait);
    report->first = calloc((size_t)job->size, sizeof *report->first);
    if (!report->wait || !report->first)
        return false;
    for (int r = 0; r < job->size; r++)
        add_waits(report, r, &at);
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
    pl_symbols_fini(&report->symbols);
}
