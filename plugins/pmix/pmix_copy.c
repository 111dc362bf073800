/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/pmix/pmix_copy.h"

#include <pthread.h>
#include <string.h>

#include "core/base/memory.h"

__thread struct pl_pmix_copy *pl_pmix_copy;
static struct pl_pmix_copy *copies;
static pthread_mutex_t copies_lock = PTHREAD_MUTEX_INITIALIZER;

static bool pmix_copy_has_name(const char *name)
{
    for (const struct pl_pmix_copy *copy = copies; copy; copy = copy->next)
        if (strcmp(copy->name, name) == 0)
            return true;
    return false;
}

static struct pl_pmix_copy *pmix_copy_add(const struct pl_bootstrap_host *host)
{
    struct pl_pmix_copy *copy = pl_calloc(1, sizeof *copy);
    uint32_t number = 0;
    if (!copy)
        return NULL;
    do
        host->tenant(++number, copy->name);
    while (pmix_copy_has_name(copy->name));
    copy->host = host;
    copy->next = copies;
    copies = copy;
    return copy;
}

void pl_pmix_copy_enter(const struct pl_bootstrap_host *host)
{
    if (pl_pmix_copy && pl_pmix_copy->host == host)
        return;
    pthread_mutex_lock(&copies_lock);
    struct pl_pmix_copy *copy = copies;
    while (copy && copy->host != host)
        copy = copy->next;
    pl_pmix_copy = copy ? copy : pmix_copy_add(host);
    pthread_mutex_unlock(&copies_lock);
}
