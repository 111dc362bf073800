/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of datatypes: sizes, extents, contents, names; predefined types by the values that they can hold; and
 * addresses, from which displacements are computed. */
#include <limits.h>
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/datatype/build.h"
#include "core/datatype/parametric.h"

/* --- size and extent --- */

static MPI_Count mpi_query_size_of(struct pl_call *call, MPI_Datatype datatype, const void *size)
{
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    pl_arg_output(call, size, "size");
    return call->err ? 0 : t->size;
}

int MPI_Type_size(MPI_Datatype datatype, int *size)
{
    struct pl_call call = PL_CALL(MPI_Type_size);
    MPI_Count bytes = mpi_query_size_of(&call, datatype, size);
    if (!call.err)
        *size = bytes <= INT_MAX ? (int)bytes : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

static int size_large(struct pl_call *call, MPI_Datatype datatype, MPI_Count *size)
{
    MPI_Count bytes = mpi_query_size_of(call, datatype, size);
    if (!call->err)
        *size = bytes;
    return pl_call_leave(call);
}

int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Type_size_c);
    return size_large(&call, datatype, size);
}

int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Type_size_x);
    return size_large(&call, datatype, size);
}

/* MPI_Aint is as wide as MPI_Count, so that one worker serves all three forms. */
_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as MPI_Count");

static int mpi_query_extent(struct pl_call *call, MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent_)
{
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    pl_arg_output(call, lb, "lb");
    pl_arg_output(call, extent_, "extent");
    if (!call->err) {
        *lb = t->lb;
        *extent_ = t->extent;
    }
    return pl_call_leave(call);
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_extent);
    return mpi_query_extent(&call, datatype, lb, extent_);
}

int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_extent_c);
    return mpi_query_extent(&call, datatype, lb, extent_);
}

int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_extent_x);
    return mpi_query_extent(&call, datatype, lb, extent_);
}

static int true_extent(struct pl_call *call, MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *extent_)
{
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    pl_arg_output(call, true_lb, "true_lb");
    pl_arg_output(call, extent_, "true_extent");
    if (!call->err) {
        *true_lb = t->true_lb;
        *extent_ = t->true_extent;
    }
    return pl_call_leave(call);
}

int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_true_extent);
    return true_extent(&call, datatype, true_lb, true_extent_);
}

int MPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_true_extent_c);
    return true_extent(&call, datatype, true_lb, true_extent_);
}

int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent_)
{
    struct pl_call call = PL_CALL(MPI_Type_get_true_extent_x);
    return true_extent(&call, datatype, true_lb, true_extent_);
}

/* --- envelope and contents --- */

/* For named predefined types. */
static const struct pl_type_envelope named = { .combiner = MPI_COMBINER_NAMED };

static const struct pl_type_envelope *arg_envelope(struct pl_call *call, MPI_Datatype datatype)
{
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    return t && t->envelope ? t->envelope : &named;
}

/* The int forms cannot return large counts. */
static void arg_small(struct pl_call *call, const struct pl_type_envelope *envelope)
{
    if (pl_envelope_is_large(envelope))
        pl_call_error(call, MPI_ERR_TYPE, "datatype was made with large counts, which only %s_c can return",
                      call->function);
}

int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                          int *combiner)
{
    struct pl_call call = PL_CALL(MPI_Type_get_envelope);
    const struct pl_type_envelope *e = arg_envelope(&call, datatype);
    arg_small(&call, e);
    pl_arg_output(&call, num_integers, "num_integers");
    pl_arg_output(&call, num_addresses, "num_addresses");
    pl_arg_output(&call, num_datatypes, "num_datatypes");
    pl_arg_output(&call, combiner, "combiner");
    if (!call.err) {
        *num_integers = e->ints <= INT_MAX ? (int)e->ints : MPI_UNDEFINED; /* indexed: twice the count, and one */
        *num_addresses = (int)e->addresses;
        *num_datatypes = (int)e->types;
        *combiner = e->combiner;
    }
    return pl_call_leave(&call);
}

