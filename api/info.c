/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects. All of these may be called before MPI_Init and after MPI_Finalize, by any thread. */
#include <string.h>

#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/job/info_env.h"
#include "core/object/info.h"

/* An info object that the user may change: not MPI_INFO_ENV. */
static struct pl_info *arg_own_info(struct pl_call *call, MPI_Info info)
{
    struct pl_info *i = pl_arg_info(call, info);
    if (i && i->obj.predefined) {
        pl_call_error(call, MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed");
        return NULL;
    }
    return i;
}

static void arg_key(struct pl_call *call, const char *key)
{
    if (!call->err)
        call->err = pl_info_check_key(key);
}

int pl_info_leave(struct pl_call *call, struct pl_info *made, MPI_Info *info)
{
    if (!call->err && !made)
        call->err = MPI_ERR_NO_MEM;
    if (!call->err)
        *info = pl_object_handle(made);
    else if (made)
        pl_handle_drop(made);
    return pl_call_leave(call);
}

int MPI_Info_create(MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Info_create);
    pl_arg_output(&call, info, "info");
    return pl_info_leave(&call, call.err ? NULL : pl_info_create(), info);
}

int MPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Info_create_env);
    pl_arg_output(&call, info, "info");
    struct pl_info *made = NULL;
    if (!call.err)
        call.err = pl_info_create_env(argc, argv, &made);
    return pl_info_leave(&call, made, info);
}

int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    struct pl_call call = PL_CALL(MPI_Info_dup);
    struct pl_info *i = pl_arg_info(&call, info);
    pl_arg_output(&call, newinfo, "newinfo");
    return pl_info_leave(&call, call.err ? NULL : pl_info_dup(i), newinfo);
}

int MPI_Info_free(MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Info_free);
    pl_arg_output(&call, info, "info");
    struct pl_info *i = call.err ? NULL : arg_own_info(&call, *info);
    if (!call.err) {
        pl_handle_drop(i);
        *info = MPI_INFO_NULL;
    }
    return pl_call_leave(&call);
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    struct pl_call call = PL_CALL(MPI_Info_set);
    struct pl_info *i = arg_own_info(&call, info);
    if (!call.err)
        call.err = pl_info_set(i, key, value);
    return pl_call_leave(&call);
}

int MPI_Info_delete(MPI_Info info, const char *key)
{
    struct pl_call call = PL_CALL(MPI_Info_delete);
    struct pl_info *i = arg_own_info(&call, info);
    if (!call.err)
        call.err = pl_info_delete(i, key);
    return pl_call_leave(&call);
}

int MPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    struct pl_call call = PL_CALL(MPI_Info_get_nkeys);
    struct pl_info *i = pl_arg_info(&call, info);
    pl_arg_output(&call, nkeys, "nkeys");
    if (!call.err)
        *nkeys = pl_info_count(i);
    return pl_call_leave(&call);
}

int MPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    struct pl_call call = PL_CALL(MPI_Info_get_nthkey);
    struct pl_info *i = pl_arg_info(&call, info);
    pl_arg_output(&call, key, "key");
    if (!call.err && (n < 0 || !pl_info_nth(i, n, key)))
        pl_call_error(&call, MPI_ERR_ARG, "n is %d; info has %d keys, counted from 0", n, pl_info_count(i));
    return pl_call_leave(&call);
}

int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Info_get_string);
    size_t length = 0;
    struct pl_info *i = pl_arg_info(&call, info);
    arg_key(&call, key);
    pl_arg_output(&call, buflen, "buflen");
    pl_arg_output(&call, flag, "flag");
    if (!call.err && *buflen < 0)
        pl_call_error(&call, MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
    if (!call.err && *buflen > 0)
        pl_arg_output(&call, value, "value");
    if (!call.err) {
        *flag = pl_info_read(i, key, value, (size_t)*buflen, &length);
        if (*flag)
            *buflen = (int)length + 1;
    }
    return pl_call_leave(&call);
}

/* Deprecated: `value` has space for valuelen characters and a NUL. */
int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Info_get);
    size_t length = 0;
    struct pl_info *i = pl_arg_info(&call, info);
    arg_key(&call, key);
    pl_arg_output(&call, value, "value");
    pl_arg_output(&call, flag, "flag");
    if (valuelen < 0)
        pl_call_error(&call, MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
    if (!call.err)
        *flag = pl_info_read(i, key, value, (size_t)valuelen + 1, &length);
    return pl_call_leave(&call);
}

int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Info_get_valuelen);
    size_t length = 0;
    struct pl_info *i = pl_arg_info(&call, info);
    arg_key(&call, key);
    pl_arg_output(&call, valuelen, "valuelen");
    pl_arg_output(&call, flag, "flag");
    if (!call.err) {
        *flag = pl_info_read(i, key, NULL, 0, &length);
        if (*flag)
            *valuelen = (int)length;
    }
    return pl_call_leave(&call);
}

PL_NAMES_INFO(PL_PMPI)
