/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that describe a job until its launch. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/pset_name.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/job_psets.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/runtime_error.h"

enum { RANKS_MAX = 65536 };

static int describe_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
}

/* Takes the lock if the job was not launched yet. */
static int describe_begin(struct plenum_job *job)
{
    int err = pl_job_enter(job);
    if (err || job->phase == PL_JOB_DESCRIBED)
        return err;
    return pl_job_leave(job, pl_rt_fail(PLENUM_ERR_STATE, "the job was already launched and cannot be changed"));
}

static int describe_end(struct plenum_job *job, int err)
{
    return pl_job_leave(job, err);
}

/* Appends one zeroed element. */
static void *describe_grow(void *array, int count, size_t each)
{
    char *grown = pl_realloc(array, ((size_t)count + 1) * each);
    if (grown)
        memset(grown + (size_t)count * each, 0, each);
    return grown;
}

/* --- programs ---------------------------------------------------------------------------------------------- */

static bool describe_copy_argv(struct pl_program *program, const char *const argv[])
{
    int count = 0;
    while (argv[count])
        count++;
    program->argv = pl_calloc((size_t)count + 1, sizeof(char *));
    if (!program->argv)
        return false;
    for (int i = 0; i < count; i++) {
        program->argv[i] = pl_strdup(argv[i]);
        if (!program->argv[i])
            return false;
    }
    return true;
}

static int describe_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *number)
{
    if (ranks < 1 || ranks > RANKS_MAX - job->desc.size)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "%d processes are not allowed: a job has 1 to %d, this one has %d so far", ranks, RANKS_MAX,
                          job->desc.size);
    if (!argv || !argv[0] || !argv[0][0])
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "no program to run");
    struct pl_program *grown = describe_grow(job->desc.programs, job->desc.program_count, sizeof *grown);
    if (!grown)
        return describe_no_memory();
    job->desc.programs = grown;
    struct pl_program *program = &grown[job->desc.program_count];
    if (!describe_copy_argv(program, argv)) {
        pl_program_fini(program);
        return describe_no_memory();
    }
    program->first = job->desc.size;
    program->ranks = ranks;
    job->desc.size += ranks;
    if (number)
        *number = job->desc.program_count;
    job->desc.program_count++;
    return PLENUM_OK;
}

int plenum_job_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *program)
{
    int err = describe_begin(job);
    return err ? err : describe_end(job, describe_add_program(job, ranks, argv, program));
}

static int describe_check_program(const struct plenum_job *job, int program)
{
    if (program >= 0 && program < job->desc.program_count)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "program %d does not exist: the job has %d", program,
                      job->desc.program_count);
}

int plenum_job_env(struct plenum_job *job, int program, const char *name, const char *value)
{
    if (!name || !name[0] || strchr(name, '='))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "\"%s\" is not a valid name of an environment variable",
                          name ? name : "");
    int err = describe_begin(job);
    if (err)
        return err;
    if (program != PLENUM_ALL)
        err = describe_check_program(job, program);
    if (!err && !pl_vars_set(program == PLENUM_ALL ? &job->desc.env : &job->desc.programs[program].env, name, value))
        err = describe_no_memory();
    return describe_end(job, err);
}

int plenum_job_env_clear(struct plenum_job *job)
{
    int err = describe_begin(job);
    if (err)
        return err;
    job->desc.env_clear = true;
    return describe_end(job, PLENUM_OK);
}

/* Sets the text at `offset` in struct pl_program, for one program or all. */
static int describe_set_text(struct plenum_job *job, int program, size_t offset, const char *text)
{
    int first = program, last = program;
    int err = text ? describe_begin(job) : pl_rt_fail_null("directory");
    if (err)
        return err;
    if (program == PLENUM_ALL)
        first = 0, last = job->desc.program_count - 1;
    else
        err = describe_check_program(job, program);
    for (int i = first; !err && i <= last; i++) {
        char **at = (char **)((char *)&job->desc.programs[i] + offset);
        char *own = pl_strdup(text);
        if (own) {
            free(*at);
            *at = own;
        } else {
            err = describe_no_memory();
        }
    }
    return describe_end(job, err);
}

