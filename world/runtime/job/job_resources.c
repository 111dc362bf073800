/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_resources.h. `launch.numbers` has, for each request in turn, the numbers of rank 0, of rank 1 and so on, and
 * then those that the ranks share. */
#include "world/runtime/job/job_resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/guard.h"
#include "world/runtime/runtime_error.h"

static int job_resources_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the resources of the job");
}

static int job_resources_refuse_name(const char *name)
{
    return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                      "\"%s\" cannot be the name of a resource: allowed are 1 to %d lower-case letters, digits and "
                      "underscores, a letter first",
                      name ? name : "", PL_RESOURCE_NAME - 1);
}

int pl_job_resources_find(const struct plenum_runtime *rt, const char *name)
{
    int kind = rt->supply.kinds - 1;
    while (kind > 0 && strcmp(rt->supply.resource[kind].name, name) != 0)
        kind--;
    return kind;
}

/* The ranks that this runtime gives numbers. */
static int job_resources_ranks(const struct plenum_job *job)
{
    return pl_job_is_part(job) ? job->launch.span->ranks_here : job->desc.size;
}

static long job_resources_total(const struct plenum_job *job, const struct pl_request *request)
{
    return (long)request->each * job_resources_ranks(job) + request->shared;
}

/* --- describing them --------------------------------------------------------------------------------------- */

static bool job_resources_in_use(const struct plenum_runtime *rt, int kind)
{
    bool waited_for = false;
    PL_LIST_EACH(task, &rt->supply.dispatch.waiting, struct pl_task, node)
        waited_for |= task->takes.of[kind] > 0;
    return waited_for || rt->supply.dispatch.used.of[kind] > 0;
}

static int job_resources_no_space(const char *name)
{
    return pl_rt_fail(PLENUM_ERR_LIMIT, "no room for \"%s\": a runtime has at most %d resources", name, PL_KINDS - 1);
}

static int job_resources_set(struct plenum_runtime *rt, const char *name, int count)
{
    int kind = pl_job_resources_find(rt, name);
    if (kind && rt->supply.resource[kind].of_hosts)
        return pl_rt_fail(PLENUM_ERR_STATE, "the hosts of the runtime have \"%s\", so the runtime itself cannot", name);
    if (kind && job_resources_in_use(rt, kind))
        return pl_rt_fail(PLENUM_ERR_STATE, "jobs have or wait for \"%s\": its number cannot be changed now", name);
    if (!kind && rt->supply.kinds == PL_KINDS)
        return job_resources_no_space(name);
    if (!kind)
        kind = rt->supply.kinds;
    if (!pl_resource_set(&rt->supply.resource[kind], name, count))
        return job_resources_no_memory();
    rt->supply.kinds += kind == rt->supply.kinds;
    pl_dispatch_set_total(&rt->supply.dispatch, kind, count);
    return PLENUM_OK;
}

int pl_job_resources_of_hosts(struct plenum_runtime *rt, const char *name, int *kind)
{
    int found = *kind = pl_job_resources_find(rt, name);
    if (found && !rt->supply.resource[found].of_hosts)
        return pl_rt_fail(PLENUM_ERR_STATE, "the runtime itself has \"%s\", so its hosts cannot", name);
    if (found)
        return PLENUM_OK;
    if (rt->supply.kinds == PL_KINDS)
        return job_resources_no_space(name);
    *kind = rt->supply.kinds;
    if (!pl_resource_set(&rt->supply.resource[*kind], name, 0))
        return job_resources_no_memory();
    rt->supply.resource[*kind].of_hosts = true;
    rt->supply.kinds++;
    return PLENUM_OK;
}

int pl_job_resources_check_name(const char *name)
{
    return pl_resource_is_name(name) ? PLENUM_OK : job_resources_refuse_name(name);
}

int plenum_runtime_resource(struct plenum_runtime *rt, const char *name, int count)
{
    if (!pl_resource_is_name(name))
        return job_resources_refuse_name(name);
    if (count < 0 || count > PL_RESOURCE_MOST)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a runtime cannot have %d of \"%s\": allowed are 0 to %d", count, name,
                          PL_RESOURCE_MOST);
    int err = pl_runtime_enter(rt);
    return err ? err : pl_runtime_leave(rt, job_resources_set(rt, name, count));
}

