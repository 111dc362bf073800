/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a job, by calls, until its launch. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/pset_name.h"
#include "world/runtime/error.h"
#include "world/runtime/runtime.h"

enum { RANKS_MAX = 65536, GRACE_DEFAULT = 2000 };

static _Atomic uint64_t last_id;

static int describe_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
}

/* Takes the lock if the job may still be described. */
static int describe_begin(struct plenum_job *job)
{
    if (!job)
        return pl_rt_fail_null("job");
    pthread_mutex_lock(&job->runtime->lock);
    if (job->phase == PL_JOB_DESCRIBED)
        return PLENUM_OK;
    pthread_mutex_unlock(&job->runtime->lock);
    return pl_rt_fail(PLENUM_ERR_STATE, "the job was launched already and cannot be changed");
}

static int describe_end(struct plenum_job *job, int err)
{
    pthread_mutex_unlock(&job->runtime->lock);
    return err;
}

/* Makes room for one more element and clears it. */
static void *describe_grow(void *array, int count, size_t each)
{
    char *grown = realloc(array, ((size_t)count + 1) * each);
    if (grown)
        memset(grown + (size_t)count * each, 0, each);
    return grown;
}

/* --- life -------------------------------------------------------------------------------------------------- */

int plenum_job_create(struct plenum_runtime *rt, struct plenum_job **out)
{
    if (!rt || !out)
        return pl_rt_fail_null(rt ? "place for a job" : "runtime");
    struct plenum_job *job = calloc(1, sizeof *job);
    if (!job)
        return describe_no_memory();
    job->runtime = rt;
    job->symbols.link = &rt->link;
    job->id = atomic_fetch_add(&last_id, 1) + 1;
    job->handle = true;
    job->option[PLENUM_JOB_GRACE] = GRACE_DEFAULT;
    pl_list_init(&job->waiting);
    pl_list_init(&job->alive);
    pthread_mutex_lock(&rt->lock);
    pl_list_append(&rt->jobs, &job->node);
    pthread_mutex_unlock(&rt->lock);
    *out = job;
    return PLENUM_OK;
}

static void program_fini(struct pl_program *program)
{
    for (char **arg = program->argv; arg && *arg; arg++)
        free(*arg);
    free(program->argv);
    free(program->wdir);
    free(program->path);
    pl_vars_fini(&program->env);
}

static void discard_output(void *arg, const char *held, size_t held_length, const char *fresh, size_t length,
                           bool partial)
{
    (void)arg, (void)held, (void)held_length, (void)fresh, (void)length, (void)partial;
}

void pl_job_free(struct plenum_job *job)
{
    pl_list_remove(&job->node);
    pl_list_remove(&job->waiting);
    pl_list_remove(&job->alive);
    pl_blob_fini(&job->plan);
    for (int i = 0; i < job->program_count; i++)
        program_fini(&job->programs[i]);
    for (int i = 0; i < job->pset_count; i++) {
        free(job->psets[i].name);
        free(job->psets[i].ranges);
    }
    for (int i = 0; i < job->redirect_count; i++) {
        if (job->redirects[i].fd >= 0)
            close(job->redirects[i].fd);
        free(job->redirects[i].file);
    }
    for (int r = 0; job->ranks && r < job->size; r++)
        for (int s = 0; s < 2; s++) {
            struct pl_output *stream = &job->ranks[r].out[s];
            if (stream->fd >= 0) {
                pl_runtime_unwatch(job->runtime, stream->fd);
                close(stream->fd);
            }
            pl_lines_end(&stream->lines, discard_output, NULL);
        }
    if (job->segment)
        munmap((void *)job->segment, job->segment_bytes);
    pl_vars_fini(&job->env);
    free(job->ranks);
    pl_symbols_fini(&job->symbols);
    if (job->spawn)
        munmap(job->spawn, job->spawn_bytes);
    free(job->programs);
    free(job->psets);
    free(job->redirects);
    free(job);
}

void pl_job_drop(struct plenum_job *job)
{
    if (!job->handle && job->phase != PL_JOB_QUEUED && !pl_job_alive(job))
        pl_job_free(job);
}

