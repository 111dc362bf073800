/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copies of the library that use this plugin. The dynamic loader gives all copies in a process the same plugin, and
 * they have one connection to the server. Each has its own queries, and a name in the keys of its cards
 * (core/job/tenant.h). A copy enters before each call, so that the thread knows for which one it works.
 */
#ifndef PLENUM_PLUGINS_PMIX_PMIX_COPY_H
#define PLENUM_PLUGINS_PMIX_PMIX_COPY_H

#include "core/job/process.h"

struct query;
struct pmix_listener;

struct pl_pmix_copy {
    struct pl_pmix_copy *next;
    const struct pl_bootstrap_host *host;
    struct query *queries;
    struct pmix_listener *listeners; /* cards.c */
    uint32_t listener_cards;         /* numbers that this process has used for its own */
    uint32_t world_cards;            /* the same for the World */
    char name[300];                  /* "" for the program's own copy */
};

/* The copy for which this thread works. Copies stay for good, as the plugin does. */
extern __thread struct pl_pmix_copy *pl_pmix_copy;

/* Enters; NULL in pl_pmix_copy afterwards: out of memory. */
void pl_pmix_copy_enter(const struct pl_bootstrap_host *host);

#endif
