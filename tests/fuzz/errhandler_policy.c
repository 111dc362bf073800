/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of rules for error handlers, and what the rules do with an error. */
#include "fuzz_json.h"

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/object/errhandler_policy.h"

FUZZ(
    NULL,
    "{ \"rules\": [ { \"kind\": \"communicator\", \"name\": \"ocean*\", \"handler\": [\"plenum://log\", \"own\"] } ] }",
    "{ \"rules\": [ { \"class\": [\"MPI_ERR_RANK\", \"MPI_ERR_TAG\"], \"handler\": \"mpi_errors_return\" } ] }")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "rules",
                                         "kind",
                                         "name",
                                         "class",
                                         "handler",
                                         "communicator",
                                         "session",
                                         "window",
                                         "file",
                                         "none",
                                         "ocean*",
                                         "*",
                                         "MPI_ERR_RANK",
                                         "MPI_ERR_TAG",
                                         "own",
                                         "plenum://log",
                                         "plenum://callback",
                                         "mpi_errors_return",
                                         "mpi_abort",
                                         "mpi_errors_are_fatal",
                                         "rules",
                                         "handler",
                                         NULL };
    struct fuzz from = fuzz_begin(data, size);
    const char *text = fuzz_json(&from, words);
    setenv("PLENUM_CONFIG", "", 1);
    setenv("PLENUM_ERRHANDLERS", fuzz_file(text, strlen(text)), 1);
    pl_error_clear();
    FUZZ_CHECK(pl_config_load() == MPI_SUCCESS);
    if (pl_errhandler_policy_open() != MPI_SUCCESS)
        FUZZ_ONE_LINE(pl_error_detail(NULL));
    pl_errhandler_policy_close();
    return 0;
}