static int job_resources_ask(struct plenum_job *job, const char *name, int count, enum plenum_scope scope)
{
    int i = 0;
    if (job->phase != PL_JOB_DESCRIBED)
        return pl_rt_fail(PLENUM_ERR_STATE, "the job was already launched and cannot be changed");
    while (i < job->desc.request_count && strcmp(job->desc.request[i].name, name) != 0)
        i++;
    if (i == PL_KINDS)
        return pl_rt_fail(PLENUM_ERR_LIMIT, "no room for \"%s\": a job asks for at most %d resources", name, PL_KINDS);
    struct pl_request *request = &job->desc.request[i];
    if (i == job->desc.request_count) {
        snprintf(request->name, sizeof request->name, "%s", name);
        job->desc.request_count++;
    }
    *(scope == PLENUM_WHOLE_JOB ? &request->shared : &request->each) = count;
    return PLENUM_OK;
}

int plenum_job_resource(struct plenum_job *job, const char *name, int count, enum plenum_scope scope)
{
    if (!pl_resource_is_name(name))
        return job_resources_refuse_name(name);
    if (count < 0 || count > PL_RESOURCE_MOST)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a job cannot ask for %d of \"%s\": allowed are 0 to %d", count, name,
                          PL_RESOURCE_MOST);
    if (scope != PLENUM_EACH_RANK && scope != PLENUM_WHOLE_JOB)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not a scope: allowed are 0 (each rank) and 1 (the whole job)",
                          (int)scope);
    int err = pl_job_enter(job);
    return err ? err : pl_job_leave(job, job_resources_ask(job, name, count, scope));
}

/* --- taking them ------------------------------------------------------------------------------------------- */

int pl_job_resources_check(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    for (int kind = 1; kind < PL_KINDS; kind++)
        job->task.takes.of[kind] = 0;
    for (int i = 0; i < job->desc.request_count; i++) {
        struct pl_request *request = &job->desc.request[i];
        long total = job_resources_total(job, request);
        request->kind = pl_job_resources_find(rt, request->name);
        int count = request->kind ? rt->supply.resource[request->kind].count : 0;
        if (total > count)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "the job asks for %ld of \"%s\" (%d for each of %d ranks, %d for all), and the runtime "
                              "has %d",
                              total, request->name, request->each, job_resources_ranks(job), request->shared, count);
        if (total > 0 && job->tree.root)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "spawned processes cannot ask for \"%s\": the job that spawns them would have to wait",
                              request->name);
        if (request->kind)
            job->task.takes.of[request->kind] = total;
    }
    return PLENUM_OK;
}

int pl_job_resources_take(struct plenum_job *job)
{
    long all = 0;
    for (int i = 0; i < job->desc.request_count; i++)
        all += job_resources_total(job, &job->desc.request[i]);
    if (all == 0)
        return PLENUM_OK;
    int *at = job->launch.numbers = pl_calloc((size_t)all, sizeof *at);
    if (!at)
        return job_resources_no_memory();
    for (int i = 0; i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        int total = (int)job_resources_total(job, request);
        pl_resource_take(&job->runtime->supply.resource[request->kind], total, at);
        at += total;
    }
    return PLENUM_OK;
}

void pl_job_resources_give(struct plenum_job *job)
{
    const int *at = job->launch.numbers;
    for (int i = 0; at && i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        int total = (int)job_resources_total(job, request);
        pl_resource_give(&job->runtime->supply.resource[request->kind], total, at);
        at += total;
    }
    free(job->launch.numbers);
    job->launch.numbers = NULL;
}

/* --- telling them ------------------------------------------------------------------------------------------ */

/* Appends a number, or the entry of this number in the list that the embedder itself has. Returns the length of all. */
static size_t job_resources_append(char *text, size_t used, int number, const char *list)
{
    const char *end = list;
    for (int i = 0; list; i++) {
        end = list + strcspn(list, ",");
        if (i == number)
            break;
        list = *end ? end + 1 : NULL;
    }
    used += (size_t)sprintf(text + used, "%s", used ? "," : "");
    return used +
           (size_t)(list ? sprintf(text + used, "%.*s", (int)(end - list), list) : sprintf(text + used, "%d", number));
}

/* The numbers of a rank, as a text that the caller frees. `list`: see above; or NULL. NULL: out of memory. */
static char *job_resources_text(const struct plenum_job *job, const struct pl_request *request, int rank,
                                const char *list)
{
    const int *at = job->launch.numbers;
    for (const struct pl_request *other = job->desc.request; other < request; other++)
        at += job_resources_total(job, other);
    int count = request->each + request->shared;
    char *text = pl_calloc((size_t)count * 12 + (list ? strlen(list) : 0) + 1, 1);
    size_t used = 0;
    for (int i = 0; text && i < request->each; i++)
        used = job_resources_append(text, used, at[pl_job_local_rank(job, rank) * request->each + i], list);
    for (int i = 0; text && i < request->shared; i++)
        used = job_resources_append(text, used, at[job_resources_ranks(job) * request->each + i], list);
    return text;
}

