/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy of error handlers: a JSON file (configuration variable "errhandlers") of rules, the first of which that
 * fits an error decides which handlers it goes to. It is there while the process is open; without one an error costs
 * one load more.
 *
 *     { "rules": [ { "kind": "communicator", "name": "ocean*", "handler": ["plenum://log", "own"] } ] }
 */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_POLICY_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_POLICY_H

#include <stdbool.h>

struct pl_errhandler;
struct pl_raised;

/* Reads the file that is configured, if one is. Any error leaves no policy: MPI_ERR_ARG with FILE:LINE, or what a
 * handler's plugin says. */
int pl_errhandler_policy_open(void);
void pl_errhandler_policy_close(void);

/* Invokes what the first rule that fits names; `own` stands for "own", the handler that would have been invoked. False:
 * no rule fits. */
bool pl_errhandler_policy_apply(const struct pl_raised *raised, struct pl_errhandler *own);

#endif
