/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input of ranks on other hosts: this runtime reads the embedder's descriptors, and the agents write what
 * comes into pipes. At most PL_INPUT_AHEAD bytes are under way for a rank that does not read. The caller holds the
 * runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_INPUT_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_INPUT_H

#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

enum { PL_INPUT_AHEAD = 1 << 18 };

struct pl_span_inputs {
    struct plenum_job *job;
    struct pl_span_input *input;
    int count;
};

void pl_span_inputs_init(struct pl_span_inputs *inputs, struct plenum_job *job);
void pl_span_inputs_fini(struct pl_span_inputs *inputs);

/* Finds the descriptors. Returns an enum plenum_error. */
int pl_span_inputs_start(struct pl_span_inputs *inputs);

/* The hosts know of the job: begins to read. */
void pl_span_inputs_flow(struct pl_span_inputs *inputs);

/* The body of a PL_FRAME_TAKEN: a rank has taken some of its input. */
void pl_span_inputs_taken(struct pl_span_inputs *inputs, struct pl_frame *frame);

#endif
