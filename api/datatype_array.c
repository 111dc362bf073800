/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes for parts of arrays: subarray and darray. */
#include "api/datatype.h"
#include "api/pmpi.h"

static void arg_ndims(struct pl_call *call, int ndims)
{
    if (ndims < 1)
        pl_call_error(call, MPI_ERR_ARG, "ndims is %d; it must be positive", ndims);
}

static void arg_order(struct pl_call *call, int order)
{
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        pl_call_error(call, MPI_ERR_ARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
}

static void arg_sizes(struct pl_call *call, struct pl_counts sizes, const char *name)
{
    pl_arg_output(call, sizes.wide ? (const void *)sizes.wide : sizes.narrow, name);
}

/* 1 <= subsize <= size and 0 <= start <= size - subsize in every dimension. */
static void arg_selection(struct pl_call *call, int ndims, struct pl_counts sizes, struct pl_counts subsizes,
                          struct pl_counts starts)
{
    for (int i = 0; !call->err && i < ndims; i++) {
        long long size = pl_count_at(sizes, i), subsize = pl_count_at(subsizes, i), start = pl_count_at(starts, i);
        if (size < 1)
            pl_call_error(call, MPI_ERR_ARG, "dimension %d has size %lld; it must be positive", i, size);
        else if (subsize < 1 || subsize > size)
            pl_call_error(call, MPI_ERR_ARG, "dimension %d has subsize %lld; it must be from 1 to its size, %lld", i,
                          subsize, size);
        else if (start < 0 || start > size - subsize)
            pl_call_error(call, MPI_ERR_ARG, "dimension %d starts at %lld; it must be from 0 to %lld", i, start,
                          size - subsize);
    }
}

static void mpi_array_put_array(struct pl_type_envelope *envelope, int count, struct pl_counts values)
{
    for (int i = 0; i < count; i++)
        pl_envelope_put(envelope, pl_count_at(values, i));
}

static int mpi_array_subarray(struct pl_call *call, bool large, int ndims, struct pl_counts sizes,
                              struct pl_counts subsizes, struct pl_counts starts, int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    arg_ndims(call, ndims);
    arg_sizes(call, sizes, "array_of_sizes");
    arg_sizes(call, subsizes, "array_of_subsizes");
    arg_sizes(call, starts, "array_of_starts");
    arg_selection(call, ndims, sizes, subsizes, starts);
    arg_order(call, order);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    size_t numbers = 3 * (size_t)ndims;
    struct pl_type_envelope *e =
        pl_call_envelope(call, MPI_COMBINER_SUBARRAY, large ? 2 : 2 + numbers, 0, large ? numbers : 0, 1);
    if (e) {
        pl_envelope_put(e, ndims);
        if (large)
            pl_envelope_put(e, order);
        mpi_array_put_array(e, ndims, sizes);
        mpi_array_put_array(e, ndims, subsizes);
        mpi_array_put_array(e, ndims, starts);
        if (!large)
            pl_envelope_put(e, order);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                             const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_subarray);
    return mpi_array_subarray(&call, false, ndims, (struct pl_counts){ .narrow = array_of_sizes },
                              (struct pl_counts){ .narrow = array_of_subsizes },
                              (struct pl_counts){ .narrow = array_of_starts }, order, oldtype, newtype);
}

int MPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
                               const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                               MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_subarray_c);
    return mpi_array_subarray(&call, true, ndims, (struct pl_counts){ .wide = array_of_sizes },
                              (struct pl_counts){ .wide = array_of_subsizes },
                              (struct pl_counts){ .wide = array_of_starts }, order, oldtype, newtype);
}

/* The distribution of an array over a grid of processes. */
struct distribution {
    int size, rank, ndims;
    struct pl_counts gsizes;
    const int *distribs, *dargs, *psizes;
    int order;
};

