/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/*
 * A program that polls in one session makes progress in its others, whatever it does between two polls. Rank 0 sends a
 * long message in one session. Then it tests a request of another one, with some messages to itself in between, until
 * rank 1 says there that it has the long one. A third session is polled, too, in half of the rounds.
 */
#include "mtest.h"

enum { SESSIONS = 3, BYTES = 1 << 20, MOST = 17 };

static MPI_Comm comm[SESSIONS];

static char content(int turn, int i)
{
    return (char)(turn * 31 + i * 7 + i / 256);
}

/* Rank 0 with `between` messages to itself between two polls. */
static void send_and_poll(int turn, int between)
{
    static char data[BYTES];
    MPI_Request sent, told;
    int word = -1, done = 0, found, out = turn, in = -1;
    for (int i = 0; i < BYTES; i++)
        data[i] = content(turn, i);
    CHECK_OK(MPI_Isend(data, BYTES, MPI_CHAR, 1, 1, comm[2], &sent));
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, 1, 2, comm[0], &told));
    while (!done) {
        if (turn % 2)
            MPI_Iprobe(1, 3, comm[1], &found, MPI_STATUS_IGNORE);
        for (int i = 0; i < between; i++)
            MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, comm[0], MPI_STATUS_IGNORE);
        MPI_Test(&told, &done, MPI_STATUS_IGNORE);
    }
    CHECK(word == turn && in == (between ? turn : -1));
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

static void receive_and_tell(int turn)
{
    static char data[BYTES];
    int wrong = 0;
    CHECK_OK(MPI_Recv(data, BYTES, MPI_CHAR, 0, 1, comm[2], MPI_STATUS_IGNORE));
    for (int i = 0; i < BYTES; i++)
        wrong += data[i] != content(turn, i);
    CHECK(wrong == 0);
    CHECK_OK(MPI_Send(&turn, 1, MPI_INT, 0, 2, comm[0]));
}

int main(int argc, char **argv)
{
    MPI_Session session[SESSIONS];
    MPI_Group group;
    char tag[32];
    MTEST_INIT(argc, argv);
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(tag, sizeof tag, "polls %d", i);
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session[i]));
        CHECK_OK(MPI_Group_from_session_pset(session[i], "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm[i]));
        MPI_Group_free(&group);
    }
    for (int turn = 0; turn < 2 * MOST; turn++)
        if (mtest_rank == 0)
            send_and_poll(turn, turn / 2);
        else if (mtest_rank == 1)
            receive_and_tell(turn);
    for (int i = 0; i < SESSIONS; i++) {
        CHECK_OK(MPI_Comm_free(&comm[i]));
        CHECK_OK(MPI_Session_finalize(&session[i]));
    }
    MTEST_END;
}
