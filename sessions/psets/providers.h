/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in providers of process sets (plugins/psets), for the registry (sessions/psets/registry.c). */
#ifndef PLENUM_SESSIONS_PSETS_PROVIDERS_H
#define PLENUM_SESSIONS_PSETS_PROVIDERS_H

#include "plenum-pset.h"

extern const struct plenum_pset_provider pl_psets_builtin; /* mpi:// */
extern const struct plenum_pset_provider pl_psets_node;    /* plenum:// */
extern const struct plenum_pset_provider pl_psets_hwloc;   /* hwloc:// */
extern const struct plenum_pset_provider pl_psets_launcher;
extern const struct plenum_pset_provider pl_psets_json;

/* The provider of sets that processes publish, and the function that publishes them. */
struct pl_psets_publisher {
    const struct plenum_pset_provider *provider;
    /* Publishes a set of the job or changes it; withdraws it with ranges NULL. [2 * count]: first rank, last rank. MPI
     * error class, recorded. Any thread. */
    int (*change)(const char *name, const uint32_t *ranges, uint32_t count);
};
extern const struct pl_psets_publisher pl_psets_app;

#endif
