/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/* Every function without a failure and with one, its profiling form, the error classes, and bad arguments. */
#include "ulfm.h"

static void classes(void)
{
    const int class[] = { MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED };
    char text[3][MPI_MAX_ERROR_STRING];
    int found, length, last, *last_code, flag;
    EXPECT(MPIX_ERR_PROC_FAILED == MPI_ERR_PROC_ABORTED);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_code, &flag));
    last = flag ? *last_code : 0;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Error_class(class[i], &found));
        EXPECT(found == class[i] && found <= last);
        OK(MPI_Error_string(class[i], text[i], &length));
        EXPECT(length > 0 && (size_t)length == strlen(text[i]));
    }
    EXPECT(strcmp(text[0], text[1]) && strcmp(text[1], text[2]) && strcmp(text[0], text[2]));
    EXPECT(class[1] != class[2] && class[1] != class[0] && class[2] != class[0]);
}

static void mistakes(MPI_Comm comm)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 1, *nothing = NULL;
    IS(MPIX_Comm_revoke(MPI_COMM_NULL), MPI_ERR_COMM);
    IS(MPIX_Comm_is_revoked(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
    IS(MPIX_Comm_get_failed(MPI_COMM_NULL, &group), MPI_ERR_COMM);
    IS(MPIX_Comm_ack_failed(MPI_COMM_NULL, 1, &flag), MPI_ERR_COMM);
    IS(MPIX_Comm_failure_ack(MPI_COMM_NULL), MPI_ERR_COMM);
    IS(MPIX_Comm_failure_get_acked(MPI_COMM_NULL, &group), MPI_ERR_COMM);
    IS(MPIX_Comm_agree(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
    IS(MPIX_Comm_iagree(MPI_COMM_NULL, &flag, &request), MPI_ERR_COMM);
    IS(MPIX_Comm_shrink(MPI_COMM_NULL, &other), MPI_ERR_COMM);
    IS(MPIX_Comm_ishrink(MPI_COMM_NULL, &other, &request), MPI_ERR_COMM);
    IS(MPIX_Comm_is_revoked(comm, nothing), MPI_ERR_ARG);
    IS(MPIX_Comm_get_failed(comm, NULL), MPI_ERR_ARG);
    IS(MPIX_Comm_ack_failed(comm, 1, nothing), MPI_ERR_ARG);
    IS(MPIX_Comm_ack_failed(comm, -1, &flag), MPI_ERR_ARG);
    IS(MPIX_Comm_failure_get_acked(comm, NULL), MPI_ERR_ARG);
    IS(MPIX_Comm_agree(comm, nothing), MPI_ERR_ARG);
    IS(MPIX_Comm_iagree(comm, nothing, &request), MPI_ERR_ARG);
    EXPECT(class_of(MPIX_Comm_iagree(comm, &flag, NULL)) != MPI_SUCCESS);
    IS(MPIX_Comm_shrink(comm, NULL), MPI_ERR_ARG);
    IS(MPIX_Comm_ishrink(comm, NULL, &request), MPI_ERR_ARG);
    EXPECT(class_of(MPIX_Comm_ishrink(comm, &other, NULL)) != MPI_SUCCESS);
    EXPECT(request == MPI_REQUEST_NULL && other == MPI_COMM_NULL && group == MPI_GROUP_NULL);
}

static void freed(void)
{
    MPI_Comm comm, copy, other;
    int flag;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    copy = comm;
    OK(MPI_Comm_free(&comm));
    IS(MPIX_Comm_revoke(copy), MPI_ERR_COMM);
    IS(MPIX_Comm_agree(copy, &flag), MPI_ERR_COMM);
    IS(MPIX_Comm_shrink(copy, &other), MPI_ERR_COMM);
}

/* All of it works between two groups, too. */
static void between(void)
{
    MPI_Comm half, inter, other;
    MPI_Request request;
    MPI_Group group;
    int flag = 1, result = -1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    flag = rank % 2 ? 6 : 9;
    OK(MPIX_Comm_agree(inter, &flag));
    EXPECT(flag == (rank % 2 ? 9 : 6));
    ENDS(MPIX_Comm_iagree(inter, &flag, &request), MPI_SUCCESS);
    EXPECT(flag == (rank % 2 ? 6 : 9));
    OK(MPIX_Comm_shrink(inter, &other));
    OK(MPI_Comm_compare(inter, other, &result));
    EXPECT(result == MPI_CONGRUENT);
    OK(MPI_Barrier(other));
    OK(MPI_Comm_free(&other));
    ENDS(MPIX_Comm_ishrink(inter, &other, &request), MPI_SUCCESS);
    OK(MPI_Comm_compare(inter, other, &result));
    EXPECT(result == MPI_CONGRUENT);
    OK(MPI_Comm_free(&other));
    OK(MPIX_Comm_get_failed(inter, &group));
    EXPECT(group_size_of(&group) == 0);
    OK(MPIX_Comm_is_revoked(inter, &flag));
    EXPECT(flag == 0);
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void unharmed(MPI_Comm comm)
{
    MPI_Comm copy, started = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Group group;
    int flag = -1, count = -1;
    OK(PMPIX_Comm_is_revoked(comm, &flag));
    EXPECT(flag == 0);
    EXPECT(failures_of(comm) == 0 && acknowledge(comm) == 0);
    OK(PMPIX_Comm_ack_failed(comm, 0, &count));
    EXPECT(count == 0);
    OK(PMPIX_Comm_failure_ack(comm));
    OK(PMPIX_Comm_failure_get_acked(comm, &group));
    EXPECT(group_size_of(&group) == 0);
    flag = ~(1 << rank);
    OK(PMPIX_Comm_agree(comm, &flag));
    EXPECT(flag == (int)~((1u << size) - 1));
    flag = rank == size - 1 ? 0x5a5a5a5a : -1;
    OK(PMPIX_Comm_iagree(comm, &flag, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(flag == 0x5a5a5a5a);
    OK(PMPIX_Comm_shrink(comm, &copy));
    OK(PMPIX_Comm_ishrink(comm, &started, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_living(comm, copy, 0);
    expect_living(comm, started, 0);
    expect_works(copy);
    expect_works(started);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&started));
}

static void alone(void)
{
    MPI_Comm copy;
    int flag = 7;
    OK(MPIX_Comm_agree(MPI_COMM_SELF, &flag));
    EXPECT(flag == 7);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    OK(MPIX_Comm_revoke(copy));
    OK(MPIX_Comm_is_revoked(copy, &flag));
    EXPECT(flag == 1);
    REVOKED(MPI_Barrier(copy));
    MPI_Comm left;
    OK(MPIX_Comm_shrink(copy, &left));
    expect_works(left);
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&copy));
}

/* The last rank dies. */
static void harmed(MPI_Comm comm)
{
    MPI_Group all, dead;
    MPI_Comm left;
    int first = 0, is = -1, flag = -1;
    kill_ranks(1u << (size - 1));
    OK(MPIX_Comm_get_failed(comm, &dead));
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_translate_ranks(dead, 1, &first, all, &is));
    EXPECT(is == size - 1);
    EXPECT(group_size_of(&dead) == 1);
    OK(MPI_Group_free(&all));
    OK(MPIX_Comm_failure_get_acked(comm, &dead));
    EXPECT(group_size_of(&dead) == 0);
    FAILS(MPIX_Comm_agree(comm, &flag));
    EXPECT(flag == -1);
    OK(MPIX_Comm_ack_failed(comm, 0, &is));
    EXPECT(is == 0);
    OK(MPIX_Comm_failure_get_acked(comm, &dead));
    EXPECT(group_size_of(&dead) == 0);
    EXPECT(acknowledge(comm) == 1);
    OK(MPIX_Comm_ack_failed(comm, 0, &is)); /* never takes back */
    EXPECT(is == 1);
    OK(MPIX_Comm_failure_get_acked(comm, &dead));
    EXPECT(group_size_of(&dead) == 1);
    flag = ~(2 << rank);
    OK(MPIX_Comm_agree(comm, &flag));
    for (int i = 0; i < size - 1; i++)
        EXPECT(!(flag & 2 << i));
    EXPECT(failures_of(comm) == 1);
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(comm, left, 1u << (size - 1));
    EXPECT(failures_of(left) == 0);
    expect_works(left);
    FAILS(MPI_Barrier(comm)); /* acknowledged, not healed */
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    classes();
    mistakes(MPI_COMM_WORLD);
    freed();
    between();
    alone();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    unharmed(MPI_COMM_WORLD);
    unharmed(comm);
    harmed(comm);
    OK(MPI_Comm_free(&comm));
    return end();
}
