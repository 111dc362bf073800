/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: the amount received, in datatypes, and the fields that users read and set. */
#include "core/engine/status.h"

#include <limits.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/datatype/signature.h"

/* The int forms return MPI_UNDEFINED for a number that does not fit an int. */
static int mpi_status_narrow(MPI_Count count)
{
    return count <= INT_MAX ? (int)count : MPI_UNDEFINED;
}

static void arg_status(struct pl_call *call, const MPI_Status *status)
{
    if (!status)
        pl_call_error(call, MPI_ERR_ARG, "status is MPI_STATUS_IGNORE");
}

/* --- counts --- */

/* Whole datatypes in the message, MPI_UNDEFINED if the last one is incomplete. */
static MPI_Count mpi_status_whole(const MPI_Status *status, const struct pl_type *type)
{
    MPI_Count bytes = pl_status_bytes(status);
    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % type->size == 0 ? bytes / type->size : MPI_UNDEFINED;
}

static MPI_Count mpi_status_elements(const MPI_Status *status, const struct pl_type *type)
{
    return pl_type_elements(type, pl_status_bytes(status));
}

/* One of the two functions above, or an error in the call. */
static MPI_Count mpi_status_get(struct pl_call *call, MPI_Count (*measure)(const MPI_Status *, const struct pl_type *),
                                const MPI_Status *status, MPI_Datatype datatype, const void *count)
{
    arg_status(call, status);
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    pl_arg_output(call, count, "count");
    return call->err ? 0 : measure(status, t);
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct pl_call call = PL_CALL(MPI_Get_count);
    MPI_Count n = mpi_status_get(&call, mpi_status_whole, status, datatype, count);
    if (!call.err)
        *count = mpi_status_narrow(n);
    return pl_call_leave(&call);
}

int MPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct pl_call call = PL_CALL(MPI_Get_count_c);
    MPI_Count n = mpi_status_get(&call, mpi_status_whole, status, datatype, count);
    if (!call.err)
        *count = n;
    return pl_call_leave(&call);
}

int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct pl_call call = PL_CALL(MPI_Get_elements);
    MPI_Count n = mpi_status_get(&call, mpi_status_elements, status, datatype, count);
    if (!call.err)
        *count = mpi_status_narrow(n);
    return pl_call_leave(&call);
}

int MPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct pl_call call = PL_CALL(MPI_Get_elements_c);
    MPI_Count n = mpi_status_get(&call, mpi_status_elements, status, datatype, count);
    if (!call.err)
        *count = n;
    return pl_call_leave(&call);
}

int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct pl_call call = PL_CALL(MPI_Get_elements_x);
    MPI_Count n = mpi_status_get(&call, mpi_status_elements, status, datatype, count);
    if (!call.err)
        *count = n;
    return pl_call_leave(&call);
}

static int set_elements(struct pl_call *call, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    char label[MPI_MAX_OBJECT_NAME];
    arg_status(call, status);
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    pl_arg_count(call, count);
    MPI_Count bytes = call->err ? 0 : pl_type_element_bytes(t, count);
    if (bytes < 0)
        pl_call_error(call, MPI_ERR_ARG, "%lld elements of %s are more bytes than MPI_Count can hold", (long long)count,
                      pl_type_label(t, label));
    if (!call->err)
        pl_status_set_bytes(status, bytes);
    return pl_call_leave(call);
}

int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    struct pl_call call = PL_CALL(MPI_Status_set_elements);
    return set_elements(&call, status, datatype, count);
}

int MPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    struct pl_call call = PL_CALL(MPI_Status_set_elements_c);
    return set_elements(&call, status, datatype, count);
}

int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    struct pl_call call = PL_CALL(MPI_Status_set_elements_x);
    return set_elements(&call, status, datatype, count);
}

/* --- fields --- */

int MPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    struct pl_call call = PL_CALL(MPI_Status_set_cancelled);
    arg_status(&call, status);
    if (!call.err)
        pl_status_set_cancelled(status, flag != 0);
    return pl_call_leave(&call);
}

static int get_field(struct pl_call *call, const MPI_Status *status, const int *field, int *value, const char *name)
{
    arg_status(call, status);
    pl_arg_output(call, value, name);
    if (!call->err)
        *value = *field;
    return pl_call_leave(call);
}

int MPI_Status_get_source(const MPI_Status *status, int *source)
{
    struct pl_call call = PL_CALL(MPI_Status_get_source);
    return get_field(&call, status, status ? &status->MPI_SOURCE : NULL, source, "source");
}

int MPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    struct pl_call call = PL_CALL(MPI_Status_get_tag);
    return get_field(&call, status, status ? &status->MPI_TAG : NULL, tag, "tag");
}

int MPI_Status_get_error(const MPI_Status *status, int *error)
{
    struct pl_call call = PL_CALL(MPI_Status_get_error);
    return get_field(&call, status, status ? &status->MPI_ERROR : NULL, error, "error");
}

static int set_field(struct pl_call *call, MPI_Status *status, int *field, int value)
{
    arg_status(call, status);
    if (!call->err)
        *field = value;
    return pl_call_leave(call);
}

int MPI_Status_set_source(MPI_Status *status, int source)
{
    struct pl_call call = PL_CALL(MPI_Status_set_source);
    return set_field(&call, status, status ? &status->MPI_SOURCE : NULL, source);
}

int MPI_Status_set_tag(MPI_Status *status, int tag)
{
    struct pl_call call = PL_CALL(MPI_Status_set_tag);
    return set_field(&call, status, status ? &status->MPI_TAG : NULL, tag);
}

int MPI_Status_set_error(MPI_Status *status, int error)
{
    struct pl_call call = PL_CALL(MPI_Status_set_error);
    return set_field(&call, status, status ? &status->MPI_ERROR : NULL, error);
}

PL_NAMES_STATUS(PL_PMPI)