static bool job_resources_set_var(const struct plenum_job *job, const struct pl_request *request, int rank,
                                  const char *list, const char *name, struct pl_vars *vars)
{
    char *text = job_resources_text(job, request, rank, list);
    bool good = text && pl_vars_set(vars, name, text);
    free(text);
    return good;
}

static bool job_resources_describes(const struct plenum_job *job, int rank, const char *name)
{
    bool has = pl_vars_has(&job->desc.env, name);
    for (int i = 0; !has && i < job->desc.program_count; i++) {
        const struct pl_program *program = &job->desc.programs[i];
        has = rank >= program->first && rank < program->first + program->ranks && pl_vars_has(&program->env, name);
    }
    return has;
}

int pl_job_resources_environment(const struct plenum_job *job, int rank, struct pl_vars *vars)
{
    bool good = true;
    for (int i = 0; good && i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        char name[sizeof "PLENUM_RESOURCE_" + PL_RESOURCE_NAME] = "PLENUM_RESOURCE_";
        if (request->each + request->shared == 0)
            continue;
        for (size_t c = 0, end = strlen(name); request->name[c]; c++)
            name[end + c] = (char)(request->name[c] >= 'a' ? request->name[c] - 'a' + 'A' : request->name[c]);
        good = job_resources_set_var(job, request, rank, NULL, name, vars);
        for (int v = 0; good && strcmp(request->name, "gpu") == 0 && v < PL_DEVICE_VARS; v++)
            if (!job_resources_describes(job, rank, pl_device_vars[v]))
                good =
                    job_resources_set_var(job, request, rank, job->runtime->supply.resource[request->kind].devices[v],
                                          pl_device_vars[v], vars);
    }
    return good ? PLENUM_OK : job_resources_no_memory();
}

void pl_job_resources_forget(const struct plenum_job *job, struct pl_vars *vars)
{
    for (int i = 0; i < job->desc.request_count; i++)
        for (int v = 0; strcmp(job->desc.request[i].name, "gpu") == 0 && v < PL_DEVICE_VARS; v++)
            pl_vars_remove(vars, pl_device_vars[v]);
}

int pl_job_resources_hide(const struct plenum_job *job, struct pl_vars *vars)
{
    bool good = true;
    for (int i = 0; i < job->desc.request_count; i++)
        for (int v = 0; strcmp(job->desc.request[i].name, "gpu") == 0 && v < PL_DEVICE_VARS; v++)
            if (job_resources_total(job, &job->desc.request[i]) > 0)
                good = good && pl_vars_set(vars, pl_device_vars[v], NULL);
    return good ? PLENUM_OK : job_resources_no_memory();
}

static bool job_resources_are_free(const struct plenum_job *job)
{
    const struct pl_dispatch *s = &job->runtime->supply.dispatch;
    bool free = true;
    for (int kind = 1; kind < PL_KINDS; kind++)
        free &= s->used.of[kind] + job->task.takes.of[kind] <= s->total.of[kind];
    return free;
}

/* Writes the numbers that the job has. */
static int job_resources_print(const struct plenum_job *job, int rank, const char *name, char *text, size_t size)
{
    int length = 0;
    for (int i = 0; job->launch.numbers && rank >= 0 && rank < job->desc.size && i < job->desc.request_count; i++)
        if (strcmp(job->desc.request[i].name, name) == 0) {
            char *own = job_resources_text(job, &job->desc.request[i], rank, NULL);
            length = own ? snprintf(text, text ? size : 0, "%s", own) : 0;
            free(own);
        }
    return length;
}

int plenum_job_numbers(const struct plenum_job *job, int rank, const char *name, char *text, size_t size)
{
    int length = 0;
    if (size > 0 && text)
        text[0] = '\0';
    if (pl_job_enter(job) != PLENUM_OK)
        return 0;
    bool here = job->phase == PL_JOB_DESCRIBED && pl_list_empty(&job->runtime->hosts);
    struct plenum_job *trial = here ? (struct plenum_job *)job : NULL;
    if (trial && (pl_job_resources_check(trial) || !job_resources_are_free(job) || pl_job_resources_take(trial)))
        trial = NULL;
    if (name)
        length = job_resources_print(job, rank, name, text, size);
    if (trial)
        pl_job_resources_give(trial);
    pl_job_leave(job, PLENUM_OK);
    return length;
}
