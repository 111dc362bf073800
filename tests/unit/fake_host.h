/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of a runtime without a machine: the test is its agent. No process is started. */
#ifndef PLENUM_TESTS_FAKE_HOST_H
#define PLENUM_TESTS_FAKE_HOST_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/plenum.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/host_life.h"

/* Two ranks fit on it. `agent` becomes the other end of its connection. */
static inline struct pl_host *fake_host_add(struct plenum_runtime *runtime, const char *name, struct pl_wire *agent)
{
    int pair[2];
    struct pl_host *host = calloc(1, sizeof *host);
    ck_assert(host && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    pl_wire_open(&host->wire, pair[0], pair[0]);
    pl_wire_open(agent, pair[1], pair[1]);
    host->runtime = runtime;
    host->slots = 2;
    host->errors = -1;
    host->source.ready = pl_host_ready;
    host->errors_source.ready = pl_host_errors_ready;
    pl_wire_flush(&host->wire); /* the greeting, as host_add.c sends it before any job */
    host->name = strdup(name);
    host->command = strdup("a command");
    ck_assert(pl_runtime_enter(runtime) == PLENUM_OK);
    ck_assert(pl_runtime_watch(runtime, pair[0], &host->source) == PLENUM_OK);
    pl_list_append(&runtime->hosts, &host->node);
    pl_runtime_leave(runtime, PLENUM_OK);
    return host;
}

/* Its connection has ended. */
static inline void fake_host_lose(struct pl_host *host)
{
    struct plenum_runtime *runtime = host->runtime;
    ck_assert(pl_runtime_enter(runtime) == PLENUM_OK);
    host->over = true;
    pl_hosts_advance(runtime);
    pl_runtime_leave(runtime, PLENUM_OK);
}

static inline void fake_host_remove(struct pl_host *host)
{
    struct plenum_runtime *runtime = host->runtime;
    ck_assert(pl_runtime_enter(runtime) == PLENUM_OK);
    pl_host_free(host);
    pl_runtime_leave(runtime, PLENUM_OK);
}

#endif
