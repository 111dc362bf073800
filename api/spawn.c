/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic processes: ports, names, and what connects through them. Spawning is not built: it says so. */
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/services.h"
#include "core/process.h"
#include "sessions/port.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A process that has neither a World nor a session has no ports and no names. */
static void need_process(struct pl_call *call)
{
    if (!call->err)
        call->err = pl_process_check_open();
}

static void arg_text(struct pl_call *call, const char *text, int class, const char *name)
{
    if (!text)
        pl_call_error(call, class, "%s is NULL", name);
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

int MPI_Open_port(MPI_Info info, char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Open_port);
    pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, port_name, "port_name");
    need_process(&call);
    if (!call.err)
        call.err = pl_port_open(port_name);
    return pl_call_leave(&call);
}

int MPI_Close_port(const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Close_port);
    arg_text(&call, port_name, MPI_ERR_PORT, "port_name");
    need_process(&call);
    if (!call.err)
        call.err = pl_port_close(port_name);
    return pl_call_leave(&call);
}

/* Accepting and connecting. The port and the info count at the root only. */
static int meet(struct pl_call *call, const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm,
                int (*work)(const char *, struct pl_info *, int, struct pl_comm *, struct pl_comm **))
{
    struct pl_info *hints = NULL;
    struct pl_comm *c = pl_arg_intracomm(call, comm), *made = NULL;
    pl_arg_root(call, c, root);
    pl_arg_output(call, newcomm, "newcomm");
    if (c && root == c->rank) {
        hints = pl_arg_info_or_null(call, info);
        port_name = port_name ? port_name : "";
    }
    if (!call->err)
        call->err = work(port_name, hints, root, c, &made);
    if (!call->err)
        *newcomm = pl_comm_handle(made);
    return pl_call_leave(call);
}

int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_accept);
    return meet(&call, port_name, info, root, comm, newcomm, pl_port_accept);
}

int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_connect);
    return meet(&call, port_name, info, root, comm, newcomm, pl_port_connect);
}

int MPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_join);
    struct pl_comm *self = pl_arg_comm(&call, MPI_COMM_SELF), *made = NULL;
    pl_arg_output(&call, intercomm, "intercomm");
    if (fd < 0)
        pl_call_error(&call, MPI_ERR_ARG, "fd is %d: it must be a connected socket", fd);
    if (!call.err)
        call.err = pl_port_join(fd, self, &made);
    if (!call.err)
        *intercomm = made ? pl_comm_handle(made) : MPI_COMM_NULL;
    return pl_call_leave(&call);
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

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Info keys: plenum_scope, "runtime" or "user"; timeout, in seconds, for who looks. */
static void read_name_info(struct pl_call *call, MPI_Info info, bool *own_runtime_only, long *milliseconds)
{
    struct pl_info *hints = pl_arg_info_or_null(call, info);
    char *scope = hints ? pl_info_get(hints, "plenum_scope") : NULL;
    *own_runtime_only = scope && strcmp(scope, "runtime") == 0;
    if (scope && !*own_runtime_only && strcmp(scope, "user") != 0)
        pl_call_error(call, MPI_ERR_INFO_VALUE, "info key plenum_scope is \"%.60s\": it must be runtime or user", scope);
    free(scope);
    if (!call->err && milliseconds)
        call->err = pl_port_patience(hints, milliseconds);
}

int MPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Publish_name);
    bool narrow;
    arg_text(&call, service_name, MPI_ERR_SERVICE, "service_name");
    arg_text(&call, port_name, MPI_ERR_PORT, "port_name");
    read_name_info(&call, info, &narrow, NULL);
    need_process(&call);
    if (!call.err)
        call.err = pl_port_check(port_name);
    if (!call.err)
        call.err = pl_services_publish(service_name, port_name, narrow);
    return pl_call_leave(&call);
}

int MPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Unpublish_name);
    arg_text(&call, service_name, MPI_ERR_SERVICE, "service_name");
    arg_text(&call, port_name, MPI_ERR_PORT, "port_name");
    pl_arg_info_or_null(&call, info);
    need_process(&call);
    if (!call.err)
        call.err = pl_services_withdraw(service_name, port_name);
    return pl_call_leave(&call);
}

int MPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    struct pl_call call = PL_CALL(MPI_Lookup_name);
    bool narrow;
    long milliseconds = 0;
    arg_text(&call, service_name, MPI_ERR_NAME, "service_name");
    pl_arg_output(&call, port_name, "port_name");
    read_name_info(&call, info, &narrow, &milliseconds);
    need_process(&call);
    if (!call.err)
        call.err = pl_services_find(service_name, narrow, milliseconds, port_name);
    return pl_call_leave(&call);
}

PL_NAMES_SPAWN(PL_PMPI)
