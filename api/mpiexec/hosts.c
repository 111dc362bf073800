/* SPDX-License-Identifier: BSD-3-Clause */
/* See hosts.h. */
#include "api/mpiexec/hosts.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "api/mpiexec/machine.h"
#include "api/mpiexec/rankfile.h"

/* An option that is about this machine alone, and is given; NULL: there is none. */
static const char *hosts_refused(const struct options *o)
{
    if (o->cpus)
        return "--cpu-set";
    if (o->stdin_rank == STDIN_ALL)
        return "--stdin all";
    if (o->rank_by == PLENUM_RANK_SPAN)
        return "--rank-by span";
    if (o->machine_named)
        return "%h in the name of a file or a prefix";
    if (o->pmix == PLENUM_PMIX_ON && o->pmix_given)
        return "--pmix on";
    if (o->sections > 1 && o->section[0].per_node > 0)
        return "-N with several programs";
    return NULL;
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

/* By --map-by ppr: the hosts say how many. */
static bool hosts_decide(const struct section *s)
{
    return s->per_place > 0 && !s->counted;
}

static bool hosts_decide_any(const struct options *o)
{
    for (int i = 0; i < o->sections; i++)
        if (hosts_decide(&o->section[i]))
            return true;
    return false;
}

bool hosts_prepare(struct options *o, char *error, size_t size)
{
    const char *refused = hosts_refused(o);
    if (refused)
        snprintf(error, size, "%s cannot be used with --launcher ssh: it is about this machine", refused);
    else if (o->host_count == 0)
        snprintf(error, size,
                 "--launcher ssh needs the names of machines: --host, --hostfile, or the job of a batch system");
    else if (hosts_decide_any(o) && (o->dry_run || o->rank_by == PLENUM_RANK_NODE))
        snprintf(error, size, "--map-by ppr with %s on other machines: give the number of processes, with -n",
                 o->dry_run ? "--dry-run" : "--rank-by node");
    else
        return hosts_spread(o, error, size) && rankfile_find_hosts(o, error, size);
    return false;
}

/* One task on the node, which shares all that the job has there. Without -u only whole lines pass. */
#define SRUN "srun -Q -u -N1 -n1 --overlap --mpi=none --cpu-bind=none -w %h"

/* An agent on this machine needs no command that reaches it. */
static const char *hosts_command(const struct options *o, const char *name)
{
    return o->launcher_exec                      ? o->launcher_exec
           : machine_is_this(name, strlen(name)) ? ""
           : o->allocation == ALLOCATION_SLURM   ? SRUN
                                                 : NULL;
}

int hosts_add(struct run *run)
{
    const struct options *o = run->options;
    int err = plenum_runtime_set(run->runtime, PLENUM_RUNTIME_HEARTBEAT, o->heartbeat);
    for (int i = 0; !err && i < o->host_count; i++)
        err =
            plenum_runtime_host_add(run->runtime, o->host[i].name, o->host[i].slots, hosts_command(o, o->host[i].name));
    for (int i = 0; !err && i < o->host_count; i++)
        err = plenum_runtime_host_resource(run->runtime, o->host[i].name, "gpu", PLENUM_COUNT);
    return err;
}

/* Has the agent of each host told its places, or is one lost? */
static bool hosts_have_told(struct plenum_runtime *rt, struct options *o)
{
    struct plenum_host host;
    bool all = true;
    for (int i = 0; i < o->host_count; i++) {
        if (plenum_runtime_host(rt, i, &host, sizeof host) != PLENUM_OK || host.state == PLENUM_HOST_LOST)
            return true; /* the launch says why */
        memcpy(o->host[i].places, host.places, sizeof host.places);
        all &= host.places[PLENUM_BIND_CORE] > 0;
    }
    return all;
}

/* Waits for an agent. Returns the number of a signal that has come; 0: none. */
static int hosts_wait(struct run *run)
{
    struct signalfd_siginfo got;
    struct pollfd p[] = { { .fd = plenum_runtime_fd(run->runtime), .events = POLLIN },
                          { .fd = run->signals, .events = POLLIN } };
    poll(p, 2, -1);
    run_take_events(run);
    if (!p[1].revents || read(run->signals, &got, sizeof got) != sizeof got)
        return 0;
    bool ends = got.ssi_signo == SIGINT || got.ssi_signo == SIGTERM || got.ssi_signo == SIGHUP;
    return ends ? (int)got.ssi_signo : 0;
}

static int hosts_places(const struct options *o, const struct section *s, int host)
{
    int places = o->host[host].places[s->place];
    return s->per_place * (places > 0 ? places : 1);
}

int hosts_count(struct run *run, struct options *o)
{
    int interrupt = 0;
    if (!hosts_decide_any(o))
        return 0;
    while (!interrupt && !hosts_have_told(run->runtime, o))
        interrupt = hosts_wait(run);
    for (int i = 0; i < o->sections; i++) {
        struct section *s = &o->section[i];
        for (int h = 0, sum = 0; hosts_decide(s) && h < o->host_count; h++)
            s->ranks = sum += hosts_places(o, s, h);
    }
    return interrupt;
}

int hosts_put_ranks(struct plenum_job *job, const struct options *o)
{
    int err = PLENUM_OK, rank = 0;
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        for (int h = 0, at = rank; hosts_decide(s) && h < o->host_count; h++)
            for (int k = hosts_places(o, s, h); !err && k > 0; k--)
                err = plenum_job_host(job, at++, o->host[h].name);
        rank += s->ranks;
    }
    return err;
}

void hosts_print(const struct options *o)
{
    for (int i = 0; i < o->host_count; i++)
        printf(o->host[i].slots == 1 ? "host %s: %d slot\n" : "host %s: %d slots\n", o->host[i].name, o->host[i].slots);
}
