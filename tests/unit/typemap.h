/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of datatypes that is as simple as the standard's definition: the type map, written out, one entry for each
 * basic element, and markers for the bounds. Random datatypes are made together with their model.
 */
#ifndef PLENUM_TESTS_TYPEMAP_H
#define PLENUM_TESTS_TYPEMAP_H

#include <stdbool.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/datatype/datatype.h"
#include "unit.h"

struct entry {
    MPI_Datatype type; /* a predefined one other than a pair */
    long at;
    int size, align;
};

enum { ENTRIES_MAX = 3000, CHILDREN_MAX = 4, BOUND_MAX = 1 << 17 };

struct typemap {
    int count;
    struct entry *entries;
    bool marked; /* the bounds are those of markers */
    long lb, ub;
};

/* A datatype with its model. */
struct sample {
    MPI_Datatype type;
    struct typemap map;
};

/* Errors of public functions come back as return codes. */
static inline void typemap_errors_return(void)
{
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
}

static inline void typemap_free(struct typemap *map)
{
    free(map->entries);
    *map = (struct typemap){ 0 };
}

/* Frees a datatype unless it is predefined. */
static inline void type_free(MPI_Datatype *type)
{
    const struct pl_type *t = pl_type_from(*type);
    if (t->obj.predefined || t->permanent)
        return;
    ck_assert_int_eq(MPI_Type_free(type), MPI_SUCCESS);
    ck_assert_ptr_eq(*type, MPI_DATATYPE_NULL);
}

static inline void sample_free(struct sample *sample)
{
    typemap_free(&sample->map);
    type_free(&sample->type);
}

static inline void typemap_entry(struct typemap *map, MPI_Datatype type, long at)
{
    const struct pl_type *t = pl_type_from(type);
    map->entries = realloc(map->entries, (size_t)(map->count + 1) * sizeof *map->entries);
    map->entries[map->count++] = (struct entry){ type, at, (int)t->size, t->align };
}

static inline void typemap_mark(struct typemap *map, long lb, long ub)
{
    map->lb = map->marked && map->lb < lb ? map->lb : lb;
    map->ub = map->marked && map->ub > ub ? map->ub : ub;
    map->marked = true;
}

/* Appends a copy of `part`. */
static inline void typemap_append(struct typemap *map, const struct typemap *part, long at)
{
    int count = map->count + part->count;
    map->entries = realloc(map->entries, (size_t)(count + 1) * sizeof *map->entries);
    for (int i = 0; i < part->count; i++) {
        map->entries[map->count + i] = part->entries[i];
        map->entries[map->count + i].at += at;
    }
    map->count = count;
    if (part->marked)
        typemap_mark(map, part->lb + at, part->ub + at);
}

static inline long typemap_size(const struct typemap *map)
{
    long size = 0;
    for (int i = 0; i < map->count; i++)
        size += map->entries[i].size;
    return size;
}

static inline void typemap_true_bounds(const struct typemap *map, long *lb, long *ub)
{
    *lb = *ub = 0;
    for (int i = 0; i < map->count; i++) {
        const struct entry *e = &map->entries[i];
        *lb = i == 0 || e->at < *lb ? e->at : *lb;
        *ub = i == 0 || e->at + e->size > *ub ? e->at + e->size : *ub;
    }
}

static inline void typemap_bounds(const struct typemap *map, long *lb, long *ub)
{
    *lb = map->lb;
    *ub = map->ub;
    if (map->marked)
        return;
    long align = 1;
    for (int i = 0; i < map->count; i++)
        align = map->entries[i].align > align ? map->entries[i].align : align;
    typemap_true_bounds(map, lb, ub);
    while ((*ub - *lb) % align != 0)
        ++*ub;
}

static inline long typemap_extent(const struct typemap *map)
{
    long lb, ub;
    typemap_bounds(map, &lb, &ub);
    return ub - lb;
}

