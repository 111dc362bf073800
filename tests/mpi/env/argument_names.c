/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/*
 * The text of an error names the argument that is wrong, as the function's prototype does. Of functions with two sides,
 * of a send and a receive or of origin and target, it says which.
 */
#include "mtest.h"

enum { MOST = 16 };

static int in[MOST], out[MOST], counts[MOST], displs[MOST];
static MPI_Comm ring;
static MPI_Datatype fresh; /* not committed */

static void says(const char *call, int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    mtest_check(strstr(text, part) != NULL, __FILE__, __LINE__, call, text);
}
#define SAYS(call, part) says(#call, (call), (part))

static void check_collectives(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Datatype null = MPI_DATATYPE_NULL;
    const int negative[] = { 0, -8 };
    SAYS(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, world), "sendcount is -1; it must not be negative");
    SAYS(MPI_Allgather(in, 1, MPI_INT, out, -2, MPI_INT, world), "recvcount is -2; it must not be negative");
    SAYS(MPI_Allgather(in, 1, null, out, 1, MPI_INT, world), "sendtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Allgather(in, 1, MPI_INT, out, 1, null, world), "recvtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Allgather(in, 1, fresh, out, 1, MPI_INT, world), "sendtype is not committed");
    SAYS(MPI_Allgather(NULL, 1, MPI_INT, out, 1, MPI_INT, world), "sendbuf is NULL, with 1 element of");
    SAYS(MPI_Allgather(in, 1, MPI_INT, NULL, 1, MPI_INT, world), "recvbuf is NULL, with ");
    SAYS(MPI_Alltoall(in, 1, MPI_INT, out, -3, MPI_INT, world), "recvcount is -3");
    SAYS(MPI_Alltoallv(in, counts, NULL, MPI_INT, out, counts, displs, MPI_INT, world), ": sdispls is NULL");
    SAYS(MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, NULL, MPI_INT, world), ": rdispls is NULL");
    SAYS(MPI_Allgatherv(in, 1, MPI_INT, out, counts, NULL, MPI_INT, world), ": displs is NULL");
    SAYS(MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, null, world), "recvtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Gather(in, -4, MPI_INT, out, 1, MPI_INT, 0, world), "sendcount is -4");
    SAYS(MPI_Scatter(in, 1, MPI_INT, NULL, 1, MPI_INT, 0, world), "recvbuf is NULL");
    SAYS(MPI_Bcast(in, -5, MPI_INT, 0, world), ": count is -5");
    SAYS(MPI_Bcast(in, 1, null, 0, world), ": datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, world), "sendbuf is NULL");
    SAYS(MPI_Allreduce(in, NULL, 1, MPI_INT, MPI_SUM, world), "recvbuf is NULL");
    SAYS(MPI_Allreduce(in, out, -6, MPI_INT, MPI_SUM, world), ": count is -6");
    SAYS(MPI_Reduce_scatter_block(in, out, -7, MPI_INT, MPI_SUM, world), "recvcount is -7");
    SAYS(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, null, ring), "recvtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Neighbor_alltoallv(in, NULL, displs, MPI_INT, out, counts, displs, MPI_INT, ring), ": sendcounts is NULL");
    SAYS(MPI_Neighbor_alltoallv(in, counts, displs, MPI_INT, out, counts, NULL, MPI_INT, ring), ": rdispls is NULL");
    SAYS(MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, ring), ": recvcounts[1] is -8;");
    SAYS(MPI_Neighbor_allgather(NULL, 1, MPI_INT, out, 1, MPI_INT, ring), "sendbuf is NULL");
}

static void check_sendrecv(void)
{
    const MPI_Comm self = MPI_COMM_SELF;
    const MPI_Datatype null = MPI_DATATYPE_NULL;
    SAYS(MPI_Sendrecv(in, -1, MPI_INT, 0, 0, out, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), "sendcount is -1");
    SAYS(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, out, -1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), "recvcount is -1");
    SAYS(MPI_Sendrecv(in, 1, MPI_INT, 0, -9, out, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), "sendtag is -9");
    SAYS(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, out, 1, MPI_INT, 0, -9, self, MPI_STATUS_IGNORE), "recvtag is -9");
    SAYS(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, out, 1, null, 0, 0, self, MPI_STATUS_IGNORE),
         "recvtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), "recvbuf is NULL");
    SAYS(MPI_Sendrecv_replace(in, -1, MPI_INT, 0, 0, 0, 0, self, MPI_STATUS_IGNORE), ": count is -1");
    SAYS(MPI_Sendrecv_replace(in, 1, null, 0, 0, 0, 0, self, MPI_STATUS_IGNORE), ": datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Sendrecv_replace(NULL, 2, MPI_INT, 0, 0, 0, 0, self, MPI_STATUS_IGNORE), ": buf is NULL, with 2 elements");
    SAYS(MPI_Sendrecv_replace(in, 1, MPI_INT, 0, 0, 0, -9, self, MPI_STATUS_IGNORE), ": recvtag is -9");
    SAYS(MPI_Send(in, -1, MPI_INT, 0, 0, self), ": count is -1");
    SAYS(MPI_Send(in, 1, MPI_INT, 0, -9, self), ": tag is -9");
}

