/* SPDX-License-Identifier: BSD-3-Clause */
/* See span_pack.h. The reader makes the calls that describe a job, so an agent accepts what an embedder may say. */
#include "world/runtime/job/span_pack.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/runtime_error.h"

enum { SPAN_TEXT_MAX = 1 << 24, SPAN_COUNT_MAX = 1 << 20, SPAN_HOSTS_MAX = 65536 };
enum span_kind { SPAN_FILE, SPAN_NULL, SPAN_INPUT };

/* --- writing ------------------------------------------------------------------------------------------------- */

static void span_write_vars(struct pl_writer *to, const struct pl_vars *vars)
{
    pl_write_leb128(to, vars->count);
    for (size_t i = 0; i < vars->count; i++) {
        pl_write_text(to, vars->var[i].name);
        pl_write_u8(to, vars->var[i].value != NULL);
        pl_write_text(to, vars->var[i].value ? vars->var[i].value : "");
    }
}

/* Directories are those of this process, under the same names. */
static int span_write_program(struct pl_writer *to, const struct pl_program *program)
{
    bool whole = program->wdir && program->wdir[0] == '/';
    char *here = whole ? NULL : pl_getcwd(), *wdir = NULL;
    int count = 0;
    if (!whole && (!here || pl_asprintf(&wdir, "%s%s%s", here, program->wdir ? "/" : "",
                                        program->wdir ? program->wdir : "") < 0)) {
        free(here);
        return pl_rt_fail_errno("cannot get the name of the current directory");
    }
    while (program->argv[count])
        count++;
    pl_write_leb128(to, (uint64_t)program->ranks);
    pl_write_leb128(to, (uint64_t)count);
    for (int i = 0; i < count; i++)
        pl_write_text(to, program->argv[i]);
    pl_write_text(to, whole ? program->wdir : wdir);
    pl_write_text(to, program->path ? program->path : "");
    span_write_vars(to, &program->env);
    free(here);
    free(wdir);
    return PLENUM_OK;
}

static void span_write_psets(struct pl_writer *to, const struct pl_job_desc *desc)
{
    pl_write_leb128(to, (uint64_t)desc->pset_count);
    for (int i = 0; i < desc->pset_count; i++) {
        pl_write_text(to, desc->psets[i].name);
        pl_write_leb128(to, desc->psets[i].count);
        for (uint32_t r = 0; r < 2 * desc->psets[i].count; r++)
            pl_write_leb128(to, desc->psets[i].ranges[r]);
    }
}

static void span_write_redirects(struct pl_writer *to, const struct pl_job_desc *desc)
{
    pl_write_leb128(to, (uint64_t)desc->redirect_count);
    for (int i = 0; i < desc->redirect_count; i++) {
        const struct pl_redirect *redirect = &desc->redirects[i];
        pl_write_folded(to, redirect->rank);
        pl_write_u8(to, (uint8_t)redirect->number);
        pl_write_u8(to, redirect->file ? SPAN_FILE : redirect->null ? SPAN_NULL : SPAN_INPUT);
        pl_write_text(to, redirect->file ? redirect->file : "");
    }
}

/* The cores of all, and those of each rank of the host. */
static void span_write_cores(struct pl_writer *to, const struct plenum_job *job, int here)
{
    const struct pl_job_desc *desc = &job->desc;
    pl_write_text(to, desc->cores_of_all ? desc->cores_of_all : "");
    for (int r = 0; r < desc->size; r++) {
        const char *cores = pl_rank_text(&desc->cores, r);
        if (job->launch.span->host_of[r] == (uint32_t)here)
            pl_write_text(to, cores ? cores : "");
    }
}

/* The runtime that has the hosts watches the time; the slots and servers of this machine are not those of others. */
static void span_write_options(struct pl_writer *to, const struct pl_job_desc *desc)
{
    static const enum plenum_job_option passed[] = { PLENUM_JOB_GRACE,      PLENUM_JOB_KEEP_GOING, PLENUM_JOB_BIND,
                                                     PLENUM_JOB_UNIVERSE,   PLENUM_JOB_MAP,        PLENUM_JOB_TERMINAL,
                                                     PLENUM_JOB_BIND_COUNT, PLENUM_JOB_RANK,       PLENUM_JOB_STOPPED };
    pl_write_leb128(to, sizeof passed / sizeof *passed);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        pl_write_leb128(to, passed[i]);
        pl_write_folded(to, desc->option[passed[i]]);
    }
}

