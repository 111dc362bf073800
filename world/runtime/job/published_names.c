/* SPDX-License-Identifier: BSD-3-Clause */
/* See published_names.h. */
#include "world/runtime/job/published_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { NAMES_MAX = 1 << 14 /* of a runtime */ };

struct names_entry {
    struct pl_list node; /* in runtime->answers.names */
    uint64_t job;        /* its id */
    int rank, pid;
    char *name, *value;
};

static struct names_entry *names_seek(const struct plenum_runtime *rt, const char *name, int *count)
{
    struct names_entry *found = NULL;
    *count = 0;
    PL_LIST_EACH(entry, &rt->answers.names, struct names_entry, node) {
        ++*count;
        if (strcmp(entry->name, name) == 0)
            found = entry;
    }
    return found;
}

static void names_remove(struct names_entry *entry)
{
    pl_list_remove(&entry->node);
    free(entry->name);
    free(entry->value);
    free(entry);
}

static bool names_belongs_to(const struct names_entry *entry, const struct pl_name_owner *owner)
{
    return entry->job == owner->job->id && entry->rank == owner->rank;
}

static bool names_add(const struct pl_name_owner *owner, const char *name, const char *value)
{
    struct names_entry *entry = pl_calloc(1, sizeof *entry);
    if (!entry)
        return false;
    pl_list_init(&entry->node);
    entry->job = owner->job->id;
    entry->rank = owner->rank;
    entry->pid = owner->pid;
    entry->name = pl_strdup(name);
    entry->value = pl_strdup(value);
    bool whole = entry->name && entry->value;
    if (whole)
        pl_list_append(&owner->job->runtime->answers.names, &entry->node);
    else
        names_remove(entry);
    return whole;
}

bool pl_job_names_publish(const struct pl_name_owner *owner, const char *name, const char *value,
                          char text[PL_ANSWER_MAX])
{
    int count;
    struct names_entry *there = names_seek(owner->job->runtime, name, &count);
    if (there && names_belongs_to(there, owner) && there->pid != owner->pid) {
        names_remove(there);
        there = NULL;
    }
    if (there)
        snprintf(text, PL_ANSWER_MAX, "service_name \"%.100s\" is published already", name);
    else if (count >= NAMES_MAX)
        snprintf(text, PL_ANSWER_MAX, "the jobs of this runtime have published %d names, and can publish no more",
                 NAMES_MAX);
    else if (names_add(owner, name, value))
        return true;
    else
        snprintf(text, PL_ANSWER_MAX, "the runtime is out of memory for a published name");
    return false;
}

bool pl_job_names_withdraw(const struct pl_name_owner *owner, const char *name, const char *value,
                           char text[PL_ANSWER_MAX])
{
    int count;
    struct names_entry *there = names_seek(owner->job->runtime, name, &count);
    if (there && names_belongs_to(there, owner) && there->pid == owner->pid && strcmp(there->value, value) == 0) {
        names_remove(there);
        return true;
    }
    snprintf(text, PL_ANSWER_MAX, "service_name \"%.100s\" with this port was not published by this process", name);
    return false;
}

bool pl_job_names_find(const struct plenum_runtime *rt, const char *name, char text[PL_ANSWER_MAX])
{
    int count;
    const struct names_entry *there = names_seek(rt, name, &count);
    if (there)
        snprintf(text, PL_ANSWER_MAX, "%s", there->value);
    else
        snprintf(text, PL_ANSWER_MAX, "service_name \"%.100s\" is not published by a job of this runtime", name);
    return there != NULL;
}

void pl_job_names_forget(const struct plenum_job *job, int rank)
{
    PL_LIST_EACH(entry, &job->runtime->answers.names, struct names_entry, node)
        if (entry->job == job->id && (rank == PLENUM_ALL || entry->rank == rank))
            names_remove(entry);
}

void pl_job_names_free(struct plenum_runtime *rt)
{
    PL_LIST_EACH(entry, &rt->answers.names, struct names_entry, node)
        names_remove(entry);
}
