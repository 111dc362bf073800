/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of collectives share: the three forms of a call behind one macro, sessions in which an algorithm is
 * forced, and datatypes of two ints.
 */
#ifndef PLENUM_TESTS_COLL_H
#define PLENUM_TESTS_COLL_H

#include <ctype.h>

#include "mtest.h"
#include "pattern.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* Does `Name` on `comm` in the given form; `name` is the same in small letters. Errors are checked. */
#define COLL(form, comm, Name, name, ...)                                                                              \
    do {                                                                                                               \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                                       \
        if ((form) == BLOCKING) {                                                                                      \
            CHECK_OK(MPI_##Name(__VA_ARGS__, comm));                                                                   \
        } else if ((form) == NONBLOCKING) {                                                                            \
            CHECK_OK(MPI_I##name(__VA_ARGS__, comm, &request_));                                                       \
            CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                          \
        } else {                                                                                                       \
            CHECK_OK(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request_));                                  \
            CHECK_OK(MPI_Start(&request_));                                                                            \
            CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                          \
            CHECK_OK(MPI_Request_free(&request_));                                                                     \
        }                                                                                                              \
        CHECK(request_ == MPI_REQUEST_NULL);                                                                           \
    } while (0)

/* --- a session for each algorithm ------------------------------------------------------------------------------ */

static MPI_Comm coll_comm; /* of the session that is open */

struct world {
    MPI_Session session;
    MPI_Comm comm;
    int rank, size;
};

/* All processes of the job, with PLENUM_COLL_<collective> set; "auto": as by default. */
static inline struct world world_open(const char *collective, const char *algorithm)
{
    struct world world;
    MPI_Group group;
    char name[64];
    snprintf(name, sizeof name, "PLENUM_COLL_%s", collective);
    setenv(name, algorithm, 1);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &world.session));
    unsetenv(name);
    CHECK_OK(MPI_Group_from_session_pset(world.session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "plenum.tests.coll", MPI_INFO_NULL, MPI_ERRORS_RETURN, &world.comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_rank(world.comm, &world.rank));
    CHECK_OK(MPI_Comm_size(world.comm, &world.size));
    coll_comm = world.comm;
    mtest_rank = world.rank;
    mtest_size = world.size;
    return world;
}

/* The n-th algorithm of a collective, as its control variable lists them; the first is "auto". False: there are
 * fewer. */
static inline int algorithm_nth(const char *collective, int n, char algorithm[64])
{
    char variable[64], help[512];
    int index = -1, length = sizeof help, provided;
    snprintf(variable, sizeof variable, "coll_%s", collective);
    for (char *c = variable; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, help, &length, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    const char *at = strstr(help, "one of auto|");
    CHECK(at != NULL);
    for (at = at ? at + strlen("one of ") : NULL; at && n > 0; n--)
        at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
    if (at)
        snprintf(algorithm, 64, "%.*s", (int)strcspn(at, "|"), at);
    return at != NULL;
}

static inline void world_close(struct world *world)
{
    CHECK_OK(MPI_Comm_free(&world->comm));
    CHECK_OK(MPI_Session_finalize(&world->session));
}

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

enum { TYPES = 4, PER_TYPE = 2 /* ints in an element of each */ };

/* Dense; with a gap inside; with a gap after it; and with data before the element's address. */
static inline void types_make(MPI_Datatype types[TYPES])
{
    int lengths[2] = { 1, 1 }, places[2] = { 1, -2 };
    MPI_Datatype dense;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &types[0]));
    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &types[1]));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &dense));
    CHECK_OK(MPI_Type_create_resized(dense, 0, 20, &types[2]));
    CHECK_OK(MPI_Type_free(&dense));
    CHECK_OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &types[3]));
    for (int i = 0; i < TYPES; i++)
        CHECK_OK(MPI_Type_commit(&types[i]));
}

static inline void types_free(MPI_Datatype types[TYPES])
{
    for (int i = 0; i < TYPES; i++)
        CHECK_OK(MPI_Type_free(&types[i]));
}

/* Memory for `count` elements of a type, filled with one byte, and its expected contents in the end. */
struct memory {
    MPI_Datatype type;
    size_t bytes;
    unsigned char *start, *wanted;
    MPI_Aint zero, extent; /* from `start` to element 0 */
};

static inline struct memory memory_make(MPI_Datatype type, int count)
{
    struct memory memory = { .type = type };
    MPI_Aint lb, true_lb, true_extent;
    CHECK_OK(MPI_Type_get_extent(type, &lb, &memory.extent));
    CHECK_OK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    memory.zero = 64 - true_lb;
    memory.bytes = (size_t)(128 + count * memory.extent + true_extent);
    memory.start = malloc(memory.bytes);
    memory.wanted = malloc(memory.bytes);
    memset(memory.start, 0x5a, memory.bytes);
    memset(memory.wanted, 0x5a, memory.bytes);
    return memory;
}

static inline void *memory_at(const struct memory *memory, int element)
{
    return memory->start + memory->zero + element * memory->extent;
}

/* Writes `count` elements of ints from `values` from `element` on: into the expected contents, and into the memory. */
static inline void memory_put(struct memory *memory, int element, const int *values, int count, int there)
{
    unsigned char *sides[2] = { memory->wanted, memory->start };
    for (int i = 0; i < 1 + there; i++) {
        int position = 0, bytes = count * PER_TYPE * (int)sizeof(int);
        CHECK_OK(MPI_Unpack(values, bytes, &position, sides[i] + memory->zero + element * memory->extent, count,
                            memory->type, coll_comm));
    }
}

static inline int memory_check(struct memory *memory)
{
    int same = memcmp(memory->start, memory->wanted, memory->bytes) == 0;
    free(memory->start);
    free(memory->wanted);
    return same;
}

#endif
