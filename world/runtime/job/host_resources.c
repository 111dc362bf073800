/* SPDX-License-Identifier: BSD-3-Clause */
/* See host_resources.h. */
#include "world/runtime/job/host_resources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/job_resources.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/runtime_error.h"

/* --- what hosts have --------------------------------------------------------------------------------------------- */

void pl_host_resources_supply(struct plenum_runtime *rt)
{
    for (int kind = 1; kind < rt->supply.kinds; kind++) {
        long total = 0;
        if (!rt->supply.resource[kind].of_hosts)
            continue;
        PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
            total += pl_host_is_usable(host) && host->has[kind] > 0 ? host->has[kind] : 0;
        pl_dispatch_set_total(&rt->supply.dispatch, kind, total);
    }
}

void pl_host_resources_take(const struct plenum_job *job, struct pl_host *host, int ranks)
{
    for (int i = 0; i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        host->taken[request->kind] += request->each * ranks + request->shared;
    }
}

void pl_host_resources_give(const struct plenum_job *job, struct pl_host *host, int ranks)
{
    for (int i = 0; i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        host->taken[request->kind] -= request->each * ranks + request->shared;
    }
}

/* The agent has a resource of the same name. */
static void host_resources_tell(struct pl_host *host, const char *name, int count)
{
    struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_RESOURCE, 0);
    pl_write_text(to, name);
    pl_write_folded(to, count);
    pl_wire_end(&host->wire);
    pl_host_flush(host);
}

static int host_resources_set(struct plenum_runtime *rt, const char *name_of_host, const char *name, int count)
{
    struct pl_host *host = pl_host_find(rt, name_of_host);
    int kind = 0;
    if (!host || !pl_host_is_usable(host))
        return pl_rt_fail(PLENUM_ERR_NOT_FOUND, "the runtime has no host \"%.80s\"", name_of_host);
    int err = pl_job_resources_of_hosts(rt, name, &kind);
    if (err)
        return err;
    if (host->taken[kind] > 0)
        return pl_rt_fail(PLENUM_ERR_STATE, "jobs have \"%s\" of host \"%.80s\": its number cannot be changed now",
                          name, host->name);
    host->has[kind] = count;
    host_resources_tell(host, name, count);
    pl_host_resources_supply(rt);
    pl_host_resources_refuse(rt);
    pl_queue_advance(rt);
    return PLENUM_OK;
}

int plenum_runtime_host_resource(struct plenum_runtime *rt, const char *host, const char *name, int count)
{
    bool counts = name && count == PLENUM_COUNT && strcmp(name, "gpu") == 0;
    int err = host ? pl_job_resources_check_name(name) : (int)pl_rt_fail_null("name of a host");
    if (err)
        return err;
    if (!counts && (count < 0 || count > PL_RESOURCE_MOST))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "a host cannot have %d of \"%s\": allowed are 0 to %d, and for \"gpu\" PLENUM_COUNT (%d)",
                          count, name, PL_RESOURCE_MOST, PLENUM_COUNT);
    err = pl_runtime_enter(rt);
    return err ? err : pl_runtime_leave(rt, host_resources_set(rt, host, name, count));
}

int pl_host_resources_here(struct plenum_runtime *rt, const char *name, int count)
{
    int all = count == PLENUM_COUNT ? pl_resource_count_gpus() : count;
    return plenum_runtime_resource(rt, name, all) == PLENUM_OK ? all : 0;
}

void pl_host_resources_found(struct pl_host *host, struct pl_frame *frame)
{
    struct plenum_runtime *rt = host->runtime;
    size_t length;
    const char *name = pl_read_text(&frame->body, PL_RESOURCE_NAME - 1, &length);
    int64_t count = pl_read_folded(&frame->body);
    if (!pl_reader_done(&frame->body) || count < 0 || count > PL_RESOURCE_MOST)
        return;
    for (int kind = 1; kind < rt->supply.kinds; kind++) {
        const char *known = rt->supply.resource[kind].name;
        if (host->has[kind] == PLENUM_COUNT && strlen(known) == length && memcmp(known, name, length) == 0)
            host->has[kind] = (int)count;
    }
    pl_host_resources_supply(rt);
    pl_host_resources_refuse(rt);
    pl_queue_advance(rt);
}

/* --- where a job has space ---------------------------------------------------------------------------------------- */

static int host_resources_space_of(const struct pl_request *request, const struct pl_host *host, bool empty)
{
    int has = host->has[request->kind];
    if (request->each + request->shared == 0 || (empty && has == PLENUM_COUNT))
        return INT_MAX;
    int left = has - request->shared - (empty ? 0 : host->taken[request->kind]);
    return left < 0 ? 0 : request->each ? left / request->each : INT_MAX;
}