int pl_span_write(struct pl_writer *to, const struct plenum_job *job, int here, const struct pl_vars *env)
{
    const struct pl_job_desc *desc = &job->desc;
    int err = PLENUM_OK;
    pl_write_u64(to, job->cookie);
    pl_write_text(to, job->nspace);
    pl_write_text(to, job->tree.port ? job->tree.port : "");
    pl_write_folded(to, job->tree.first_rank);
    pl_write_leb128(to, (uint64_t)desc->program_count);
    for (int i = 0; !err && i < desc->program_count; i++)
        err = span_write_program(to, &desc->programs[i]);
    span_write_vars(to, env);
    span_write_psets(to, desc);
    pl_write_leb128(to, (uint64_t)job->launch.span->hosts);
    pl_write_leb128(to, (uint64_t)here);
    for (int r = 0; r < desc->size; r++)
        pl_write_leb128(to, job->launch.span->host_of[r]);
    span_write_options(to, desc);
    span_write_cores(to, job, here);
    pl_write_leb128(to, (uint64_t)desc->request_count);
    for (int i = 0; i < desc->request_count; i++) {
        pl_write_text(to, desc->request[i].name);
        pl_write_leb128(to, (uint64_t)desc->request[i].each);
        pl_write_leb128(to, (uint64_t)desc->request[i].shared);
    }
    span_write_redirects(to, desc);
    return err;
}

/* --- reading ------------------------------------------------------------------------------------------------- */

struct span_source {
    struct pl_reader *from;
    struct plenum_job *job;
    int err;
};

static bool span_reads_on(struct span_source *s)
{
    if (!s->err && s->from->failed)
        s->err = pl_rt_fail(PLENUM_ERR_SYSTEM, "the description of the job arrived damaged");
    return !s->err;
}

/* For free(); NULL: an error. */
static char *span_read_text(struct span_source *s)
{
    size_t length;
    const char *text = pl_read_text(s->from, SPAN_TEXT_MAX, &length);
    char *own = span_reads_on(s) ? pl_strndup(text, length) : NULL;
    if (!own && !s->err)
        s->err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
    return own;
}

static void span_read_vars(struct span_source *s, int program)
{
    size_t count = pl_read_count(s->from, SPAN_COUNT_MAX, 3);
    for (size_t i = 0; i < count && span_reads_on(s); i++) {
        char *name = span_read_text(s);
        bool set = pl_read_u8(s->from) != 0;
        char *value = span_read_text(s);
        if (span_reads_on(s))
            s->err = plenum_job_env(s->job, program, name, set ? value : NULL);
        free(name);
        free(value);
    }
}

static void span_read_directories(struct span_source *s, int program)
{
    char *wdir = span_read_text(s), *path = span_read_text(s);
    if (span_reads_on(s))
        s->err = plenum_job_wdir(s->job, program, wdir);
    if (!s->err && path[0])
        s->err = plenum_job_path(s->job, program, path);
    free(wdir);
    free(path);
}

static void span_read_program(struct span_source *s)
{
    uint64_t ranks = pl_read_leb128(s->from);
    size_t count = pl_read_count(s->from, SPAN_COUNT_MAX, 1);
    char **argv = pl_calloc(count + 1, sizeof *argv);
    int program = 0;
    pl_reader_expect(s->from, ranks <= SPAN_COUNT_MAX);
    if (!argv)
        s->err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
    for (size_t i = 0; i < count && span_reads_on(s); i++)
        argv[i] = span_read_text(s);
    if (span_reads_on(s))
        s->err = plenum_job_add_program(s->job, (int)ranks, (const char *const *)argv, &program);
    for (size_t i = 0; argv && i < count; i++)
        free(argv[i]);
    free(argv);
    if (span_reads_on(s))
        span_read_directories(s, program);
    if (span_reads_on(s))
        span_read_vars(s, program);
}

static void span_read_pset(struct span_source *s)
{
    char *name = span_read_text(s);
    size_t count = pl_read_count(s->from, SPAN_COUNT_MAX, 2);
    int(*ranges)[2] = pl_calloc(count + 1, sizeof *ranges);
    for (size_t i = 0; ranges && i < count; i++) {
        ranges[i][0] = (int)pl_read_leb128(s->from);
        ranges[i][1] = (int)pl_read_leb128(s->from);
    }
    if (!ranges && !s->err)
        s->err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a process set");
    if (span_reads_on(s))
        s->err = plenum_job_pset(s->job, name, (const int(*)[2])ranges, (int)count);
    free(ranges);
    free(name);
}

static void span_read_hosts(struct span_source *s)
{
    struct pl_span *span = pl_calloc(1, sizeof *span);
    uint32_t *host_of = pl_calloc((size_t)s->job->desc.size, sizeof *host_of);
    if (!span || !host_of) {
        free(span);
        free(host_of);
        s->err = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the hosts of the job");
        return;
    }
    s->job->launch.span = span;
    span->host_of = host_of;
    span->hosts = (int)pl_read_leb128(s->from);
    span->here = (int)pl_read_leb128(s->from);
    pl_reader_expect(s->from, span->hosts > 0 && span->hosts <= SPAN_HOSTS_MAX);
    pl_reader_expect(s->from, span->here >= 0 && span->here < span->hosts);
    for (int r = 0; r < s->job->desc.size; r++) {
        host_of[r] = (uint32_t)pl_read_leb128(s->from);
        pl_reader_expect(s->from, host_of[r] < (uint32_t)span->hosts);
        span->ranks_here += host_of[r] == (uint32_t)span->here;
    }
    span_reads_on(s);
}

