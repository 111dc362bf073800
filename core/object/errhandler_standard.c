/* SPDX-License-Identifier: BSD-3-Clause */
/* The error handlers of the MPI standard: they only decide what follows the error. */
#include "core/object/errhandler_standard.h"

static int errors_are_fatal(void *state, const struct plenum_error_report *error)
{
    (void)state, (void)error;
    return PLENUM_ERROR_FATAL;
}

static int errors_abort(void *state, const struct plenum_error_report *error)
{
    (void)state, (void)error;
    return PLENUM_ERROR_ABORT;
}

static int errors_return(void *state, const struct plenum_error_report *error)
{
    (void)state, (void)error;
    return PLENUM_ERROR_RETURN;
}

const struct plenum_errhandler_ops pl_errhandler_are_fatal = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "ends all processes that it can reach",
    .handle = errors_are_fatal,
};
const struct plenum_errhandler_ops pl_errhandler_abort = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "ends the processes of the communicator, or this one",
    .handle = errors_abort,
};
const struct plenum_errhandler_ops pl_errhandler_return = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "the function returns the error code",
    .handle = errors_return,
};
