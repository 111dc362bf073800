/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which process the rank belongs to, and which copy of the library in that process.
 *
 * A rank belongs to one process: the first one that opens it, until that process ends. Another one, such as a child
 * that inherits the environment, is refused. The copies of the library in that process are tenants
 * (core/job/tenant.h). A tenant has one owner: the copy that first takes the place of its name, as long as it is
 * loaded and has the place. When a process has ended, its rank may be claimed again (`mpiexec sh -c "./a; ./b"`).
 * Claims of a tenant are numbered (the generation), and only processes with the same number see each other's World.
 */
#ifndef PLENUM_PLUGINS_INHERITED_RANK_CLAIM_H
#define PLENUM_PLUGINS_INHERITED_RANK_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/job/segment.h"

/* A zombie has ended. */
bool pl_inherited_process_lives(pid_t pid);
/* Does the pid of this rank mean nothing here? */
bool pl_inherited_pid_is_foreign(int rank);
/* Does this pid, if it is one, belong to another process that lives? One of other namespaces counts as alive. */
bool pl_inherited_is_taken(const struct pl_job_rank *rank, int32_t pid, int32_t self);

/* Makes the rank this process's. 0, or the pid of the process that has it. */
int32_t pl_inherited_claim(int rank);
/* Takes the place of this copy's name, or if another copy of this process has it, the one with the next number. */
int pl_inherited_settle(const char *text);

#endif
