/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes: the constructors (those of arrays: datatype_array.c), commit and free.
 *
 * A constructor checks its arguments, writes them into an envelope, and has the type built from that. The int form of
 * a function writes its numbers as integers and addresses, the _c form (`large`) as large counts.
 */
#include "api/datatype.h"

#include "api/pmpi.h"
#include "core/object/attr.h"

struct pl_type_envelope *pl_call_envelope(struct pl_call *call, int combiner, size_t ints, size_t addresses,
                                          size_t counts, size_t types)
{
    if (call->err)
        return NULL;
    struct pl_type_envelope *envelope = pl_envelope_create(combiner, ints, addresses, counts, types);
    if (!envelope)
        call->err = MPI_ERR_NO_MEM;
    return envelope;
}

int pl_call_build(struct pl_call *call, struct pl_type_envelope *envelope, MPI_Datatype *newtype)
{
    struct pl_type *type;
    if (!call->err)
        call->err = pl_type_build(envelope, &type);
    if (!call->err)
        *newtype = pl_type_handle(type);
    return pl_call_leave(call);
}

static struct pl_type_envelope *envelope_of(struct pl_call *call, int combiner, bool large, size_t ints,
                                            size_t addresses, size_t types)
{
    return large ? pl_call_envelope(call, combiner, 0, 0, ints + addresses, types)
                 : pl_call_envelope(call, combiner, ints, addresses, 0, types);
}

static void arg_blocklength(struct pl_call *call, MPI_Count blocklength)
{
    if (blocklength < 0)
        pl_call_error(call, MPI_ERR_ARG, "blocklength is %lld; it must not be negative", (long long)blocklength);
}

/* An array that may be NULL only if it has no elements. */
static void mpi_type_arg_array(struct pl_call *call, MPI_Count count, const void *array, const char *name)
{
    if (!array && count > 0)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL, with count %lld", name, (long long)count);
}

static void arg_blocklengths(struct pl_call *call, MPI_Count count, struct pl_counts lengths)
{
    mpi_type_arg_array(call, count, lengths.wide ? (const void *)lengths.wide : lengths.narrow,
                       "array_of_blocklengths");
    for (MPI_Count i = 0; !call->err && i < count; i++)
        if (pl_count_at(lengths, i) < 0)
            pl_call_error(call, MPI_ERR_ARG, "array_of_blocklengths[%lld] is %lld; it must not be negative",
                          (long long)i, (long long)pl_count_at(lengths, i));
}

static void arg_displacements(struct pl_call *call, MPI_Count count, struct pl_counts displacements)
{
    mpi_type_arg_array(call, count, displacements.wide ? (const void *)displacements.wide : displacements.narrow,
                       "array_of_displacements");
}

static void mpi_type_put_array(struct pl_type_envelope *envelope, MPI_Count count, struct pl_counts values)
{
    for (MPI_Count i = 0; i < count; i++)
        pl_envelope_put(envelope, pl_count_at(values, i));
}

static int mpi_type_contiguous(struct pl_call *call, bool large, MPI_Count count, MPI_Datatype oldtype,
                               MPI_Datatype *newtype)
{
    pl_arg_count(call, count);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    struct pl_type_envelope *e = envelope_of(call, MPI_COMBINER_CONTIGUOUS, large, 1, 0, 1);
    if (e) {
        pl_envelope_put(e, count);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_contiguous);
    return mpi_type_contiguous(&call, false, count, oldtype, newtype);
}

int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_contiguous_c);
    return mpi_type_contiguous(&call, true, count, oldtype, newtype);
}

/* MPI_Type_create_hvector's stride is an address. */
static int mpi_type_vector(struct pl_call *call, int combiner, bool large, MPI_Count count, MPI_Count blocklength,
                           MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    size_t addresses = combiner == MPI_COMBINER_HVECTOR ? 1 : 0;
    pl_arg_count(call, count);
    arg_blocklength(call, blocklength);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    struct pl_type_envelope *e = envelope_of(call, combiner, large, 3 - addresses, addresses, 1);
    if (e) {
        pl_envelope_put(e, count);
        pl_envelope_put(e, blocklength);
        pl_envelope_put(e, stride);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_vector);
    return mpi_type_vector(&call, MPI_COMBINER_VECTOR, false, count, blocklength, stride, oldtype, newtype);
}