static void span_read_redirect(struct span_source *s, int (*input)(struct plenum_job *job, int rank))
{
    int rank = (int)pl_read_folded(s->from);
    int number = pl_read_u8(s->from);
    enum span_kind kind = (enum span_kind)pl_read_u8(s->from);
    char *file = span_read_text(s);
    if (!span_reads_on(s)) {
    } else if (kind == SPAN_FILE) {
        s->err = plenum_job_redirect_file(s->job, rank, number, file);
    } else if (kind == SPAN_NULL) {
        s->err = plenum_job_redirect(s->job, rank, number, -1);
    } else if (rank < 0 || rank >= s->job->desc.size) {
        pl_reader_fail(s->from);
    } else if (pl_job_is_here(s->job, rank)) {
        s->err = input(s->job, rank);
    }
    free(file);
    span_reads_on(s);
}

static void span_read_option(struct span_source *s)
{
    int option = (int)pl_read_leb128(s->from);
    long value = (long)pl_read_folded(s->from);
    if (span_reads_on(s))
        s->err = plenum_job_set(s->job, (enum plenum_job_option)option, value);
}

/* An empty text: the rank has none. */
static void span_read_cores_of(struct span_source *s, int rank)
{
    char *cores = span_read_text(s);
    if (span_reads_on(s) && cores[0])
        s->err = plenum_job_place(s->job, rank, cores);
    free(cores);
}

static void span_read_cores(struct span_source *s)
{
    span_read_cores_of(s, PLENUM_ALL);
    for (int r = 0; span_reads_on(s) && r < s->job->desc.size; r++)
        if (pl_job_is_here(s->job, r))
            span_read_cores_of(s, r);
}

static void span_read_request(struct span_source *s)
{
    char *name = span_read_text(s);
    uint64_t each = pl_read_leb128(s->from), shared = pl_read_leb128(s->from);
    pl_reader_expect(s->from, each <= PL_RESOURCE_MOST && shared <= PL_RESOURCE_MOST);
    if (span_reads_on(s))
        s->err = plenum_job_resource(s->job, name, (int)each, PLENUM_EACH_RANK);
    if (!s->err)
        s->err = plenum_job_resource(s->job, name, (int)shared, PLENUM_WHOLE_JOB);
    free(name);
}

static void span_read_name(struct span_source *s)
{
    size_t length;
    s->job->cookie = pl_read_u64(s->from);
    const char *name = pl_read_text(s->from, sizeof s->job->nspace - 1, &length);
    snprintf(s->job->nspace, sizeof s->job->nspace, "%.*s", name ? (int)length : 0, name ? name : "");
    char *port = span_read_text(s);
    if (span_reads_on(s) && port[0])
        s->job->tree.port = port;
    else
        free(port);
    s->job->tree.first_rank = (int)pl_read_folded(s->from);
}

/* As many as are said to follow. */
static void span_read_each(struct span_source *s, void (*one)(struct span_source *s))
{
    size_t count = pl_read_count(s->from, SPAN_COUNT_MAX, 1);
    for (size_t i = 0; i < count && span_reads_on(s); i++)
        one(s);
}

int pl_span_read(struct pl_reader *from, struct plenum_runtime *rt, int (*input)(struct plenum_job *job, int rank),
                 struct plenum_job **job)
{
    struct span_source s = { .from = from };
    *job = NULL;
    s.err = plenum_job_create(rt, &s.job);
    if (s.err)
        return s.err;
    *job = s.job;
    span_read_name(&s);
    span_read_each(&s, span_read_program);
    if (span_reads_on(&s))
        s.err = plenum_job_env_clear(s.job);
    if (span_reads_on(&s))
        span_read_vars(&s, PLENUM_ALL);
    span_read_each(&s, span_read_pset);
    if (span_reads_on(&s))
        span_read_hosts(&s);
    span_read_each(&s, span_read_option);
    if (span_reads_on(&s))
        span_read_cores(&s);
    span_read_each(&s, span_read_request);
    size_t count = pl_read_count(from, SPAN_COUNT_MAX, 1);
    for (size_t i = 0; i < count && span_reads_on(&s); i++)
        span_read_redirect(&s, input);
    return s.err;
}

void pl_span_free(struct pl_span *span)
{
    if (span)
        free(span->host_of);
    free(span);
}
