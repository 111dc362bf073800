/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy of error handlers: a JSON file (configuration variable "errhandlers") of rules. The first rule that fits
 * an error names its handlers. The policy exists while the process is open; without one an error costs one more load.
 *
 *     { "rules": [ { "kind": "communicator", "name": "ocean*", "handler": ["plenum://log", "own"] } ] }
 */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_POLICY_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_POLICY_H

#include <stdbool.h>

struct pl_errhandler;
struct pl_raised;

/* Reads the configured file, if there is one. An error leaves no policy: MPI_ERR_ARG with FILE:LINE, or the error of a
 * handler's plugin. */
int pl_errhandler_policy_open(void);
void pl_errhandler_policy_close(void);

/* Invokes the handlers of the first rule that fits. `own` is the handler "own", which applies without a policy. False:
 * no rule fits. */
bool pl_errhandler_policy_apply(const struct pl_raised *raised, struct pl_errhandler *own);

#endif
