/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad communicators and groups (MPI-5.0 section 9.4): null, freed, predefined where that is not allowed, processes that
 * are not members, values out of range. Each gives an error class, and no process waits for another.
 */
#include "mtest.h"

/* The message names the argument as the standard does. */
static void says(int code, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, MPI_ERR_COMM);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, words));
}

static void names_of_arguments(void)
{
    MPI_Comm made, null = MPI_COMM_NULL;
    int result, one = 1;
    says(MPI_Comm_compare(null, MPI_COMM_SELF, &result), "comm1 is MPI_COMM_NULL");
    says(MPI_Comm_compare(MPI_COMM_SELF, null, &result), "comm2 is MPI_COMM_NULL");
    says(MPI_Intercomm_create(null, 0, MPI_COMM_WORLD, 0, 0, &made), "local_comm is MPI_COMM_NULL");
    says(MPI_Intercomm_create(MPI_COMM_SELF, 0, null, 0, 0, &made), "peer_comm is MPI_COMM_NULL");
    says(MPI_Intercomm_merge(MPI_COMM_SELF, 0, &made), "intercomm is an intracommunicator");
    says(MPI_Cart_create(null, 1, &one, &one, 0, &made), "comm_old is MPI_COMM_NULL");
    says(MPI_Graph_create(null, 1, &one, NULL, 0, &made), "comm_old is MPI_COMM_NULL");
    says(MPI_Dist_graph_create(null, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), "comm_old is");
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm comm, freed, made, world = MPI_COMM_WORLD, null = MPI_COMM_NULL;
    MPI_Group group, lone;
    int value;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed = comm;
    MPI_Comm_free(&comm);

    MPI_Comm bad[] = { MPI_COMM_NULL, freed, (MPI_Comm)(void *)&value, (MPI_Comm)(void *)77,
                       (MPI_Comm)((char *)freed + 8) };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_CLASS(MPI_Comm_size(bad[i], &value), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_rank(bad[i], &value), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_test_inter(bad[i], &value), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_dup(bad[i], &made), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_split(bad[i], 0, 0, &made), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_group(bad[i], &group), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, bad[i], &value), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Barrier(bad[i]), MPI_ERR_COMM);
        comm = bad[i];
        CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
    }
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_disconnect(&world), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_set_name(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &value), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_free(&null), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, mtest_size, 0, &made), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, MPI_PROC_NULL, 0, &made), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, mtest_rank, 0, &made), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &made), MPI_ERR_ARG);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    if (mtest_size > 1) {
        MPI_Group_incl(group, 1, &(int){ (mtest_rank + 1) % mtest_size }, &lone);
        CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, lone, &made), MPI_ERR_GROUP); /* not a member of the parent */
        MPI_Group_free(&lone);
    }
    CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, group, -1, &made), MPI_ERR_TAG);
    MPI_Group_free(&group);
    names_of_arguments();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    MTEST_END;
}
