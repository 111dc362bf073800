/* SPDX-License-Identifier: BSD-3-Clause */
/* See compose.h. */
#include "world/runtime/job/compose.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "world/runtime/guard.h"
#include "world/runtime/job/binding.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/job/job_bind.h"
#include "world/runtime/job/job_resources.h"
#include "world/runtime/job/locate.h"
#include "world/runtime/job/native.h"
#include "world/runtime/keeper/plan.h"
#include "world/runtime/pmix/server.h"
#include "world/runtime/runtime_error.h"

/* The segment's descriptors in the ranks are this and 98; others are below. Scripts use 3 to 9 themselves. */
enum { JOB_FD = 99 };

static int compose_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the environment of the job");
}

/* --- environments ------------------------------------------------------------------------------------------ */

/* Variables by which another launcher, or an outer job, gives its processes their identity. */
static bool compose_is_identity(const char *name)
{
    static const char *const exact[] = {
        PL_JOB_ENV,
        "PLENUM_ATTACH",
        "PLENUM_RANK",
        "PLENUM_SIZE",
        "PLENUM_LOCAL_RANK",
        "PLENUM_LOCAL_SIZE",
        "PLENUM_NODE",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "OMPI_UNIVERSE_SIZE",
        "OMPI_APP_CTX_NUM_PROCS",
        "OMPI_NUM_APP_CTX",
        "OMPI_FIRST_RANKS",
        "OMPI_ARGV",
        "OMPI_COMMAND",
        "OMPI_VERSION",
        "OMPI_FILE_LOCATION",
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "SLURM_GTIDS",
        "SLURM_STEPID",
        "SLURM_TASK_PID",
        "SLURM_MPI_TYPE",
        "SLURM_SRUN_COMM_HOST",
        "SLURM_SRUN_COMM_PORT",
        "SLURM_LAUNCH_NODE_IPADDR",
        "ALPS_APP_PE",
    };
    static const char *const beginnings[] = {
        "ALPS_APP_",      "FLUX_KVS_",
        "FLUX_PMI_",      "JSM_",
        "PRTE_LAUNCHED",  "PMI_",
        "HYDI_",          "OMPI_COMM_WORLD_",
        "OMPI_MCA_orte_", "OMPI_MCA_ess_",
        "PALS_",          "FLUX_TASK_",
        "FLUX_JOB_",      "SLURM_STEP_",
        "SLURM_PMIX",     "MV2_COMM_WORLD_",
        "MPISPAWN_",      "PLENUM_RESOURCE_",
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (strcmp(name, exact[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return strncmp(name, "PMIX_", 5) == 0 && strncmp(name, "PMIX_MCA_", 9) != 0;
}

/* Variables by which the user would steer the MPI of ranks that have more rights than that user. */
static bool compose_is_steering(const char *name)
{
    static const char *const prefix[] = { "PLENUM_", "PMIX_", "UCX_", "HWLOC_" };
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

static void compose_drop(struct pl_vars *vars, bool (*is_dropped)(const char *name))
{
    for (size_t i = 0; i < vars->count; i++)
        if (is_dropped(vars->var[i].name)) {
            free(vars->var[i].value);
            vars->var[i].value = NULL;
        }
}

/* Variables that are about this machine. */
static bool compose_is_local(const char *name)
{
    return strcmp(name, "HOSTNAME") == 0 || strcmp(name, "HOST") == 0;
}

int pl_compose_environment(const struct plenum_job *job, struct pl_vars *vars)
{
    if (!job->desc.env_clear && !pl_vars_import(vars, environ))
        return compose_no_memory();
    if (getauxval(AT_SECURE))
        compose_drop(vars, compose_is_steering);
    compose_drop(vars, compose_is_identity);
    compose_drop(vars, compose_is_local);
    pl_job_resources_forget(job, vars);
    return pl_vars_apply(vars, &job->desc.env) ? PLENUM_OK : compose_no_memory();
}

/* What programs of other MPIs need, beyond the variables of their server, to see that they are in this job. */
static bool compose_hints(const struct plenum_job *job, struct pl_vars *vars)
{
    /* Otherwise programs of Open MPI 4 take each process for a job of one: outside of a launcher that they know, and in
     * an allocation of Slurm. */
    if (job->launch.registered && !pl_vars_has(vars, "OMPI_MCA_schizo") &&
        !pl_vars_set(vars, "OMPI_MCA_schizo", "^orte,slurm,flux,jsm,alps"))
        return false;
    /* Otherwise programs of MPICH 5 end, as they see PMI-1 and PMIx. The other two are its former names. */
    return !job->launch.registered || !job->launch.pmi || pl_vars_has(vars, "MPIR_CVAR_PMI_VERSION") ||
           pl_vars_has(vars, "MPICH_PMI_VERSION") || pl_vars_has(vars, "MPIR_PARAM_PMI_VERSION") ||
           pl_vars_set(vars, "MPIR_CVAR_PMI_VERSION", "1");
}

/* The variables that all ranks of a program share. */
static int compose_program_environment(const struct plenum_job *job, const struct pl_program *program,
                                       struct pl_vars *vars)
{
    if (!job->desc.env_clear && !pl_vars_import(vars, environ))
        return compose_no_memory();
    if (getauxval(AT_SECURE))
        compose_drop(vars, compose_is_steering);
    /* Otherwise UCX catches SIGSEGV and similar signals, and a crash looks like an exit. */
    if (!pl_vars_has(vars, "UCX_ERROR_SIGNALS") && !pl_vars_set(vars, "UCX_ERROR_SIGNALS", ""))
        return compose_no_memory();
    /* Otherwise UCX replaces mmap() to see the release of memory that is registered with a network adapter. It tests
     * that with a System V segment, which stays behind if the process is killed at that moment. */
    if (access("/sys/class/infiniband", F_OK) != 0 && !pl_vars_has(vars, "UCX_MEM_MMAP_HOOK_MODE") &&
        !pl_vars_set(vars, "UCX_MEM_MMAP_HOOK_MODE", "none"))
        return compose_no_memory();
    int err = pl_job_resources_hide(job, vars);
    if (err)
        return err;
    if (!pl_vars_apply(vars, &job->desc.env) || !pl_vars_apply(vars, &program->env))
        return compose_no_memory();
    compose_drop(vars, compose_is_identity); /* also from the description: a rank has one identity */
    bool whole = compose_hints(job, vars) && pl_vars_format(vars, "PLENUM_SIZE", "%d", job->desc.size) &&
                 pl_vars_format(vars, "PLENUM_LOCAL_SIZE", "%d", pl_job_local_rank(job, job->desc.size)) &&
                 pl_vars_format(vars, "PLENUM_NODE", "%d", job->launch.span ? job->launch.span->here : 0);
    return whole ? PLENUM_OK : compose_no_memory();
}

static int compose_rank_environment(const struct plenum_job *job, int rank, uint32_t job_fd, uint32_t pmi_fd,
                                    struct pl_vars *vars)
{
    /* An agent of this machine would have them too. A sweep for the cookie would then kill it together with its keeper,
     * and what they had started would stay. */
    if (job->launch.placer)
        return PLENUM_OK;
    if (!pl_vars_format(vars, PL_JOB_ENV, "%" PRIu32 ":%016" PRIx64 ":%d", job_fd, job->cookie, rank) ||
        !pl_vars_format(vars, "PLENUM_RANK", "%d", rank) ||
        !pl_vars_format(vars, "PLENUM_LOCAL_RANK", "%d", pl_job_local_rank(job, rank)))
        return compose_no_memory();
    if (pmi_fd &&
        (!pl_vars_format(vars, "PMI_FD", "%" PRIu32, pmi_fd) || !pl_vars_format(vars, "PMI_RANK", "%d", rank) ||
         !pl_vars_format(vars, "PMI_SIZE", "%d", job->desc.size)))
        return compose_no_memory();
    return job->launch.registered ? pl_pmix_environment(job, rank, vars) : PLENUM_OK;
}

/* --- the plan ---------------------------------------------------------------------------------------------- */

static uint32_t plan_add_vars(struct pl_blob *b, const struct pl_vars *vars, uint32_t *count)
{
    uint32_t list = pl_blob_add(b, NULL, (vars->count + 1) * sizeof(uint32_t));
    *count = 0;
    for (size_t i = 0; i < vars->count; i++) {
        const struct pl_var *var = &vars->var[i];
        if (!var->value)
            continue;
        uint32_t text = pl_blob_text(b, var->name);
        unsigned char *end = pl_blob_at(b, (uint32_t)b->used - 1);
        if (end)
            *end = '=';
        pl_blob_text(b, var->value);
        uint32_t *at = pl_blob_at(b, list);
        if (at)
            at[(*count)++] = text;
    }
    return list;
}

static uint32_t plan_add_argv(struct pl_blob *b, char *const *argv, uint32_t *count)
{
    uint32_t n = 0;
    while (argv[n])
        n++;
    uint32_t list = pl_blob_add(b, NULL, n * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t text = pl_blob_text(b, argv[i]);
        uint32_t *at = pl_blob_at(b, list);
        if (at)
            at[i] = text;
    }
    *count = n;
    return list;
}

int pl_compose_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static int plan_add_rank(struct pl_blob *b, const struct plenum_job *job, const struct pl_plan *head,
                         struct pl_plan_rank shared, int rank)
{
    struct pl_vars own = { 0 };
    int err = compose_rank_environment(job, rank, head->job_fd, head->pmi_fd, &own);
    if (!err) {
        shared.own = plan_add_vars(b, &own, &shared.ownc);
        struct pl_plan_rank *at = pl_blob_at(b, head->ranks);
        if (at)
            at[rank] = shared;
    }
    pl_vars_fini(&own);
    return err;
}

/* The environment, the directory and the file of a program; the caller frees all three, also after an error. */
static int compose_resolve(const struct plenum_job *job, const struct pl_program *program, struct pl_vars *env,
                           char **wdir, char **file)
{
    int err = compose_program_environment(job, program, env);
    if (!err)
        err = pl_locate_wdir(program->wdir, wdir);
    if (!err)
        err = pl_locate_program(program->argv[0], *wdir, program->path, pl_vars_get(env, "PATH"), file);
    return err;
}

static int plan_add_program(struct pl_blob *b, const struct plenum_job *job, const struct pl_plan *head,
                            const struct pl_program *program)
{
    struct pl_vars env = { 0 };
    struct pl_plan_rank shared = { 0 };
    char *wdir = NULL, *file = NULL;
    int err = compose_resolve(job, program, &env, &wdir, &file);
    if (err)
        goto free_all;
    if (program->wdir && !pl_vars_set(&env, "PWD", wdir))
        err = compose_no_memory();
    shared.path = pl_blob_text(b, file);
    shared.wdir = pl_blob_text(b, wdir);
    shared.argv = plan_add_argv(b, program->argv, &shared.argc);
    shared.env = plan_add_vars(b, &env, &shared.envc);
    for (int r = program->first; !err && r < program->first + program->ranks; r++)
        if (pl_job_is_here(job, r))
            err = plan_add_rank(b, job, head, shared, r);
free_all:
    free(file);
    free(wdir);
    pl_vars_fini(&env);
    return err;
}

static bool compose_is_native(const struct plenum_job *job, const struct pl_program *program)
{
    struct pl_vars env = { 0 };
    char *wdir = NULL, *file = NULL;
    bool native = compose_resolve(job, program, &env, &wdir, &file) == PLENUM_OK && !pl_vars_get(&env, "LD_PRELOAD") &&
                  pl_native_program(file, pl_vars_get(&env, "LD_LIBRARY_PATH"));
    free(file);
    free(wdir);
    pl_vars_fini(&env);
    return native;
}

bool pl_compose_all_native(const struct plenum_job *job)
{
    for (int i = 0; i < job->desc.program_count; i++)
        if (!compose_is_native(job, &job->desc.programs[i]))
            return false;
    return true;
}

static uint32_t compose_choose_job_fd(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= JOB_FD)
        return limit.rlim_cur > 5 ? (uint32_t)limit.rlim_cur - 1 : 4;
    return JOB_FD;
}

int pl_compose_bind(struct plenum_job *job)
{
    struct pl_blob *b = &job->launch.plan;
    int err = pl_job_bind(job, &job->launch.bound);
    if (err || !job->launch.bound)
        return err;
    uint32_t all = pl_blob_add(b, job->launch.bound, (size_t)job->desc.size * sizeof *job->launch.bound);
    const struct pl_plan *head = pl_blob_at(b, 0);
    struct pl_plan_rank *rank = head ? pl_blob_at(b, head->ranks) : NULL;
    for (int r = 0; !b->failed && rank && r < job->desc.size; r++)
        if (CPU_COUNT(&job->launch.bound[r]) > 0)
            rank[r].cpus = all + (uint32_t)((size_t)r * sizeof *job->launch.bound);
    return b->failed ? compose_no_memory() : PLENUM_OK;
}

/* The list of a rank's own variables, with some more. */
static void plan_extend_own(struct pl_blob *b, int rank, const struct pl_vars *more)
{
    uint32_t count, added = plan_add_vars(b, more, &count);
    const struct pl_plan *head = pl_blob_at(b, 0);
    uint32_t ranks = head ? head->ranks : 0;
    const struct pl_plan_rank *at = pl_blob_at(b, ranks);
    uint32_t before = at ? at[rank].ownc : 0;
    uint32_t whole = pl_blob_add(b, NULL, (before + count) * sizeof(uint32_t));
    struct pl_plan_rank *own = pl_blob_at(b, ranks);
    if (b->failed)
        return;
    memcpy(pl_blob_at(b, whole), pl_blob_at(b, own[rank].own), before * sizeof(uint32_t));
    memcpy((uint32_t *)pl_blob_at(b, whole) + before, pl_blob_at(b, added), count * sizeof(uint32_t));
    own[rank].own = whole;
    own[rank].ownc = before + count;
}

int pl_compose_resources(struct plenum_job *job)
{
    int err = pl_job_resources_take(job);
    for (int r = 0; !err && job->launch.numbers && r < job->desc.size; r++) {
        struct pl_vars vars = { 0 };
        if (!pl_job_is_here(job, r))
            continue;
        err = pl_job_resources_environment(job, r, &vars);
        if (!err)
            plan_extend_own(&job->launch.plan, r, &vars);
        pl_vars_fini(&vars);
    }
    return !err && job->launch.plan.failed ? compose_no_memory() : err;
}

static bool compose_has_ranks_here(const struct plenum_job *job, const struct pl_program *program)
{
    return pl_job_local_rank(job, program->first + program->ranks) > pl_job_local_rank(job, program->first);
}

int pl_compose_plan(struct plenum_job *job, struct pl_blob *b)
{
    struct pl_plan head = { .cookie = job->cookie,
                            .rank_count = (uint32_t)job->desc.size,
                            .here = (uint32_t)pl_job_local_rank(job, job->desc.size),
                            .placer = job->launch.placer != NULL,
                            .stopped = job->desc.option[PLENUM_JOB_STOPPED] != 0,
                            .job_fd = compose_choose_job_fd() };
    head.shared_fd = head.job_fd - 1;
    uint32_t lowest = head.shared_fd;
    if (job->launch.span && lowest > 4) /* on one host only spawns need it, which ranks in containers cannot do */
        head.notes_fd = --lowest;
    job->launch.pmi = job->launch.pmi && lowest > 4;
    if (job->launch.pmi)
        head.pmi_fd = --lowest;
    int err = PLENUM_OK;

    pl_blob_add(b, NULL, sizeof head);
    head.ranks = pl_blob_add(b, NULL, (size_t)job->desc.size * sizeof(struct pl_plan_rank));
    for (int i = 0; !err && i < job->desc.program_count; i++)
        if (compose_has_ranks_here(job, &job->desc.programs[i]))
            err = plan_add_program(b, job, &head, &job->desc.programs[i]);
    if (!err && b->failed)
        err = compose_no_memory();
    if (!err)
        memcpy(b->data, &head, sizeof head);
    return err;
}

int plenum_job_cpus(const struct plenum_job *job, int rank, char *text, size_t size)
{
    cpu_set_t *chosen = NULL;
    int length = 0;
    if (size > 0 && text)
        text[0] = '\0';
    if (pl_job_enter(job) != PLENUM_OK)
        return 0;
    const cpu_set_t *bound = job->launch.bound;
    bool chooses = job->phase < PL_JOB_RUNNING && pl_list_empty(&job->runtime->hosts);
    if (!bound && chooses && pl_job_bind(job, &chosen) == PLENUM_OK)
        bound = chosen;
    if (bound && rank >= 0 && rank < job->desc.size)
        length = pl_binding_text(&bound[rank], text, text ? size : 0);
    free(chosen);
    pl_job_leave(job, PLENUM_OK);
    return length;
}
