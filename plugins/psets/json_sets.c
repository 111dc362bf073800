/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of a file's process sets. One walk through an expression serves two purposes: with a range function it
 * reports the members; without one it checks the form, and follows each name once to find cycles.
 */
#include "plugins/psets/json_sets.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"

enum { DEEPEST = 32, STEPS_MAX = 100000 };

/* The place in the file, and the function that gets the members (`range` NULL: only check). */
struct walk {
    const struct pl_psets_file *file;
    plenum_pset_range_function *range;
    void *to;
    int depth;  /* sets and expressions around this one */
    int *steps; /* expressions visited so far */
    char where[PL_PSETS_WHERE];
};

static PL_PRINTF(2, 3) int json_sets_fail(const struct walk *w, const char *format, ...);
static int json_sets_evaluate(struct walk *w, json_t *expression);

static int json_sets_fail(const struct walk *w, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pl_json_fail(&w->file->json, MPI_ERR_ARG, w->where, "%s", text);
}

/* Enters an object's member; its result is for json_sets_leave(). */
static size_t json_sets_enter(struct walk *w, const char *key)
{
    size_t before = strlen(w->where);
    pl_json_enter(w->where, sizeof w->where, key);
    return before;
}

static size_t json_sets_enter_index(struct walk *w, size_t index)
{
    char key[24];
    snprintf(key, sizeof key, "%zu", index);
    return json_sets_enter(w, key);
}

static void json_sets_leave(struct walk *w, size_t before)
{
    w->where[before] = '\0';
}

/* --- ranks ------------------------------------------------------------------------------------------------------ */

static int json_sets_give_ranks(struct walk *w, long first, long last)
{
    int size = w->file->host->size;
    if (first > last)
        return json_sets_fail(w, "%ld-%ld runs backwards", first, last);
    if (first < 0 || last >= size)
        return json_sets_fail(w, "rank %ld is not in the job: it has %d %s, 0 to %d", first < 0 ? first : last, size,
                              size == 1 ? "process" : "processes", size - 1);
    return w->range ? w->range(w->to, (int)first, (int)last) : MPI_SUCCESS;
}

static bool json_sets_read_number(const char **text, long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number <= INT_MAX;
}

/* "0-3,7,9-": a range without an end goes to the last process. */
static int json_sets_parse_ranks(struct walk *w, const char *text)
{
    const char *at = text;
    int rc = MPI_SUCCESS;
    do {
        long first, last;
        bool good = json_sets_read_number(&at, &first);
        last = first;
        if (good && *at == '-') {
            at++;
            if (*at == '\0' || *at == ',')
                last = first < w->file->host->size ? w->file->host->size - 1 : first;
            else
                good = json_sets_read_number(&at, &last);
        }
        if (!good || (*at && *at != ','))
            return json_sets_fail(w, "\"%.60s\" is not a list of ranks such as \"0-3,7,9-\"", text);
        rc = json_sets_give_ranks(w, first, last);
    } while (rc == MPI_SUCCESS && *at++ == ',');
    return rc;
}

static int json_sets_ranks(struct walk *w, json_t *value)
{
    int rc = MPI_SUCCESS;
    if (json_is_integer(value))
        return json_sets_give_ranks(w, (long)json_integer_value(value), (long)json_integer_value(value));
    if (json_is_string(value))
        return json_sets_parse_ranks(w, json_string_value(value));
    if (!json_is_array(value))
        return json_sets_fail(w, "ranks must be a number, a string such as \"0-3,7\", or a list of these");
    for (size_t i = 0; rc == MPI_SUCCESS && i < json_array_size(value); i++) {
        size_t before = json_sets_enter_index(w, i);
        json_t *one = json_array_get(value, i);
        rc = json_is_array(one) ? json_sets_fail(w, "a list of ranks must not contain lists") : json_sets_ranks(w, one);
        json_sets_leave(w, before);
    }
    return rc;
}

/* --- hosts ------------------------------------------------------------------------------------------------------ */

/* A name with or without its domain. */
static bool json_sets_is_this_host(const char *name)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t length = strcspn(own, ".");
    return strcmp(name, own) == 0 || strcmp(name, "localhost") == 0 ||
           (strlen(name) == length && strncmp(name, own, length) == 0);
}

static int json_sets_host(struct walk *w, json_t *value)
{
    const char *name = json_string_value(value);
    if (!name || !*name)
        return json_sets_fail(w, "a host must be a string: its name");
    if (!w->range)
        return MPI_SUCCESS;
    if (pl_process.identity.local_size != w->file->host->size)
        return pl_json_fail(&w->file->json, MPI_ERR_UNSUPPORTED_OPERATION, w->where,
                            "the hosts of processes are known only for jobs on one host");
    if (!json_sets_is_this_host(name))
        return json_sets_fail(w, "no process of the job runs on host \"%.80s\"", name);
    return w->range(w->to, 0, w->file->host->size - 1);
}

