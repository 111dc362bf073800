/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups. Members that are a sequence are never stored as a list, whatever operation made the group.
 * Locking: none. A group is immutable. The first thread that needs its index makes it; of several, the first one made
 * stays.
 */
#include "core/object/group.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"

/* The members of a list, sorted by process. */
struct pl_group_index {
    struct entry {
        uint64_t proc;
        int rank;
    } entries[1]; /* [group size] */
};
enum { INDEX_FROM = 16 }; /* shorter lists are searched from the front */

uint64_t pl_group_self;

static struct pl_group empty = {
    .obj = PL_OBJECT_PREDEFINED(PL_GROUP, (int32_t)(uintptr_t)MPI_GROUP_EMPTY),
    .rank = MPI_UNDEFINED,
    .stride = 1,
};

void *pl_group_predefined(uintptr_t constant)
{
    return constant == (uintptr_t)MPI_GROUP_EMPTY ? &empty : NULL;
}

void pl_group_destroy(void *object)
{
    struct pl_group *group = object;
    free(group->list);
    free(atomic_load(&group->index));
}

/* --- making -------------------------------------------------------------------------------------------------- */

static bool is_sequence(int size, const uint64_t *procs)
{
    if (size > 1 && procs[0] == procs[1])
        return false;
    for (int i = 2; i < size; i++)
        if (procs[i] - procs[i - 1] != procs[1] - procs[0])
            return false;
    return true;
}

static int list_find(int size, const uint64_t *procs, uint64_t proc)
{
    for (int i = 0; i < size; i++)
        if (procs[i] == proc)
            return i;
    return MPI_UNDEFINED;
}

struct pl_group *pl_group_create_range(struct pl_instance *instance, uint64_t serial, int size, uint64_t first,
                                       int64_t stride)
{
    if (size == 0)
        return &empty;
    struct pl_group *group = pl_object_create(PL_GROUP);
    if (!group)
        return NULL;
    group->instance = instance;
    group->instance_serial = serial;
    group->size = size;
    group->first = first;
    group->stride = size > 1 ? stride : 1;
    group->rank = pl_group_find(group, pl_group_self);
    return group;
}

/* Steals the malloc'ed list. The instance is that of `like`. */
static int group_adopt(const struct pl_group *like, int size, uint64_t *list, struct pl_group **result)
{
    bool sequence = is_sequence(size, list);
    int64_t stride = sequence && size > 1 ? (int64_t)(list[1] - list[0]) : 1;
    struct pl_group *group = pl_group_create_range(NULL, 0, size, size ? list[0] : 0, stride);
    if (!group) {
        free(list);
        return MPI_ERR_NO_MEM;
    }
    *result = group;
    if (size > 0) {
        group->instance = like->instance;
        group->instance_serial = like->instance_serial;
    }
    if (sequence) {
        free(list);
    } else {
        group->list = list;
        group->rank = list_find(size, list, pl_group_self);
    }
    return MPI_SUCCESS;
}

static uint64_t *list_create(int size)
{
    uint64_t *list = pl_malloc((size ? (size_t)size : 1) * sizeof *list);
    if (!list)
        pl_fail_memory("a group");
    return list;
}

struct pl_group *pl_group_create(struct pl_instance *instance, uint64_t serial, int size, const uint64_t *procs)
{
    struct pl_group like = { .instance = instance, .instance_serial = serial };
    struct pl_group *group;
    uint64_t *list = list_create(size);
    if (!list)
        return NULL;
    for (int i = 0; i < size; i++)
        list[i] = procs[i];
    return group_adopt(&like, size, list, &group) == MPI_SUCCESS ? group : NULL;
}

