/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_bind.h. A rank takes the place whose processors have the fewest ranks bound to them, on average; among equals
 * the next one after that of the rank before it. The agent of a host binds the ranks of its host. */
#include "world/runtime/job/job_bind.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/binding.h"
#include "world/runtime/job/core_list.h"
#include "world/runtime/job/job_place.h"
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
        for (int r = 0; job->launch.bound && !pl_job_is_spread(job) && r < job->desc.size; r++)
            if (!job->ranks[r].ended)
                job_bind_add(load, &job->launch.bound[r]);
}

/* The places of `count` ranks, in their order. False: out of memory. */
static bool job_bind_choose(const struct plenum_job *job, const cpu_set_t *allowed, cpu_set_t *taken, int count)
{
    const long *option = job->desc.option;
    enum plenum_map map = (enum plenum_map)option[PLENUM_JOB_MAP];
    struct pl_binding_places places;
    struct job_bind_load load;
    if (!pl_binding_find("/sys", allowed, (enum plenum_bind)option[PLENUM_JOB_BIND], map, option[PLENUM_JOB_BIND_COUNT],
                         &places))
        return false;
    job_bind_load_now(job->runtime, &load);
    for (int i = 0, next = job->runtime->supply.next_place; i < count; i++) {
        int at = job_bind_best(&places, &load, next % places.count);
        taken[i] = places.cpus[at];
        job_bind_add(&load, &places.cpus[at]);
        next = at + 1;
    }
    pl_binding_fini(&places);
    return pl_binding_rank("/sys", allowed, map, (enum plenum_rank)option[PLENUM_JOB_RANK], taken, count);
}

/* Moves the places of the ranks that are here, which come first, to where their ranks are. */
static void job_bind_spread(const struct plenum_job *job, cpu_set_t *taken, int count)
{
    for (int r = job->desc.size - 1; count < job->desc.size && r >= 0; r--) {
        if (pl_job_is_here(job, r))
            taken[r] = taken[--count];
        else
            CPU_ZERO(&taken[r]);
    }
}

/* By plenum_job_place(). */
static int job_bind_placed(const struct plenum_job *job, const cpu_set_t *allowed, cpu_set_t *chosen)
{
    enum pl_core_list outcome = PL_CORE_LIST_FOUND;
    for (int r = 0; r < job->desc.size; r++) {
        size_t length;
        const char *list = pl_job_is_here(job, r) ? pl_job_cores(job, r, &length) : NULL;
        char *text = list ? pl_strndup(list, length) : NULL;
        if (text)
            outcome = pl_core_list_find("/sys", allowed, text, &chosen[r]);
        free(text);
        if (list && (!text || outcome == PL_CORE_LIST_NO_MEMORY))
            return job_bind_no_memory();
        if (outcome == PL_CORE_LIST_ABSENT)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "rank %d cannot be bound to the cores \"%.*s\": this machine lacks some of them, or this "
                              "process may not use them",
                              r, (int)length, list);
    }
    return PLENUM_OK;
}

int pl_job_bind(const struct plenum_job *job, cpu_set_t **chosen)
{
    cpu_set_t allowed;
    bool elsewhere = pl_job_is_spread(job) || !pl_list_empty(&job->runtime->hosts);
    bool all = job->desc.option[PLENUM_JOB_BIND] != PLENUM_BIND_NONE;
    *chosen = NULL;
    if (elsewhere || (!all && !pl_job_has_cores(job)) || job->desc.size == 0 ||
        sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return PLENUM_OK;
    int count = pl_job_local_rank(job, job->desc.size);
    *chosen = pl_calloc((size_t)job->desc.size, sizeof **chosen);
    bool good = *chosen && (!all || job_bind_choose(job, &allowed, *chosen, count));
    if (good)
        job_bind_spread(job, *chosen, count);
    int err = good ? job_bind_placed(job, &allowed, *chosen) : job_bind_no_memory();
    if (!err)
        return PLENUM_OK;
    free(*chosen);
    *chosen = NULL;
    return err;
}

int plenum_place_count(enum plenum_bind bind, int *count)
{
    cpu_set_t allowed;
    struct pl_binding_places places;
    if (!count)
        return pl_rt_fail_null("count");
    if (bind <= PLENUM_BIND_NONE || bind > PLENUM_BIND_L3CACHE)
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

/* --- from host to host ------------------------------------------------------------------------------------------- */

void pl_job_bind_tell(const struct plenum_job *part)
{
    unsigned char bits[CPU_SETSIZE / 8];
    if (!part->launch.bound)
        return;
    struct pl_writer *to = pl_wire_begin(part->runtime->agent, PL_FRAME_BOUND, part->launch.span->id);
    for (int r = 0; r < part->desc.size; r++) {
        size_t used = 0;
        if (!pl_job_is_here(part, r))
            continue;
        memset(bits, 0, sizeof bits);
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &part->launch.bound[r])) {
                bits[cpu / 8] |= (unsigned char)(1u << cpu % 8);
                used = cpu / 8 + 1;
            }
        pl_write_u32(to, (uint32_t)r);
        pl_write_blob(to, bits, used);
    }
    pl_wire_end(part->runtime->agent);
}

void pl_job_bind_told(struct plenum_job *job, int part, struct pl_frame *frame)
{
    if (!job->launch.bound)
        job->launch.bound = pl_calloc((size_t)job->desc.size, sizeof *job->launch.bound);
    while (job->launch.bound && pl_reader_left(&frame->body) > 0) {
        size_t used;
        uint32_t rank = pl_read_u32(&frame->body);
        const unsigned char *bits = pl_read_blob(&frame->body, CPU_SETSIZE / 8, &used);
        if (!bits || rank >= (uint32_t)job->desc.size || job->launch.span->host_of[rank] != (uint32_t)part)
            return;
        for (size_t cpu = 0; cpu < 8 * used; cpu++)
            if (bits[cpu / 8] >> cpu % 8 & 1)
                CPU_SET(cpu, &job->launch.bound[rank]);
    }
}
