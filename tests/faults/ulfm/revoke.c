/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * A rank revokes a communicator while the others wait in it, in every way; several revoke at once. Everything there
 * ends with MPIX_ERR_REVOKED, except what must work; other communicators, also those made from it, go on.
 */
#include "collectives.h"

enum { LONG = 1 << 20 };
static char big[LONG];
static MPI_Request request;
static int mute; /* a rank that does nothing but revoke */

static int in_recv(MPI_Comm comm)
{
    return MPI_Recv(big, 8, MPI_CHAR, mute, 1, comm, MPI_STATUS_IGNORE);
}

static int in_recv_any(MPI_Comm comm)
{
    return MPI_Recv(big, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

static int in_recv_last(MPI_Comm comm)
{
    return MPI_Recv(big, 8, MPI_CHAR, size - 1, 1, comm, MPI_STATUS_IGNORE);
}

static int in_ssend(MPI_Comm comm)
{
    return MPI_Ssend(big, 8, MPI_CHAR, mute, 2, comm);
}

static int in_send_long(MPI_Comm comm)
{
    return MPI_Send(big, LONG, MPI_CHAR, mute, 2, comm);
}

static int in_sendrecv(MPI_Comm comm)
{
    return MPI_Sendrecv(big, 8, MPI_CHAR, mute, 2, big + 8, 8, MPI_CHAR, mute, 2, comm, MPI_STATUS_IGNORE);
}

static int in_probe(MPI_Comm comm)
{
    return MPI_Probe(mute, 3, comm, MPI_STATUS_IGNORE);
}

static int in_mprobe_any(MPI_Comm comm)
{
    MPI_Message message;
    return MPI_Mprobe(MPI_ANY_SOURCE, 3, comm, &message, MPI_STATUS_IGNORE);
}

static int in_iprobe(MPI_Comm comm)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!code && !flag)
        code = MPI_Iprobe(mute, 3, comm, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int in_wait_any_source(MPI_Comm comm)
{
    return finished(MPI_Irecv(big, 8, MPI_CHAR, MPI_ANY_SOURCE, 4, comm, &request), &request);
}

static int in_test(MPI_Comm comm)
{
    int flag = 0, code = MPI_Irecv(big, 8, MPI_CHAR, mute, 4, comm, &request);
    while (!code && !flag)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return code;
}

/* A receive of the World is the second request, which stays. */
static int in_waitany(MPI_Comm comm)
{
    MPI_Request two[2];
    int index = -1, code = MPI_Issend(big, 8, MPI_CHAR, mute, 5, comm, &two[0]);
    OK(MPI_Irecv(big, 8, MPI_CHAR, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &two[1]));
    if (!code) {
        code = MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
        EXPECT(index == 0 && two[1] != MPI_REQUEST_NULL);
    }
    OK(MPI_Cancel(&two[1]));
    OK(MPI_Wait(&two[1], MPI_STATUS_IGNORE));
    return code;
}

static int in_waitall(MPI_Comm comm)
{
    MPI_Request two[2];
    MPI_Status status[2];
    int code = MPI_Irecv(big, 8, MPI_CHAR, mute, 5, comm, &two[0]);
    if (code)
        return code;
    code = MPI_Irecv(big, 8, MPI_CHAR, MPI_ANY_SOURCE, 6, comm, &two[1]);
    if (code)
        return MPI_Wait(&two[0], MPI_STATUS_IGNORE);
    while (two[0] != MPI_REQUEST_NULL || two[1] != MPI_REQUEST_NULL) {
        int left[2] = { two[0] != MPI_REQUEST_NULL, two[1] != MPI_REQUEST_NULL };
        IS(MPI_Waitall(2, two, status), MPI_ERR_IN_STATUS);
        for (int i = 0; i < 2; i++) {
            int class = class_of(status[i].MPI_ERROR);
            EXPECT(!left[i] || class == MPIX_ERR_REVOKED || class == MPI_ERR_PENDING);
        }
    }
    return MPIX_ERR_REVOKED;
}

static int in_persistent(MPI_Comm comm)
{
    int code = MPI_Recv_init(big, 8, MPI_CHAR, mute, 7, comm, &request);
    if (code)
        return code;
    code = finished(MPI_Start(&request), &request);
    OK(MPI_Request_free(&request));
    return code;
}

static int in_partitioned(MPI_Comm comm)
{
    int code = MPI_Precv_init(big, 4, 8, MPI_CHAR, mute, 8, comm, MPI_INFO_NULL, &request);
    if (code)
        return code;
    code = finished(MPI_Start(&request), &request);
    OK(MPI_Request_free(&request));
    return code;
}

static int in_barrier(MPI_Comm comm)
{
    return MPI_Barrier(comm);
}

static int in_bcast(MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    while (!code) /* the root may have done its part */
        code = MPI_Bcast(big, LONG, MPI_CHAR, 0, comm);
    return code;
}

static int in_allreduce(MPI_Comm comm)
{
    return coll_run(ALLREDUCE, BLOCKING, 5000, 0, comm);
}

static int in_iallreduce(MPI_Comm comm)
{
    return coll_run(ALLREDUCE, NONBLOCKING, 5, 0, comm);
}

static int in_ibarrier(MPI_Comm comm)
{
    return coll_run(BARRIER, NONBLOCKING, 1, 0, comm);
}

static int in_allgather_init(MPI_Comm comm)
{
    return coll_run(ALLGATHER, PERSISTENT, 7, 0, comm);
}

static int in_dup(MPI_Comm comm)
{
    MPI_Comm made;
    return MPI_Comm_dup(comm, &made);
}

static int in_idup(MPI_Comm comm)
{
    MPI_Comm made;
    return finished(MPI_Comm_idup(comm, &made, &request), &request);
}

static int in_split(MPI_Comm comm)
{
    MPI_Comm made;
    return MPI_Comm_split(comm, 0, 0, &made);
}

static int in_create_group(MPI_Comm comm)
{
    MPI_Comm made;
    MPI_Group group;
    OK(MPI_Comm_group(comm, &group));
    int code = MPI_SUCCESS;
    while (!code) { /* the first of the group may have done its part */
        code = MPI_Comm_create_group(comm, group, 3, &made);
        if (!code)
            OK(MPI_Comm_free(&made));
    }
    OK(MPI_Group_free(&group));
    return code;
}

static int in_window(MPI_Comm comm)
{
    MPI_Win win;
    return MPI_Win_create(big, 8, 1, MPI_INFO_NULL, comm, &win);
}

static int (*const waits[])(MPI_Comm) = {
    in_recv,           in_recv_any,   in_recv_last,  in_ssend,        in_send_long,
    in_sendrecv,       in_probe,      in_mprobe_any, in_iprobe,       in_test,
    in_waitany,        in_waitall,    in_barrier,    in_bcast,        in_allreduce,
    in_iallreduce,     in_persistent, in_dup,        in_partitioned,  in_split,
    in_window,         in_ibarrier,   in_idup,       in_create_group, in_wait_any_source,
    in_allgather_init,
};
enum { WAITS = sizeof waits / sizeof waits[0] };

/* Nothing works any more but what must; `left` is what remains of it. */
static void revoked(MPI_Comm comm)
{
    MPI_Comm left, started;
    int flag = -1, which;
    OK(MPIX_Comm_is_revoked(comm, &flag));
    EXPECT(flag == 1);
    REVOKED(MPI_Send(big, 8, MPI_CHAR, (rank + 1) % size, 1, comm));
    REVOKED(MPI_Recv(big, 8, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE));
    ENDS(MPI_Isend(big, 8, MPI_CHAR, (rank + 1) % size, 1, comm, &request), MPIX_ERR_REVOKED);
    ENDS(MPI_Irecv(big, 8, MPI_CHAR, rank, 1, comm, &request), MPIX_ERR_REVOKED);
    for (which = 0; which < PLAIN; which++)
        for (int form = 0; form < FORMS; form++) {
            int class = class_of(coll_run(which, form, 1, 0, comm));
            expect_at(__LINE__, class == MPIX_ERR_REVOKED, "collective %d, form %d: class %d", which, form, class);
        }
    REVOKED(in_dup(comm));
    REVOKED(in_split(comm));
    REVOKED(in_window(comm));
    OK(MPIX_Comm_revoke(comm)); /* once more does nothing */
    OK(MPI_Comm_rank(comm, &which));
    EXPECT(failures_of(comm) == 0 && acknowledge(comm) == 0);
    flag = ~(1 << rank);
    OK(MPIX_Comm_agree(comm, &flag));
    EXPECT(flag == (int)~((1u << size) - 1));
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(comm, left, 0);
    OK(MPIX_Comm_is_revoked(left, &flag));
    EXPECT(flag == 0);
    OK(MPIX_Comm_ishrink(comm, &started, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_works(left);
    expect_works(started);
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&started));
}

/* Every rank of which `revokers` has a bit revokes while the others wait. */
static void revoke_while(int which, unsigned revokers, int delay)
{
    MPI_Comm comm, other;
    int sum = -1;
    mute = is_in(revokers, 0) ? 0 : size - 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_dup(comm, &other));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have made it */
    if (is_in(revokers, rank)) {
        usleep(delay);
        OK(MPIX_Comm_revoke(comm));
    } else {
        int class = class_of(waits[which](comm));
        expect_at(__LINE__, class == MPIX_ERR_REVOKED, "wait %d, revoked by %x: class %d", which, revokers, class);
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other)); /* made of it, but its own */
    EXPECT(sum == size * (size - 1) / 2);
    revoked(comm);
    OK(MPI_Comm_free(&comm));
    expect_works(other);
    OK(MPI_Comm_free(&other));
}

