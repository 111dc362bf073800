/* SPDX-License-Identifier: BSD-3-Clause */
/* Going on without processes that have failed: the extension of communicators in mpi-ext.h. */
#include <limits.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/comm/agreement.h"
#include "core/engine/comm_failures.h"
#include "core/engine/comm_revoke.h"
#include "core/engine/instance.h"
#include "mpi-ext.h"

#define NAMES(X)                                                                                                       \
    X(MPIX_Comm_ack_failed)                                                                                            \
    X(MPIX_Comm_agree)                                                                                                 \
    X(MPIX_Comm_failure_ack)                                                                                           \
    X(MPIX_Comm_failure_get_acked)                                                                                     \
    X(MPIX_Comm_get_failed)                                                                                            \
    X(MPIX_Comm_iagree)                                                                                                \
    X(MPIX_Comm_is_revoked) X(MPIX_Comm_ishrink) X(MPIX_Comm_revoke) X(MPIX_Comm_shrink)
NAMES(PL_WEAK)

int MPIX_Comm_revoke(MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPIX_Comm_revoke);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    if (!call.err)
        pl_comm_revoke(c);
    return pl_call_leave(&call);
}

int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
    struct pl_call call = PL_CALL(MPIX_Comm_is_revoked);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, flag, "flag");
    if (!call.err) {
        pl_engine_enter(&c->instance->engine);
        pl_engine_progress(&c->instance->engine); /* for a program that polls */
        pl_engine_leave(&c->instance->engine);
        *flag = atomic_load(&c->health.revoked) != 0;
    }
    return pl_call_leave(&call);
}

/* --- failed members ----------------------------------------------------------------------------------------------- */

/* The first `count` failed members; negative: all. */
static int mpi_failed(struct pl_call *call, struct pl_comm *comm, int count, MPI_Group *failedgrp)
{
    struct pl_group *group = NULL;
    pl_arg_output(call, failedgrp, "failedgrp");
    if (!call->err)
        call->err = pl_failures_group(comm, count, &group);
    if (!call->err)
        *failedgrp = group ? pl_object_handle(group) : MPI_GROUP_EMPTY;
    return pl_call_leave(call);
}

int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp)
{
    struct pl_call call = PL_CALL(MPIX_Comm_get_failed);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return mpi_failed(&call, c, -1, failedgrp);
}

int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    struct pl_call call = PL_CALL(MPIX_Comm_ack_failed);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, num_acked, "num_acked");
    if (num_to_ack < 0)
        pl_call_error(&call, MPI_ERR_ARG, "num_to_ack is %d; it must not be negative", num_to_ack);
    if (!call.err)
        *num_acked = pl_failures_acknowledge(c, num_to_ack);
    return pl_call_leave(&call);
}

int MPIX_Comm_failure_ack(MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPIX_Comm_failure_ack);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    if (!call.err)
        pl_failures_acknowledge(c, INT_MAX);
    return pl_call_leave(&call);
}

int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)
{
    struct pl_call call = PL_CALL(MPIX_Comm_failure_get_acked);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return mpi_failed(&call, c, c ? pl_failures_acknowledge(c, 0) : 0, failedgrp);
}

/* --- agreement ---------------------------------------------------------------------------------------------------- */

/* Starts an agreement, and waits for it unless the user gets the request. */
static int mpi_agreement(struct pl_call *call, struct pl_comm *comm, int *flag, MPI_Comm *newcomm, MPI_Request *request)
{
    struct pl_request *made;
    if (!call->err)
        call->err = pl_agreement_start(comm, flag, newcomm, call->function, &made);
    if (call->err)
        return pl_call_leave(call);
    if (request) {
        *request = pl_object_handle(made);
    } else {
        call->err = pl_request_wait(made);
        pl_handle_drop(made);
    }
    return pl_call_leave(call);
}

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    struct pl_call call = PL_CALL(MPIX_Comm_agree);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, flag, "flag");
    return mpi_agreement(&call, c, flag, NULL, NULL);
}

int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPIX_Comm_iagree);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, flag, "flag");
    pl_arg_output(&call, request, "request");
    return mpi_agreement(&call, c, flag, NULL, request);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPIX_Comm_shrink);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, newcomm, "newcomm");
    return mpi_agreement(&call, c, NULL, newcomm, NULL);
}

int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPIX_Comm_ishrink);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, newcomm, "newcomm");
    pl_arg_output(&call, request, "request");
    return mpi_agreement(&call, c, NULL, newcomm, request);
}

NAMES(PL_PMPI)