int pl_host_resources_space(const struct plenum_job *job, const struct pl_host *host, bool empty)
{
    int space = INT_MAX;
    for (int i = 0; i < job->desc.request_count; i++) {
        int of_one = host_resources_space_of(&job->desc.request[i], host, empty);
        space = of_one < space ? of_one : space;
    }
    return space;
}

/* The ranks for which all usable hosts together have space, on each within its free slots, its slots, or neither. */
enum host_resources_within { WITHIN_FREE, WITHIN_SLOTS, WITHIN_NOTHING };

/* The ranks that must run on the host. */
static int host_resources_named(const struct plenum_job *job, const struct pl_host *host)
{
    int count = 0;
    for (int r = 0; r < job->desc.size; r++) {
        const char *name = pl_rank_text(&job->desc.host, r);
        count += name && strcmp(name, host->name) == 0;
    }
    return count;
}

static int host_resources_space_of_all(const struct plenum_job *job, enum host_resources_within within, bool empty)
{
    long space = 0;
    PL_LIST_EACH(host, &job->runtime->hosts, struct pl_host, node) {
        int free = host->slots > host->ranks ? host->slots - host->ranks : 0;
        int bound = within == WITHIN_FREE ? free : within == WITHIN_SLOTS ? host->slots : job->desc.size;
        int here = pl_host_is_usable(host) ? pl_host_resources_space(job, host, empty) : 0;
        int named = host_resources_named(job, host);
        bound = bound > named ? bound : named;
        if (here < named)
            return 0;
        space += here < bound ? here : bound;
    }
    return space < job->desc.size ? (int)space : job->desc.size;
}

/* With more ranks than slots, slots do not bound: the dispatch sees to it that no other job runs. */
bool pl_host_resources_place(const struct pl_task *task)
{
    const struct plenum_job *job = PL_CONTAINER(task, struct plenum_job, task);
    int size = job->desc.size;
    if (job->desc.request_count == 0 || !pl_job_is_spread(job))
        return true;
    if (host_resources_space_of_all(job, WITHIN_SLOTS, true) < size)
        return host_resources_space_of_all(job, WITHIN_NOTHING, false) == size;
    return host_resources_space_of_all(job, WITHIN_FREE, false) == size;
}

/* --- jobs -------------------------------------------------------------------------------------------------------- */

/* Could all hosts together run the job if they had no other? */
static int host_resources_check_space(const struct plenum_job *job)
{
    for (int i = 0; i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        long ranks = 0;
        PL_LIST_EACH(host, &job->runtime->hosts, struct pl_host, node) {
            int here = pl_host_is_usable(host) ? host_resources_space_of(request, host, true) : 0;
            ranks += here < job->desc.size ? here : job->desc.size;
        }
        if (ranks < job->desc.size)
            return pl_rt_fail(
                PLENUM_ERR_ARGUMENT,
                "the hosts of the runtime have \"%s\" for %ld of the %d ranks of the job (%d for each, %d "
                "for all on a host)",
                request->name, ranks, job->desc.size, request->each, request->shared);
    }
    if (job->desc.request_count == 0)
        return PLENUM_OK;
    int ranks = host_resources_space_of_all(job, WITHIN_NOTHING, true);
    if (ranks < job->desc.size)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "the hosts of the runtime have all that the ranks of the job ask for together for %d of %d",
                          ranks, job->desc.size);
    return PLENUM_OK;
}

int pl_host_resources_check(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    for (int kind = 1; kind < PL_KINDS; kind++)
        job->task.takes.of[kind] = 0;
    for (int i = 0; i < job->desc.request_count; i++) {
        struct pl_request *request = &job->desc.request[i];
        request->kind = pl_job_resources_find(rt, request->name);
        if (!request->kind && request->each + request->shared == 0)
            continue;
        if (!request->kind || !rt->supply.resource[request->kind].of_hosts)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "the job asks for \"%s\", and the hosts of the runtime have none: "
                              "plenum_runtime_host_resource() says what a host has",
                              request->name);
        if (job->tree.root)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "spawned processes cannot ask for \"%s\": the job that spawns them would have to wait",
                              request->name);
        job->task.takes.of[request->kind] = (long)request->each * job->desc.size + request->shared;
    }
    return host_resources_check_space(job);
}

void pl_host_resources_refuse(struct plenum_runtime *rt)
{
    PL_LIST_EACH(task, &rt->supply.dispatch.waiting, struct pl_task, node) {
        struct plenum_job *job = PL_CONTAINER(task, struct plenum_job, task);
        if (!pl_job_is_spread(job) || job->desc.request_count == 0 || host_resources_check_space(job) == PLENUM_OK)
            continue;
        pl_dispatch_forget(&rt->supply.dispatch, task);
        pl_job_fail_start(job, PLENUM_ALL, 0, plenum_error());
        pl_job_finish(job);
        pl_runtime_wake_waiters(rt);
    }
}
