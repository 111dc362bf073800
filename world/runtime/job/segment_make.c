/* SPDX-License-Identifier: BSD-3-Clause */
/* See segment_make.h. */
#include "world/runtime/job/segment_make.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/job/report.h"
#include "core/job/sets.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/keeper/plan.h"
#include "world/runtime/runtime_error.h"

enum {
    TABLE_BYTES = 65536, /* for published process sets: about 1500 with names of usual length */
    TENANTS_LEAST = 4,
    PART_ALIGN = 65536, /* a multiple of the pages of all machines */
};
#define SHARED_BYTES_MAX (1ull << 30) /* of address space, for more tenants than TENANTS_LEAST */

static void segment_add_psets(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    head->pset_count = (uint32_t)job->desc.pset_count;
    head->psets = pl_blob_add(b, NULL, (size_t)job->desc.pset_count * sizeof(struct pl_job_pset));
    for (int i = 0; i < job->desc.pset_count; i++) {
        const struct pl_pset *from = &job->desc.psets[i];
        const struct pl_job_pset pset = {
            .name = pl_blob_text(b, from->name),
            .ranges = pl_blob_add(b, from->ranges, from->count * 2 * sizeof(uint32_t)),
            .count = from->count,
        };
        struct pl_job_pset *at = pl_blob_at(b, head->psets);
        if (at)
            at[i] = pset;
    }
}

/* The arguments after argv[0], with one space between them. */
static uint32_t segment_add_arguments(struct pl_blob *b, char *const *argv)
{
    if (!argv[0] || !argv[1])
        return 0;
    uint32_t first = pl_blob_text(b, argv[1]);
    for (argv += 2; *argv; argv++) {
        unsigned char *end = pl_blob_at(b, (uint32_t)b->used - 1);
        if (end)
            *end = ' ';
        pl_blob_text(b, *argv);
    }
    return first;
}

static void segment_add_programs(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    head->app_count = (uint32_t)job->desc.program_count;
    head->apps = pl_blob_add(b, NULL, (size_t)job->desc.program_count * sizeof(struct pl_job_app));
    head->appnum = pl_blob_add(b, NULL, (size_t)job->desc.size * sizeof(int32_t));
    for (int i = 0; i < job->desc.program_count; i++) {
        const struct pl_program *from = &job->desc.programs[i];
        const struct pl_job_app app = {
            .command = pl_blob_text(b, from->argv[0]),
            .argv = segment_add_arguments(b, from->argv),
            .wdir = from->wdir ? pl_blob_text(b, from->wdir) : 0,
            .first = (uint32_t)from->first,
            .count = (uint32_t)from->ranks,
        };
        struct pl_job_app *at = pl_blob_at(b, head->apps);
        int32_t *appnum = pl_blob_at(b, head->appnum);
        if (!at)
            return;
        at[i] = app;
        for (int r = 0; r < from->ranks; r++)
            appnum[from->first + r] = i;
    }
}

/* The processors of each rank: those of its place, or all that the embedding program may use. */
static void segment_add_cpus(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    enum { WORDS = sizeof(cpu_set_t) / sizeof(uint64_t) };
    const struct pl_plan *plan = (const void *)job->launch.plan.data;
    const struct pl_plan_rank *rank = pl_plan_at(plan, plan->ranks);
    cpu_set_t unbound;
    uint64_t words[WORDS];
    CPU_ZERO(&unbound);
    if (sched_getaffinity(0, sizeof unbound, &unbound) != 0)
        return;
    memcpy(words, &unbound, sizeof words);
    for (head->cpu_words = WORDS; head->cpu_words > 1 && !words[head->cpu_words - 1]; head->cpu_words--)
        ;
    size_t bytes = head->cpu_words * sizeof(uint64_t);
    head->cpus = pl_blob_add(b, NULL, (size_t)job->desc.size * bytes);
    char *to = pl_blob_at(b, head->cpus);
    for (int r = 0; to && r < job->desc.size; r++)
        memcpy(to + (size_t)r * bytes, rank[r].cpus ? pl_plan_at(plan, rank[r].cpus) : &unbound, bytes);
}

static void segment_add_parent(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    head->parent = pl_blob_text(b, job->tree.port);
}

/* Of other hosts the processors are not known. */
static void segment_add_hosts(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    const struct pl_span *span = job->launch.span;
    head->hosts = span ? (uint32_t)span->hosts : 0;
    if (head->hosts <= 1)
        return;
    head->host = (uint32_t)span->here;
    head->host_of = pl_blob_add(b, span->host_of, (size_t)job->desc.size * sizeof *span->host_of);
    head->cpu_words = 0;
}

static void segment_add_told(struct pl_blob *b, const struct plenum_job *job, struct pl_job_segment *head)
{
    head->told = pl_blob_add(b, NULL, (size_t)job->desc.size * sizeof(struct pl_job_told));
}

