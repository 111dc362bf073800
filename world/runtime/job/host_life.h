/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a runtime's hosts (hosts/host.h): added, connected, lost, removed. The caller holds the runtime's lock.
 * */
#ifndef PLENUM_WORLD_RUNTIME_JOB_HOST_LIFE_H
#define PLENUM_WORLD_RUNTIME_JOB_HOST_LIFE_H

#include "world/runtime/hosts/host.h"
#include "world/runtime/job.h"

/* The handlers of its sources. */
void pl_host_ready(struct pl_source *source);
void pl_host_errors_ready(struct pl_source *source);

/* Sends what was written to its wire, now or when the agent takes it. */
void pl_host_flush(struct pl_host *host);

/* Ends the connection, and the placer at once: the reason is why the host is lost. */
void pl_host_give_up(struct pl_host *host);

/* Takes it off the list, whatever its agent does. */
void pl_host_free(struct pl_host *host);

/* NULL: the runtime has no host of this name. */
struct pl_host *pl_host_find(struct plenum_runtime *rt, const char *name);

/* Can jobs be placed on the host? */
static inline bool pl_host_is_usable(const struct pl_host *host)
{
    return host->state == PLENUM_HOST_STARTING || host->state == PLENUM_HOST_READY;
}

/* The command that starts an agent has ended; its job is about to be freed. */
void pl_host_placer_ended(struct plenum_job *placer);

/* Ends the agents of hosts that are to leave, and what was on hosts whose agents have ended. */
void pl_hosts_advance(struct plenum_runtime *rt);

/* The slots of the hosts are those of the runtime, unless the embedder has set a number; and so are their resources. */
void pl_hosts_supply(struct plenum_runtime *rt);

/* `ranks` more, or fewer if negative, run on the host. */
void pl_host_count(struct pl_host *host, int ranks);

/* The runtime stops: the agents kill their ranks and end. Waits for it, for a few seconds at most. */
void pl_hosts_stop(struct plenum_runtime *rt);

void pl_hosts_free(struct plenum_runtime *rt);

#endif
