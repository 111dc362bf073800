/* SPDX-License-Identifier: BSD-3-Clause */
/* The World Model (MPI-5.0 section 11.2): initialization, finalization, abort. */
#include <stdio.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/job/process.h"
#include "core/object/clash.h"
#include "world/world.h"

static int mpi_world_init(struct pl_call *call, const void *caller, int required, int *provided)
{
    if (!call->err)
        call->err = pl_clash_check(caller, call->function, false);
    if (!call->err)
        call->err = pl_world_init(required, provided);
    call->err = pl_world_fail(call->err);
    return pl_call_leave(call);
}

int MPI_Init(int *argc, char ***argv)
{
    int provided;
    (void)argc, (void)argv; /* the launcher does not use the arguments */
    return mpi_world_init(&(struct pl_call)PL_CALL(MPI_Init), __builtin_return_address(0), MPI_THREAD_SINGLE,
                          &provided);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct pl_call call = PL_CALL(MPI_Init_thread);
    (void)argc, (void)argv;
    pl_arg_output(&call, provided, "provided");
    return mpi_world_init(&call, __builtin_return_address(0), required, provided);
}

int MPI_Initialized(int *flag)
{
    struct pl_call call = PL_CALL(MPI_Initialized);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = atomic_load(&pl_world_state) != PL_WORLD_BEFORE;
    return pl_call_leave(&call);
}

int MPI_Finalized(int *flag)
{
    struct pl_call call = PL_CALL(MPI_Finalized);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = atomic_load(&pl_world_state) == PL_WORLD_FINALIZED;
    return pl_call_leave(&call);
}

int MPI_Finalize(void)
{
    struct pl_call call = PL_CALL(MPI_Finalize);
    call.err = pl_world_finalize();
    return pl_call_leave(&call);
}

int MPI_Query_thread(int *provided)
{
    struct pl_call call = PL_CALL(MPI_Query_thread);
    pl_arg_output(&call, provided, "provided");
    if (!call.err)
        call.err = pl_world_thread_level(provided);
    return pl_call_leave(&call);
}

int MPI_Is_thread_main(int *flag)
{
    struct pl_call call = PL_CALL(MPI_Is_thread_main);
    if (!pl_world)
        pl_call_error(&call, MPI_ERR_OTHER, "MPI is not initialized, or finalized");
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = pl_world_main_thread();
    return pl_call_leave(&call);
}

/* Ends the processes of the communicator; the launcher decides whether the others continue. */
int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Abort);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    const char *label = c ? pl_comm_label(c) : "an invalid communicator";
    char line[PL_DETAIL_MAX];
    snprintf(line, sizeof line, "rank %d called MPI_Abort on %s with error code %d",
             pl_process.bootstrap ? pl_process.identity.rank : 0, label, errorcode);
    if (c)
        pl_comm_abort(c, errorcode, line);
    pl_process_abort(errorcode, label, line);
}

PL_NAMES_WORLD(PL_PMPI)
