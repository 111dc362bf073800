/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishing, looking up and withdrawing the names of ports: by any process, once, with exact errors. */
#include "mtest.h"
#include <unistd.h>

/* Several tests may run at once, so the names belong to this job. */
static void service(char *name, size_t capacity, const char *what)
{
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, capacity, "plenum test %d: %s", pid, what);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME], name[128], second[128], contested[128];
    MPI_Info info;
    int won, wins = 0;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    service(name, sizeof name, "ocean");
    service(second, sizeof second, "ocean:atmosphere");
    service(contested, sizeof contested, "contested");
    MPI_Info_create(&info);

    char why[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Error_string(MPI_ERR_NAME, why, &length);
    CHECK(strstr(why, "names are not visible on other hosts") != NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    if (mtest_rank == 0) {
        CHECK_OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
        CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    }
    MPI_Info_set(info, "timeout", "30");
    CHECK_OK(MPI_Lookup_name(name, info, found)); /* waits for it */
    char first[MPI_MAX_PORT_NAME];
    memcpy(first, port, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(strcmp(found, first) == 0);
    CHECK_CLASS(MPI_Lookup_name(second, MPI_INFO_NULL, found), MPI_ERR_NAME);
    if (mtest_rank > 0) { /* another's */
        CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
        CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0) {
        CHECK_CLASS(MPI_Unpublish_name(second, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
        CHECK_OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);

    /* Of all processes that publish the same name at once one succeeds. */
    won = MPI_Publish_name(contested, MPI_INFO_NULL, port) == MPI_SUCCESS;
    MPI_Allreduce(&won, &wins, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(wins == 1);
    if (won)
        CHECK_OK(MPI_Unpublish_name(contested, MPI_INFO_NULL, port));

    /* Only for the jobs of this runtime; an invalid scope; an invalid port. */
    MPI_Info_set(info, "plenum_scope", "runtime");
    if (mtest_rank == 0)
        CHECK_OK(MPI_Publish_name(second, info, port));
    CHECK_OK(MPI_Lookup_name(second, info, found));
    CHECK(strcmp(found, first) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0)
        CHECK_OK(MPI_Unpublish_name(second, info, port));
    MPI_Info_set(info, "plenum_scope", "galaxy");
    CHECK_CLASS(MPI_Publish_name(name, info, port), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, "elsewhere"), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Publish_name(NULL, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, NULL), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Unpublish_name(NULL, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, NULL), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Lookup_name(NULL, MPI_INFO_NULL, found), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Close_port(port));
    MPI_Info_free(&info);
    MTEST_END;
}
