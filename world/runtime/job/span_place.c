/* SPDX-License-Identifier: BSD-3-Clause */
/* See span_place.h. First come ranks that plenum_job_host() is about, then programs that the info of MPI_Comm_spawn
 * puts on some hosts, then the rest. */
#include "world/runtime/job/span_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/hosts/placement.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/runtime_error.h"

#define PLACE_ANYWHERE UINT32_MAX /* in place of a host's number */

static int place_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the hosts of the job");
}

/* The usable hosts of the runtime. */
struct place {
    struct plenum_job *job;
    struct pl_host **host;        /* [count] */
    struct pl_capacity *capacity; /* [count] */
    int count;
};

/* --- the usable hosts -------------------------------------------------------------------------------------------- */

/* The caller frees both arrays. Returns an enum plenum_error. */
static int place_find_hosts(struct plenum_job *job, struct place *place)
{
    const struct plenum_runtime *rt = job->runtime;
    int all = 0;
    const char *why = "they are leaving";
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node)
        all++;
    *place = (struct place){ .job = job };
    place->host = pl_calloc((size_t)all + 1, sizeof *place->host);
    place->capacity = pl_calloc((size_t)all + 1, sizeof *place->capacity);
    if (!place->host || !place->capacity)
        return place_no_memory();
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (host->state == PLENUM_HOST_LOST)
            why = host->reason;
        if (!pl_host_is_usable(host))
            continue;
        place->host[place->count] = host;
        place->capacity[place->count++] =
            (struct pl_capacity){ host->slots, host->ranks, pl_host_resources_space(job, host, false) };
    }
    return place->count ? PLENUM_OK : pl_rt_fail(PLENUM_ERR_STATE, "the runtime has no host any more: %s", why);
}

/* The number of the host with this name; -1: there is none. */
static int place_find(const struct place *place, const char *name, size_t length)
{
    for (int h = 0; h < place->count; h++)
        if (strlen(place->host[h]->name) == length && memcmp(place->host[h]->name, name, length) == 0)
            return h;
    return -1;
}

/* Why there is none. */
static const char *place_reason(const struct place *place, const char *name)
{
    PL_LIST_EACH(host, &place->job->runtime->hosts, struct pl_host, node)
        if (strcmp(host->name, name) == 0)
            return host->state == PLENUM_HOST_LOST ? host->reason : "it is leaving";
    return NULL;
}

static void place_put(struct place *place, int rank, int host)
{
    place->job->launch.span->host_of[rank] = (uint32_t)host;
    place->capacity[host].ranks++;
}

/* --- ranks with a host of their own ------------------------------------------------------------------------------ */

static int place_fail_host(const struct place *place, int rank, const char *name)
{
    const char *why = place_reason(place, name);
    return pl_rt_fail(PLENUM_ERR_STATE, "rank %d cannot run on the host %s: %s", rank, name,
                      why ? why : "it is not one of the runtime any more");
}

/* Puts the ranks that plenum_job_host() is about on their hosts. The others get PLACE_ANYWHERE. */
static int place_named(struct place *place)
{
    const struct pl_job_desc *desc = &place->job->desc;
    for (int r = 0; r < desc->size; r++) {
        const char *name = pl_rank_text(&desc->host, r);
        int h = name ? place_find(place, name, strlen(name)) : -1;
        place->job->launch.span->host_of[r] = PLACE_ANYWHERE;
        if (name && h < 0)
            return place_fail_host(place, r, name);
        if (name && place->capacity[h].space-- <= 0)
            return pl_rt_fail(PLENUM_ERR_LIMIT, "the host %s does not have what the job asks for, for rank %d", name,
                              r);
        if (name)
            place_put(place, r, h);
    }
    return PLENUM_OK;
}

/* --- ranks of some hosts ----------------------------------------------------------------------------------------- */

/* What a list such as "a:2,b" names. A host without a number has the slots that are free there. */
struct place_list {
    int *number;                  /* [count], of the host in struct place */
    struct pl_capacity *capacity; /* [count] */
    bool *counted;                /* [count]: the list says how many slots */
    int count;
};

/* The name of the host of the rank that has asked for the processes. */
static const char *place_asking_host(const struct plenum_job *job)
{
    struct plenum_job *parent = pl_job_find(job->runtime, job->tree.parents.job);
    if (!parent || !pl_job_is_spread(parent))
        return "localhost";
    struct pl_host *host = pl_span_host_of(parent, (int)parent->launch.span->host_of[job->tree.parents.rank]);
    return host ? host->name : "localhost";
}

/* The slots behind the name; 0: the word has none. Changes `length` to that of the name. */
static long place_read_slots(const char *word, size_t *length)
{
    const char *colon = memrchr(word, ':', *length);
    if (!colon || colon + 1 == word + *length || colon + 1 + strspn(colon + 1, "0123456789") < word + *length)
        return 0;
    *length = (size_t)(colon - word);
    return strtol(colon + 1, NULL, 10);
}

static int place_fail_word(const struct place *place, const char *word, size_t length)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    const char *why = place_reason(place, name);
    return pl_rt_fail(PLENUM_ERR_STATE, "processes cannot be spawned on the host \"%s\": %s", name,
                      why ? why : "it is not one of the runtime");
}