/* --- finding ------------------------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->proc, y = ((const struct entry *)b)->proc;
    return (x > y) - (x < y);
}

/* NULL: out of memory; the caller searches the list. */
static const struct entry *group_index_of(const struct pl_group *group)
{
    struct pl_group *owner = (struct pl_group *)group; /* the index is derived, and no part of the group's value */
    struct pl_group_index *index = atomic_load_explicit(&owner->index, memory_order_acquire);
    if (index)
        return index->entries;
    struct entry *entries = pl_malloc((size_t)group->size * sizeof *entries);
    if (!entries)
        return NULL;
    for (int i = 0; i < group->size; i++)
        entries[i] = (struct entry){ .proc = group->list[i], .rank = i };
    qsort(entries, (size_t)group->size, sizeof *entries, compare_entries);
    if (atomic_compare_exchange_strong(&owner->index, &index, (struct pl_group_index *)entries))
        return entries;
    free(entries);
    return index->entries;
}

static int sequence_find(const struct pl_group *group, uint64_t proc)
{
    int64_t distance = (int64_t)(proc - group->first);
    if (group->size == 0 || distance % group->stride != 0)
        return MPI_UNDEFINED;
    int64_t rank = distance / group->stride;
    return rank >= 0 && rank < group->size ? (int)rank : MPI_UNDEFINED;
}

int pl_group_find(const struct pl_group *group, uint64_t proc)
{
    if (!group->list)
        return sequence_find(group, proc);
    const struct entry *entries = group->size >= INDEX_FROM ? group_index_of(group) : NULL;
    if (!entries)
        return list_find(group->size, group->list, proc);
    struct entry key = { .proc = proc };
    const struct entry *found = bsearch(&key, entries, (size_t)group->size, sizeof key, compare_entries);
    return found ? found->rank : MPI_UNDEFINED;
}

int pl_group_compare(const struct pl_group *a, const struct pl_group *b)
{
    if (a->size != b->size)
        return MPI_UNEQUAL;
    int first_difference = 0;
    if (a->list == b->list && a->first == b->first && a->stride == b->stride)
        first_difference = a->size;
    while (first_difference < a->size && pl_group_proc(a, first_difference) == pl_group_proc(b, first_difference))
        first_difference++;
    if (first_difference == a->size)
        return MPI_IDENT;
    for (int i = first_difference; i < a->size; i++)
        if (pl_group_find(b, pl_group_proc(a, i)) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    return MPI_SIMILAR;
}

/* --- set operations ------------------------------------------------------------------------------------------ */

/* MPI_GROUP_EMPTY may be combined with groups of any instance. */
int pl_group_check_same(const struct pl_group *a, const struct pl_group *b)
{
    if (a->size == 0 || b->size == 0 || a->instance_serial == b->instance_serial)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_GROUP, "the groups come from two sessions, or from the World and a session");
}

int pl_group_union(const struct pl_group *a, const struct pl_group *b, struct pl_group **result)
{
    int err = pl_group_check_same(a, b);
    if (err)
        return err;
    if (b->size > INT32_MAX - a->size)
        return pl_fail(MPI_ERR_GROUP, "the groups have %d and %d processes: too many for one", a->size, b->size);
    uint64_t *list = list_create(a->size + b->size);
    if (!list)
        return MPI_ERR_NO_MEM;
    int size = 0;
    for (int i = 0; i < a->size; i++)
        list[size++] = pl_group_proc(a, i);
    for (int i = 0; i < b->size; i++)
        if (pl_group_find(a, pl_group_proc(b, i)) == MPI_UNDEFINED)
            list[size++] = pl_group_proc(b, i);
    return group_adopt(a->size ? a : b, size, list, result);
}

/* The members of `a`, in their order, that are in `b` or are not. */
static int select_members(const struct pl_group *a, const struct pl_group *b, bool wanted, struct pl_group **result)
{
    int err = pl_group_check_same(a, b);
    if (err)
        return err;
    uint64_t *list = list_create(a->size);
    if (!list)
        return MPI_ERR_NO_MEM;
    int size = 0;
    for (int i = 0; i < a->size; i++) {
        uint64_t proc = pl_group_proc(a, i);
        if ((pl_group_find(b, proc) != MPI_UNDEFINED) == wanted)
            list[size++] = proc;
    }
    return group_adopt(a, size, list, result);
}

int pl_group_intersection(const struct pl_group *a, const struct pl_group *b, struct pl_group **result)
{
    return select_members(a, b, true, result);
}

