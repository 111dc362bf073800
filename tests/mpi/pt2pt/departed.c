/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First contact with ranks that have finalized, of which one has ended and others still run. A short send succeeds, as
 * to a rank that was connected before; one that needs its receiver fails, and says why.
 */
/* ranks: 2 3 */
#include <fcntl.h>
#include <unistd.h>

#include "mtest.h"

/* Files tell how far a rank is, since messages cannot: the ranks have one parent. */
static const char *place(int rank)
{
    static char path[256];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/plenum-departed-%d-%d", directory ? directory : "/tmp", (int)getppid(), rank);
    return path;
}

static void say(int rank)
{
    close(open(place(rank), O_CREAT | O_WRONLY, 0600));
}

static void wait_for(int rank)
{
    while (access(place(rank), F_OK) != 0)
        usleep(1000);
}

static void needs_receiver(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "has finalized") != NULL);
}

static void send_to(int rank)
{
    static char longer[1 << 20], buffer[1000 + MPI_BSEND_OVERHEAD];
    char *back;
    int size, word = 7;
    MPI_Request request;
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Isend(longer, 1000, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
    CHECK_OK(MPI_Bsend(longer, 1000, MPI_CHAR, rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bsend(longer, 1000, MPI_CHAR, rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    needs_receiver(MPI_Ssend(&word, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
    needs_receiver(MPI_Send(longer, sizeof longer, MPI_CHAR, rank, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int rank = mtest_rank, size = mtest_size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int other = 1; rank == 0 && other < size; other++) {
        wait_for(other);
        send_to(other);
    }
    if (rank == 0)
        say(0);
    CHECK_OK(MPI_Finalize());
    if (rank > 0)
        say(rank);
    if (rank > 1)
        wait_for(0);
    for (int other = 0; rank == (size > 2 ? 2 : 0) && other < size; other++)
        unlink(place(other));
    return mtest_failures != 0;
}
