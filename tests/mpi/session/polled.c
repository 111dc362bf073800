/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that polls in one instance does not stop the messages of others (MPI-5.0 section 2.9): rank 1 sends a long
 * message in a session, and in the World only after that. Rank 0 has posted both receives, and asks for the second
 * message in all ways that do not wait.
 */
/* ranks: 2 3 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 1 << 20 };
enum way { IPROBE, IMPROBE, TEST, GET_STATUS, TESTALL, TESTANY, TESTSOME, PARRIVED, WIN_TEST, WAYS };

static unsigned char *buffer;
static MPI_Win win;
static MPI_Group other; /* rank 1 for rank 0, rank 0 for rank 1 */

static MPI_Request start_receive(enum way way, int *word)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (way == PARRIVED) {
        CHECK_OK(MPI_Precv_init(word, 1, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
    } else if (way == WIN_TEST) {
        CHECK_OK(MPI_Win_post(other, 0, win));
    } else if (way != IPROBE && way != IMPROBE) {
        CHECK_OK(MPI_Irecv(word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request));
    }
    return request;
}

/* Asks once. */
static int is_there(enum way way, MPI_Request *request, int *word)
{
    int flag = 0, at;
    MPI_Message message;
    switch (way) {
    case IPROBE:
        CHECK_OK(MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        if (flag)
            CHECK_OK(MPI_Recv(word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        break;
    case IMPROBE:
        CHECK_OK(MPI_Improbe(1, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
        if (flag)
            CHECK_OK(MPI_Mrecv(word, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        break;
    case GET_STATUS: CHECK_OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE)); break;
    case TESTALL: CHECK_OK(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE)); break;
    case TESTANY: CHECK_OK(MPI_Testany(1, request, &at, &flag, MPI_STATUS_IGNORE)); break;
    case TESTSOME: CHECK_OK(MPI_Testsome(1, request, &flag, &at, MPI_STATUSES_IGNORE)); break;
    case PARRIVED: CHECK_OK(MPI_Parrived(*request, 0, &flag)); break;
    case WIN_TEST: CHECK_OK(MPI_Win_test(win, &flag)); break;
    default: CHECK_OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE)); break;
    }
    return flag;
}

static void receiver(enum way way, MPI_Comm comm)
{
    MPI_Request big, small;
    int word = -1;
    memset(buffer, 0, BYTES);
    CHECK_OK(MPI_Irecv(buffer, BYTES, MPI_BYTE, 1, 0, comm, &big));
    small = start_receive(way, &word);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!is_there(way, &small, &word))
        continue;
    CHECK_OK(MPI_Wait(&small, MPI_STATUS_IGNORE));
    if (way == PARRIVED)
        CHECK_OK(MPI_Request_free(&small));
    CHECK(way == WIN_TEST || word == (int)way);
    CHECK_OK(MPI_Wait(&big, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(buffer, BYTES, way));
}

static void sender(enum way way, MPI_Comm comm)
{
    MPI_Request request;
    int word = way;
    pattern_fill(buffer, BYTES, way);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Send(buffer, BYTES, MPI_BYTE, 0, 0, comm));
    if (way == PARRIVED) {
        CHECK_OK(MPI_Psend_init(&word, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Pready(0, request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&request));
    } else if (way == WIN_TEST) {
        CHECK_OK(MPI_Win_start(other, 0, win));
        CHECK_OK(MPI_Win_complete(win));
    } else {
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MTEST_INIT(argc, argv);
    buffer = malloc(BYTES);
    CHECK(buffer != NULL);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Comm_create_from_group(all, "polled", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, (int[]){ mtest_rank == 0 }, &other));
    CHECK_OK(MPI_Group_free(&all));
    for (int round = 0; round < 3 * WAYS; round++)
        if (mtest_rank == 0)
            receiver(round % WAYS, comm);
        else if (mtest_rank == 1)
            sender(round % WAYS, comm);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Group_free(&other));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    free(buffer);
    MTEST_END;
}
