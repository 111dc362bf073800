/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators are created from a group and freed without end: ids and memory do not run out, and the same tag works
 * again immediately. PLENUM_TEST_COMMUNICATORS=1000000 creates a million.
 */
/* ranks: 1 2 4 */
#include "mtest.h"
#include "usage.h"

static MPI_Group world;

static void make(int n)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(world, n % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    if (n % 1000 == 0) {
        int sum = -1;
        CHECK_OK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == n * mtest_size);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    const char *wanted = getenv("PLENUM_TEST_COMMUNICATORS");
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    MPI_Group_rank(world, &mtest_rank);
    MPI_Group_size(world, &mtest_size);
    int warm_up = 2000, count = wanted ? atoi(wanted) : mtest_size == 1 ? 200000 : 20000;
    for (int n = 0; n < warm_up; n++)
        make(n);
    struct usage before = usage_now();
    for (int n = 0; n < count; n++)
        make(n);
    struct usage after = usage_now();
    CHECK(after.descriptors == before.descriptors);
    if (!CHECK(after.resident_kib < before.resident_kib + usage_settles_kib()))
        fprintf(stderr, "rank %d: grown from %ld to %ld KiB\n", mtest_rank, before.resident_kib, after.resident_kib);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
