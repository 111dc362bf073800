/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent of a host: a process that starts the ranks of its host for a runtime elsewhere (hosts/host.h). It is an
 * embedder like others, with a runtime and a keeper of its own, so nothing that it starts outlives it. It decides
 * nothing: what happens to its parts of jobs goes to the runtime, which sends orders. The two talk over the standard
 * streams of the agent. When these end, so does the agent, with everything that it has started.
 */
#ifndef PLENUM_WORLD_RUNTIME_AGENT_AGENT_H
#define PLENUM_WORLD_RUNTIME_AGENT_AGENT_H

#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

/* A part of a job. */
struct pl_agent_part {
    struct pl_list node;
    uint32_t id; /* in frames */
    struct plenum_job *job;
};

struct pl_agent {
    struct plenum_runtime *runtime;
    struct pl_wire wire;
    struct pl_list parts;  /* struct pl_agent_part.node */
    struct pl_list inputs; /* agent/inputs.h */
    uint32_t next_id;      /* of the part that is being described */
    int64_t heard;         /* when (pl_clock_ms()) something came from the runtime */
    uint32_t limit;        /* milliseconds of silence after which the agent ends; 0: never */
};
extern struct pl_agent pl_agent;

#endif
