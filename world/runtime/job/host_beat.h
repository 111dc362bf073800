/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats: frames that an agent must answer, so that a host that is cut off without a word counts as lost
 * (PLENUM_RUNTIME_HEARTBEAT). The agent's side is in agent/agent.c. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_HOST_BEAT_H
#define PLENUM_WORLD_RUNTIME_JOB_HOST_BEAT_H

#include "world/runtime/hosts/host.h"

/* The period, in milliseconds; 0: no beats. */
void pl_hosts_set_beat(struct plenum_runtime *rt, int limit);

/* The first beat of a host, whose agent has just answered. */
void pl_host_first_beat(struct pl_host *host);

/* Sends the beats that are due, and gives up hosts that have been silent for too long. */
void pl_hosts_beat(struct plenum_runtime *rt, int64_t now);

#endif