static int place_add_word(struct place *place, struct place_list *list, const char *word, size_t length)
{
    const char *near = place_asking_host(place->job);
    long slots = place_read_slots(word, &length);
    int h = place_find(place, word, length), i = 0;
    if (h < 0 && length == strlen("localhost") && memcmp(word, "localhost", length) == 0)
        h = place_find(place, near, strlen(near));
    if (h < 0)
        return place_fail_word(place, word, length);
    if (slots < 0 || slots > 65536)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the number of slots of host \"%.*s\" must be from 1 to 65536",
                          (int)length, word);
    while (i < list->count && list->number[i] != h)
        i++;
    bool again = i < list->count;
    if (!again) {
        list->number[list->count] = h;
        list->capacity[list->count++] = place->capacity[h];
    }
    if (slots == 0 && !again)
        return PLENUM_OK;
    slots = slots ? slots : 1;
    int before = list->counted[i] ? list->capacity[i].slots : again ? 1 : 0;
    list->capacity[i].slots = before + (int)slots;
    list->capacity[i].ranks = 0;
    list->counted[i] = true;
    return PLENUM_OK;
}

static int place_read_list(struct place *place, const char *text, struct place_list *list)
{
    int err = PLENUM_OK;
    list->number = pl_calloc((size_t)place->count, sizeof *list->number);
    list->capacity = pl_calloc((size_t)place->count, sizeof *list->capacity);
    list->counted = pl_calloc((size_t)place->count, sizeof *list->counted);
    if (!list->number || !list->capacity || !list->counted)
        return place_no_memory();
    while (!err && *text) {
        size_t length = strcspn(text, ",");
        err = place_add_word(place, list, text, length);
        text += length + (text[length] == ',');
    }
    return err;
}

static void place_free_list(struct place_list *list)
{
    free(list->number);
    free(list->capacity);
    free(list->counted);
}

/* Chooses hosts of the list for the ranks from `first` on that have none yet. Returns an enum plenum_error. */
static int place_on(struct place *place, struct place_list *list, int first, int ranks)
{
    const struct plenum_job *job = place->job;
    const uint32_t *host_of = job->launch.span->host_of;
    int others = 0;
    for (int r = first; r < first + ranks; r++)
        others += host_of[r] == PLACE_ANYWHERE;
    uint32_t *chosen = others ? pl_calloc((size_t)others, sizeof *chosen) : NULL;
    if (!chosen)
        return others ? place_no_memory() : PLENUM_OK;
    int err =
        pl_placement_choose(list->capacity, list->count, others, (enum plenum_map)job->desc.option[PLENUM_JOB_MAP],
                            (enum plenum_rank)job->desc.option[PLENUM_JOB_RANK], chosen);
    for (int r = first, next = 0; !err && r < first + ranks; r++)
        if (host_of[r] == PLACE_ANYWHERE)
            place_put(place, r, list->number[chosen[next++]]);
    for (int i = 0; i < list->count; i++)
        place->capacity[list->number[i]].space = list->capacity[i].space;
    free(chosen);
    if (err == PLENUM_ERR_LIMIT)
        return pl_rt_fail(err, "the hosts of the runtime do not have what the job asks for");
    return err ? place_no_memory() : PLENUM_OK;
}

static int place_programs(struct place *place)
{
    const struct pl_job_desc *desc = &place->job->desc;
    int err = PLENUM_OK;
    for (int i = 0; !err && i < desc->program_count; i++) {
        const struct pl_program *program = &desc->programs[i];
        struct place_list list = { .count = 0 };
        if (!program->hosts)
            continue;
        err = place_read_list(place, program->hosts, &list);
        if (!err)
            err = place_on(place, &list, program->first, program->ranks);
        place_free_list(&list);
    }
    return err;
}

/* --- the others -------------------------------------------------------------------------------------------------- */

static int place_rest(struct place *place)
{
    struct place_list all = { .capacity = place->capacity, .count = place->count };
    all.number = pl_calloc((size_t)place->count, sizeof *all.number);
    if (!all.number)
        return place_no_memory();
    for (int h = 0; h < place->count; h++)
        all.number[h] = h;
    int err = place_on(place, &all, 0, place->job->desc.size);
    free(all.number);
    return err;
}

/* Numbers the hosts that have ranks, in their order. */
static int place_number_hosts(struct place *place)
{
    const struct plenum_job *job = place->job;
    struct pl_span *span = job->launch.span;
    struct pl_span_part *part = pl_calloc((size_t)place->count, sizeof *part);
    uint32_t *number = pl_calloc((size_t)place->count, sizeof *number);
    if (!part || !number) {
        free(part);
        free(number);
        return place_no_memory();
    }
    for (int r = 0; r < job->desc.size; r++)
        part[span->host_of[r]].ranks++;
    for (int h = 0; h < place->count; h++) {
        if (part[h].ranks == 0)
            continue;
        number[h] = (uint32_t)span->hosts++;
        part[number[h]] = (struct pl_span_part){ .host = place->host[h], .ranks = part[h].ranks };
    }
    for (int r = 0; r < job->desc.size; r++)
        span->host_of[r] = number[span->host_of[r]];
    free(number);
    span->parts->part = part;
    return PLENUM_OK;
}

int pl_span_place(struct plenum_job *job)
{
    struct place place;
    int err = place_find_hosts(job, &place);
    job->launch.span->host_of = pl_calloc((size_t)job->desc.size, sizeof *job->launch.span->host_of);
    if (!err && !job->launch.span->host_of)
        err = place_no_memory();
    if (!err)
        err = place_named(&place);
    if (!err)
        err = place_programs(&place);
    if (!err)
        err = place_rest(&place);
    if (!err)
        err = place_number_hosts(&place);
    free(place.host);
    free(place.capacity);
    return err;
}
