/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/*
 * Point-to-point communication: each call with a dead peer fails with MPIX_ERR_PROC_FAILED, what was begun before the
 * death ends, and the living ranks go on in the same communicators.
 */
#include "ulfm.h"

enum { LONG = 1 << 20, PARTS = 4 };
static char out[LONG], in[LONG];
static char parts[2][PARTS * 100];
static MPI_Request request;

static void may_fail(int code)
{
    int class = class_of(code);
    EXPECT(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
}

static void sends(MPI_Comm comm, int dead)
{
    static char space[1000 + MPI_BSEND_OVERHEAD];
    char *taken;
    int bytes;
    FAILS(MPI_Send(out, 8, MPI_CHAR, dead, 1, comm));
    FAILS(MPI_Send(out, LONG, MPI_CHAR, dead, 1, comm));
    FAILS(MPI_Ssend(out, 8, MPI_CHAR, dead, 1, comm));
    FAILS(MPI_Rsend(out, 8, MPI_CHAR, dead, 1, comm));
    OK(MPI_Buffer_attach(space, sizeof space));
    may_fail(MPI_Bsend(out, 8, MPI_CHAR, dead, 1, comm)); /* it does not wait for what becomes of the message */
    may_fail(finished(MPI_Ibsend(out, 8, MPI_CHAR, dead, 1, comm, &request), &request));
    OK(MPI_Buffer_detach(&taken, &bytes));
    OK(MPI_Isend(out, 8, MPI_CHAR, dead, 1, comm, &request)); /* the outcome tells */
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ENDS(MPI_Isend(out, LONG, MPI_CHAR, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
    ENDS(MPI_Issend(out, 8, MPI_CHAR, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
    ENDS(MPI_Irsend(out, 8, MPI_CHAR, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
}

static void receives(MPI_Comm comm, int dead)
{
    MPI_Message message;
    MPI_Status status;
    int flag;
    FAILS(MPI_Recv(in, 8, MPI_CHAR, dead, 1, comm, &status));
    FAILS(MPI_Recv(in, 8, MPI_CHAR, dead, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    ENDS(MPI_Irecv(in, LONG, MPI_CHAR, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
    FAILS(MPI_Probe(dead, 1, comm, &status));
    FAILS(MPI_Iprobe(dead, 1, comm, &flag, &status));
    FAILS(MPI_Mprobe(dead, 1, comm, &message, &status));
    FAILS(MPI_Improbe(dead, MPI_ANY_TAG, comm, &flag, &message, &status));
}

static void both(MPI_Comm comm, int dead)
{
    MPI_Status status;
    FAILS(MPI_Sendrecv(out, 8, MPI_CHAR, dead, 1, in, 8, MPI_CHAR, dead, 1, comm, &status));
    FAILS(MPI_Sendrecv(out, 8, MPI_CHAR, MPI_PROC_NULL, 1, in, 8, MPI_CHAR, dead, 1, comm, &status));
    FAILS(MPI_Sendrecv(out, 8, MPI_CHAR, dead, 1, in, 8, MPI_CHAR, MPI_PROC_NULL, 1, comm, &status));
    FAILS(MPI_Sendrecv_replace(in, 8, MPI_CHAR, dead, 1, dead, 1, comm, &status));
    ENDS(MPI_Isendrecv(out, 8, MPI_CHAR, dead, 1, in, 8, MPI_CHAR, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
    ENDS(MPI_Isendrecv_replace(in, 8, MPI_CHAR, dead, 1, dead, 1, comm, &request), MPIX_ERR_PROC_FAILED);
}

/* Started twice, with an error each time, and freed. */
static void starts(MPI_Request *started, const char *what)
{
    for (int time = 0; time < 2; time++)
        is_at(__LINE__, finished(MPI_Start(started), started), MPIX_ERR_PROC_FAILED, what);
    OK(MPI_Request_free(started));
}

static void persistent(MPI_Comm comm, int dead)
{
    OK(MPI_Send_init(out, 8, MPI_CHAR, dead, 1, comm, &request));
    starts(&request, "MPI_Send_init");
    OK(MPI_Ssend_init(out, 8, MPI_CHAR, dead, 1, comm, &request));
    starts(&request, "MPI_Ssend_init");
    OK(MPI_Recv_init(in, 8, MPI_CHAR, dead, 1, comm, &request));
    starts(&request, "MPI_Recv_init");
}

/* A started partitioned send whose partitions are ready, or a receive, to or from the dead rank. */
static void partitions(MPI_Request *pair)
{
    for (int time = 0; time < 2; time++) {
        if (time == 0)
            may_fail(MPI_Wait(&pair[0], MPI_STATUS_IGNORE)); /* its data may have left before the death */
        else
            FAILS(MPI_Wait(&pair[0], MPI_STATUS_IGNORE));
        FAILS(MPI_Wait(&pair[1], MPI_STATUS_IGNORE));
        if (time == 0 && MPI_Startall(2, pair) == MPI_SUCCESS)
            MPI_Pready_range(0, PARTS - 1, pair[0]);
    }
    for (int i = 0; i < 2; i++)
        OK(MPI_Request_free(&pair[i]));
}

/* All pairs of living ranks exchange messages, short and long, every one with its own contents. */
static void living(MPI_Comm comm, int dead)
{
    for (int other = 0; other < size; other++) {
        if (other == rank || other == dead)
            continue;
        for (int bytes = 1; bytes <= LONG; bytes *= 32) {
            memset(out, rank * 16 + other, bytes);
            memset(in, 0, bytes);
            OK(MPI_Sendrecv(out, bytes, MPI_CHAR, other, 2, in, bytes, MPI_CHAR, other, 2, comm, MPI_STATUS_IGNORE));
            EXPECT(in[0] == (char)(other * 16 + rank) && memcmp(in, in + 1, bytes - 1) == 0);
        }
    }
}

/* What is under way when the rank dies: from and to it, and `PAST` it from one living rank to the next. */
enum { FROM, TO_LONG, SYNC, PAST, PENDING };
static char past[LONG];
static int teller;

static void begin_all(MPI_Request *pending, MPI_Request *pair, int dead)
{
    static char never[8];
    for (int i = 0; i < PENDING; i++)
        pending[i] = MPI_REQUEST_NULL;
    OK(MPI_Irecv(never, 8, MPI_CHAR, dead, 3, MPI_COMM_WORLD, &pending[FROM]));
    OK(MPI_Isend(out, LONG, MPI_CHAR, dead, 3, MPI_COMM_WORLD, &pending[TO_LONG]));
    OK(MPI_Issend(out, 8, MPI_CHAR, dead, 3, MPI_COMM_WORLD, &pending[SYNC]));
    memset(past, rank == teller ? 'p' : 0, LONG);
    if (rank == teller + 1)
        OK(MPI_Irecv(past, LONG, MPI_CHAR, teller, 4, MPI_COMM_WORLD, &pending[PAST]));
    OK(MPI_Psend_init(parts[0], PARTS, 100, MPI_CHAR, dead, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &pair[0]));
    OK(MPI_Precv_init(parts[1], PARTS, 100, MPI_CHAR, dead, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &pair[1]));
    OK(MPI_Startall(2, pair));
    OK(MPI_Pready_range(0, PARTS - 1, pair[0]));
}

static void end_all(MPI_Request *pending)
{
    if (rank == teller)
        OK(MPI_Isend(past, LONG, MPI_CHAR, teller + 1, 4, MPI_COMM_WORLD, &pending[PAST]));
    FAILS(MPI_Wait(&pending[FROM], MPI_STATUS_IGNORE));
    FAILS(MPI_Wait(&pending[TO_LONG], MPI_STATUS_IGNORE));
    FAILS(MPI_Wait(&pending[SYNC], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&pending[PAST], MPI_STATUS_IGNORE));
    if (rank == teller || rank == teller + 1)
        EXPECT(past[0] == 'p' && memcmp(past, past + 1, LONG - 1) == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm comm[2] = { MPI_COMM_WORLD };
    MPI_Request pending[PENDING], pair[2];
    begin(&argc, &argv);
    int dead = argc > 1 ? atoi(argv[1]) : size - 1;
    teller = dead == 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]));
    if (rank != dead)
        begin_all(pending, pair, dead);
    kill_ranks(1u << dead);
    end_all(pending);
    partitions(pair);
    for (int i = 0; i < 2; i++) {
        sends(comm[i], dead);
        receives(comm[i], dead);
        both(comm[i], dead);
        persistent(comm[i], dead);
        living(comm[i], dead);
    }
    OK(MPI_Comm_free(&comm[1]));
    return end();
}
