/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize gives back what is left (MPI-5.0 section 11.2.4 and good manners): communicators not freed, inactive
 * persistent requests, receives that never matched. Their handles are dead then, and using one is an error and no crash.
 * The process has the descriptors and threads it had before MPI_Init.
 */
#include <dirent.h>

#include "mtest.h"

static int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task"), value = 0, flag;
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    MPI_Request inactive, posted;
    MPI_Group group;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, 0, 1, comm, &inactive));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &posted));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Cancel(&posted));
    CHECK_OK(MPI_Finalize());

    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    CHECK(entries("/proc/self/fd") == descriptors);
    CHECK(entries("/proc/self/task") == threads);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag);
    MTEST_END;
}
