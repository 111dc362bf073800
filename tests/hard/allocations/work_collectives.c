/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives, blocking, nonblocking and persistent, and communicators made from communicators. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 50000 };
static int in[LONG * 4], out[LONG * 4];

static void blocking(MPI_Comm comm, int count)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count * size; i++)
        in[i] = rank + i;
    TRY(MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
    work_expect(out[0] == size * (size - 1) / 2, "MPI_Allreduce");
    TRY(MPI_Bcast(out, count, MPI_INT, 0, comm));
    TRY(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0, comm));
    TRY(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
    work_expect(out[count * (size - 1)] == size - 1, "MPI_Allgather");
    TRY(MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
    work_expect(out[count * (size - 1)] == size - 1 + count * rank, "MPI_Alltoall");
    TRY(MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_MAX, comm));
    TRY(MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, size - 1, comm));
    TRY(MPI_Barrier(comm));
done:
    return;
}

static void nonblocking(MPI_Comm comm)
{
    MPI_Request requests[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    TRY(MPI_Iallreduce(in, out, 100, MPI_INT, MPI_SUM, comm, &requests[0]));
    TRY(MPI_Ibarrier(comm, &requests[1]));
    TRY(MPI_Ialltoall(in, 100, MPI_INT, out + 100, 100, MPI_INT, comm, &requests[2]));
    TRY(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    TRY(MPI_Allreduce_init(in, out, 100, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]));
    TRY(MPI_Start(&requests[0]));
    TRY(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Request_free(&requests[0]);
done:
    return; /* requests of collectives cannot be freed: finalizing has to cope */
}

static void communicators(MPI_Comm comm)
{
    int rank, size, sum = 0;
    MPI_Comm made[4] = { MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL };
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    TRY(MPI_Comm_dup(comm, &made[0]));
    TRY(MPI_Comm_split(made[0], rank % 2, rank, &made[1]));
    TRY(MPI_Comm_idup(made[0], &made[2], &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(MPI_Intercomm_create(made[1], 0, made[0], 1 - rank % 2, 9, &made[3]));
    TRY(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made[3]));
    TRY(MPI_Barrier(made[2]));
done:
    for (int i = 0; i < 4; i++)
        if (made[i] != MPI_COMM_NULL && request == MPI_REQUEST_NULL)
            work_failed(MPI_Comm_free(&made[i]));
}

void work_collectives(MPI_Comm comm)
{
    for (int i = 0; i < 3 && work_is_well(); i++)
        blocking(comm, 1);
    if (work_is_well())
        blocking(comm, LONG);
    if (work_is_well())
        nonblocking(comm);
    if (work_is_well())
        communicators(comm);
}

/* Topologies, and collectives of neighbors. */
void work_neighbors(MPI_Comm comm)
{
    int rank, size, periodic = 1, got[2] = { -1, -1 };
    int weight = 1;
    MPI_Comm circle = MPI_COMM_NULL, graph = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    TRY(MPI_Cart_create(comm, 1, &size, &periodic, 0, &circle));
    TRY(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, circle));
    work_expect(got[0] == from && got[1] == to, "MPI_Neighbor_allgather");
    TRY(MPI_Dist_graph_create_adjacent(comm, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0, &graph));
    TRY(MPI_Neighbor_alltoall(&rank, 1, MPI_INT, got, 1, MPI_INT, graph));
    work_expect(got[0] == from, "MPI_Neighbor_alltoall");
    TRY(MPI_Ineighbor_allgather(in, LONG, MPI_INT, out, LONG, MPI_INT, graph, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
done:
    if (circle != MPI_COMM_NULL)
        work_failed(MPI_Comm_free(&circle));
    if (graph != MPI_COMM_NULL)
        work_failed(MPI_Comm_free(&graph));
}
