/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups. All of it is local. */
#include "core/object/group.h"

#include <stdlib.h>

#include "api/call.h"
#include "api/pmpi.h"

/* The number of ranks or ranges in an argument, and the array of them. */
static void mpi_group_arg_array(struct pl_call *call, int n, const void *array, const char *name)
{
    if (n < 0)
        pl_call_error(call, MPI_ERR_ARG, "n is %d; it must not be negative", n);
    if (n > 0)
        pl_arg_output(call, array, name);
}

int MPI_Group_size(MPI_Group group, int *size)
{
    struct pl_call call = PL_CALL(MPI_Group_size);
    struct pl_group *g = pl_arg_group(&call, group, "group");
    pl_arg_output(&call, size, "size");
    if (!call.err)
        *size = g->size;
    return pl_call_leave(&call);
}

int MPI_Group_rank(MPI_Group group, int *rank)
{
    struct pl_call call = PL_CALL(MPI_Group_rank);
    struct pl_group *g = pl_arg_group(&call, group, "group");
    pl_arg_output(&call, rank, "rank");
    if (!call.err)
        *rank = g->rank;
    return pl_call_leave(&call);
}

int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    struct pl_call call = PL_CALL(MPI_Group_translate_ranks);
    struct pl_group *from = pl_arg_group(&call, group1, "group1");
    struct pl_group *to = pl_arg_group(&call, group2, "group2");
    mpi_group_arg_array(&call, n, ranks1, "ranks1");
    mpi_group_arg_array(&call, n, ranks2, "ranks2");
    if (!call.err)
        call.err = pl_group_check_same(from, to);
    for (int i = 0; i < n && !call.err; i++)
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= from->size))
            pl_call_error(&call, MPI_ERR_RANK, "ranks1[%d] is %d, which is not in group1 of %d processes", i, ranks1[i],
                          from->size);
    for (int i = 0; i < n && !call.err; i++)
        ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : pl_group_find(to, pl_group_proc(from, ranks1[i]));
    return pl_call_leave(&call);
}

int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    struct pl_call call = PL_CALL(MPI_Group_compare);
    struct pl_group *a = pl_arg_group(&call, group1, "group1");
    struct pl_group *b = pl_arg_group(&call, group2, "group2");
    pl_arg_output(&call, result, "result");
    if (!call.err)
        call.err = pl_group_check_same(a, b);
    if (!call.err)
        *result = pl_group_compare(a, b);
    return pl_call_leave(&call);
}

/* --- making new ones ----------------------------------------------------------------------------------------- */

typedef int combine_function(const struct pl_group *a, const struct pl_group *b, struct pl_group **result);
typedef int choose_function(const struct pl_group *group, int n, const int ranks[], struct pl_group **result);

static int mpi_group_combine(struct pl_call *call, combine_function *function, MPI_Group group1, MPI_Group group2,
                             MPI_Group *newgroup)
{
    struct pl_group *result, *a = pl_arg_group(call, group1, "group1"), *b = pl_arg_group(call, group2, "group2");
    pl_arg_output(call, newgroup, "newgroup");
    if (!call->err)
        call->err = function(a, b, &result);
    if (!call->err)
        *newgroup = pl_object_handle(result);
    return pl_call_leave(call);
}

static int mpi_group_choose(struct pl_call *call, choose_function *function, MPI_Group group, int n, const int ranks[],
                            MPI_Group *newgroup)
{
    struct pl_group *result, *g = pl_arg_group(call, group, "group");
    mpi_group_arg_array(call, n, ranks, "ranks");
    pl_arg_output(call, newgroup, "newgroup");
    if (!call->err)
        call->err = function(g, n, ranks, &result);
    if (!call->err)
        *newgroup = pl_object_handle(result);
    return pl_call_leave(call);
}

static int choose_ranges(struct pl_call *call, choose_function *function, MPI_Group group, int n, int ranges[][3],
                         MPI_Group *newgroup)
{
    int *ranks = NULL, count = 0;
    struct pl_group *result, *g = pl_arg_group(call, group, "group");
    mpi_group_arg_array(call, n, ranges, "ranges");
    pl_arg_output(call, newgroup, "newgroup");
    if (!call->err)
        call->err = pl_group_expand(g, n, ranges, &count, &ranks);
    if (!call->err)
        call->err = function(g, count, ranks, &result);
    if (!call->err)
        *newgroup = pl_object_handle(result);
    free(ranks);
    return pl_call_leave(call);
}

int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_union);
    return mpi_group_combine(&call, pl_group_union, group1, group2, newgroup);
}

int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_intersection);
    return mpi_group_combine(&call, pl_group_intersection, group1, group2, newgroup);
}

int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_difference);
    return mpi_group_combine(&call, pl_group_difference, group1, group2, newgroup);
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_incl);
    return mpi_group_choose(&call, pl_group_incl, group, n, ranks, newgroup);
}

int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_excl);
    return mpi_group_choose(&call, pl_group_excl, group, n, ranks, newgroup);
}

int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_range_incl);
    return choose_ranges(&call, pl_group_incl, group, n, ranges, newgroup);
}

int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct pl_call call = PL_CALL(MPI_Group_range_excl);
    return choose_ranges(&call, pl_group_excl, group, n, ranges, newgroup);
}

/* MPI_GROUP_EMPTY may be the result of an operation, so freeing it is allowed. */
int MPI_Group_free(MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_Group_free);
    pl_arg_output(&call, group, "group");
    struct pl_group *g = call.err ? NULL : pl_arg_group(&call, *group, "group");
    if (!call.err) {
        pl_handle_drop(g);
        *group = MPI_GROUP_NULL;
    }
    return pl_call_leave(&call);
}

PL_NAMES_GROUP(PL_PMPI)
