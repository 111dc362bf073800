/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions open and close without end (MPI-5.0 section 11.3). After a thousand cycles of initialization, communication
 * with all processes, and finalization, the process has as many descriptors, mappings and threads and as much memory as
 * after the first ones.
 */
/* seconds: 600 */
#include "mtest.h"
#include "usage.h"

enum { WARM_UP = 30, CYCLES = 1000 };

static void cycle(int n)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int me, size, sum = -1;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "cycles", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Allreduce(&(int){ me + n }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * n + size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
    mtest_rank = me;
    mtest_size = size;
}

int main(void)
{
    for (int n = 0; n < WARM_UP; n++)
        cycle(n);
    int cycles = mtest_size > 4 || getenv("PLENUM_TRANSPORT") ? CYCLES / 10 : CYCLES; /* where one takes its time */
    struct usage before = usage_now();
    for (int n = 0; n < cycles; n++)
        cycle(n);
    struct usage after = usage_now();
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads == before.threads);
    CHECK(after.mappings <= before.mappings + 2); /* the allocator may still settle */
    if (!CHECK(after.resident_kib < before.resident_kib + usage_settles_kib()))
        fprintf(stderr, "rank %d: grown from %ld to %ld KiB\n", mtest_rank, before.resident_kib, after.resident_kib);
    MTEST_END;
}