/* The others wait in a collective of a copy, which the revoked communicator does not concern. */
static void beside(void)
{
    MPI_Comm comm, other;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_dup(comm, &other));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        usleep(20000);
        OK(MPIX_Comm_revoke(comm));
        usleep(20000);
    }
    OK(MPI_Barrier(other));
    expect_works(other);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_free(&comm));
}

/* Messages that have come before are not received any more; a matched one may be. */
static void unread(void)
{
    MPI_Comm comm, left;
    int last = size - 1, flag;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (rank == 0)
        OK(MPI_Send(big, 8, MPI_CHAR, last, 1, comm));
    OK(MPI_Barrier(comm));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        OK(MPIX_Comm_revoke(comm));
    for (flag = 0; !flag;)
        OK(MPIX_Comm_is_revoked(comm, &flag));
    REVOKED(MPI_Recv(big, 8, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
    OK(MPIX_Comm_shrink(comm, &left));
    if (rank == last) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, left, &flag, MPI_STATUS_IGNORE));
        EXPECT(!flag); /* the new one begins empty */
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    coll_prepare(1);
    for (int which = 0; which < WAITS; which++) {
        revoke_while(which, 1, 10000);
        revoke_while(which, 0x55, 2000 * rank);
        revoke_while(which, ~1u, 0);
    }
    revoke_while(0, ~0u, 0);
    beside();
    unread();
    expect_works(MPI_COMM_WORLD);
    return end();
}
