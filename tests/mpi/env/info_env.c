/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_INFO_ENV and MPI_Info_create_env under the launcher (MPI-5.0 section 11.2.1), and communicator hints by info
 * objects.
 */
#include <sys/utsname.h>
#include <unistd.h>

#include "mtest.h"

static int value_of(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL])
{
    int length = MPI_MAX_INFO_VAL, flag = 0;
    value[0] = '\0';
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag;
}

static void check_machine(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL], name[MPI_MAX_PROCESSOR_NAME];
    struct utsname host;
    int length;
    uname(&host);
    CHECK_OK(MPI_Get_processor_name(name, &length));
    CHECK(value_of(info, "host", value) && strcmp(value, name) == 0);
    CHECK(value_of(info, "arch", value) && strcmp(value, host.machine) == 0);
    CHECK(value_of(info, "wdir", value) && access(value, X_OK) == 0);
    CHECK(value_of(info, "command", value) && strstr(value, "info_env"));
}

int main(int argc, char **argv)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info early, made, hints;
    MPI_Comm comm;
    CHECK_OK(MPI_Info_create_env(argc, argv, &early));
    check_machine(early);
    int known = value_of(early, "maxprocs", value) ? atoi(value) : -1;
    CHECK_OK(MPI_Info_free(&early));

    MTEST_INIT(argc, argv);
    CHECK(known == mtest_size);
    check_machine(MPI_INFO_ENV);
    CHECK(value_of(MPI_INFO_ENV, "maxprocs", value) && atoi(value) == mtest_size);
    CHECK_OK(MPI_Info_create_env(argc, argv, &made));
    CHECK(value_of(made, "maxprocs", value) && atoi(value) == mtest_size);
    CHECK_OK(MPI_Info_set(made, "mine", "too"));
    CHECK_OK(MPI_Info_free(&made));

    CHECK_OK(MPI_Info_create(&hints));
    CHECK_OK(MPI_Info_set(hints, "an unknown hint", "is ignored"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &comm));
    CHECK_OK(MPI_Comm_set_info(comm, hints));
    CHECK_OK(MPI_Info_free(&hints));
    CHECK_OK(MPI_Comm_get_info(comm, &hints));
    CHECK(hints != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&hints));
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