static int json_sets_hosts(struct walk *w, json_t *value)
{
    int rc = MPI_SUCCESS;
    if (!json_is_array(value))
        return json_sets_host(w, value);
    for (size_t i = 0; rc == MPI_SUCCESS && i < json_array_size(value); i++) {
        size_t before = json_sets_enter_index(w, i);
        rc = json_sets_host(w, json_array_get(value, i));
        json_sets_leave(w, before);
    }
    return rc;
}

/* --- other sets ------------------------------------------------------------------------------------------------- */

/* Members of another provider's set. Its errors get the place in the file before them. */
static int json_sets_foreign(struct walk *w, const char *name)
{
    char reason[512];
    int rc = w->file->host->members(w->file->host, name, w->range, w->to), class = rc;
    if (rc == MPI_SUCCESS || rc == MPI_ERR_NO_MEM)
        return rc;
    snprintf(reason, sizeof reason, "%s", pl_error_detail(&class));
    return pl_json_fail(&w->file->json, rc, w->where, "%s", reason);
}

/* Walks through a set of this file, for a set that refers to it or from the start. */
static int json_sets_walk(const struct walk *w, struct pl_psets_json_set *set)
{
    struct walk there = { w->file, w->range, w->to, w->depth, w->steps, "" };
    if (!w->range && set->state == PL_PSETS_CHECKED)
        return MPI_SUCCESS;
    if (!w->range && set->state == PL_PSETS_BEING_CHECKED)
        return json_sets_fail(w, "a cycle: \"%.80s\" refers to itself", set->name);
    set->state = w->range ? set->state : PL_PSETS_BEING_CHECKED;
    json_sets_enter(&there, "psets");
    json_sets_enter(&there, set->name);
    int rc = json_sets_evaluate(&there, set->expression);
    set->state = w->range ? set->state : PL_PSETS_CHECKED;
    return rc;
}

static int json_sets_reference(struct walk *w, const char *name)
{
    const char *wrong = pl_pset_name_check(name);
    char shown[80];
    if (wrong)
        return json_sets_fail(w, "\"%s\" is not a process set name: it %s",
                              pl_pset_name_show(name, shown, sizeof shown), wrong);
    struct pl_psets_json_set *own = pl_psets_file_find(w->file, name);
    if (own)
        return json_sets_walk(w, own);
    return w->range ? json_sets_foreign(w, name) : MPI_SUCCESS;
}

static int json_sets_hardware(struct walk *w, json_t *value)
{
    char name[128];
    const char *text = json_string_value(value);
    if (!text || !*text || strlen(text) > 64)
        return json_sets_fail(w, "\"hwloc\" must be a string such as \"NUMANode/0\"");
    snprintf(name, sizeof name, "hwloc://%s", text);
    return json_sets_reference(w, name);
}

/* --- set operations --------------------------------------------------------------------------------------------- */

/* An operand's members, in order. */
struct operand {
    int *rank; /* [count] */
    int count;
    unsigned char *is_in; /* [size] */
    int size;
};

static int json_sets_collect(void *to, int first, int last)
{
    struct operand *o = to;
    for (int r = first; r <= last && r < o->size; r++) {
        if (!o->is_in[r])
            o->rank[o->count++] = r;
        o->is_in[r] = 1;
    }
    return MPI_SUCCESS;
}

static int json_sets_open_operand(const struct pl_psets_file *file, struct operand *o)
{
    o->size = file->host->size;
    o->count = 0;
    o->rank = pl_malloc((size_t)o->size * sizeof *o->rank);
    o->is_in = pl_calloc((size_t)o->size, 1);
    return o->rank && o->is_in ? MPI_SUCCESS : pl_fail_memory("the members of a process set");
}

static void json_sets_close_operand(struct operand *o)
{
    free(o->rank);
    free(o->is_in);
}

enum operation { UNION, INTERSECTION, DIFFERENCE };

/* As in MPI_Group_union() and the like, the order is that of the first operand. */
static int json_sets_combine(struct operand *result, const struct operand *other, enum operation operation)
{
    int kept = 0;
    if (operation == UNION) {
        for (int i = 0; i < other->count; i++)
            json_sets_collect(result, other->rank[i], other->rank[i]);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < result->count; i++) {
        int r = result->rank[i];
        bool keep = other->is_in[r] == (operation == INTERSECTION);
        result->is_in[r] = keep;
        if (keep)
            result->rank[kept++] = r;
    }
    result->count = kept;
    return MPI_SUCCESS;
}

