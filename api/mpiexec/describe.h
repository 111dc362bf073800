/* SPDX-License-Identifier: BSD-3-Clause */
/* From the options to a job that can be launched, and to words about it. */
#ifndef PLENUM_MPIEXEC_DESCRIBE_H
#define PLENUM_MPIEXEC_DESCRIBE_H

#include "api/mpiexec/run.h"

/* Makes run->job. Returns an enum plenum_error, of which plenum_error() tells, or DESCRIBE_SAID: it was said
 * already. */
enum { DESCRIBE_SAID = -1 };
int describe_job(struct run *run);

/* The standard streams of the job: files, and our own input. The output directory is made. Returns as above. */
int describe_streams(struct run *run);

/* Who is bound to what, a line for each: to `out`. Nothing when nobody is bound. */
void describe_bindings(const struct plenum_job *job, FILE *out);

/* What --dry-run says of the described job, on standard output. False: it could not be written. */
bool describe_dry_run(const struct run *run);

#endif
