/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum://callback: to whoever embeds the program (MPIX_Errhandler_set_callback); to the log while nobody listens. */
#include "core/errhandler_callback.h"
#include "plugins/errhandlers/line.h"

static int handle(void *state, const struct plenum_error_report *error)
{
    (void)state;
    if (!pl_error_callback_call(error))
        pl_errhandler_log_error(error);
    return PLENUM_ERROR_RETURN;
}

extern const struct plenum_errhandler_ops pl_errhandler_callback;
const struct plenum_errhandler_ops pl_errhandler_callback = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "hands the error to the callback of MPIX_Errhandler_set_callback, then the function returns the error code",
    .handle = handle,
};
