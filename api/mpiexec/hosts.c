/* SPDX-License-Identifier: BSD-3-Clause */
/* See hosts.h. */
#include "api/mpiexec/hosts.h"

#include <stdio.h>
#include <string.h>

#include "api/mpiexec/machine.h"

/* An option that is about this machine alone, and is given; NULL: there is none. */
static const char *hosts_refused(const struct options *o)
{
    return o->cpus                                         ? "--cpu-set"
           : o->gpus > 0                                   ? "--gpus-per-task"
           : o->report_bindings                            ? "--report-bindings"
           : o->stdin_rank == STDIN_ALL                    ? "--stdin all"
           : o->rank_by == PLENUM_RANK_SPAN                ? "--rank-by span"
           : o->machine_named                              ? "%h in the name of a file or a prefix"
           : o->pmix == PLENUM_PMIX_ON && o->pmix_given    ? "--pmix on"
           : o->sections > 1 && o->section[0].per_node > 0 ? "-N with several programs"
                                                           : NULL;
}

/* As many on each machine as -N says. */
static bool hosts_spread(struct options *o, char *error, size_t size)
{
    struct section *s = &o->section[0];
    if (o->job || s->per_node == 0)
        return true;
    int most = s->per_node * o->host_count;
    if (!s->counted)
        s->ranks = most;
    for (int i = 0; i < o->host_count; i++)
        o->host[i].slots = s->per_node;
    if (s->ranks > most)
        snprintf(error, size, "%d processes with %d on each machine need %d machines, and %d are named", s->ranks,
                 s->per_node, (s->ranks + s->per_node - 1) / s->per_node, o->host_count);
    return s->ranks <= most;
}

bool hosts_prepare(struct options *o, char *error, size_t size)
{
    const char *refused = hosts_refused(o);
    if (refused)
        snprintf(error, size, "%s cannot be used with --launcher ssh: it is about this machine", refused);
    else if (o->host_count == 0)
        snprintf(error, size, "--launcher ssh needs the names of machines: --host or --hostfile");
    return !refused && o->host_count > 0 && hosts_spread(o, error, size);
}

/* An agent on this machine needs no command that reaches it. */
static const char *hosts_command(const struct options *o, const char *name)
{
    return o->launcher_exec ? o->launcher_exec : machine_is_this(name, strlen(name)) ? "" : NULL;
}

int hosts_add(struct run *run)
{
    const struct options *o = run->options;
    int err = PLENUM_OK;
    for (int i = 0; !err && i < o->host_count; i++)
        err =
            plenum_runtime_host_add(run->runtime, o->host[i].name, o->host[i].slots, hosts_command(o, o->host[i].name));
    return err;
}

void hosts_print(const struct options *o)
{
    for (int i = 0; i < o->host_count; i++)
        printf(o->host[i].slots == 1 ? "host %s: %d slot\n" : "host %s: %d slots\n", o->host[i].name, o->host[i].slots);
}