/* Combines operand `i` with the result so far. */
static int json_sets_join(struct walk *w, json_t *operands, size_t i, enum operation operation, struct operand *result)
{
    struct operand next;
    struct walk inner = *w;
    inner.range = json_sets_collect;
    inner.to = i == 0 ? result : &next;
    json_sets_enter_index(&inner, i);
    int rc = json_sets_open_operand(w->file, &next);
    if (rc == MPI_SUCCESS)
        rc = json_sets_evaluate(&inner, json_array_get(operands, i));
    if (rc == MPI_SUCCESS && i > 0)
        rc = json_sets_combine(result, &next, operation);
    json_sets_close_operand(&next);
    return rc;
}

static int json_sets_operate(struct walk *w, json_t *operands, enum operation operation)
{
    struct operand result;
    int rc = MPI_SUCCESS;
    if (!json_is_array(operands) || json_array_size(operands) == 0)
        return json_sets_fail(w, "this must be a list of sets: names, or expressions in {}");
    for (size_t i = 0; !w->range && rc == MPI_SUCCESS && i < json_array_size(operands); i++) {
        size_t before = json_sets_enter_index(w, i);
        rc = json_sets_evaluate(w, json_array_get(operands, i));
        json_sets_leave(w, before);
    }
    if (rc || !w->range)
        return rc;
    rc = json_sets_open_operand(w->file, &result);
    for (size_t i = 0; rc == MPI_SUCCESS && i < json_array_size(operands); i++)
        rc = json_sets_join(w, operands, i, operation, &result);
    for (int i = 0; rc == MPI_SUCCESS && i < result.count; i++)
        rc = w->range(w->to, result.rank[i], result.rank[i]);
    json_sets_close_operand(&result);
    return rc;
}

static int json_sets_union(struct walk *w, json_t *value)
{
    return json_sets_operate(w, value, UNION);
}

static int json_sets_intersection(struct walk *w, json_t *value)
{
    return json_sets_operate(w, value, INTERSECTION);
}

static int json_sets_difference(struct walk *w, json_t *value)
{
    return json_sets_operate(w, value, DIFFERENCE);
}

/* --- expressions ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *key;
    int (*run)(struct walk *w, json_t *value);
} kinds[] = {
    { "ranks", json_sets_ranks },
    { "hosts", json_sets_hosts },
    { "hwloc", json_sets_hardware },
    { "union", json_sets_union },
    { "intersection", json_sets_intersection },
    { "difference", json_sets_difference },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int json_sets_run_kind(struct walk *w, json_t *expression)
{
    static const char *const allowed[] = { "ranks",        "hosts",      "hwloc", "union",
                                           "intersection", "difference", "info",  NULL };
    int chosen = -1, count = 0;
    int rc = pl_json_keys(&w->file->json, w->where, expression, allowed);
    if (rc)
        return rc;
    for (int k = 0; k < KINDS; k++)
        if (json_object_get(expression, kinds[k].key)) {
            chosen = k;
            count++;
        }
    if (count != 1)
        return json_sets_fail(w,
                              "a set has one of ranks, hosts, hwloc, union, intersection, difference; this one has %d",
                              count);
    size_t before = json_sets_enter(w, kinds[chosen].key);
    rc = kinds[chosen].run(w, json_object_get(expression, kinds[chosen].key));
    json_sets_leave(w, before);
    return rc;
}

static int json_sets_evaluate(struct walk *w, json_t *expression)
{
    int rc;
    if (w->depth == DEEPEST)
        return json_sets_fail(w, "sets are nested deeper than %d", DEEPEST);
    if (++*w->steps > STEPS_MAX)
        return json_sets_fail(w, "finding the members of the set takes more than %d steps", STEPS_MAX);
    w->depth++;
    if (json_is_string(expression))
        rc = json_sets_reference(w, json_string_value(expression));
    else if (json_is_object(expression))
        rc = json_sets_run_kind(w, expression);
    else
        rc = json_sets_fail(w, "a set must be the name of another one, or {} with one of ranks, hosts, hwloc, union, "
                               "intersection, difference");
    w->depth--;
    return rc;
}

int pl_psets_file_check(const struct pl_psets_file *file, struct pl_psets_json_set *set)
{
    int steps = 0;
    const struct walk w = { .file = file, .steps = &steps };
    return json_sets_walk(&w, set);
}

int pl_psets_file_members(const struct pl_psets_file *file, struct pl_psets_json_set *set,
                          plenum_pset_range_function *range, void *to)
{
    int steps = 0;
    const struct walk w = { .file = file, .range = range, .to = to, .steps = &steps };
    return json_sets_walk(&w, set);
}
