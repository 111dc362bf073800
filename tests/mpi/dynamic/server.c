/* SPDX-License-Identifier: BSD-3-Clause */
/* One process serves many that connect at the same time, alone and in groups. Each has its own connection, in any
 * order. */
#include "mtest.h"

enum { ROUNDS = 5 };

static void serve(const char *port, int clients)
{
    MPI_Comm client[64];
    for (int round = 0; round < ROUNDS; round++) {
        int seen = 0, word;
        for (int c = 0; c < clients; c++)
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client[c]));
        for (int c = clients - 1; c >= 0; c--) {
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, round, client[c], MPI_STATUS_IGNORE));
            seen += word;
            word *= word;
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, round, client[c]));
        }
        CHECK(seen == clients * (clients + 1) / 2);
        for (int c = 0; c < clients; c++)
            CHECK_OK(MPI_Comm_disconnect(&client[c]));
    }
}

static void ask(const char *port)
{
    MPI_Comm server;
    for (int round = 0; round < ROUNDS; round++) {
        int word = mtest_rank;
        CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server));
        CHECK_OK(MPI_Sendrecv_replace(&word, 1, MPI_INT, 0, round, 0, round, server, MPI_STATUS_IGNORE));
        CHECK(word == mtest_rank * mtest_rank);
        CHECK_OK(MPI_Comm_disconnect(&server));
    }
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    MTEST_INIT(argc, argv);
    if (mtest_rank == 0)
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (mtest_rank > 0)
        ask(port);
    else
        serve(port, mtest_size - 1);
    if (mtest_rank == 0)
        CHECK_OK(MPI_Close_port(port));
    MTEST_END;
}