/* Do two entries overlap? Then unpacking has no defined result. */
static inline bool typemap_overlaps(const struct typemap *map, int count)
{
    long lb, ub, extent = typemap_extent(map);
    typemap_true_bounds(map, &lb, &ub);
    long cma = labs(extent) * (count - 1), length = ub - lb + cma;
    char *used = calloc(1, (size_t)length + 1);
    bool overlaps = false;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < map->count; i++)
            for (int b = 0; b < map->entries[i].size; b++) {
                char *byte = &used[map->entries[i].at - lb + n * extent + (extent < 0 ? cma : 0) + b];
                overlaps |= *byte;
                *byte = 1;
            }
    free(used);
    return overlaps;
}

/* --- random datatypes -------------------------------------------------------------------------------------------- */

static inline struct sample sample_predefined(uint64_t *seed)
{
    static const MPI_Datatype scalars[] = {
        MPI_CHAR,   MPI_BYTE,          MPI_SHORT,
        MPI_INT,    MPI_FLOAT,         MPI_DOUBLE,
        MPI_LONG,   MPI_LONG_DOUBLE,   MPI_C_DOUBLE_COMPLEX,
        MPI_WCHAR,  MPI_INTEGER2,      MPI_REAL16,
        MPI_C_BOOL, MPI_UNSIGNED_LONG, MPI_COMPLEX4,
    };
    struct sample sample = { 0 };
    switch (unit_below(seed, 10)) {
    case 0: {
        struct {
            short value;
            int index;
        } pair;
        sample.type = MPI_SHORT_INT;
        typemap_entry(&sample.map, MPI_SHORT, 0);
        typemap_entry(&sample.map, MPI_INT, (char *)&pair.index - (char *)&pair);
        break;
    }
    case 1:
        sample.type = MPI_DOUBLE_INT;
        typemap_entry(&sample.map, MPI_DOUBLE, 0);
        typemap_entry(&sample.map, MPI_INT, sizeof(double));
        break;
    case 2:
        ck_assert_int_eq(MPI_Type_get_value_index(MPI_INT16_T, MPI_INT64_T, &sample.type), MPI_SUCCESS);
        typemap_entry(&sample.map, MPI_INT16_T, 0);
        typemap_entry(&sample.map, MPI_INT64_T, 8);
        break;
    default:
        sample.type = scalars[unit_below(seed, sizeof scalars / sizeof scalars[0])];
        typemap_entry(&sample.map, sample.type, 0);
    }
    return sample;
}

enum { NUMBERS_MAX = 12 };

/* Random lengths and displacements, in the types of all forms of the constructors. */
struct numbers {
    int count;
    int length[NUMBERS_MAX], displacement[NUMBERS_MAX];
    MPI_Aint address[NUMBERS_MAX];
    MPI_Count large_length[NUMBERS_MAX], large_displacement[NUMBERS_MAX];
};

static inline struct numbers random_numbers(uint64_t *seed, long unit)
{
    struct numbers n = { .count = unit_below(seed, NUMBERS_MAX) };
    bool ascending = unit_below(seed, 2), equal = unit_below(seed, 3) == 0;
    int at = 0, common = 1 + unit_below(seed, 3);
    for (int i = 0; i < n.count; i++) {
        n.length[i] = equal ? common : unit_below(seed, 4);
        n.displacement[i] = ascending ? at : unit_below(seed, 60) - 20;
        at += n.length[i] + (unit_below(seed, 2) ? 0 : unit_below(seed, 4));
        n.address[i] = n.displacement[i] * (unit ? unit : 1);
        n.large_length[i] = n.length[i];
        n.large_displacement[i] = n.displacement[i];
    }
    return n;
}

static inline void append_block(struct typemap *map, const struct typemap *old, long at, int length)
{
    long extent = typemap_extent(old);
    for (int i = 0; i < length; i++)
        typemap_append(map, old, at + i * extent);
}