int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_vector_c);
    return mpi_type_vector(&call, MPI_COMBINER_VECTOR, true, count, blocklength, stride, oldtype, newtype);
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hvector);
    return mpi_type_vector(&call, MPI_COMBINER_HVECTOR, false, count, blocklength, stride, oldtype, newtype);
}

int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hvector_c);
    return mpi_type_vector(&call, MPI_COMBINER_HVECTOR, true, count, blocklength, stride, oldtype, newtype);
}

/* MPI_Type_create_hindexed's displacements are addresses. */
static int mpi_type_indexed(struct pl_call *call, int combiner, bool large, MPI_Count count, struct pl_counts lengths,
                            struct pl_counts displacements, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    pl_arg_count(call, count);
    arg_blocklengths(call, count, lengths);
    arg_displacements(call, count, displacements);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    size_t n = (size_t)count, addresses = combiner == MPI_COMBINER_HINDEXED ? n : 0;
    struct pl_type_envelope *e = envelope_of(call, combiner, large, 1 + 2 * n - addresses, addresses, 1);
    if (e) {
        pl_envelope_put(e, count);
        mpi_type_put_array(e, count, lengths);
        mpi_type_put_array(e, count, displacements);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[],
                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_indexed);
    return mpi_type_indexed(&call, MPI_COMBINER_INDEXED, false, count,
                            (struct pl_counts){ .narrow = array_of_blocklengths },
                            (struct pl_counts){ .narrow = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                       const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_indexed_c);
    return mpi_type_indexed(&call, MPI_COMBINER_INDEXED, true, count,
                            (struct pl_counts){ .wide = array_of_blocklengths },
                            (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hindexed);
    return mpi_type_indexed(&call, MPI_COMBINER_HINDEXED, false, count,
                            (struct pl_counts){ .narrow = array_of_blocklengths },
                            (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                               const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hindexed_c);
    return mpi_type_indexed(&call, MPI_COMBINER_HINDEXED, true, count,
                            (struct pl_counts){ .wide = array_of_blocklengths },
                            (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

/* MPI_Type_create_hindexed_block's displacements are addresses. */
static int indexed_block(struct pl_call *call, int combiner, bool large, MPI_Count count, MPI_Count blocklength,
                         struct pl_counts displacements, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    pl_arg_count(call, count);
    arg_blocklength(call, blocklength);
    arg_displacements(call, count, displacements);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    size_t n = (size_t)count, addresses = combiner == MPI_COMBINER_HINDEXED_BLOCK ? n : 0;
    struct pl_type_envelope *e = envelope_of(call, combiner, large, 2 + n - addresses, addresses, 1);
    if (e) {
        pl_envelope_put(e, count);
        pl_envelope_put(e, blocklength);
        mpi_type_put_array(e, count, displacements);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype,
                                  MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_indexed_block);
    return indexed_block(&call, MPI_COMBINER_INDEXED_BLOCK, false, count, blocklength,
                         (struct pl_counts){ .narrow = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_indexed_block_c);
    return indexed_block(&call, MPI_COMBINER_INDEXED_BLOCK, true, count, blocklength,
                         (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hindexed_block);
    return indexed_block(&call, MPI_COMBINER_HINDEXED_BLOCK, false, count, blocklength,
                         (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_hindexed_block_c);
    return indexed_block(&call, MPI_COMBINER_HINDEXED_BLOCK, true, count, blocklength,
                         (struct pl_counts){ .wide = array_of_displacements }, oldtype, newtype);
}

static int create_struct(struct pl_call *call, bool large, MPI_Count count, struct pl_counts lengths,
                         struct pl_counts displacements, const MPI_Datatype types[], MPI_Datatype *newtype)
{
    pl_arg_count(call, count);
    arg_blocklengths(call, count, lengths);
    arg_displacements(call, count, displacements);
    mpi_type_arg_array(call, count, types, "array_of_types");
    pl_arg_output(call, newtype, "newtype");
    size_t n = (size_t)count;
    struct pl_type_envelope *e = envelope_of(call, MPI_COMBINER_STRUCT, large, 1 + n, n, n);
    if (e) {
        pl_envelope_put(e, count);
        mpi_type_put_array(e, count, lengths);
        mpi_type_put_array(e, count, displacements);
    }
    for (size_t i = 0; !call->err && i < n; i++) {
        struct pl_type *type = pl_arg_type_uncommitted(call, types[i]);
        if (type)
            pl_envelope_put_type(e, type);
        else
            pl_call_element(call, "array_of_types", (MPI_Count)i);
    }
    if (call->err)
        pl_envelope_release(e);
    return pl_call_build(call, e, newtype);
}

int MPI_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                           const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_struct);
    return create_struct(&call, false, count, (struct pl_counts){ .narrow = array_of_blocklengths },
                         (struct pl_counts){ .wide = array_of_displacements }, array_of_types, newtype);
}

int MPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                             const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
                             MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_struct_c);
    return create_struct(&call, true, count, (struct pl_counts){ .wide = array_of_blocklengths },
                         (struct pl_counts){ .wide = array_of_displacements }, array_of_types, newtype);
}

static int mpi_type_resized(struct pl_call *call, bool large, MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                            MPI_Datatype *newtype)
{
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    struct pl_type_envelope *e = envelope_of(call, MPI_COMBINER_RESIZED, large, 0, 2, 1);
    if (e) {
        pl_envelope_put(e, lb);
        pl_envelope_put(e, extent);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_resized);
    return mpi_type_resized(&call, false, oldtype, lb, extent, newtype);
}

int MPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_resized_c);
    return mpi_type_resized(&call, true, oldtype, lb, extent, newtype);
}

/* The copy is committed if the original is, and has the attributes whose copy callbacks allow it. */
int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_dup);
    struct pl_type *old = pl_arg_oldtype(&call, oldtype), *type = NULL;
    pl_arg_output(&call, newtype, "newtype");
    struct pl_type_envelope *e = pl_call_envelope(&call, MPI_COMBINER_DUP, 0, 0, 0, 1);
    if (e) {
        pl_envelope_put_type(e, old);
        call.err = pl_type_build(e, &type);
    }
    if (!call.err) {
        type->committed = old->committed;
        call.err = pl_attrs_copy(&old->attrs, oldtype, &type->attrs);
        if (call.err)
            pl_handle_drop(type);
    }
    if (!call.err)
        *newtype = pl_type_handle(type);
    return pl_call_leave(&call);
}

int MPI_Type_commit(MPI_Datatype *datatype)
{
    struct pl_call call = PL_CALL(MPI_Type_commit);
    pl_arg_output(&call, datatype, "datatype");
    struct pl_type *t = call.err ? NULL : pl_arg_type_uncommitted(&call, *datatype);
    if (t && !t->committed)
        t->committed = true;
    return pl_call_leave(&call);
}

/* Freeing the last handle deletes the attributes; a delete callback that fails keeps the datatype alive. */
int MPI_Type_free(MPI_Datatype *datatype)
{
    struct pl_call call = PL_CALL(MPI_Type_free);
    char label[MPI_MAX_OBJECT_NAME];
    pl_arg_output(&call, datatype, "datatype");
    struct pl_type *t = call.err ? NULL : pl_arg_type_uncommitted(&call, *datatype);
    if (t && (t->obj.predefined || t->permanent))
        pl_call_error(&call, MPI_ERR_TYPE, "datatype is predefined (%s) and cannot be freed", pl_type_label(t, label));
    if (call.err)
        return pl_call_leave(&call);
    pl_object_retain(t); /* a callback may free it: then this drops no handle */
    if (atomic_load(&t->obj.handles) == 1)
        call.err = pl_attrs_delete(&t->attrs, *datatype);
    if (!call.err) {
        pl_handle_drop(t);
        *datatype = MPI_DATATYPE_NULL;
    } else if (atomic_load(&t->obj.handles) <= 0) {
        pl_attrs_forget(&t->attrs); /* that of a callback which has freed it and failed */
    }
    return pl_call_leave_kept(&call, t);
}

PL_NAMES_DATATYPE(PL_PMPI)
