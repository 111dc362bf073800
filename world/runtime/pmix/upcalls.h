/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the PMIx server asks of its host, and the registry of jobs that the answers come from. Nobody else includes the
 * server's headers.
 *
 * `pl_pmix_registry` guards the rest. Upcalls take it, on the server's threads; it is never held while calling into the
 * library, which waits for those threads.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_UPCALLS_H
#define PLENUM_WORLD_RUNTIME_PMIX_UPCALLS_H

#include <pmix.h>
#include <pmix_server.h>

#include "world/runtime/pmix/pmix.h"
#include "world/runtime/pmix/published.h"

/* A job that the server knows. The job outlives it. */
struct pl_pmix_entry {
    struct pl_list node;
    const struct plenum_job *job;
    bool aborted, told; /* a client has called PMIx_Abort(); the runtime has taken note */
    struct pl_pmix_abort abort;
};

extern pthread_mutex_t pl_pmix_registry;
extern struct pl_list pl_pmix_entries;
extern struct pl_names pl_pmix_names;
extern const pmix_server_module_t pl_pmix_upcalls;

/* The registered job of this name; NULL: none. The caller holds the registry. */
struct pl_pmix_entry *pl_pmix_find(const char *nspace);

#endif
