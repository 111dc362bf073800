/* SPDX-License-Identifier: BSD-3-Clause */
/* A job whose ranks are started by the agents of hosts (struct pl_span), in the runtime that has the hosts. The caller
 * holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_H

#include "world/runtime/hosts/host.h"
#include "world/runtime/job.h"

/* The runtime has hosts: checks that they can run the job, and takes the environment. Returns an enum plenum_error. */
int pl_span_prepare(struct plenum_job *job);

/* Chooses hosts for the ranks, and has them started. Returns an enum plenum_error. */
int pl_span_start(struct plenum_job *job);

/* The job has finished, or is a description again. */
void pl_span_close(struct plenum_job *job);

/* As the keeper does it for other jobs. */
int pl_span_signal(struct plenum_job *job, int rank, int signo);
void pl_span_forgo(struct plenum_job *job);
void pl_span_hold(struct plenum_job *job, bool hold);

/* For the standard input of a rank; no bytes: the end. */
void pl_span_send_input(struct plenum_job *job, int rank, const void *data, size_t bytes);

#endif
