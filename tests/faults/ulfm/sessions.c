/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Communicators from groups of two sessions, without the World: the death concerns both; each is revoked, agreed upon
 * and shrunk. A communicator of the survivors alone is made by a third session that they open afterwards.
 */
#include "ulfm.h"

static MPI_Comm open_comm(MPI_Session *session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
    OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    return comm;
}

/* The last rank dies when the others have come. */
static void kill_last(MPI_Comm comm)
{
    int word = 0, last = size - 1;
    for (int other = 0; other < last && rank == last; other++)
        MPI_Recv(&word, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
    if (rank == last)
        die();
    OK(MPI_Send(&word, 1, MPI_INT, last, 1, comm));
    FAILS(MPI_Recv(&word, 1, MPI_INT, last, TAG_NEVER, comm, MPI_STATUS_IGNORE));
}

static void recover(MPI_Comm comm)
{
    MPI_Comm left;
    int flag = ~(1 << rank), last = size - 1;
    FAILS(MPI_Barrier(comm));
    FAILS(MPIX_Comm_agree(comm, &flag));
    for (int i = 0; i < last; i++)
        EXPECT(!is_in((unsigned)flag, i));
    if (rank == 0)
        OK(MPIX_Comm_revoke(comm));
    for (flag = 0; !flag;)
        OK(MPIX_Comm_is_revoked(comm, &flag));
    REVOKED(MPI_Barrier(comm));
    EXPECT(failures_of(comm) == 1 && acknowledge(comm) == 1);
    OK(MPIX_Comm_agree(comm, &flag));
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(comm, left, 1u << last);
    expect_works(left);
    OK(MPI_Comm_free(&left));
}

/* Those that are left open a session again. */
static void again(void)
{
    MPI_Session session;
    MPI_Group group, living;
    MPI_Comm comm;
    int last = size - 1;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_excl(group, 1, &last, &living));
    OK(MPI_Comm_create_from_group(living, "living", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    expect_works(comm);
    OK(MPI_Comm_free(&comm));
    FAILS(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&living));
    OK(MPI_Session_finalize(&session));
}

int main(void)
{
    MPI_Session sessions[2];
    MPI_Comm comms[2];
    for (int i = 0; i < 2; i++)
        comms[i] = open_comm(&sessions[i], i ? "one" : "other");
    for (int i = 0; i < 2; i++)
        expect_works(comms[i]);
    kill_last(comms[0]);
    int word;
    FAILS(MPI_Recv(&word, 1, MPI_INT, size - 1, TAG_NEVER, comms[1], MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++)
        recover(comms[i]);
    again();
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_free(&comms[i]));
        OK(MPI_Session_finalize(&sessions[i]));
    }
    if (!failed)
        puts("good");
    return failed;
}
