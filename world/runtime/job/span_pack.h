/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a job that an agent starts, as bytes: the body of PL_FRAME_JOB. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_PACK_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_PACK_H

#include "core/base/bytes.h"
#include "world/runtime/job.h"

/* Writes the part for host number `here` of a job that spans hosts. `env`: the variables that all programs share.
 * Returns an enum plenum_error. */
int pl_span_write(struct pl_writer *to, const struct plenum_job *job, int here, const struct pl_vars *env);

/* Creates the job in an agent. `input` gives a rank of this host its standard input, which comes in PL_FRAME_INPUT.
 * Returns an enum plenum_error; the caller closes the job, also then unless it is NULL. */
int pl_span_read(struct pl_reader *from, struct plenum_runtime *rt, int (*input)(struct plenum_job *job, int rank),
                 struct plenum_job **job);

/* Neither ends with a span of NULL. */
void pl_span_free(struct pl_span *span);

#endif