static inline void make_vector(uint64_t *seed, const struct sample *old, struct sample *made)
{
    int count = unit_below(seed, 6), length = unit_below(seed, 5), stride = unit_below(seed, 16) - 5;
    long extent = typemap_extent(&old->map);
    int err;
    switch (unit_below(seed, 5)) {
    case 0:
        err = MPI_Type_vector(count, length, stride, old->type, &made->type);
        stride *= (int)extent;
        break;
    case 1:
        err = MPI_Type_vector_c(count, length, stride, old->type, &made->type);
        stride *= (int)extent;
        break;
    case 2: err = MPI_Type_create_hvector(count, length, stride, old->type, &made->type); break;
    case 3: err = MPI_Type_create_hvector_c(count, length, stride, old->type, &made->type); break;
    default:
        err = unit_below(seed, 2) ? MPI_Type_contiguous(length, old->type, &made->type)
                                  : MPI_Type_contiguous_c(length, old->type, &made->type);
        count = 1;
    }
    ck_assert_int_eq(err, MPI_SUCCESS);
    for (int i = 0; i < count; i++)
        append_block(&made->map, &old->map, (long)i * stride, length);
}

static inline void make_indexed(uint64_t *seed, const struct sample *old, struct sample *made)
{
    long extent = typemap_extent(&old->map), unit = 1;
    int form = unit_below(seed, 8), common = 1 + unit_below(seed, 3), err;
    bool block = form >= 4, bytes = form & 2;
    if (!bytes)
        unit = extent;
    struct numbers n = random_numbers(seed, bytes && unit_below(seed, 2) ? extent : 1);
    if (bytes)
        for (int i = 0; i < n.count; i++)
            n.large_displacement[i] = n.address[i];
    switch (form) {
    case 0: err = MPI_Type_indexed(n.count, n.length, n.displacement, old->type, &made->type); break;
    case 1: err = MPI_Type_indexed_c(n.count, n.large_length, n.large_displacement, old->type, &made->type); break;
    case 2: err = MPI_Type_create_hindexed(n.count, n.length, n.address, old->type, &made->type); break;
    case 3:
        err = MPI_Type_create_hindexed_c(n.count, n.large_length, n.large_displacement, old->type, &made->type);
        break;
    case 4: err = MPI_Type_create_indexed_block(n.count, common, n.displacement, old->type, &made->type); break;
    case 5: err = MPI_Type_create_indexed_block_c(n.count, common, n.large_displacement, old->type, &made->type); break;
    case 6: err = MPI_Type_create_hindexed_block(n.count, common, n.address, old->type, &made->type); break;
    default: err = MPI_Type_create_hindexed_block_c(n.count, common, n.large_displacement, old->type, &made->type);
    }
    ck_assert_int_eq(err, MPI_SUCCESS);
    for (int i = 0; i < n.count; i++)
        append_block(&made->map, &old->map, n.large_displacement[i] * unit, block ? common : n.length[i]);
}

static inline void make_struct(uint64_t *seed, const struct sample old[CHILDREN_MAX], struct sample *made)
{
    struct numbers n = random_numbers(seed, 1 + unit_below(seed, 16));
    MPI_Datatype types[NUMBERS_MAX];
    int child[NUMBERS_MAX];
    for (int i = 0; i < n.count; i++) {
        child[i] = unit_below(seed, CHILDREN_MAX);
        types[i] = old[child[i]].type;
        n.large_displacement[i] = n.address[i];
    }
    ck_assert_int_eq(unit_below(seed, 2)
                         ? MPI_Type_create_struct(n.count, n.length, n.address, types, &made->type)
                         : MPI_Type_create_struct_c(n.count, n.large_length, n.large_displacement, types, &made->type),
                     MPI_SUCCESS);
    for (int i = 0; i < n.count; i++)
        append_block(&made->map, &old[child[i]].map, n.address[i], n.length[i]);
}

