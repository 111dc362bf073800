/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions in cycles over several hosts, without a World. In each cycle all ranks exchange messages once. Some also
 * open and close sessions of their own in between, so that the listeners of the ranks open and close at different
 * times.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* One session with one communicator; returns this process's rank in the process set. */
static int once(const char *pset, const char *tag, int *size)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, one = 1, sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, pset, &group);
    MPI_Group_size(group, size);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != *size) {
        fprintf(stderr, "%s: the sum over %d processes is %d\n", tag, *size, sum);
        MPI_Abort(comm, 3);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return rank;
}

/* The first process of each node, and no other, create a communicator. Returns its size. */
static int one_per_node(void)
{
    enum { MOST = 64 };
    MPI_Session session;
    MPI_Group all, firsts;
    MPI_Comm comm, node, exchange;
    int rank, size, on_node, first[MOST], ranks[MOST], count = 0, one = 1, sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size > MOST)
        MPI_Abort(comm, 4);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    MPI_Allgather(&on_node, 1, MPI_INT, first, 1, MPI_INT, comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < size; i++)
        if (first[i] == 0)
            ranks[count++] = i;
    MPI_Group_incl(all, count, ranks, &firsts);
    if (on_node == 0) {
        MPI_Comm_create_from_group(firsts, "one per node", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &exchange);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, exchange);
        if (sum != count)
            MPI_Abort(exchange, 5);
        MPI_Comm_free(&exchange);
    }
    MPI_Group_free(&firsts);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    return count;
}

int main(int argc, char **argv)
{
    int cycles = argc > 1 ? atoi(argv[1]) : 20, rank = 0, size = 0, alone;
    char tag[32];
    for (int cycle = 0; cycle < cycles; cycle++) {
        snprintf(tag, sizeof tag, "cycle %d", cycle);
        rank = once("mpi://WORLD", tag, &size);
        for (int extra = 0; extra < rank % 3; extra++)
            once("mpi://SELF", "alone", &alone);
    }
    int nodes = one_per_node();
    if (rank == 0)
        printf("%d ranks met in %d cycles, %d as one per node\n", size, cycles, nodes);
    return 0;
}