int plenum_job_wdir(struct plenum_job *job, int program, const char *directory)
{
    if (directory && !directory[0])
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the working directory is empty");
    return describe_set_text(job, program, offsetof(struct pl_program, wdir), directory);
}

int plenum_job_path(struct plenum_job *job, int program, const char *path)
{
    return describe_set_text(job, program, offsetof(struct pl_program, path), path);
}

/* --- process sets, redirects, options ---------------------------------------------------------------------- */

static int describe_add_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    struct pl_pset *grown = describe_grow(job->desc.psets, job->desc.pset_count, sizeof *grown);
    if (!grown)
        return describe_no_memory();
    job->desc.psets = grown;
    struct pl_pset *pset = &grown[job->desc.pset_count];
    pset->name = pl_strdup(name);
    pset->ranges = pl_calloc((size_t)count + 1, 2 * sizeof(uint32_t));
    if (!pset->name || !pset->ranges) {
        free(pset->name);
        free(pset->ranges);
        return describe_no_memory();
    }
    for (int i = 0; i < count; i++) {
        pset->ranges[2 * i] = (uint32_t)ranges[i][0];
        pset->ranges[2 * i + 1] = (uint32_t)ranges[i][1];
    }
    pset->count = (uint32_t)count;
    job->desc.pset_count++;
    return PLENUM_OK;
}

int plenum_job_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    char shown[80]; /* the name may be longer than a message */
    int err = pl_pset_name_refuse(name);
    if (err)
        return err;
    pl_pset_name_show(name, shown, sizeof shown);
    if (count < 0 || (count > 0 && !ranges))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %d ranges are not possible", shown, count);
    for (int i = 0; i < count; i++)
        if (ranges[i][0] < 0 || ranges[i][1] < ranges[i][0])
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %d-%d is not a range of ranks", shown,
                              ranges[i][0], ranges[i][1]);
    err = describe_begin(job);
    if (err)
        return err;
    for (int i = 0; !err && i < job->desc.pset_count; i++)
        if (pl_pset_name_same(job->desc.psets[i].name, name))
            err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\" is already defined", shown);
    return describe_end(job, err ? err : describe_add_pset(job, name, ranges, count));
}

/* Steals descriptor and file, also when it fails. */
static int describe_add_redirect(struct plenum_job *job, struct pl_redirect redirect)
{
    struct pl_redirect *grown = describe_grow(job->desc.redirects, job->desc.redirect_count, sizeof *grown);
    if (!grown) {
        if (redirect.fd >= 0)
            close(redirect.fd);
        free(redirect.file);
        return describe_no_memory();
    }
    job->desc.redirects = grown;
    grown[job->desc.redirect_count++] = redirect;
    return PLENUM_OK;
}

static int describe_check_number(int rank, int number)
{
    if (rank >= PLENUM_ALL && number >= 0 && number <= 2)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "rank %d has no standard stream %d", rank, number);
}

int plenum_job_redirect(struct plenum_job *job, int rank, int number, int fd)
{
    int err = describe_check_number(rank, number);
    if (!err)
        err = describe_begin(job);
    if (err)
        return err;
    int own = fd < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return describe_end(job, pl_rt_fail_errno("cannot duplicate descriptor %d", fd));
    return describe_end(job, describe_add_redirect(job, (struct pl_redirect){ rank, number, own, NULL, fd < 0 }));
}

/* The pattern with the current directory before it. The directory's percent signs are doubled. */
static char *describe_absolute_pattern(const char *file)
{
    char *here = file[0] == '/' ? pl_strdup("") : pl_getcwd();
    char *whole = here ? pl_malloc(2 * strlen(here) + strlen(file) + 2) : NULL, *to = whole;
    for (const char *at = here; whole && *at; at++) {
        *to++ = *at;
        if (*at == '%')
            *to++ = '%';
    }
    if (whole) {
        if (to > whole)
            *to++ = '/';
        strcpy(to, file);
    }
    free(here);
    return whole;
}

