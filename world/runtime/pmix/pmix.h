/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The embedded PMIx server, for programs that are PMIx clients. One for the process, whatever the number of runtimes:
 * it is opened for the first job that wants it, and stays, since PMIx 4.2 cannot be a server a second time (its
 * listener is set up once; after a finalize it selects on descriptor -1).
 *
 * It runs threads of its own, whose upcalls work on the registry of jobs in upcalls.h, under its own lock, which
 * comes after the runtimes' locks; they never take a runtime's.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_PMIX_H
#define PLENUM_WORLD_RUNTIME_PMIX_PMIX_H

#include "world/runtime/runtime.h"

/* Opens the server if that has not been done. Returns an enum plenum_error. */
int pl_pmix_open(void);

/* Makes a job known to the server (nspace, ranks, process sets), and unknown again. */
int pl_pmix_register(struct plenum_job *job);
void pl_pmix_deregister(struct plenum_job *job);

/* Tells the job's PMIx clients that a process has died while the others go on. */
void pl_pmix_process_lost(const struct plenum_job *job, int rank);

/* The variables by which a rank's process finds the server. Returns an enum plenum_error. */
int pl_pmix_environment(const struct plenum_job *job, int rank, struct pl_vars *vars);

/* An abort that a client of one of this runtime's jobs has asked for since the last call. False: none. */
struct pl_pmix_abort {
    uint64_t job;
    int rank, code;
    char message[512];
};
bool pl_pmix_next_abort(struct plenum_runtime *rt, struct pl_pmix_abort *abort);

#endif