struct plenum_job *pl_job_find(struct plenum_runtime *rt, uint64_t id)
{
    PL_LIST_EACH(job, &rt->jobs, struct plenum_job, node)
        if (job->id == id)
            return job;
    return NULL;
}

void plenum_job_close(struct plenum_job *job)
{
    if (!job)
        return;
    struct plenum_runtime *rt = job->runtime;
    pthread_mutex_lock(&rt->lock);
    job->handle = false;
    pl_event_forget(rt, job);
    pl_job_drop(job);
    pthread_mutex_unlock(&rt->lock);
}

uint64_t plenum_job_id(const struct plenum_job *job)
{
    return job ? job->id : 0;
}

int plenum_job_size(const struct plenum_job *job)
{
    pthread_mutex_lock(&job->runtime->lock);
    int size = job->size;
    pthread_mutex_unlock(&job->runtime->lock);
    return size;
}

void plenum_job_set_user(struct plenum_job *job, void *user)
{
    pthread_mutex_lock(&job->runtime->lock);
    job->user = user;
    pthread_mutex_unlock(&job->runtime->lock);
}

/* --- programs ---------------------------------------------------------------------------------------------- */

static bool copy_argv(struct pl_program *program, const char *const argv[])
{
    int count = 0;
    while (argv[count])
        count++;
    program->argv = calloc((size_t)count + 1, sizeof(char *));
    if (!program->argv)
        return false;
    for (int i = 0; i < count; i++) {
        program->argv[i] = strdup(argv[i]);
        if (!program->argv[i])
            return false;
    }
    return true;
}

static int describe_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *number)
{
    if (ranks < 1 || ranks > RANKS_MAX - job->size)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "%d processes are not possible: a job has 1 to %d, this one has %d so far", ranks, RANKS_MAX,
                          job->size);
    if (!argv || !argv[0] || !argv[0][0])
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "there is no program to run");
    struct pl_program *grown = describe_grow(job->programs, job->program_count, sizeof *grown);
    if (!grown)
        return describe_no_memory();
    job->programs = grown;
    struct pl_program *program = &grown[job->program_count];
    if (!copy_argv(program, argv)) {
        program_fini(program);
        return describe_no_memory();
    }
    program->first = job->size;
    program->ranks = ranks;
    job->size += ranks;
    if (number)
        *number = job->program_count;
    job->program_count++;
    return PLENUM_OK;
}

int plenum_job_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *program)
{
    int err = describe_begin(job);
    return err ? err : describe_end(job, describe_add_program(job, ranks, argv, program));
}

static int check_program(const struct plenum_job *job, int program)
{
    if (program >= 0 && program < job->program_count)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the job has no program %d, only %d", program, job->program_count);
}

int plenum_job_env(struct plenum_job *job, int program, const char *name, const char *value)
{
    if (!name || !name[0] || strchr(name, '='))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "\"%s\" cannot be the name of a variable", name ? name : "");
    int err = describe_begin(job);
    if (err)
        return err;
    if (program != PLENUM_ALL)
        err = check_program(job, program);
    if (!err && !pl_vars_set(program == PLENUM_ALL ? &job->env : &job->programs[program].env, name, value))
        err = describe_no_memory();
    return describe_end(job, err);
}

int plenum_job_env_clear(struct plenum_job *job)
{
    int err = describe_begin(job);
    if (err)
        return err;
    job->env_clear = true;
    return describe_end(job, PLENUM_OK);
}

/* Sets the text at `offset` in struct pl_program, for one or all. */
static int set_text(struct plenum_job *job, int program, size_t offset, const char *text)
{
    int first = program, last = program;
    int err = text ? describe_begin(job) : pl_rt_fail_null("directory");
    if (err)
        return err;
    if (program == PLENUM_ALL)
        first = 0, last = job->program_count - 1;
    else
        err = check_program(job, program);
    for (int i = first; !err && i <= last; i++) {
        char **at = (char **)((char *)&job->programs[i] + offset);
        char *own = strdup(text);
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
    return set_text(job, program, offsetof(struct pl_program, wdir), directory);
}

int plenum_job_path(struct plenum_job *job, int program, const char *path)
{
    return set_text(job, program, offsetof(struct pl_program, path), path);
}

/* --- process sets, streams, options ------------------------------------------------------------------------ */

static int add_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    struct pl_pset *grown = describe_grow(job->psets, job->pset_count, sizeof *grown);
    if (!grown)
        return describe_no_memory();
    job->psets = grown;
    struct pl_pset *pset = &grown[job->pset_count];
    pset->name = strdup(name);
    pset->ranges = calloc((size_t)count + 1, 2 * sizeof(uint32_t));
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
    job->pset_count++;
    return PLENUM_OK;
}