int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
                            MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    struct pl_call call = PL_CALL(MPI_Type_get_envelope_c);
    const struct pl_type_envelope *e = arg_envelope(&call, datatype);
    pl_arg_output(&call, num_integers, "num_integers");
    pl_arg_output(&call, num_addresses, "num_addresses");
    pl_arg_output(&call, num_large_counts, "num_large_counts");
    pl_arg_output(&call, num_datatypes, "num_datatypes");
    pl_arg_output(&call, combiner, "combiner");
    if (!call.err) {
        *num_integers = (MPI_Count)e->ints;
        *num_addresses = (MPI_Count)e->addresses;
        *num_large_counts = (MPI_Count)e->counts;
        *num_datatypes = (MPI_Count)e->types;
        *combiner = e->combiner;
    }
    return pl_call_leave(&call);
}

/* The user's arrays for the contents. */
struct contents {
    MPI_Count max_integers, max_addresses, max_large_counts, max_datatypes;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large_counts;
    MPI_Datatype *datatypes;
};

static void arg_contents(struct pl_call *call, MPI_Count max, const void *array, size_t needed, const char *what)
{
    if (max < 0 || (size_t)max < needed)
        pl_call_error(call, MPI_ERR_ARG, "max_%s is %lld; the datatype has %zu", what, (long long)max, needed);
    else if (!array && needed > 0)
        pl_call_error(call, MPI_ERR_ARG, "array_of_%s is NULL; the datatype has %zu", what, needed);
}

static int get_contents(struct pl_call *call, const struct pl_type_envelope *e, struct contents to)
{
    if (e->combiner == MPI_COMBINER_NAMED)
        pl_call_error(call, MPI_ERR_TYPE, "datatype is a named predefined datatype, which has no contents");
    arg_contents(call, to.max_integers, to.integers, e->ints, "integers");
    arg_contents(call, to.max_addresses, to.addresses, e->addresses, "addresses");
    arg_contents(call, to.max_large_counts, to.large_counts, e->counts, "large_counts");
    arg_contents(call, to.max_datatypes, to.datatypes, e->types, "datatypes");
    if (!call->err) {
        for (size_t i = 0; i < e->ints; i++)
            to.integers[i] = e->integer[i];
        for (size_t i = 0; i < e->addresses; i++)
            to.addresses[i] = e->address[i];
        for (size_t i = 0; i < e->counts; i++)
            to.large_counts[i] = e->count[i];
        for (size_t i = 0; i < e->types; i++) /* the user gets one more handle of a derived one, and must free it */
            to.datatypes[i] = pl_type_handle(e->type[i]->permanent ? e->type[i] : pl_handle_share(e->type[i]));
    }
    return pl_call_leave(call);
}

int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                          int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    struct pl_call call = PL_CALL(MPI_Type_get_contents);
    const struct pl_type_envelope *e = arg_envelope(&call, datatype);
    arg_small(&call, e);
    struct contents to = { max_integers,      max_addresses,      0,    max_datatypes,
                           array_of_integers, array_of_addresses, NULL, array_of_datatypes };
    return get_contents(&call, e, to);
}

int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                            MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                            MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                            MPI_Datatype array_of_datatypes[])
{
    struct pl_call call = PL_CALL(MPI_Type_get_contents_c);
    const struct pl_type_envelope *e = arg_envelope(&call, datatype);
    struct contents to = { max_integers,      max_addresses,      max_large_counts,      max_datatypes,
                           array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes };
    return get_contents(&call, e, to);
}

/* --- names --- */

int MPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    struct pl_call call = PL_CALL(MPI_Type_set_name);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    pl_arg_output(&call, type_name, "type_name");
    if (!call.err)
        call.err = pl_type_set_name(t, type_name);
    return pl_call_leave(&call);
}

int MPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Type_get_name);
    struct pl_type *t = datatype == MPI_DATATYPE_NULL ? NULL : pl_arg_type_uncommitted(&call, datatype);
    pl_arg_output(&call, type_name, "type_name");
    pl_arg_output(&call, resultlen, "resultlen");
    if (!call.err) {
        if (t)
            pl_type_get_name(t, type_name);
        else
            strcpy(type_name, "MPI_DATATYPE_NULL");
        *resultlen = (int)strlen(type_name);
    }
    return pl_call_leave(&call);
}

/* --- predefined types by the values that they hold --- */

