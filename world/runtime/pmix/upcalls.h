/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upcalls of the PMIx server, and the registry of jobs that the answers come from. Only the files that include this
 * header see the server's headers.
 *
 * The mutex `pl_pmix_registry` guards the other variables. Upcalls take it on the server's threads. It must not be held
 * during a call into the PMIx library, which waits for those threads.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_UPCALLS_H
#define PLENUM_WORLD_RUNTIME_PMIX_UPCALLS_H

#include <pmix.h>
#include <pmix_server.h>

#include "world/runtime/pmix/published.h"
#include "world/runtime/pmix/server.h"

/* A job that the server knows. The job outlives its entry. */
struct pl_pmix_entry {
    struct pl_list node;
    const struct plenum_job *job;
    bool aborted, handled; /* a client has called PMIx_Abort(); the runtime has fetched `abort` */
    struct pl_pmix_abort abort;
};

extern pthread_mutex_t pl_pmix_registry;
extern struct pl_list pl_pmix_entries;
extern struct pl_names pl_pmix_names;
extern const pmix_server_module_t pl_pmix_upcalls;

/* The registered job of this name; NULL: none. The caller holds the registry's mutex. */
struct pl_pmix_entry *pl_pmix_find(const char *nspace);

#endif
