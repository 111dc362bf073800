/* SPDX-License-Identifier: BSD-3-Clause */
/* A job described by JSON, as an engine or a spawning rank hands it over. An accepted description is written and read
 * again, and says the same. */
#include "fuzz_json.h"

#include "api/plenum.h"

static struct plenum_runtime *runtime;

static void start(void)
{
    FUZZ_CHECK(plenum_runtime_open(&runtime) == PLENUM_OK);
}

FUZZ(start, "{ \"programs\": [ { \"argv\": [\"true\"], \"ranks\": 3, \"env\": { \"A\": \"b\", \"C\": null } } ] }",
     "{ \"programs\": [ { \"argv\": [\"a\"], \"wdir\": \"/tmp\", \"path\": \"/bin\" } ],"
     " \"psets\": { \"app://a\": [[0, 0]] },"
     " \"time_limit\": 1.5, \"bind\": \"core\", \"keep_going\": true, \"stdout\": \"o.%r\", \"grace\": 2 }")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "programs", "argv",       "ranks",    "env",    "clear_env", "wdir",
                                         "path",     "stdin",      "stdout",   "stderr", "psets",     "time_limit",
                                         "grace",    "keep_going", "pmix",     "slots",  "bind",      "universe",
                                         "map",      "none",       "core",     "auto",   "app://a",   "mpi://WORLD",
                                         "0-3,7",    "true",       "programs", "argv",   "/tmp",      "o.%r",
                                         "A",        "PLENUM_X",   NULL };
    struct fuzz from = fuzz_begin(data, size);
    struct plenum_job *job, *again;
    if (plenum_job_create_json(runtime, fuzz_json(&from, words), &job) != PLENUM_OK) {
        FUZZ_ONE_LINE(plenum_error());
        return 0;
    }
    char *written = plenum_job_json(job);
    FUZZ_CHECK(written);
    FUZZ_CHECK(plenum_job_create_json(runtime, written, &again) == PLENUM_OK);
    char *twice = plenum_job_json(again);
    FUZZ_CHECK(twice && strcmp(written, twice) == 0);
    free(written);
    free(twice);
    plenum_job_close(again);
    plenum_job_close(job);
    return 0;
}
