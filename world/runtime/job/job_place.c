/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_place.h. */
#include "world/runtime/job/job_place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/guard.h"
#include "world/runtime/hosts/host.h"
#include "world/runtime/job/core_list.h"
#include "world/runtime/runtime_error.h"

enum { RANKS_MAX = 65536 };

/* --- what is asked for --------------------------------------------------------------------------------------- */

static int place_grow(struct pl_rank_texts *texts, int rank)
{
    if (rank < texts->count)
        return PLENUM_OK;
    char **grown = pl_realloc(texts->text, ((size_t)rank + 1) * sizeof *grown);
    if (!grown)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the places of the processes");
    texts->text = grown;
    while (texts->count <= rank)
        grown[texts->count++] = NULL;
    return PLENUM_OK;
}

/* Replaces a text by a copy of another; NULL: by none. */
static int place_set(struct plenum_job *job, char **place, const char *text)
{
    if (job->phase != PL_JOB_DESCRIBED)
        return pl_rt_fail(PLENUM_ERR_STATE, "the job was already launched and cannot be changed");
    char *copy = text ? pl_strdup(text) : NULL;
    if (text && !copy)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the places of the processes");
    free(*place);
    *place = copy;
    return PLENUM_OK;
}

enum place_of { OF_CORES, OF_HOST };

static int place_set_rank(struct plenum_job *job, enum place_of what, int rank, const char *text)
{
    int err = pl_job_enter(job);
    if (err)
        return err;
    struct pl_rank_texts *texts = what == OF_HOST ? &job->desc.host : &job->desc.cores;
    err = place_grow(texts, rank);
    return pl_job_leave(job, err ? err : place_set(job, &texts->text[rank], text));
}

static int place_check_rank(int rank)
{
    if (rank >= 0 && rank < RANKS_MAX)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%d is not a rank: allowed are 0 to %d", rank, RANKS_MAX - 1);
}

/* The next one of lists with blanks between them; NULL: there is none. */
static const char *place_next(const char *at, size_t *length)
{
    at += strspn(at, " ");
    *length = strcspn(at, " ");
    return *length ? at : NULL;
}

static bool place_valid_lists(const char *lists)
{
    size_t length;
    bool good = place_next(lists, &length) != NULL;
    for (const char *at = lists; good && (at = place_next(at, &length)); at += length) {
        char *list = pl_strndup(at, length);
        good = list && pl_core_list_valid(list);
        free(list);
    }
    return good;
}

int plenum_job_place(struct plenum_job *job, int rank, const char *cores)
{
    int err = rank == PLENUM_ALL ? PLENUM_OK : place_check_rank(rank);
    if (err)
        return err;
    if (cores && !(rank == PLENUM_ALL ? place_valid_lists(cores) : pl_core_list_valid(cores)))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "\"%s\" is not a list of cores such as 0-2,5 or, of socket 1, 1:0-2 or 1:*, or of processors "
                          "such as p3",
                          cores);
    if (rank != PLENUM_ALL)
        return place_set_rank(job, OF_CORES, rank, cores);
    err = pl_job_enter(job);
    return err ? err : pl_job_leave(job, place_set(job, &job->desc.cores_of_all, cores));
}

int plenum_job_host(struct plenum_job *job, int rank, const char *host)
{
    int err = place_check_rank(rank);
    if (!err && host && !*host)
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "the name of the host of rank %d is empty", rank);
    return err ? err : place_set_rank(job, OF_HOST, rank, host);
}

/* --- what the launch reads ----------------------------------------------------------------------------------- */

static bool place_has_host(const struct plenum_runtime *rt, const char *name)
{
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        if (strcmp(host->name, name) == 0)
            return true;
    return false;
}

int pl_job_place_check(const struct plenum_job *job)
{
    const struct pl_job_desc *desc = &job->desc;
    for (int r = 0; r < desc->cores.count || r < desc->host.count; r++) {
        const char *cores = pl_rank_text(&desc->cores, r), *host = pl_rank_text(&desc->host, r);
        if (r >= desc->size && (cores || host))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the %s \"%s\" %s for rank %d, which is not in a job of size %d",
                              cores ? "cores" : "host", cores ? cores : host, cores ? "are" : "is", r, desc->size);
        if (host && !place_has_host(job->runtime, host))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "rank %d is to run on the host \"%s\", which the runtime does not have", r, host);
    }
    return PLENUM_OK;
}

bool pl_job_has_cores(const struct plenum_job *job)
{
    return job->desc.cores.count > 0 || job->desc.cores_of_all;
}

const char *pl_job_cores(const struct plenum_job *job, int rank, size_t *length)
{
    const char *own = pl_rank_text(&job->desc.cores, rank), *all = job->desc.cores_of_all, *at;
    int lists = 0;
    *length = own ? strlen(own) : 0;
    if (own || !all)
        return own;
    for (at = all; (at = place_next(at, length)); at += *length)
        lists++;
    int number = pl_job_local_rank(job, rank) % lists;
    for (at = place_next(all, length); number > 0; number--)
        at = place_next(at + *length, length);
    return at;
}

static void place_fini(struct pl_rank_texts *texts)
{
    for (int i = 0; i < texts->count; i++)
        free(texts->text[i]);
    free(texts->text);
}

void pl_job_place_fini(struct pl_job_desc *desc)
{
    place_fini(&desc->cores);
    place_fini(&desc->host);
    free(desc->cores_of_all);
}
