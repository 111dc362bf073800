/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The embedded PMIx server, for programs that are PMIx clients. All runtimes of a process share it. The first job that
 * wants it opens it, and it stays: PMIx 4.2 cannot be a server a second time, since its listener is set up once and
 * selects on descriptor -1 after a finalize.
 *
 * The server has its own threads. Their upcalls use the registry of jobs in upcalls.h under the registry's lock, which
 * ranks after the runtimes' locks; they never take a runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_SERVER_H
#define PLENUM_WORLD_RUNTIME_PMIX_SERVER_H

#include "world/runtime/job.h"

/* Opens the server if it is not open. Takes about 20 ms; needs no lock. Returns an enum plenum_error. */
int pl_pmix_open(void);

/* Makes a job known to the server (nspace, ranks, process sets), and unknown again, without waiting for the server. */
int pl_pmix_register(struct plenum_job *job);
void pl_pmix_deregister(struct plenum_job *job);

/* Tells the job's PMIx clients that a process has failed and the others continue. */
void pl_pmix_process_failed(const struct plenum_job *job, int rank);

/* The variables by which a rank's process finds the server. Returns an enum plenum_error. */
int pl_pmix_environment(const struct plenum_job *job, int rank, struct pl_vars *vars);

/* The next abort that a client of this runtime's jobs has asked for. False: there is none. */
struct pl_pmix_abort {
    uint64_t job;
    int rank, code;
    char message[512];
};
bool pl_pmix_next_abort(struct plenum_runtime *rt, struct pl_pmix_abort *abort);

#endif
