/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints of communicators (MPI-5.0 section 7.4.4). Every hint has a default and is reported; a hint that is not
 * mentioned keeps its value; unknown keys and invalid values are ignored. Hints are given where a communicator is
 * created and are not inherited. In a strict session a wildcard that was promised away is an error.
 */
#include "mtest.h"

static const char *const keys[] = { "mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                    "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering" };
enum { KEYS = 5 };

static MPI_Info make(const char *key, const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    return info;
}

/* Are exactly the hints whose bits are set true? */
static void check(MPI_Comm comm, unsigned wanted)
{
    MPI_Info used;
    CHECK_OK(MPI_Comm_get_info(comm, &used));
    for (int i = 0; i < KEYS; i++) {
        char value[16] = "";
        int length = sizeof value, flag = 0;
        CHECK_OK(MPI_Info_get_string(used, keys[i], &length, value, &flag));
        CHECK(flag && strcmp(value, wanted >> i & 1 ? "true" : "false") == 0);
    }
    int length = 0, flag = 1;
    CHECK_OK(MPI_Info_get_string(used, "mpi_nonsense", &length, NULL, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Info_free(&used));
}

static void set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info = make(key, value);
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Info_free(&info));
}

static void set_and_kept(void)
{
    MPI_Comm comm, copy;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    check(comm, 0);
    for (int i = 0; i < KEYS; i++) {
        set(comm, keys[i], "true");
        check(comm, (2u << i) - 1);
    }
    set(comm, keys[2], "maybe");
    set(comm, "mpi_nonsense", "true");
    CHECK_OK(MPI_Comm_set_info(comm, MPI_INFO_NULL));
    check(comm, 31);
    set(comm, keys[1], "false");
    check(comm, 29);

    CHECK_OK(MPI_Comm_dup(comm, &copy));
    check(copy, 0);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &copy));
    check(copy, 0);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&comm));
    check(MPI_COMM_WORLD, 0);
}

static void where_made(void)
{
    MPI_Info info = make(keys[3], "true");
    MPI_Comm comm;
    MPI_Request request;
    MPI_Group group;
    int self = mtest_rank, weight = 1;
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    check(comm, 8);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(comm, 8);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm));
    check(comm, 8);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, &weight, 1, &self, &weight, info, 0, &comm));
    check(comm, 8);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_RETURN, &comm));
    check(comm, 8);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Info_free(&info));
}

static void broken_promises(void)
{
    MPI_Info strict = make("plenum_strict", "true");
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    int word = 0, flag;
    CHECK_OK(MPI_Session_init(strict, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "promise", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    set(comm, keys[0], "true");
    set(comm, keys[1], "true");
    CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&word, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &request), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE),
                MPI_ERR_RANK);
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, 0, 7, comm, &request));
    CHECK_OK(MPI_Send(&(int){ 42 }, 1, MPI_INT, 0, 7, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(word == 42);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Info_free(&strict));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    set_and_kept();
    where_made();
    broken_promises();
    MTEST_END;
}
