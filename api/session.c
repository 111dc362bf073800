/* SPDX-License-Identifier: BSD-3-Clause */
/* The Sessions Model (MPI-5.0 section 11.3). */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/object/clash.h"
#include "sessions/psets/psets.h"
#include "sessions/session.h"

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct pl_call call = PL_CALL(MPI_Session_init);
    struct pl_instance *made;
    /* The handler comes first: it gets the errors of the other arguments. */
    struct pl_errhandler *e =
        errhandler == MPI_ERRHANDLER_NULL ? NULL : pl_arg_errhandler(&call, errhandler, PL_SESSION);
    call.handler = e;
    call.kind = e ? PL_SESSION : 0;
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    struct pl_errhandler *chosen = pl_arg_info_errhandler(&call, i);
    pl_arg_output(&call, session, "session");
    if (!call.err)
        call.err = pl_clash_check(__builtin_return_address(0), call.function, true);
    if (!call.err)
        call.err = pl_session_open(i, chosen ? chosen : e, &made);
    pl_object_release(chosen);
    if (!call.err)
        *session = pl_object_handle(made);
    return pl_call_leave(&call);
}

/* A strict session raises the error while its handler still exists; then it is finalized all the same. */
int MPI_Session_finalize(MPI_Session *session)
{
    struct pl_call call = PL_CALL(MPI_Session_finalize);
    pl_arg_output(&call, session, "session");
    struct pl_instance *s = call.err ? NULL : pl_arg_session(&call, *session);
    bool ours = false;
    if (!call.err)
        call.err = pl_session_check(s, &ours);
    int rc = pl_call_leave(&call);
    if (ours) {
        pl_session_close(s);
        *session = MPI_SESSION_NULL;
    }
    return rc;
}

int MPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_Session_get_info);
    struct pl_instance *s = pl_arg_session(&call, session);
    pl_arg_output(&call, info_used, "info_used");
    struct pl_info *made = call.err ? NULL : pl_info_dup(s->info);
    return pl_info_leave(&call, made, info_used);
}

int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    struct pl_call call = PL_CALL(MPI_Session_get_num_psets);
    struct pl_instance *s = pl_arg_session(&call, session);
    pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, npset_names, "npset_names");
    int count = 0;
    if (!call.err)
        call.err = pl_psets_count(s, &count);
    if (!call.err)
        *npset_names = count;
    return pl_call_leave(&call);
}

/* *pset_len: in, the size of pset_name, 0 to query the length only; out, the length of the whole name with its NUL. */
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
{
    struct pl_call call = PL_CALL(MPI_Session_get_nth_pset);
    struct pl_instance *s = pl_arg_session(&call, session);
    pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, pset_len, "pset_len");
    const char *name = NULL;
    if (!call.err)
        call.err = pl_psets_name(s, n, &name);
    if (!call.err && *pset_len < 0)
        pl_call_error(&call, MPI_ERR_ARG, "pset_len is %d; it must not be negative", *pset_len);
    if (!call.err && *pset_len > 0)
        pl_arg_output(&call, pset_name, "pset_name");
    if (call.err)
        return pl_call_leave(&call);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", name);
    *pset_len = (int)strlen(name) + 1;
    return MPI_SUCCESS;
}

int MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Session_get_pset_info);
    struct pl_instance *s = pl_arg_session(&call, session);
    struct pl_info *made;
    pl_arg_output(&call, pset_name, "pset_name");
    pl_arg_output(&call, info, "info");
    if (!call.err)
        call.err = pl_psets_info(s, pset_name, &made);
    if (!call.err)
        *info = pl_object_handle(made);
    return pl_call_leave(&call);
}

int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_from_session_pset);
    struct pl_instance *s = pl_arg_session(&call, session);
    struct pl_group *made;
    pl_arg_output(&call, pset_name, "pset_name");
    pl_arg_output(&call, newgroup, "newgroup");
    if (!call.err) {
        call.err = pl_psets_group(s, pset_name, &made);
        *newgroup = call.err ? MPI_GROUP_NULL : pl_object_handle(made);
    }
    return pl_call_leave(&call);
}

PL_NAMES_SESSION(PL_PMPI)