int plenum_job_redirect_file(struct plenum_job *job, int rank, int number, const char *file)
{
    int err = describe_check_number(rank, number);
    if (err)
        return err;
    if (!file || !file[0])
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the name of the file is empty");
    for (const char *at = strchr(file, '%'); at; at = strchr(at + 2, '%'))
        if (at[1] != 'r' && at[1] != '%')
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "\"%s\": only r (the rank) and %% may follow %%", file);
    char *whole = describe_absolute_pattern(file);
    if (!whole)
        return describe_no_memory();
    err = describe_begin(job);
    if (err) {
        free(whole);
        return err;
    }
    return describe_end(job, describe_add_redirect(job, (struct pl_redirect){ rank, number, -1, whole, false }));
}

/* The largest value of an option; -1: there is no such option. Without a default, so that the compiler warns of a new
 * option that is not here; PL_JOB_OPTIONS has to follow, too. */
static long describe_most(enum plenum_job_option option)
{
    switch (option) {
    case PLENUM_JOB_BIND: return PLENUM_BIND_L3CACHE;
    case PLENUM_JOB_PMIX: return PLENUM_PMIX_AUTO;
    case PLENUM_JOB_MAP: return PLENUM_MAP_L3CACHE;
    case PLENUM_JOB_RANK: return PLENUM_RANK_SPAN;
    case PLENUM_JOB_KEEP_GOING:
    case PLENUM_JOB_REPORT:
    case PLENUM_JOB_STOPPED:
    case PLENUM_JOB_TERMINAL: return 1;
    case PLENUM_JOB_TIME_LIMIT:
    case PLENUM_JOB_GRACE:
    case PLENUM_JOB_BIND_COUNT:
    case PLENUM_JOB_PRIORITY:
    case PLENUM_JOB_SLOTS:
    case PLENUM_JOB_UNIVERSE: return INT32_MAX;
    }
    return -1;
}

static const char *describe_option_name(enum plenum_job_option option)
{
    switch (option) {
    case PLENUM_JOB_TIME_LIMIT: return "PLENUM_JOB_TIME_LIMIT";
    case PLENUM_JOB_GRACE: return "PLENUM_JOB_GRACE";
    case PLENUM_JOB_KEEP_GOING: return "PLENUM_JOB_KEEP_GOING";
    case PLENUM_JOB_PMIX: return "PLENUM_JOB_PMIX";
    case PLENUM_JOB_SLOTS: return "PLENUM_JOB_SLOTS";
    case PLENUM_JOB_BIND: return "PLENUM_JOB_BIND";
    case PLENUM_JOB_UNIVERSE: return "PLENUM_JOB_UNIVERSE";
    case PLENUM_JOB_MAP: return "PLENUM_JOB_MAP";
    case PLENUM_JOB_TERMINAL: return "PLENUM_JOB_TERMINAL";
    case PLENUM_JOB_REPORT: return "PLENUM_JOB_REPORT";
    case PLENUM_JOB_BIND_COUNT: return "PLENUM_JOB_BIND_COUNT";
    case PLENUM_JOB_PRIORITY: return "PLENUM_JOB_PRIORITY";
    case PLENUM_JOB_RANK: return "PLENUM_JOB_RANK";
    case PLENUM_JOB_STOPPED: return "PLENUM_JOB_STOPPED";
    }
    return "an option";
}

int plenum_job_set(struct plenum_job *job, enum plenum_job_option option, long value)
{
    long most = describe_most(option);
    if (most < 0 || option >= (enum plenum_job_option)PL_JOB_OPTIONS)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not an option of a job", (int)option);
    long least = option == PLENUM_JOB_PRIORITY ? -most : 0;
    if (value < least || value > most)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%ld is outside the range of %s (%ld to %ld)", value,
                          describe_option_name(option), least, most);
    int err = pl_job_enter(job);
    if (err)
        return err;
    if (option == PLENUM_JOB_PRIORITY && job->phase == PL_JOB_QUEUED)
        pl_queue_set_priority(job, value);
    else if (job->phase != PL_JOB_DESCRIBED)
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job was already launched and cannot be changed");
    if (!err)
        job->desc.option[option] = value;
    return describe_end(job, err);
}
