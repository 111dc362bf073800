/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMI-1 server, for programs that are linked with MPICH or one of its kind: they find each other by it, and form one
 * job. Each rank has a socket to it (PMI_FD). A request is a line of "key=value" words, and so is its answer.
 *
 * What a rank sends is not trusted. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_PMI_SERVER_H
#define PLENUM_WORLD_RUNTIME_JOB_PMI_SERVER_H

#include "world/runtime/job.h"

/* Makes the socket of a rank, and polls it. `*rank_end` is the caller's to close. Returns an enum plenum_error. */
int pl_pmi_open(struct plenum_job *job, int rank, int *rank_end);

/* Serves what a rank that has ended has sent: it may have aborted the job. */
void pl_pmi_drain(struct plenum_job *job, int rank);

/* Has the rank begun to use the server, and not said that it is done? */
bool pl_pmi_in_use(const struct plenum_job *job, int rank);

/* The sockets of those that wait in a barrier are closed: a rank cannot come to it. */
void pl_pmi_end_barrier(struct plenum_job *job);

/* Closes the sockets, and frees what the ranks have put. Does nothing for a job without server. */
void pl_pmi_close(struct plenum_job *job);

#endif
