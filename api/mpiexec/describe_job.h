/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the options into a job that can be launched, and prints its description. */
#ifndef PLENUM_MPIEXEC_DESCRIBE_JOB_H
#define PLENUM_MPIEXEC_DESCRIBE_JOB_H

#include "api/mpiexec/run.h"

/* Makes run->job. Returns an enum plenum_error, with the message in plenum_error(), or DESCRIBE_PRINTED: the message
 * was already printed. */
enum { DESCRIBE_PRINTED = -1 };
int describe_job(struct run *run);

/* Connects the standard streams of the job to files and to mpiexec's standard input. Makes the output directory.
 * Returns the same as describe_job(). */
int describe_streams(struct run *run);

/* Writes one line with its processors for each bound rank. */
void describe_bindings(const struct plenum_job *job, FILE *out);

/* Prints the described job on standard output, for --dry-run. False: a write failed. */
bool describe_dry_run(const struct run *run);

#endif
