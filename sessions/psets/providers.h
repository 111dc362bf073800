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
extern const struct plenum_pset_provider pl_psets_app;

#endif
