/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process without shared memory, in a job of another launcher. (Plenum's own has a flag in the job segment.) The
 * process binds a socket in the abstract name space, and the others try to connect. Nothing is ever sent. The name is
 * made of the job's, and goes with the process. Another user who guesses it makes the job open its network, no more.
 */
#ifndef PLENUM_CORE_JOB_LACKING_H
#define PLENUM_CORE_JOB_LACKING_H

#include <stdbool.h>

/* This process lacks shared memory; until pl_lacking_forget(). A failure is logged: others cannot reach it then. */
void pl_lacking_tell(const char *job);
void pl_lacking_forget(void);

/* Does a process of the job? What was found once is kept; else it looks `now`, or after a pause. Any thread. */
bool pl_lacking_ask(const char *job, bool now);

#endif