int pl_group_difference(const struct pl_group *a, const struct pl_group *b, struct pl_group **result)
{
    return select_members(a, b, false, result);
}

/* --- by rank ------------------------------------------------------------------------------------------------- */

/* A flag for each rank of the group, set for those in `ranks`, which must be valid and distinct. */
static int group_mark(const struct pl_group *group, int n, const int ranks[], bool **marks)
{
    bool *marked = pl_calloc((size_t)group->size + 1, sizeof *marked);
    if (!marked)
        return pl_fail_memory("the ranks of a group");
    int err = MPI_SUCCESS;
    for (int i = 0; i < n && !err; i++) {
        if (ranks[i] < 0 || ranks[i] >= group->size)
            err = pl_fail(MPI_ERR_RANK, "rank %d (at place %d) is not in the group of %d processes", ranks[i], i,
                          group->size);
        else if (marked[ranks[i]])
            err = pl_fail(MPI_ERR_RANK, "rank %d (at place %d) is there twice", ranks[i], i);
        else
            marked[ranks[i]] = true;
    }
    if (err)
        free(marked);
    else
        *marks = marked;
    return err;
}

int pl_group_incl(const struct pl_group *group, int n, const int ranks[], struct pl_group **result)
{
    bool *marked;
    int err = group_mark(group, n, ranks, &marked);
    if (err)
        return err;
    free(marked);
    uint64_t *list = list_create(n);
    if (!list)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++)
        list[i] = pl_group_proc(group, ranks[i]);
    return group_adopt(group, n, list, result);
}

int pl_group_excl(const struct pl_group *group, int n, const int ranks[], struct pl_group **result)
{
    bool *marked;
    int size = 0, err = group_mark(group, n, ranks, &marked);
    if (err)
        return err;
    uint64_t *list = list_create(group->size);
    for (int i = 0; list && i < group->size; i++)
        if (!marked[i])
            list[size++] = pl_group_proc(group, i);
    free(marked);
    return list ? group_adopt(group, size, list, result) : MPI_ERR_NO_MEM;
}

/* Checks that a range is well-formed and inside the group, and counts its ranks. */
static int measure_range(const struct pl_group *group, int i, const int range[3], int *count)
{
    int64_t first = range[0], last = range[1], stride = range[2];
    if (stride == 0)
        return pl_fail(MPI_ERR_ARG, "ranges[%d] has stride 0", i);
    if (first != last && (first < last) != (stride > 0))
        return pl_fail(MPI_ERR_ARG, "ranges[%d] is %d, %d, %d: the stride does not lead from first to last", i,
                       range[0], range[1], range[2]);
    int64_t steps = (last - first) / stride, by_cma = first + steps * stride;
    if (first < 0 || first >= group->size || by_cma < 0 || by_cma >= group->size)
        return pl_fail(MPI_ERR_RANK, "ranges[%d] is %d, %d, %d: the ranks are not all in the group of %d processes", i,
                       range[0], range[1], range[2], group->size);
    *count = (int)steps + 1;
    return MPI_SUCCESS;
}

int pl_group_expand(const struct pl_group *group, int n, int ranges[][3], int *count, int **ranks)
{
    int64_t total = 0;
    int length = 0, used = 0;
    for (int i = 0; i < n; i++) {
        int err = measure_range(group, i, ranges[i], &length);
        if (err)
            return err;
        total += length;
    }
    if (total > group->size)
        return pl_fail(MPI_ERR_RANK, "the ranges have %lld ranks, so some are there twice in a group of %d processes",
                       (long long)total, group->size);
    int *expanded = pl_malloc((size_t)(total + 1) * sizeof *expanded);
    if (!expanded)
        return pl_fail_memory("the ranks of a group");
    for (int i = 0; i < n; i++) {
        measure_range(group, i, ranges[i], &length);
        for (int k = 0; k < length; k++)
            expanded[used++] = ranges[i][0] + k * ranges[i][2];
    }
    *count = used;
    *ranks = expanded;
    return MPI_SUCCESS;
}