/* Fortran's types by size. */
static const struct {
    int typeclass, size;
    MPI_Datatype datatype;
} sized[] = {
    { MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1 },   { MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2 },
    { MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },   { MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8 },
    { MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16 }, { MPI_TYPECLASS_REAL, 2, MPI_REAL2 },
    { MPI_TYPECLASS_REAL, 4, MPI_REAL4 },         { MPI_TYPECLASS_REAL, 8, MPI_REAL8 },
    { MPI_TYPECLASS_REAL, 16, MPI_REAL16 },       { MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4 },
    { MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },   { MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16 },
    { MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32 },
};

int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    struct pl_call call = PL_CALL(MPI_Type_match_size);
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++)
        if (sized[i].typeclass == typeclass && sized[i].size == size)
            found = sized[i].datatype;
    pl_arg_output(&call, datatype, "datatype");
    if (typeclass != MPI_TYPECLASS_INTEGER && typeclass != MPI_TYPECLASS_REAL && typeclass != MPI_TYPECLASS_COMPLEX)
        pl_call_error(&call, MPI_ERR_ARG, "typeclass is %d, not MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX", typeclass);
    else if (found == MPI_DATATYPE_NULL)
        pl_call_error(&call, MPI_ERR_ARG, "no datatype of this class has a size of %d bytes", size);
    if (!call.err)
        *datatype = found;
    return pl_call_leave(&call);
}

static void fail_f90(struct pl_call *call, int combiner, int p, int r)
{
    const char *kind = combiner == MPI_COMBINER_F90_INTEGER ? "INTEGER"
                       : combiner == MPI_COMBINER_F90_REAL  ? "REAL"
                                                            : "COMPLEX";
    if (p == MPI_UNDEFINED)
        pl_call_error(call, MPI_ERR_ARG, "no %s has a range of %d decimal digits", kind, r);
    else if (r == MPI_UNDEFINED)
        pl_call_error(call, MPI_ERR_ARG, "no %s has a precision of %d decimal digits", kind, p);
    else
        pl_call_error(call, MPI_ERR_ARG, "no %s has a precision of %d and a range of %d decimal digits", kind, p, r);
}

static int mpi_query_f90(struct pl_call *call, int combiner, int p, int r, MPI_Datatype *newtype)
{
    struct pl_type *type = NULL;
    pl_arg_output(call, newtype, "newtype");
    if (p < 0 && p != MPI_UNDEFINED)
        pl_call_error(call, MPI_ERR_ARG, "p is %d; it must not be negative", p);
    if (r < 0 && (r != MPI_UNDEFINED || combiner == MPI_COMBINER_F90_INTEGER))
        pl_call_error(call, MPI_ERR_ARG, "r is %d; it must not be negative", r);
    if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        pl_call_error(call, MPI_ERR_ARG, "p and r are MPI_UNDEFINED; at least one must be given");
    if (!call->err)
        call->err = pl_type_f90(combiner, p, r, &type);
    if (!call->err && !type)
        fail_f90(call, combiner, p, r);
    if (!call->err)
        *newtype = pl_type_handle(type);
    return pl_call_leave(call);
}

int MPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_f90_real);
    return mpi_query_f90(&call, MPI_COMBINER_F90_REAL, p, r, newtype);
}

int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_f90_complex);
    return mpi_query_f90(&call, MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int MPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_f90_integer);
    return mpi_query_f90(&call, MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, newtype);
}

int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
    struct pl_call call = PL_CALL(MPI_Type_get_value_index);
    call.names = &(const struct pl_arg_names){ .type = "value_type" };
    struct pl_type *value = pl_arg_type_uncommitted(&call, value_type), *pair = NULL;
    call.names = &(const struct pl_arg_names){ .type = "index_type" };
    struct pl_type *index = pl_arg_type_uncommitted(&call, index_type);
    pl_arg_output(&call, pair_type, "pair_type");
    if (!call.err)
        call.err = pl_type_value_index(value, index, &pair);
    if (!call.err)
        *pair_type = pair ? pl_type_handle(pair) : MPI_DATATYPE_NULL;
    return pl_call_leave(&call);
}

/* --- addresses --- */

int MPI_Get_address(const void *location, MPI_Aint *address)
{
    struct pl_call call = PL_CALL(MPI_Get_address);
    pl_arg_output(&call, address, "address");
    if (!call.err)
        *address = (MPI_Aint)location;
    return pl_call_leave(&call);
}

/* Addresses are numbers that wrap around. */
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

PL_NAMES_DATATYPE_QUERY(PL_PMPI)
