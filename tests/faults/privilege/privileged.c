/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that its owner made set-user-ID. It uses the parts of MPI that would load further code, and prints who it
 * is: "effective-user real-user rank size sum".
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void use_network(void)
{
    char port[MPI_MAX_PORT_NAME];
    if (MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS)
        MPI_Close_port(port);
}

static void use_hardware(void)
{
    MPI_Info info;
    MPI_Comm part = MPI_COMM_NULL;
    if (MPI_Get_hw_resource_info(&info) == MPI_SUCCESS)
        MPI_Info_free(&info);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part) == MPI_SUCCESS &&
        part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

static int use_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int size = -1, one = 1, sum = 0;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return -1;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_size(group, &size);
    MPI_Comm_create_from_group(group, "privileged", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return sum == size ? sum : -1;
}

int main(void)
{
    int rank, size;
    int alone = use_session();
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use_network();
    use_hardware();
    MPI_Finalize();
    printf("%d %d %d %d %d\n", (int)geteuid(), (int)getuid(), rank, size, alone);
    return 0;
}