static void check_onesided(void)
{
    MPI_Win win;
    const MPI_Datatype null = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock_all(0, win));
    SAYS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), "origin_addr is NULL");
    SAYS(MPI_Put(out, -1, MPI_INT, 0, 0, 1, MPI_INT, win), "origin_count is -1");
    SAYS(MPI_Put(out, 1, MPI_INT, 0, 0, -1, MPI_INT, win), "target_count is -1");
    SAYS(MPI_Get(out, 1, null, 0, 0, 1, MPI_INT, win), "origin_datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Get(out, 1, MPI_INT, 0, 0, 1, null, win), "target_datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Get_accumulate(out, 1, MPI_INT, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), "result_addr is NULL");
    SAYS(MPI_Get_accumulate(out, 1, MPI_INT, out, -2, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), "result_count is -2");
    SAYS(MPI_Fetch_and_op(out, NULL, MPI_INT, 0, 0, MPI_SUM, win), "result_addr is NULL");
    SAYS(MPI_Fetch_and_op(out, out, null, 0, 0, MPI_SUM, win), ": datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Compare_and_swap(out, NULL, out, MPI_INT, 0, 0, win), "compare_addr is NULL");
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
}

static void check_local(void)
{
    int place = 0, size = sizeof out;
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Datatype pair;
    SAYS(MPI_Pack(in, -1, MPI_INT, out, size, &place, MPI_COMM_SELF), ": incount is -1");
    SAYS(MPI_Pack(NULL, 1, MPI_INT, out, size, &place, MPI_COMM_SELF), ": inbuf is NULL");
    SAYS(MPI_Unpack(in, size, &place, out, -1, MPI_INT, MPI_COMM_SELF), ": outcount is -1");
    SAYS(MPI_Unpack(in, size, &place, NULL, 1, MPI_INT, MPI_COMM_SELF), ": outbuf is NULL");
    SAYS(MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &size), ": incount is -1");
    SAYS(MPI_Reduce_local(NULL, out, 1, MPI_INT, MPI_SUM), ": inbuf is NULL");
    SAYS(MPI_Reduce_local(in, NULL, 1, MPI_INT, MPI_SUM), ": inoutbuf is NULL");
    SAYS(MPI_Waitsome(-1, &none, out, in, MPI_STATUSES_IGNORE), ": incount is -1");
    SAYS(MPI_Testsome(-1, &none, out, in, MPI_STATUSES_IGNORE), ": incount is -1");
    SAYS(MPI_Waitall(-1, &none, MPI_STATUSES_IGNORE), ": count is -1");
    SAYS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), ": value_type is MPI_DATATYPE_NULL");
    SAYS(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), ": index_type is MPI_DATATYPE_NULL");
    SAYS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &pair), "p and r are MPI_UNDEFINED");
    SAYS(MPI_Type_create_f90_real(200, MPI_UNDEFINED, &pair), "no REAL has a precision of 200 decimal digits");
    SAYS(MPI_Type_create_f90_integer(-3, &pair), ": r is -3");
    SAYS(MPI_Type_create_f90_integer(40, &pair), "no INTEGER has a range of 40 decimal digits");
}

/* Communicators that a prototype calls otherwise than `comm`. */
static void check_communicators(void)
{
    const MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Comm made;
    int one = 1;
    SAYS(MPI_Comm_compare(null, world, &one), ": comm1 is MPI_COMM_NULL");
    SAYS(MPI_Comm_compare(world, null, &one), ": comm2 is MPI_COMM_NULL");
    SAYS(MPI_Intercomm_create(null, 0, world, 0, 0, &made), ": local_comm is MPI_COMM_NULL");
    SAYS(MPI_Intercomm_create(MPI_COMM_SELF, 0, null, 0, 0, &made), ": peer_comm is MPI_COMM_NULL");
    SAYS(MPI_Intercomm_merge(null, 0, &made), ": intercomm is MPI_COMM_NULL");
    SAYS(MPI_Intercomm_merge(world, 0, &made), ": intercomm is an intracommunicator");
    SAYS(MPI_Cart_create(null, 1, &one, &one, 0, &made), ": comm_old is MPI_COMM_NULL");
    SAYS(MPI_Graph_create(null, 0, NULL, NULL, 0, &made), ": comm_old is MPI_COMM_NULL");
    SAYS(MPI_Dist_graph_create(null, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &made),
         ": comm_old is MPI_COMM_NULL");
}

/* The ranks of an intercommunicator are those of the remote group. */
static void check_remote(void)
{
    MPI_Comm half, inter;
    const int low = mtest_rank < 1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 0, &inter));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_name(inter, "pair"));
    SAYS(MPI_Send(in, 1, MPI_INT, 77, 0, inter),
         "rank 77 is not in intercommunicator \"pair\" with a remote group of ");
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

static void check_constructors(void)
{
    MPI_Datatype type;
    SAYS(MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &type), "oldtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Type_vector(2, 1, 2, MPI_DATATYPE_NULL, &type), "oldtype is MPI_DATATYPE_NULL");
    SAYS(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 8, &type), "oldtype is MPI_DATATYPE_NULL");
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &fresh));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mtest_size, (int[]){ 1 }, 0, &ring));
    CHECK_OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    if (mtest_rank == 0)
        check_collectives(); /* wrong arguments of one rank: the others need not take part */
    check_sendrecv();
    check_constructors();
    check_local();
    check_communicators();
    check_remote();
    check_onesided();
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Type_free(&fresh));
    MTEST_END;
}
