/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input of ranks, which comes from the runtime: a pipe for each, and what does not fit into it yet. */
#ifndef PLENUM_WORLD_RUNTIME_AGENT_INPUTS_H
#define PLENUM_WORLD_RUNTIME_AGENT_INPUTS_H

#include <poll.h>

#include "world/runtime/agent/agent.h"

/* Connects standard input of a rank that is being described to a new pipe. Returns an enum plenum_error. */
int pl_inputs_open(struct plenum_job *job, int rank);

/* The body of a PL_FRAME_INPUT. */
void pl_inputs_feed(uint32_t job, struct pl_reader *from);

/* Fills in what is to be polled, at most `space`, and returns the number; then writes to those that are ready. */
int pl_inputs_poll(struct pollfd *p, int space);
void pl_inputs_write(void);

/* The part has ended. */
void pl_inputs_close(uint32_t job);

#endif
