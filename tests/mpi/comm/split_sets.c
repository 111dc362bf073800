/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type by process sets that the job has published (MPI-5.0 section 7.4.2, mpi_pset_name). Each process
 * names one set; sets overlap; some processes are in none. The communicator to split is a part of the World in another
 * order.
 */
/* ranks: 1 2 4 7 */
#include <mpi-ext.h>

#include "mtest.h"

static MPI_Session session;
static MPI_Group world;

static void publish(const char *name, int first, int step)
{
    int ranks[64], n = 0;
    MPI_Group group;
    for (int i = first; i < mtest_size; i += step)
        ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    CHECK_OK(MPIX_Session_pset_publish(session, name, group));
    if (group != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&group));
}

/* Splits by the name; returns the World ranks of the members as a sum of bits. */
static unsigned split(MPI_Comm from, const char *name, int key)
{
    MPI_Info info;
    MPI_Comm comm = MPI_COMM_WORLD;
    unsigned bits = 0;
    int rank;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_pset_name", name));
    CHECK_OK(MPI_Comm_split_type(from, MPI_COMM_TYPE_RESOURCE_GUIDED, key, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    if (comm == MPI_COMM_NULL)
        return 0;
    CHECK_OK(MPI_Allreduce(&(unsigned){ 1u << mtest_rank }, &bits, 1, MPI_UNSIGNED, MPI_SUM, comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    for (int i = mtest_rank + 1; i < mtest_size; i++) /* those of higher ranks come first: keys go down */
        rank -= bits >> i & 1;
    CHECK(rank == 0);
    CHECK_OK(MPI_Comm_free(&comm));
    return bits;
}

int main(int argc, char **argv)
{
    MPI_Comm reversed;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    if (mtest_rank == 0) {
        publish("app://even", 0, 2);
        publish("app://thirds", 0, 3);
        publish("app://late", 1, 1);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    unsigned even = 0, thirds = 0, all = (1u << mtest_size) - 1;
    for (int i = 0; i < mtest_size; i++) {
        even |= i % 2 == 0 ? 1u << i : 0;
        thirds |= i % 3 == 0 ? 1u << i : 0;
    }
    unsigned mine = 1u << mtest_rank;
    CHECK(split(MPI_COMM_WORLD, "app://even", -mtest_rank) == (even & mine ? even : 0));
    CHECK(split(MPI_COMM_WORLD, "app://thirds", -mtest_rank) == (thirds & mine ? thirds : 0));
    CHECK(split(MPI_COMM_WORLD, "app://late", -mtest_rank) == (mtest_rank ? all & ~1u : 0));

    /*
     * Rank 3 names the thirds, the others the even ranks, so that each communicator lacks the ranks that named the
     * other set.
     */
    unsigned others = even & ~8u, third = mtest_rank == 3 ? 8u : 0;
    CHECK(split(MPI_COMM_WORLD, mtest_rank == 3 ? "app://thirds" : "app://even", -mtest_rank) == (third ? third
                                                                                                  : others & mine
                                                                                                      ? others
                                                                                                      : 0));

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank < 4 ? 0 : MPI_UNDEFINED, -mtest_rank, &reversed));
    if (reversed != MPI_COMM_NULL) {
        CHECK(split(reversed, "app://even", -mtest_rank) == (even & mine ? even & 15u : 0));
        CHECK_OK(MPI_Comm_free(&reversed));
    }
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