uint32_t pl_job_segment_table_capacity(const struct plenum_job *job)
{
    return (TABLE_BYTES + 8 * (uint32_t)job->desc.size + 63) / 64 * 64;
}

/* A tenant's share of the shared part, all zeros at first: slots and abort record, the table of sets that are published
 * while the job runs, and a page of untouched memory for each rank. */
static void segment_lay_out_shared(const struct plenum_job *job, struct pl_job_segment *head)
{
    uint64_t ranks = (uint64_t)job->desc.size;
    head->table = (sizeof(struct pl_job_shared) + ranks * sizeof(struct pl_job_rank) + 63) / 64 * 64;
    head->table_capacity = pl_job_segment_table_capacity(job);
    head->records = (head->table + PL_JOB_TABLE_BYTES(head->table_capacity) + 4095) / 4096 * 4096;
    head->tenant_bytes = (head->records + ranks * PL_RECORD_BYTES + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    head->tenants = PL_JOB_TENANTS;
    while (head->tenants > TENANTS_LEAST && head->tenants * head->tenant_bytes > SHARED_BYTES_MAX)
        head->tenants /= 2;
    head->shared_bytes = head->tenants * head->tenant_bytes;
}

static int segment_map(int fd, size_t bytes, void *at)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return pl_rt_fail_errno("cannot map the job segment");
    memcpy(at, &mapped, sizeof mapped);
    return PLENUM_OK;
}

/* The description can be written through this process's mapping alone: the processes of the job can only read it.
 * Kernels before 5.1 cannot forbid the rest; there it is the processes that map it for reading only. */
static void segment_seal(int fd)
{
    if (fcntl(fd, F_ADD_SEALS, PL_BLOB_SEALS | F_SEAL_FUTURE_WRITE) != 0)
        fcntl(fd, F_ADD_SEALS, PL_BLOB_SEALS);
}

static int segment_make_files(struct plenum_job *job, const struct pl_blob *b, const struct pl_job_segment *head,
                              int *description, int *shared)
{
    const struct pl_blob zeros = { .tail = head->shared_bytes };
    int err = PLENUM_OK;
    *description = pl_blob_file(b, "plenum-job", 0, &err);
    if (*description < 0)
        return err;
    *shared = pl_blob_file(&zeros, "plenum-job-shared", PL_BLOB_SEALS, &err);
    if (*shared < 0)
        return err;
    err = segment_map(*description, head->bytes, &job->segment);
    if (!err)
        err = segment_map(*shared, head->shared_bytes, &job->shared);
    if (err) {
        if (job->segment)
            munmap((void *)job->segment, head->bytes);
        job->segment = NULL;
    } else {
        atomic_store(&job->shared->lacking, job->tree.lacking);
        for (int r = 0; r < job->desc.size; r++)
            if (!pl_job_is_here(job, r))
                atomic_store(&job->shared->ranks[r].apart, PL_APART_PROCESSES | PL_APART_RUNTIME);
        segment_seal(*description);
    }
    return err;
}

static uint64_t segment_namespace(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

int pl_job_segment_make(struct plenum_job *job, int slots, int *description, int *shared)
{
    struct pl_blob b = { 0 };
    const struct pl_plan *plan = (const void *)job->launch.plan.data;
    struct pl_job_segment head = {
        .magic = PL_JOB_MAGIC,
        .version = PL_JOB_VERSION,
        .size = (uint32_t)job->desc.size,
        .cookie = job->cookie,
        .runtime_pid = getpid(),
        .runtime_pids = segment_namespace("/proc/self/ns/pid"),
        .runtime_users = segment_namespace("/proc/self/ns/user"),
        .shared_fd = (int32_t)plan->shared_fd,
        .notes_fd = (int32_t)plan->notes_fd,
        .universe = (uint32_t)job->desc.option[PLENUM_JOB_UNIVERSE],
        .survives_failures = (uint32_t)job->desc.option[PLENUM_JOB_KEEP_GOING],
        .slots = (uint32_t)slots,
    };

    snprintf(head.nspace, sizeof head.nspace, "%s", job->nspace);
    pl_blob_add(&b, NULL, sizeof head);
    segment_add_psets(&b, job, &head);
    segment_add_programs(&b, job, &head);
    segment_add_cpus(&b, job, &head);
    if (job->tree.port)
        segment_add_parent(&b, job, &head);
    segment_add_told(&b, job, &head);
    segment_lay_out_shared(job, &head);
    segment_add_hosts(&b, job, &head);
    head.bytes = b.used;
    if (!b.failed)
        memcpy(b.data, &head, sizeof head);
    int err = segment_make_files(job, &b, &head, description, shared);
    pl_blob_fini(&b);
    return err;
}

void pl_job_segment_unmap(struct plenum_job *job)
{
    if (!job->segment)
        return;
    munmap(job->shared, job->segment->shared_bytes);
    munmap((void *)job->segment, job->segment->bytes);
    job->segment = NULL;
    job->shared = NULL;
}
