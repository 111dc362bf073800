/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Going on without processes that have failed: the procedures of the modules mpi_ext and mpi_f08_ext
 * (docs/fault-tolerance.md). Above a library without the C functions they fail with MPI_ERR_UNSUPPORTED_OPERATION.
 */
#include "api/fortran/extension.h"
#include "api/fortran/fortran.h"

/* Gives a body, pmpix_x_(), its other names. */
#define NAMES(name)                                                                                                    \
    PLF_WEAK(weak mpix_##name##_ = pmpix_##name##_)                                                                    \
    PLF_WEAK(weak mpix_##name##_f08_ = pmpix_##name##_)                                                                \
    PLF_WEAK(weak pmpix_##name##_f08_ = pmpix_##name##_)

/* The code of a call of a C function, which may not exist. */
#define RECOVERY_CALL(function, comm, ...)                                                                             \
    (PLF_HAS(function) ? function(plf_comm_c(comm), ##__VA_ARGS__) : recovery_lacks(comm, #function))

static int recovery_lacks(MPI_Fint comm, const char *procedure)
{
    return plf_raise_comm(plf_comm_c(comm), procedure, MPI_ERR_UNSUPPORTED_OPERATION, PLF_ALONE);
}

NAMES(comm_revoke)
void pmpix_comm_revoke_(const MPI_Fint *comm, MPI_Fint *ierror)
{
    plf_return(ierror, RECOVERY_CALL(MPIX_Comm_revoke, *comm));
}

NAMES(comm_is_revoked)
void pmpix_comm_is_revoked_(const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
    int truth = 0, code = RECOVERY_CALL(MPIX_Comm_is_revoked, *comm, &truth);
    if (code == MPI_SUCCESS)
        *flag = plf_logical(truth);
    plf_return(ierror, code);
}

/* --- failed members ----------------------------------------------------------------------------------------------- */

static void recovery_store_group(MPI_Group group, MPI_Fint *number)
{
    if (group)
        *number = plf_group_f(group);
}

NAMES(comm_get_failed)
void pmpix_comm_get_failed_(const MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
    MPI_Group group = NULL;
    int code = RECOVERY_CALL(MPIX_Comm_get_failed, *comm, &group);
    recovery_store_group(group, failedgrp);
    plf_return(ierror, code);
}

NAMES(comm_ack_failed)
void pmpix_comm_ack_failed_(const MPI_Fint *comm, const MPI_Fint *num_to_ack, MPI_Fint *num_acked, MPI_Fint *ierror)
{
    plf_return(ierror, RECOVERY_CALL(MPIX_Comm_ack_failed, *comm, *num_to_ack, num_acked));
}

NAMES(comm_failure_ack)
void pmpix_comm_failure_ack_(const MPI_Fint *comm, MPI_Fint *ierror)
{
    plf_return(ierror, RECOVERY_CALL(MPIX_Comm_failure_ack, *comm));
}

NAMES(comm_failure_get_acked)
void pmpix_comm_failure_get_acked_(const MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
    MPI_Group group = NULL;
    int code = RECOVERY_CALL(MPIX_Comm_failure_get_acked, *comm, &group);
    recovery_store_group(group, failedgrp);
    plf_return(ierror, code);
}

/* --- agreement ---------------------------------------------------------------------------------------------------- */

NAMES(comm_agree)
void pmpix_comm_agree_(const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
    plf_return(ierror, RECOVERY_CALL(MPIX_Comm_agree, *comm, flag));
}

NAMES(comm_iagree)
void pmpix_comm_iagree_(const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = NULL;
    int code = RECOVERY_CALL(MPIX_Comm_iagree, *comm, flag, &made);
    if (made)
        *request = plf_request_f(made);
    plf_return(ierror, code);
}

NAMES(comm_shrink)
void pmpix_comm_shrink_(const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
    MPI_Comm made = NULL;
    int code = RECOVERY_CALL(MPIX_Comm_shrink, *comm, &made);
    if (made)
        *newcomm = plf_comm_f(made);
    plf_return(ierror, code);
}

/* C's handle is there once the request is complete, and so is Fortran's. */
NAMES(comm_ishrink)
void pmpix_comm_ishrink_(const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = NULL;
    MPI_Comm *handle;
    struct plf_pending *pending = plf_pending_make_comm(newcomm, &handle);
    int code = pending ? RECOVERY_CALL(MPIX_Comm_ishrink, *comm, handle, &made)
                       : plf_raise_comm(plf_comm_c(*comm), "MPIX_Comm_ishrink", MPI_ERR_NO_MEM, PLF_TOGETHER);
    if (made) {
        plf_pending_add_comm(made, pending);
        *request = plf_request_f(made);
    } else {
        free(pending);
    }
    plf_return(ierror, code);
}