int plenum_job_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    int err = pl_pset_name_refuse(name);
    if (err)
        return err;
    if (count < 0 || (count > 0 && !ranges))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": there are no %d ranges", name, count);
    for (int i = 0; i < count; i++)
        if (ranges[i][0] < 0 || ranges[i][1] < ranges[i][0])
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %d-%d is no range of ranks", name, ranges[i][0],
                              ranges[i][1]);
    err = describe_begin(job);
    if (err)
        return err;
    for (int i = 0; !err && i < job->pset_count; i++)
        if (pl_pset_name_same(job->psets[i].name, name))
            err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\" is there twice", name);
    return describe_end(job, err ? err : add_pset(job, name, ranges, count));
}

/* Takes descriptor and file, also when it fails. */
static int add_redirect(struct plenum_job *job, struct pl_redirect redirect)
{
    struct pl_redirect *grown = describe_grow(job->redirects, job->redirect_count, sizeof *grown);
    if (!grown) {
        if (redirect.fd >= 0)
            close(redirect.fd);
        free(redirect.file);
        return describe_no_memory();
    }
    job->redirects = grown;
    grown[job->redirect_count++] = redirect;
    return PLENUM_OK;
}

static int check_stream(int rank, int stream)
{
    if (rank >= PLENUM_ALL && stream >= 0 && stream <= 2)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "there is no stream %d of rank %d", stream, rank);
}

int plenum_job_redirect(struct plenum_job *job, int rank, int stream, int fd)
{
    int err = check_stream(rank, stream);
    if (!err)
        err = describe_begin(job);
    if (err)
        return err;
    int own = fd < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return describe_end(job, pl_rt_fail_errno("cannot duplicate descriptor %d", fd));
    return describe_end(job, add_redirect(job, (struct pl_redirect){ rank, stream, own, NULL }));
}

/* The current directory is a part of the name, so its percent signs are doubled. */
static char *absolute_pattern(const char *file)
{
    char *here = file[0] == '/' ? strdup("") : getcwd(NULL, 0);
    char *whole = here ? malloc(2 * strlen(here) + strlen(file) + 2) : NULL, *to = whole;
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

int plenum_job_redirect_file(struct plenum_job *job, int rank, int stream, const char *file)
{
    int err = check_stream(rank, stream);
    if (err)
        return err;
    if (!file || !file[0])
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a file needs a name");
    for (const char *at = strchr(file, '%'); at; at = strchr(at + 2, '%'))
        if (at[1] != 'r' && at[1] != '%')
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "\"%s\": after %% only r (the rank) and %% are known", file);
    char *whole = absolute_pattern(file);
    if (!whole)
        return describe_no_memory();
    err = describe_begin(job);
    if (err) {
        free(whole);
        return err;
    }
    return describe_end(job, add_redirect(job, (struct pl_redirect){ rank, stream, -1, whole }));
}

/* The largest value of an option. */
static long describe_most(enum plenum_job_option option)
{
    switch (option) {
    case PLENUM_JOB_BIND: return PLENUM_BIND_THREAD;
    case PLENUM_JOB_PMIX: return PLENUM_PMIX_AUTO;
    case PLENUM_JOB_MAP: return PLENUM_MAP_NUMA;
    default: return INT32_MAX;
    }
}

int plenum_job_set(struct plenum_job *job, enum plenum_job_option option, long value)
{
    if (option < PLENUM_JOB_TIME_LIMIT || option >= (enum plenum_job_option)PL_JOB_OPTIONS)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is no option of a job", (int)option);
    if (value < 0 || value > describe_most(option))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%ld is out of the range of option %d of a job (0 to %ld)", value,
                          (int)option, describe_most(option));
    int err = describe_begin(job);
    if (err)
        return err;
    job->option[option] = value;
    return describe_end(job, PLENUM_OK);
}
