/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of process sets. Every set of an accepted file has members that exist, each once, and a name. */
#include "fuzz_json.h"

#include "core/base/error.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "sessions/psets/psets.h"
#include "sessions/session.h"

enum { SIZE = 8, RANK = 2 };

static struct pl_instance *session;

FUZZ(NULL,
     "{ \"psets\": { \"app://a\": { \"ranks\": [0, 2, [4, 6]] }, \"app://b\": { \"union\": "
     "[\"app://a\", \"mpi://SELF\"] } } }",
     "{ \"psets\": { \"app://a\": { \"difference\": [\"mpi://WORLD\", \"app://b\"] }, \"app://b\": "
     "{ \"host\": \"h*\" } } }",
     "{ \"psets\": { \"app://a\": { \"intersection\": [\"app://c\", \"app://a\"], \"info\": { \"k\": \"v\" } } } }")

static void check_set(const char *name)
{
    struct pl_group *group;
    uint32_t seen = 0;
    if (pl_psets_group(session, name, &group) != MPI_SUCCESS)
        return;
    for (int i = 0; i < group->size; i++) {
        int rank = PL_PROC_RANK(pl_group_proc(group, i));
        FUZZ_CHECK(rank >= 0 && rank < SIZE && !(seen & 1u << rank));
        seen |= 1u << rank;
    }
    pl_handle_drop(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { "psets",       "app://a",    "app://b",      "app://c",    "app://d", "ranks",
                                         "union",       "info",       "intersection", "difference", "host",    "hosts",
                                         "mpi://WORLD", "mpi://SELF", "PLENUM://x",   "0-3,7,9-",   "0-3",     "hwloc",
                                         "NUMANode/0",  "localhost",  "psets",        "app://a",    NULL };
    struct fuzz from = fuzz_begin(data, size);
    const char *text = fuzz_json(&from, words);
    setenv("PLENUM_CONFIG", "", 1);
    setenv("PLENUM_PSETS", fuzz_file(text, strlen(text)), 1);
    if (pl_session_open(NULL, NULL, &session) != MPI_SUCCESS)
        return 0;
    pl_process.identity.size = pl_process.identity.local_size = SIZE;
    pl_process.identity.rank = RANK;
    pl_group_self = pl_process_self();
    for (char c = 'a'; c <= 'd'; c++)
        check_set((char[]){ 'a', 'p', 'p', ':', '/', '/', c, '\0' });
    pl_session_close(session);
    return 0;
}