static inline void make_resized(uint64_t *seed, const struct sample *old, struct sample *made)
{
    long lb = unit_below(seed, 40) - 20, extent = unit_below(seed, 100) - 20;
    ck_assert_int_eq(unit_below(seed, 2) ? MPI_Type_create_resized(old->type, lb, extent, &made->type)
                                         : MPI_Type_create_resized_c(old->type, lb, extent, &made->type),
                     MPI_SUCCESS);
    typemap_append(&made->map, &old->map, 0);
    made->map.marked = false;
    typemap_mark(&made->map, lb, lb + extent);
}

static inline void make_dup(const struct sample *old, struct sample *made)
{
    ck_assert_int_eq(MPI_Type_dup(old->type, &made->type), MPI_SUCCESS);
    typemap_append(&made->map, &old->map, 0);
}

enum { DIMENSIONS_MAX = 3 };

/* The next index of an array whose elements are visited in memory order. */
static inline bool next_index(int ndims, int order, const int sizes[], int index[])
{
    for (int i = 0; i < ndims; i++) {
        int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        if (++index[d] < sizes[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static inline long element_offset(int ndims, int order, const int sizes[], const int index[])
{
    long offset = 0;
    for (int i = ndims - 1; i >= 0; i--) {
        int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        offset = offset * sizes[d] + index[d];
    }
    return offset;
}

/* The elements of the array for which `selected` is true, and the bounds of the whole array. */
static inline void append_array(struct typemap *map, const struct typemap *old, int ndims, int order, const int sizes[],
                                bool (*selected)(const void *context, const int index[]), const void *context)
{
    int index[DIMENSIONS_MAX] = { 0 };
    long extent = typemap_extent(old), total = 1;
    do {
        if (selected(context, index))
            typemap_append(map, old, element_offset(ndims, order, sizes, index) * extent);
    } while (next_index(ndims, order, sizes, index));
    for (int d = 0; d < ndims; d++)
        total *= sizes[d];
    map->marked = false;
    typemap_mark(map, 0, total * extent);
}

struct subarray {
    int ndims, order, sizes[DIMENSIONS_MAX], subsizes[DIMENSIONS_MAX], starts[DIMENSIONS_MAX];
};

static inline bool in_subarray(const void *context, const int index[])
{
    const struct subarray *s = context;
    for (int d = 0; d < s->ndims; d++)
        if (index[d] < s->starts[d] || index[d] >= s->starts[d] + s->subsizes[d])
            return false;
    return true;
}

static inline void make_subarray(uint64_t *seed, const struct sample *old, struct sample *made)
{
    struct subarray s = { .ndims = 1 + unit_below(seed, DIMENSIONS_MAX) };
    MPI_Count sizes[DIMENSIONS_MAX], subsizes[DIMENSIONS_MAX], starts[DIMENSIONS_MAX];
    s.order = unit_below(seed, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < s.ndims; d++) {
        sizes[d] = s.sizes[d] = 1 + unit_below(seed, 5);
        subsizes[d] = s.subsizes[d] = 1 + unit_below(seed, s.sizes[d]);
        starts[d] = s.starts[d] = unit_below(seed, s.sizes[d] - s.subsizes[d] + 1);
    }
    ck_assert_int_eq(unit_below(seed, 2) ? MPI_Type_create_subarray(s.ndims, s.sizes, s.subsizes, s.starts, s.order,
                                                                    old->type, &made->type)
                                         : MPI_Type_create_subarray_c(s.ndims, sizes, subsizes, starts, s.order,
                                                                      old->type, &made->type),
                     MPI_SUCCESS);
    append_array(&made->map, &old->map, s.ndims, s.order, s.sizes, in_subarray, &s);
}

struct darray {
    int ndims, order, rank, size;
    int sizes[DIMENSIONS_MAX], distribs[DIMENSIONS_MAX], dargs[DIMENSIONS_MAX], psizes[DIMENSIONS_MAX];
};

static inline bool in_darray(const void *context, const int index[])
{
    const struct darray *a = context;
    int below = 1;
    for (int d = a->ndims - 1; d >= 0; d--) {
        int p = a->psizes[d], mine = a->rank / below % p, owner = 0;
        int block = (a->sizes[d] + p - 1) / p;
        if (a->distribs[d] == MPI_DISTRIBUTE_BLOCK)
            owner = index[d] / (a->dargs[d] == MPI_DISTRIBUTE_DFLT_DARG ? block : a->dargs[d]);
        else if (a->distribs[d] == MPI_DISTRIBUTE_CYCLIC)
            owner = index[d] / (a->dargs[d] == MPI_DISTRIBUTE_DFLT_DARG ? 1 : a->dargs[d]) % p;
        if (owner != mine)
            return false;
        below *= p;
    }
    return true;
}

static inline void make_darray(uint64_t *seed, const struct sample *old, struct sample *made)
{
    static const int kinds[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    struct darray a = { .ndims = 1 + unit_below(seed, DIMENSIONS_MAX), .size = 1 };
    MPI_Count sizes[DIMENSIONS_MAX];
    a.order = unit_below(seed, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < a.ndims; d++) {
        a.distribs[d] = kinds[unit_below(seed, 3)];
        sizes[d] = a.sizes[d] = 1 + unit_below(seed, 7);
        a.psizes[d] = a.distribs[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + unit_below(seed, 3);
        a.dargs[d] = unit_below(seed, 2) ? MPI_DISTRIBUTE_DFLT_DARG : 1 + unit_below(seed, 3);
        if (a.distribs[d] == MPI_DISTRIBUTE_BLOCK && a.dargs[d] * a.psizes[d] < a.sizes[d])
            a.dargs[d] = a.sizes[d];
        a.size *= a.psizes[d];
    }
    a.rank = unit_below(seed, a.size);
    ck_assert_int_eq(unit_below(seed, 2) ? MPI_Type_create_darray(a.size, a.rank, a.ndims, a.sizes, a.distribs, a.dargs,
                                                                  a.psizes, a.order, old->type, &made->type)
                                         : MPI_Type_create_darray_c(a.size, a.rank, a.ndims, sizes, a.distribs, a.dargs,
                                                                    a.psizes, a.order, old->type, &made->type),
                     MPI_SUCCESS);
    append_array(&made->map, &old->map, a.ndims, a.order, a.sizes, in_darray, &a);
}

/* A random, committed datatype of at most `depth` nested constructors. */
static inline struct sample sample_random(uint64_t *seed, int depth)
{
    if (depth == 0)
        return sample_predefined(seed);
    struct sample old[CHILDREN_MAX], made = { 0 };
    int kind = unit_below(seed, 8), children = kind == 0 ? CHILDREN_MAX : 1;
    for (int i = 0; i < children; i++)
        old[i] = sample_random(seed, unit_below(seed, depth));
    switch (kind) {
    case 0: make_struct(seed, old, &made); break;
    case 1:
    case 2: make_vector(seed, old, &made); break;
    case 3: make_indexed(seed, old, &made); break;
    case 4: make_subarray(seed, old, &made); break;
    case 5: make_darray(seed, old, &made); break;
    case 6: make_resized(seed, old, &made); break;
    default: make_dup(old, &made);
    }
    for (int i = 0; i < children; i++)
        sample_free(&old[i]);
    ck_assert_int_eq(MPI_Type_commit(&made.type), MPI_SUCCESS);
    return made;
}

/* Small enough to be written out; otherwise it is freed. */
static inline bool sample_usable(struct sample *sample)
{
    long lb, ub, extent = typemap_extent(&sample->map);
    typemap_true_bounds(&sample->map, &lb, &ub);
    if (sample->map.count <= ENTRIES_MAX && lb > -BOUND_MAX && ub < BOUND_MAX && labs(extent) < BOUND_MAX)
        return true;
    sample_free(sample);
    return false;
}

#endif
