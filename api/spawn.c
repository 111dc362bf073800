/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic processes: ports, names, connections through them, and spawning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/comm.h"
#include "api/pmpi.h"
#include "core/base/memory.h"
#include "core/comm/disconnect.h"
#include "core/job/process.h"
#include "core/job/services.h"
#include "sessions/port/connect.h"
#include "sessions/port/join.h"
#include "sessions/port/name.h"
#include "sessions/port/port.h"
#include "world/spawn.h"

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
    struct pl_info *hints = pl_arg_info_or_null(&call, info);
    bool far;
    pl_arg_output(&call, port_name, "port_name");
    need_process(&call);
    if (!call.err)
        call.err = pl_port_scope(hints, &far);
    if (!call.err)
        call.err = pl_port_open(far, port_name);
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

/* Accepting and connecting. The port and the info are significant only at the root. */
static int mpi_spawn_meet(struct pl_call *call, const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                          MPI_Comm *newcomm,
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
        *newcomm = pl_comm_give(call, made);
    return pl_call_leave(call);
}

int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_accept);
    return mpi_spawn_meet(&call, port_name, info, root, comm, newcomm, pl_port_accept);
}

int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_connect);
    return mpi_spawn_meet(&call, port_name, info, root, comm, newcomm, pl_port_connect);
}

int MPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_join);
    struct pl_comm *self = pl_arg_comm(&call, MPI_COMM_SELF), *made = NULL;
    pl_arg_output(&call, intercomm, "intercomm");
    if (fd < 0)
        pl_call_error(&call, MPI_ERR_ARG, "fd is %d; it must be a connected socket", fd);
    if (!call.err)
        call.err = pl_port_join(fd, self, &made);
    if (!call.err)
        *intercomm = pl_comm_give(&call, made);
    return pl_call_leave(&call);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    struct pl_call call = PL_CALL(MPI_Comm_disconnect);
    pl_arg_output(&call, comm, "comm");
    struct pl_comm *c = call.err ? NULL : pl_arg_comm(&call, *comm);
    if (c && c->obj.predefined)
        pl_call_error(&call, MPI_ERR_COMM, "%s belongs to the library and cannot be disconnected", pl_comm_label(c));
    bool parent = c && c == pl_parent_comm;
    if (c)
        pl_object_retain(c); /* as in MPI_Comm_free() */
    if (!call.err)
        call.err = pl_comm_disconnect(c);
    if (!call.err)
        *comm = MPI_COMM_NULL;
    if (!call.err && parent)
        pl_parent_comm = NULL;
    return pl_call_leave_kept(&call, c);
}

int MPI_Comm_get_parent(MPI_Comm *parent)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_parent);

    pl_arg_output(&call, parent, "parent");
    if (!call.err)
        *parent = pl_parent_comm ? pl_comm_handle(pl_parent_comm) : MPI_COMM_NULL;
    return pl_call_leave(&call);
}

/* --- spawning ----------------------------------------------------------------------------------------------------- */

static void arg_command(struct pl_call *call, int i, const char *command, int maxprocs)
{
    if (!command || !*command)
        pl_call_error(call, MPI_ERR_ARG, "command %d is %s", i, command ? "empty" : "NULL");
    if (maxprocs < 0)
        pl_call_error(call, MPI_ERR_ARG, "maxprocs of command %d is %d; it must not be negative", i, maxprocs);
    if (maxprocs == 0)
        pl_call_error(call, MPI_ERR_SPAWN, "maxprocs of command %d is 0: there is nothing to spawn", i);
}

static void arg_soft(struct pl_call *call, struct pl_spawn_command *command)
{
    char *soft = NULL;
    if (!call->err)
        call->err = pl_info_get(command->info, "soft", &soft);
    if (soft)
        call->err = pl_spawn_soft(soft, command->maxprocs, &command->number);
    free(soft);
}

