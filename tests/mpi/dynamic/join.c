/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_join: two processes with a common socket become two groups of one; the socket is empty as before. */
#include "mtest.h"
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket without a file, with a name of rank 0. */
static int connected(int listens, int pid)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "plenum join test %d", pid);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), made;
    if (listens) {
        CHECK(bind(fd, (struct sockaddr *)&address, bytes) == 0 && listen(fd, 1) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        made = accept(fd, NULL, NULL);
        close(fd);
        return made;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(connect(fd, (struct sockaddr *)&address, bytes) == 0);
    return fd;
}

int main(int argc, char **argv)
{
    MPI_Comm inter = MPI_COMM_SELF, merged;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mtest_size > 1 && mtest_rank < 2) {
        int fd = connected(mtest_rank == 0, pid), word = 40 + mtest_rank, other = 0, size;
        for (int round = 0; round < 2; round++) {
            CHECK_OK(MPI_Comm_join(fd, &inter));
            CHECK_OK(MPI_Comm_remote_size(inter, &size));
            CHECK(size == 1);
            CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, 0, 2, &other, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE));
            CHECK(other == 41 - mtest_rank);
            CHECK_OK(MPI_Intercomm_merge(inter, mtest_rank, &merged));
            CHECK_OK(MPI_Allreduce(&word, &other, 1, MPI_INT, MPI_SUM, merged));
            CHECK(other == 81);
            CHECK_OK(MPI_Comm_disconnect(&merged));
            CHECK_OK(MPI_Comm_disconnect(&inter));
        }
        CHECK(write(fd, "x", 1) == 1 && read(fd, &(char){ 0 }, 1) == 1);
        close(fd);
    } else if (mtest_size > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[1]);
    CHECK_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_OTHER); /* the other end is closed */
    close(ends[0]);
    CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_join(0, NULL), MPI_ERR_ARG);
    MTEST_END;
}
