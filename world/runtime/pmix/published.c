/* SPDX-License-Identifier: BSD-3-Clause */
/* See published.h. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/pmix/published.h"

static bool published_visible(const struct pl_name *name, const char *nspace, uint32_t rank)
{
    if (name->scope == PL_NAME_ALL)
        return true;
    if (strcmp(name->nspace, nspace) != 0)
        return false;
    return name->scope == PL_NAME_NSPACE || name->rank == rank;
}

struct pl_name *pl_names_find(struct pl_names *names, const char *key, const char *nspace, uint32_t rank)
{
    PL_LIST_EACH(name, &names->all, struct pl_name, node)
        if (strcmp(name->key, key) == 0 && published_visible(name, nspace, rank))
            return name;
    return NULL;
}

bool pl_names_publish(struct pl_names *names, const struct pl_name *like, bool *duplicate)
{
    struct pl_name *name = NULL;
    const struct pl_name *other = pl_names_find(names, like->key, like->nspace, like->rank);
    *duplicate = other && other->scope == like->scope;
    if (!*duplicate)
        name = pl_malloc(sizeof *name);
    if (name) {
        *name = *like;
        name->key = pl_strdup(like->key);
    }
    if (!name || !name->key) {
        free(name);
        names->discard(like->value);
        return false;
    }
    pl_list_append(&names->all, &name->node);
    return true;
}

void pl_names_remove(struct pl_names *names, struct pl_name *name)
{
    pl_list_remove(&name->node);
    names->discard(name->value);
    free(name->key);
    free(name);
}

void pl_names_end_job(struct pl_names *names, const char *nspace)
{
    PL_LIST_EACH(name, &names->all, struct pl_name, node)
        if (!nspace || (name->life != PL_NAME_SERVER && strcmp(name->nspace, nspace) == 0))
            pl_names_remove(names, name);
}
