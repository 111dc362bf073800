/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that appear, change and disappear: the extension of the Sessions Model in mpi-ext.h. */
#include "api/call.h"
#include "api/pmpi.h"
#include "mpi-ext.h"
#include "sessions/psets/publish.h"
#include "sessions/psets/watch.h"

#define NAMES(X) X(MPIX_Session_pset_publish) X(MPIX_Session_pset_withdraw) X(MPIX_Session_pset_watch)
NAMES(PL_WEAK)

int MPIX_Session_pset_publish(MPI_Session session, const char *pset_name, MPI_Group group)
{
    struct pl_call call = PL_CALL(MPIX_Session_pset_publish);
    struct pl_instance *s = pl_arg_session(&call, session);
    pl_arg_output(&call, pset_name, "pset_name");
    struct pl_group *g = pl_arg_group(&call, group, "group");
    if (!call.err && g->size > 0 && (g->instance != s || g->instance_serial != s->serial))
        pl_call_error(&call, MPI_ERR_GROUP, "group is from another session");
    if (!call.err)
        call.err = pl_psets_publish(s, pset_name, g);
    return pl_call_leave(&call);
}

int MPIX_Session_pset_withdraw(MPI_Session session, const char *pset_name)
{
    struct pl_call call = PL_CALL(MPIX_Session_pset_withdraw);
    struct pl_instance *s = pl_arg_session(&call, session);
    pl_arg_output(&call, pset_name, "pset_name");
    if (!call.err)
        call.err = pl_psets_publish(s, pset_name, NULL);
    return pl_call_leave(&call);
}

int MPIX_Session_pset_watch(MPI_Session session, MPIX_Session_pset_function *callback, void *context)
{
    struct pl_call call = PL_CALL(MPIX_Session_pset_watch);
    struct pl_instance *s = pl_arg_session(&call, session);
    if (!call.err)
        call.err = pl_psets_watch(s, callback, context);
    return pl_call_leave(&call);
}

NAMES(PL_PMPI)
