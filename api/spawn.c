/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic processes: not built, but for MPI_Comm_get_parent. Each function checks its object, and says so through its
 * error handler.
 */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Close_port(const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Close_port);

    return pl_call_unsupported(&call);
}

int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_accept);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_connect);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    struct pl_call call = PL_CALL(MPI_Comm_disconnect);
    pl_arg_output(&call, comm, "comm");
    struct pl_comm *c = call.err ? NULL : pl_arg_comm(&call, *comm);
    if (c && c->obj.predefined)
        pl_call_error(&call, MPI_ERR_COMM, "%s is not the user's to disconnect", pl_comm_label(c));
    if (!call.err)
        call.err = pl_comm_disconnect(c);
    if (!call.err)
        *comm = MPI_COMM_NULL;
    return pl_call_leave(&call);
}

int MPI_Comm_get_parent(MPI_Comm *parent)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_parent);

    pl_arg_output(&call, parent, "parent");
    if (!call.err)
        *parent = pl_parent_comm ? pl_comm_handle(pl_parent_comm) : MPI_COMM_NULL;
    return pl_call_leave(&call);
}

int MPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_join);

    return pl_call_unsupported(&call);
}

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct pl_call call = PL_CALL(MPI_Comm_spawn);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
                            const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                            int array_of_errcodes[])
{
    struct pl_call call = PL_CALL(MPI_Comm_spawn_multiple);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Lookup_name);

    return pl_call_unsupported(&call);
}

int MPI_Open_port(MPI_Info info, char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Open_port);

    return pl_call_unsupported(&call);
}

int MPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Publish_name);

    return pl_call_unsupported(&call);
}

int MPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Unpublish_name);

    return pl_call_unsupported(&call);
}

PL_NAMES_SPAWN(PL_PMPI)
