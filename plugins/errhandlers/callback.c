/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plenum://callback: hands the error to the callback of the program (MPIX_Errhandler_set_callback), else as an event to
 * the runtime that launched the job, else to the log.
 */
#include <stdio.h>

#include "core/job/note.h"
#include "core/job/process.h"
#include "core/object/errhandler_callback.h"
#include "plugins/errhandlers/error_log.h"

static bool callback_handler_notify_launcher(const struct plenum_error_report *error)
{
    struct pl_job_note note = { .kind = PL_NOTE_ERROR, .rank = error->rank, .code = error->code };
    if (error->rank < 0)
        return false;
    snprintf(note.object, sizeof note.object, "%s", error->name);
    snprintf(note.message, sizeof note.message, "%s", error->message);
    return pl_job_note_send(pl_process.identity.job, &note);
}

static int callback_handler_handle(void *state, const struct plenum_error_report *error)
{
    (void)state;
    if (!pl_error_callback_call(error) && !callback_handler_notify_launcher(error))
        pl_errhandler_log_error(error);
    return PLENUM_ERROR_RETURN;
}

extern const struct plenum_errhandler_ops pl_errhandler_callback;
const struct plenum_errhandler_ops pl_errhandler_callback = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "hands the error to the callback of MPIX_Errhandler_set_callback, or else to the runtime that launched the "
            "job, then the function returns the error code",
    .handle = callback_handler_handle,
};
