/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of rules for collectives. Accepted rules have an algorithm and bounds that are not negative. */
#include "fuzz_json.h"

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/coll/rules_file.h"
#include "core/coll/select.h"

FUZZ(NULL, "{ \"allreduce\": [ { \"ranks\": 4, \"bytes\": \"1K\", \"algorithm\": \"ring\" } ], \"bcast\": [] }",
     "{ \"bcast\": [ { \"algorithm\": \"chain\" } ] }")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "allreduce", "bcast",     "gather", "alltoall",     "ranks",
                                         "bytes",     "algorithm", "ring",   "chain",        "linear",
                                         "binomial",  "16K",       "2G",     "reduce_bcast", NULL };
    struct fuzz from = fuzz_begin(data, size);
    const char *text = fuzz_json(&from, words);
    setenv("PLENUM_CONFIG", "", 1);
    setenv("PLENUM_COLL_TABLE", fuzz_file(text, strlen(text)), 1);
    pl_error_clear();
    FUZZ_CHECK(pl_config_load() == MPI_SUCCESS);
    if (pl_coll_rules_open() == MPI_SUCCESS) {
        for (int kind = 0; kind < PL_COLL_KINDS; kind++) {
            int count;
            const struct pl_coll_rule *rule = pl_coll_rules((enum pl_coll_kind)kind, &count);
            for (int i = 0; i < count; i++)
                FUZZ_CHECK(rule[i].algorithm && rule[i].ranks >= 0);
        }
        pl_coll_settings();
    } else {
        FUZZ_ONE_LINE(pl_error_detail(NULL));
    }
    pl_coll_rules_close();
    return 0;
}
