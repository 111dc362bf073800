/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plenum-info parts: the transports and the plugins, whether each works here, and why not. A test opens a session with
 * each transport and loads each plugin.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/plenum-info/info.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/topology_hw.h"
#include "core/engine/transport.h"
#include "core/job/process.h"
#include "core/object/plugin.h"
#include "mpi.h"

enum { WHY_MAX = MPI_MAX_ERROR_STRING };

/* One part: its purpose, and the result of its test; `why` is empty when it works. */
struct part {
    const char *kind, *name, *use;
    char why[WHY_MAX];
};

static void info_parts_note(struct part *part, const char *why)
{
    snprintf(part->why, sizeof part->why, "%s", why);
}

static void info_parts_try_transport(struct part *part)
{
    MPI_Session session;
    char why[MPI_MAX_ERROR_STRING];
    int length;
    setenv("PLENUM_TRANSPORT", part->name, 1);
    int rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (rc != MPI_SUCCESS && MPI_Error_string(rc, why, &length) == MPI_SUCCESS)
        info_parts_note(part, why);
    if (rc == MPI_SUCCESS)
        MPI_Session_finalize(&session);
}

/* Tests the kernel's copy between sibling processes, as ranks of a job are: a copy from a child needs fewer rights. */
static void info_parts_try_cma(struct part *part)
{
    static char sent[] = "copied by the kernel", received[sizeof sent];
    char ready;
    int ends[2];
    struct iovec local = { received, sizeof received }, remote = { sent, sizeof sent };
    if (pipe(ends) != 0)
        return;
    pid_t owner = fork();
    if (owner == 0) {
        pause();
        _exit(0);
    }
    pid_t reader = fork();
    if (reader == 0) {
        ssize_t n = process_vm_readv(owner, &local, 1, &remote, 1, 0);
        ready = n == (ssize_t)sizeof sent ? 0 : (char)errno;
        _exit(write(ends[1], &ready, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &ready, 1) == 1 && ready != 0)
        info_parts_note(part, strerror(ready));
    close(ends[0]);
    kill(owner, SIGKILL);
    waitpid(reader, NULL, 0);
    waitpid(owner, NULL, 0);
}

static void info_parts_try_plugin(struct part *part, const char *symbol)
{
    if (pl_config_load() != MPI_SUCCESS || !pl_plugin_load(part->name, symbol))
        info_parts_note(part, pl_error_detail(NULL));
}

static struct part parts[] = {
    { "transport", "self", "messages to oneself", "" },
    { "transport", "shm", "processes of one node", "" },
    { "transport", "ucx", "processes of several nodes", "" },
    { "memory", "cma", "long messages on the node by one kernel copy; without it by two copies", "" },
    { "plugin", "ucx", "the transport ucx", "" },
    { "plugin", "pmix", "jobs of other launchers", "" },
    { "plugin", "hwloc", "hardware topology: process sets, splitting of communicators, reordering", "" },
};
enum { PARTS = sizeof parts / sizeof *parts };

static void info_parts_try_all(void)
{
    const char *wanted = getenv("PLENUM_TRANSPORT");
    char *kept = wanted ? pl_strdup(wanted) : NULL;
    for (int i = 0; i < 3; i++)
        info_parts_try_transport(&parts[i]);
    if (kept)
        setenv("PLENUM_TRANSPORT", kept, 1);
    else
        unsetenv("PLENUM_TRANSPORT");
    free(kept);
    info_parts_try_cma(&parts[3]);
    info_parts_try_plugin(&parts[4], PL_TRANSPORT_SYMBOL);
    info_parts_try_plugin(&parts[5], PL_BOOTSTRAP_SYMBOL);
    info_parts_try_plugin(&parts[6], PL_TOPOLOGY_SYMBOL);
}

static void info_parts_print_text(void)
{
    for (int i = 0; i < PARTS; i++)
        printf("%-9s %-5s %s; %s%s%s\n", parts[i].kind, parts[i].name, *parts[i].why ? "does not work here" : "works",
               parts[i].use, *parts[i].why ? ": " : "", parts[i].why);
}

static json_t *info_parts_describe_all(void)
{
    json_t *all = json_array();
    for (int i = 0; i < PARTS; i++)
        json_array_append_new(all, json_pack("{ss ss ss sb ss}", "kind", parts[i].kind, "name", parts[i].name, "use",
                                             parts[i].use, "works", *parts[i].why == '\0', "why", parts[i].why));
    return all;
}

/* A part that does not work is not a failure: each is missing on some machines. */
int info_parts(json_t *to)
{
    info_parts_try_all();
    if (to)
        json_object_set_new(to, "parts", info_parts_describe_all());
    else
        info_parts_print_text();
    return EXIT_SUCCESS;
}
