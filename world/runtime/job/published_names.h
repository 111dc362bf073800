/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that the jobs on a runtime's hosts publish (core/job/services_hosts.h): each once, until it is withdrawn or
 * its rank ends. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_PUBLISHED_NAMES_H
#define PLENUM_WORLD_RUNTIME_JOB_PUBLISHED_NAMES_H

#include "core/job/question.h"
#include "world/runtime/job.h"

/* A process that publishes. The next program of a rank, which has another pid, takes the names that the last one has
 * left. */
struct pl_name_owner {
    struct plenum_job *job;
    int rank;
    int pid;
};

/* False: it is not done, because of the text. */
bool pl_job_names_publish(const struct pl_name_owner *owner, const char *name, const char *value,
                          char text[PL_ANSWER_MAX]);
bool pl_job_names_withdraw(const struct pl_name_owner *owner, const char *name, const char *value,
                           char text[PL_ANSWER_MAX]);

/* The text is the value; false: the reason why there is none. */
bool pl_job_names_find(const struct plenum_runtime *rt, const char *name, char text[PL_ANSWER_MAX]);

/* A rank has ended; PLENUM_ALL: all of the job. */
void pl_job_names_forget(const struct plenum_job *job, int rank);

void pl_job_names_free(struct plenum_runtime *rt);

#endif