/* The info of one of `count` commands. */
static void arg_command_info(struct pl_call *call, struct pl_spawn_command *command, MPI_Info info, int i, int count)
{
    if (call->err)
        return;
    command->info = pl_arg_info_or_null(call, info);
    arg_soft(call, command);
    if (call->err && count > 1)
        pl_call_element(call, "array_of_info", i);
}

/* The commands, for free(). Arguments that are significant only at the root are checked only there. */
static struct pl_spawn_command *arg_commands(struct pl_call *call, int count, char *const *commands,
                                             char **const *argvs, const int *maxprocs, const MPI_Info *infos)
{
    if (count < 1 || !commands || !maxprocs || !infos) {
        pl_call_error(call, MPI_ERR_ARG, "count is %d, or an array is NULL; there must be at least one command", count);
        return NULL;
    }
    struct pl_spawn_command *made = pl_calloc((size_t)count, sizeof *made);
    if (!made)
        pl_call_error(call, MPI_ERR_NO_MEM, "out of memory for %d commands", count);
    for (int i = 0; made && i < count; i++) {
        arg_command(call, i, commands[i], maxprocs[i]);
        made[i] = (struct pl_spawn_command){
            .command = commands[i], .argv = argvs ? argvs[i] : NULL, .maxprocs = maxprocs[i], .number = maxprocs[i]
        };
        arg_command_info(call, &made[i], infos[i], i, count);
    }
    return made;
}

/* An error in an argument at the root must not leave the others waiting: the root tells them. */
static int mpi_spawn_do(struct pl_call *call, int count, char *const *commands, char **const *argvs,
                        const int *maxprocs, const MPI_Info *infos, int root, MPI_Comm comm, MPI_Comm *intercomm,
                        int *codes)
{
    struct pl_comm *c = pl_arg_intracomm(call, comm), *made = NULL;
    pl_arg_root(call, c, root);
    pl_arg_output(call, intercomm, "intercomm");
    if (call->err)
        return pl_call_leave(call);
    bool leads = c->rank == root;
    struct pl_spawn_command *all = leads ? arg_commands(call, count, commands, argvs, maxprocs, infos) : NULL;
    bool sound = !call->err;
    char why[PL_DETAIL_MAX] = "";
    if (!sound)
        snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    int rc = pl_spawn(all, sound && leads ? count : 0, root, c, codes == MPI_ERRCODES_IGNORE ? NULL : codes, &made);
    if (sound)
        call->err = rc;
    else
        pl_fail(call->err, "%s", why); /* again: the others were told meanwhile, in other words */
    *intercomm = call->err ? MPI_COMM_NULL : pl_comm_give(call, made);
    free(all);
    return pl_call_leave(call);
}

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_spawn);
    char *commands[] = { (char *)(uintptr_t)command };
    char **argvs[] = { argv };
    return mpi_spawn_do(&call, 1, commands, argvs, &maxprocs, &info, root, comm, intercomm, array_of_errcodes);
}

int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
                            const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                            int array_of_errcodes[])
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_spawn_multiple);
    return mpi_spawn_do(&call, count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm,
                        intercomm, array_of_errcodes);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Info keys: plenum_scope, "runtime" or "user"; timeout, in seconds, for lookups. The values of plenum_scope for ports
 * mean nothing here, so that one info object serves both. */
static void read_name_info(struct pl_call *call, MPI_Info info, bool *own_runtime_only, long *milliseconds)
{
    struct pl_info *hints = pl_arg_info_or_null(call, info);
    char *scope = NULL;
    if (!call->err)
        call->err = pl_info_get(hints, "plenum_scope", &scope);
    *own_runtime_only = scope && strcmp(scope, "runtime") == 0;
    if (scope && !*own_runtime_only && strcmp(scope, "user") != 0 && strcmp(scope, "host") != 0 &&
        strcmp(scope, "network") != 0)
        pl_call_error(call, MPI_ERR_INFO_VALUE, "info key plenum_scope is \"%.60s\"; it must be runtime or user",
                      scope);
    free(scope);
    if (!call->err && milliseconds)
        call->err = pl_port_timeout(hints, milliseconds);
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
        call.err = pl_port_name_check(port_name);
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
