/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of a runtime: a machine where an agent starts the ranks. The runtime starts the agent once, by a command such
 * as ssh, and talks to it over that command's standard streams. The command runs as a job of the runtime that the
 * embedder does not see (the placer), so the keeper ends it whatever happens. job/host_life.c has its life. The caller
 * of everything here holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_HOSTS_HOST_H
#define PLENUM_WORLD_RUNTIME_HOSTS_HOST_H

#include "core/base/list.h"
#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/runtime.h"

struct plenum_job;

struct pl_host {
    struct pl_list node; /* in runtime->hosts */
    struct plenum_runtime *runtime;
    char *name;
    char *command; /* words, with %h for the name */
    int slots;
    int ranks;                           /* that run there, or are about to */
    int places[PLENUM_BIND_L3CACHE + 1]; /* by enum plenum_bind, as the agent tells; 0: it has not told yet */
    int has[PL_KINDS], taken[PL_KINDS];  /* of each resource (job/host_resources.h); PLENUM_COUNT: not known yet */
    enum plenum_host_state state;
    bool leaving;              /* ends with its last rank */
    bool over;                 /* the placer has ended: pl_hosts_advance() does the rest */
    struct plenum_job *placer; /* NULL: it has ended */
    int code;                  /* the exit code of the placer */
    struct pl_wire wire;
    struct pl_source source; /* the agent has sent something, or takes more */
    bool full;               /* the agent does not take everything: the source waits for that, too */
    int64_t asked;           /* since when (pl_clock_ms()) a beat has no answer; 0: all have */
    int errors;              /* the placer's standard error; -1: closed */
    struct pl_source errors_source;
    char last_line[384]; /* of it, so far; or one about the agent */
    bool line_ended, line_stays;
    char reason[512]; /* why it is lost */
};

#endif
