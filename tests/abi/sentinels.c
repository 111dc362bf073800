/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A correct program that passes each special value of the standard in the places where it may stand, and NULL for empty
 * arrays. check_sentinels compiles it, as C and as C++, and no compiler may warn. A parameter that may be a small
 * address must not be declared as an array: gcc would say that the function reads beyond its end. It is not run.
 */
#include <mpi.h>
#include <stddef.h>

static char command[] = "worker";

void topologies(MPI_Comm comm, MPI_Comm *graph, int ranks[2], int degrees[1], int count);
void processes(MPI_Comm comm, MPI_Comm *children, int sizes[2], MPI_Info infos[2]);
void requests(MPI_Request *list, int count, int *flag, int indices[4]);
void messages(MPI_Comm comm, int count, MPI_Message *message, MPI_Request *request);
void collectives(MPI_Comm comm, int *data, int counts[2], int displs[2], MPI_Datatype types[2], MPI_Request *request);
void files(MPI_File file, int *data);
void nothing(MPI_Comm comm, MPI_Group group, MPI_Group *made, MPI_Datatype *type);

void topologies(MPI_Comm comm, MPI_Comm *graph, int ranks[2], int degrees[1], int count)
{
    MPI_Dist_graph_create(comm, 1, ranks, degrees, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
    MPI_Dist_graph_create(comm, 0, ranks, degrees, ranks, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, graph);
    MPI_Dist_graph_create(comm, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
    MPI_Dist_graph_create_adjacent(comm, 2, ranks, MPI_UNWEIGHTED, 2, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
    MPI_Dist_graph_create_adjacent(comm, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                   graph);
    MPI_Dist_graph_neighbors(comm, count, ranks, MPI_UNWEIGHTED, count, ranks, MPI_UNWEIGHTED);
    MPI_Dist_graph_neighbors(comm, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY);
    PMPI_Dist_graph_create(comm, 1, ranks, degrees, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
    PMPI_Dist_graph_create_adjacent(comm, 2, ranks, MPI_UNWEIGHTED, 2, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
    PMPI_Dist_graph_neighbors(comm, count, ranks, MPI_UNWEIGHTED, count, ranks, MPI_UNWEIGHTED);
}

void processes(MPI_Comm comm, MPI_Comm *children, int sizes[2], MPI_Info infos[2])
{
    char *commands[2] = { command, command };
    MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, children, MPI_ERRCODES_IGNORE);
    MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, sizes, infos, 0, comm, children, MPI_ERRCODES_IGNORE);
    MPI_Init(NULL, NULL);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, sizes);
}

void requests(MPI_Request *list, int count, int *flag, int indices[4])
{
    MPI_Wait(list, MPI_STATUS_IGNORE);
    MPI_Test(list, flag, MPI_STATUS_IGNORE);
    MPI_Waitany(count, list, flag, MPI_STATUS_IGNORE);
    MPI_Testany(4, list, indices, flag, MPI_STATUS_IGNORE);
    MPI_Waitall(4, list, MPI_STATUSES_IGNORE);
    MPI_Waitall(count, list, MPI_STATUSES_IGNORE);
    MPI_Testall(4, list, flag, MPI_STATUSES_IGNORE);
    MPI_Waitsome(4, list, flag, indices, MPI_STATUSES_IGNORE);
    MPI_Testsome(count, list, flag, indices, MPI_STATUSES_IGNORE);
    MPI_Request_get_status(*list, flag, MPI_STATUS_IGNORE);
    MPI_Request_get_status_any(4, list, indices, flag, MPI_STATUS_IGNORE);
    MPI_Request_get_status_all(4, list, flag, MPI_STATUSES_IGNORE);
    MPI_Request_get_status_some(4, list, flag, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Startall(0, NULL);
}

void messages(MPI_Comm comm, int count, MPI_Message *message, MPI_Request *request)
{
    int there;
    MPI_Send(MPI_BOTTOM, count, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Send(NULL, 0, MPI_INT, 0, 0, comm);
    MPI_Recv(MPI_BOTTOM, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(MPI_BOTTOM, 1, MPI_INT, 0, 0, MPI_BOTTOM, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, MPI_INT, 0, 0, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, message, MPI_STATUS_IGNORE);
    MPI_Mrecv(MPI_BOTTOM, 1, MPI_INT, message, MPI_STATUS_IGNORE);
    MPI_Psend_init(MPI_BOTTOM, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, request);
    MPI_Pready_list(0, NULL, *request);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
}

void collectives(MPI_Comm comm, int *data, int counts[2], int displs[2], MPI_Datatype types[2], MPI_Request *request)
{
    MPI_Bcast(MPI_BOTTOM, 1, MPI_INT, 0, comm);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, 0, comm);
    MPI_Gather(data, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, comm);
    MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displs, MPI_INT, 0, comm);
    MPI_Gatherv(data, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, comm);
    MPI_Scatter(data, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, comm);
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, data, 1, MPI_INT, 0, comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displs, MPI_INT, comm);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, comm);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, displs, MPI_INT, comm);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, displs, types, comm);
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, displs, types, comm, request);
    MPI_Reduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Reduce(data, NULL, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, comm);
    MPI_Scan(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, comm);
    MPI_Neighbor_alltoallw(MPI_BOTTOM, NULL, NULL, NULL, MPI_BOTTOM, NULL, NULL, NULL, comm);
}

void files(MPI_File file, int *data)
{
    MPI_File_read(file, data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, 0, MPI_BOTTOM, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_ordered_end(file, data, MPI_STATUS_IGNORE);
}

void nothing(MPI_Comm comm, MPI_Group group, MPI_Group *made, MPI_Datatype *type)
{
    MPI_Group_incl(group, 0, NULL, made);
    MPI_Group_range_incl(group, 0, NULL, made);
    MPI_Group_translate_ranks(group, 0, NULL, group, NULL);
    MPI_Type_indexed(0, NULL, NULL, MPI_INT, type);
    MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, type);
    MPI_Type_create_struct(0, NULL, NULL, NULL, type);
    MPI_Cart_create(comm, 0, NULL, NULL, 0, &comm);
    MPI_Cart_coords(comm, 0, 0, NULL);
}