static void arg_dimension(struct pl_call *call, const struct distribution *d, int i)
{
    int distrib = d->distribs[i], darg = d->dargs[i], psize = d->psizes[i];
    if (pl_count_at(d->gsizes, i) < 1)
        pl_call_error(call, MPI_ERR_ARG, "dimension %d has size %lld; it must be positive", i,
                      (long long)pl_count_at(d->gsizes, i));
    else if (psize < 1)
        pl_call_error(call, MPI_ERR_ARG, "dimension %d has %d processes; the number must be positive", i, psize);
    else if (distrib != MPI_DISTRIBUTE_NONE && distrib != MPI_DISTRIBUTE_BLOCK && distrib != MPI_DISTRIBUTE_CYCLIC)
        pl_call_error(call, MPI_ERR_ARG, "dimension %d has an unknown distribution %d", i, distrib);
    else if (distrib == MPI_DISTRIBUTE_NONE && psize != 1)
        pl_call_error(call, MPI_ERR_ARG, "dimension %d is not distributed, but has %d processes", i, psize);
    else if (distrib != MPI_DISTRIBUTE_NONE && darg < 1 && darg != MPI_DISTRIBUTE_DFLT_DARG)
        pl_call_error(call, MPI_ERR_ARG, "dimension %d has distribution argument %d; it must be positive", i, darg);
}

static void arg_distribution(struct pl_call *call, const struct distribution *d)
{
    long long processes = 1;
    arg_ndims(call, d->ndims);
    arg_sizes(call, d->gsizes, "array_of_gsizes");
    pl_arg_output(call, d->distribs, "array_of_distribs");
    pl_arg_output(call, d->dargs, "array_of_dargs");
    pl_arg_output(call, d->psizes, "array_of_psizes");
    if (d->size < 1)
        pl_call_error(call, MPI_ERR_ARG, "size is %d; it must be positive", d->size);
    if (d->rank < 0 || d->rank >= d->size)
        pl_call_error(call, MPI_ERR_RANK, "rank is %d; it must be from 0 to %d", d->rank, d->size - 1);
    for (int i = 0; !call->err && i < d->ndims; i++) {
        arg_dimension(call, d, i);
        if (processes <= d->size) /* if it is larger it is wrong, and the product must not overflow */
            processes *= d->psizes[i];
    }
    if (processes != d->size)
        pl_call_error(call, MPI_ERR_ARG, "the product of array_of_psizes is not size, %d", d->size);
    arg_order(call, d->order);
}

static int mpi_array_darray(struct pl_call *call, bool large, struct distribution d, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    arg_distribution(call, &d);
    struct pl_type *old = pl_arg_oldtype(call, oldtype);
    pl_arg_output(call, newtype, "newtype");
    size_t n = (size_t)d.ndims;
    struct pl_type_envelope *e =
        pl_call_envelope(call, MPI_COMBINER_DARRAY, 4 + (large ? 3 : 4) * n, 0, large ? n : 0, 1);
    if (e) {
        pl_envelope_put(e, d.size);
        pl_envelope_put(e, d.rank);
        pl_envelope_put(e, d.ndims);
        if (!large)
            mpi_array_put_array(e, d.ndims, d.gsizes);
        mpi_array_put_array(e, d.ndims, (struct pl_counts){ .narrow = d.distribs });
        mpi_array_put_array(e, d.ndims, (struct pl_counts){ .narrow = d.dargs });
        mpi_array_put_array(e, d.ndims, (struct pl_counts){ .narrow = d.psizes });
        pl_envelope_put(e, d.order);
        if (large)
            mpi_array_put_array(e, d.ndims, d.gsizes);
        pl_envelope_put_type(e, old);
    }
    return pl_call_build(call, e, newtype);
}

int MPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
                           const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_darray);
    struct distribution d = {
        size, rank, ndims, { .narrow = array_of_gsizes }, array_of_distribs, array_of_dargs, array_of_psizes, order
    };
    return mpi_array_darray(&call, false, d, oldtype, newtype);
}

int MPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                             const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
                             int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pl_call call = PL_CALL(MPI_Type_create_darray_c);
    struct distribution d = {
        size, rank, ndims, { .wide = array_of_gsizes }, array_of_distribs, array_of_dargs, array_of_psizes, order
    };
    return mpi_array_darray(&call, true, d, oldtype, newtype);
}

PL_NAMES_DATATYPE_ARRAY(PL_PMPI)
