/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_bind.h. A rank takes the place whose processors have the fewest ranks bound to them, on average; among equals
 * the next one after that of the rank before it. */
#include "world/runtime/job/job_bind.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "world/runtime/job/binding.h"
#include "world/runtime/runtime_error.h"

struct job_bind_load {
    int on[CPU_SETSIZE]; /* ranks that are bound to the processor */
};

static int job_bind_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the places of the processes");
}

static void job_bind_add(struct job_bind_load *load, const cpu_set_t *cpus)
{
    for (int cpu = 0, left = CPU_COUNT(cpus); left > 0; cpu++)
        if (CPU_ISSET((size_t)cpu, cpus))
            load->on[cpu]++, left--;
}

static long job_bind_sum(const struct job_bind_load *load, const cpu_set_t *cpus)
{
    long sum = 0;
    for (int cpu = 0, left = CPU_COUNT(cpus); left > 0; cpu++)
        if (CPU_ISSET((size_t)cpu, cpus))
            sum += load->on[cpu], left--;
    return sum;
}

/* The number of the least loaded place, from `first` on. */
static int job_bind_best(const struct pl_binding_places *places, const struct job_bind_load *load, int first)
{
    int best = first;
    long best_sum = job_bind_sum(load, &places->cpus[best]), best_size = CPU_COUNT(&places->cpus[best]);
    for (int i = 1; i < places->count && best_sum > 0; i++) {
        int at = (first + i) % places->count;
        long sum = job_bind_sum(load, &places->cpus[at]), size = CPU_COUNT(&places->cpus[at]);
        if (sum * best_size < best_sum * size)
            best = at, best_sum = sum, best_size = size;
    }
    return best;
}

/* The load of the jobs that run. */
static void job_bind_load_now(const struct plenum_runtime *rt, struct job_bind_load *load)
{
    *load = (struct job_bind_load){ { 0 } };
    PL_LIST_EACH(job, &rt->alive, struct plenum_job, alive)
        for (int r = 0; job->launch.bound && r < job->desc.size; r++)
            if (!job->ranks[r].ended)
                job_bind_add(load, &job->launch.bound[r]);
}

int pl_job_bind(const struct plenum_job *job, cpu_set_t **chosen)
{
    cpu_set_t allowed;
    struct pl_binding_places places;
    struct job_bind_load load;
    enum plenum_bind bind = (enum plenum_bind)job->desc.option[PLENUM_JOB_BIND];
    *chosen = NULL;
    bool elsewhere = pl_job_is_spread(job) || !pl_list_empty(&job->runtime->hosts);
    if (elsewhere || bind == PLENUM_BIND_NONE || job->desc.size == 0 ||
        sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return PLENUM_OK;
    if (!pl_binding_find("/sys", &allowed, bind, (enum plenum_map)job->desc.option[PLENUM_JOB_MAP],
                         job->desc.option[PLENUM_JOB_BIND_COUNT], &places))
        return job_bind_no_memory();
    *chosen = pl_calloc((size_t)job->desc.size, sizeof **chosen);
    job_bind_load_now(job->runtime, &load);
    for (int r = 0, next = job->runtime->supply.next_place; *chosen && r < job->desc.size; r++) {
        if (!pl_job_is_here(job, r))
            continue;
        int at = job_bind_best(&places, &load, next % places.count);
        (*chosen)[r] = places.cpus[at];
        job_bind_add(&load, &places.cpus[at]);
        next = at + 1;
    }
    pl_binding_fini(&places);
    if (*chosen && pl_binding_rank("/sys", &allowed, (enum plenum_map)job->desc.option[PLENUM_JOB_MAP],
                                   (enum plenum_rank)job->desc.option[PLENUM_JOB_RANK], *chosen, job->desc.size))
        return PLENUM_OK;
    free(*chosen);
    *chosen = NULL;
    return job_bind_no_memory();
}

int plenum_place_count(enum plenum_bind bind, int *count)
{
    cpu_set_t allowed;
    struct pl_binding_places places;
    if (!count)
        return pl_rt_fail_null("count");
    if (bind <= PLENUM_BIND_NONE || bind > PLENUM_BIND_THREAD)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "bind is %d, not a value of enum plenum_bind that has places",
                          (int)bind);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return pl_rt_fail_errno("cannot read which processors may be used");
    if (!pl_binding_find("/sys", &allowed, bind, PLENUM_MAP_SLOT, 0, &places))
        return job_bind_no_memory();
    *count = places.count;
    pl_binding_fini(&places);
    return PLENUM_OK;
}
