/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions in cycles, a random number of them in each process between two exchanges of all, some with a communicator.
 * At the end as many descriptors, mappings and threads and as much memory are in use as after the first tenth.
 * PLENUM_TEST_CYCLES is the average number of cycles, 300 by default; if it is set, rank 0 prints the figures.
 */
/* seconds: 600 */
#include "mtest.h"
#include "usage.h"

enum { CYCLES = 300, PER_EXCHANGE = 10 };

static unsigned long state;
static unsigned chance(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void cycle(const char *pset, const char *tag)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = -1;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    if (pset) {
        CHECK_OK(MPI_Group_from_session_pset(session, pset, &group));
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Comm_rank(comm, &mtest_rank));
        CHECK_OK(MPI_Comm_size(comm, &mtest_size));
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == mtest_size * (mtest_size - 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Session_finalize(&session));
}

static int run(int exchanges)
{
    int cycles = 0;
    for (int i = 0; i < exchanges; i++) {
        cycle("mpi://WORLD", "meeting");
        for (unsigned n = chance(2 * PER_EXCHANGE - 1); n > 0; n--, cycles++)
            cycle(chance(2) ? "mpi://SELF" : NULL, "alone");
        cycles++;
    }
    cycle("mpi://WORLD", "last");
    return cycles + 1;
}

int main(void)
{
    const char *wanted = getenv("PLENUM_TEST_CYCLES");
    int exchanges = (wanted ? atoi(wanted) : getenv("PLENUM_TRANSPORT") ? CYCLES / 3 : CYCLES) / PER_EXCHANGE;
    state = (unsigned long)getpid() * 2654435761u;
    run(exchanges / 10 + 3);
    struct usage before = usage_now();
    int cycles = run(exchanges);
    struct usage after = usage_now();
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads == before.threads);
    CHECK(after.mappings <= before.mappings + 2); /* the allocator may still settle */
    CHECK(after.resident_kib < before.resident_kib + usage_settles_kib());
    if (wanted)
        printf(
            "rank %d: %d cycles: descriptors %d -> %d, mappings %d -> %d, threads %d -> %d, resident %ld -> %ld KiB\n",
            mtest_rank, cycles, before.descriptors, after.descriptors, before.mappings, after.mappings, before.threads,
            after.threads, before.resident_kib, after.resident_kib);
    MTEST_END;
}
