/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job listens at: nothing that other hosts can reach, until it opens a port of the network. */
#include "mtest.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Listening sockets of this process at addresses other than those of the loopback; or all, if `near` is set. */
static int listeners(int near)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_in at = { .sin_family = AF_UNSPEC };
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ sizeof listens }) != 0 || !listens ||
            getsockname(fd, (struct sockaddr *)&at, &(socklen_t){ sizeof at }) != 0 || at.sin_family == AF_UNIX)
            continue;
        count += near || at.sin_family != AF_INET || ntohl(at.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    }
    return count;
}

/* All ranks talk to all, so that whatever is connected late is there. */
static void exchange(void)
{
    int *out = calloc((size_t)mtest_size, sizeof *out), *in = calloc((size_t)mtest_size, sizeof *in);
    for (int i = 0; i < mtest_size; i++)
        out[i] = mtest_rank * 1000 + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < mtest_size; i++)
        CHECK(in[i] == i * 1000 + mtest_rank);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    const char *transport = getenv("PLENUM_TRANSPORT");
    MPI_Info info;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int before = listeners(0);

    exchange();
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK(listeners(0) == before);
    if (!transport || strcmp(transport, "auto") == 0)
        CHECK(listeners(1) == 0);
    CHECK_OK(MPI_Close_port(port));

    MPI_Info_create(&info);
    MPI_Info_set(info, "plenum_scope", "network");
    int rc = MPI_Open_port(info, port);
    if (rc == MPI_SUCCESS)
        CHECK(strlen(port) < MPI_MAX_PORT_NAME && MPI_Close_port(port) == MPI_SUCCESS);
    else /* no UCX here, or it is open already, for this host alone */
        CHECK(listeners(0) == before);
    exchange();
    MPI_Info_free(&info);
    MTEST_END;
}
