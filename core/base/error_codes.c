/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes and codes that the user adds. See error_codes.h.
 *
 * Locking: `lock` for everything here; `last_used` is atomic because the user reads it through a plain pointer.
 */
#include "core/base/error_codes.h"

#include <stdatomic.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/vec.h"

enum { FIRST = MPI_ERR_LASTCODE + 1, CODES_MAX = 1 << 20 };

enum state { UNUSED, CLASS, CODE };

struct code {
    enum state state;
    int class;  /* of a code; of one that is not used any more: the next such one, -1: none */
    int codes;  /* of a class: their number */
    char *text; /* or NULL */
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static struct code few[16]; /* the first need no memory that would leak when the library is unloaded */
static PL_VEC(struct code) table = { .any = { few, .capacity = sizeof few / sizeof *few, .caller_owned = true } };
static int first_free = -1; /* the first of those that are not used any more; -1: none */
static _Atomic int last_used = MPI_ERR_LASTCODE;
_Static_assert(sizeof last_used == sizeof(int), "the user reads the attribute as an int");

static struct code *error_codes_find_locked(int number)
{
    if (number < FIRST || number - FIRST >= (int)table.count || table.items[number - FIRST].state == UNUSED)
        return NULL;
    return &table.items[number - FIRST];
}

static int add_locked(struct code code, int *number)
{
    struct code *place = NULL;
    if (first_free >= 0) {
        place = &table.items[first_free];
        first_free = place->class;
    } else if (table.count < CODES_MAX) {
        place = PL_VEC_PUSH(&table);
    }
    if (!place)
        return pl_fail_memory("error codes");
    *place = code;
    *number = FIRST + (int)(place - table.items);
    if (*number > last_used)
        last_used = *number;
    return MPI_SUCCESS;
}

int pl_error_add_class(int *class)
{
    pl_lock_take(&lock);
    int err = add_locked((struct code){ .state = CLASS }, class);
    pl_lock_drop(&lock);
    return err;
}

int pl_error_add_code(int class, int *code)
{
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(class);
    int err = MPI_SUCCESS;
    if (pl_error_class_name(class) == NULL && (!of || of->state != CLASS))
        err = pl_fail(MPI_ERR_ARG, "errorclass %d is not an error class", class);
    if (!err)
        err = add_locked((struct code){ .state = CODE, .class = class }, code);
    if (!err && (of = error_codes_find_locked(class)))
        of->codes++;
    pl_lock_drop(&lock);
    return err;
}

int pl_error_add_text(int code, const char *text)
{
    if (strlen(text) >= MPI_MAX_ERROR_STRING)
        return pl_fail(MPI_ERR_ARG, "string has %zu characters; at most %d are allowed", strlen(text),
                       MPI_MAX_ERROR_STRING - 1);
    char *copy = pl_strdup(text);
    if (!copy)
        return pl_fail_memory("an error string");
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(code);
    if (of) {
        char *old = of->text;
        of->text = copy;
        copy = old;
    }
    pl_lock_drop(&lock);
    free(copy);
    return of ? MPI_SUCCESS : pl_fail(MPI_ERR_ARG, "errorcode %d is not a class or code that was added", code);
}

static void clear_locked(struct code *code)
{
    free(code->text);
    *code = (struct code){ .state = UNUSED, .class = first_free };
    first_free = (int)(code - table.items);
}

int pl_error_remove_class(int class)
{
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(class);
    int err = MPI_SUCCESS;
    if (!of || of->state != CLASS)
        err = pl_fail(MPI_ERR_ARG, "errorclass %d is not a class that was added", class);
    else if (of->codes > 0)
        err = pl_fail(MPI_ERR_OTHER, "errorclass %d still has %d error codes; remove them first", class, of->codes);
    else if (of->text)
        err = pl_fail(MPI_ERR_OTHER, "errorclass %d still has its string; remove it first", class);
    else
        clear_locked(of);
    pl_lock_drop(&lock);
    return err;
}

int pl_error_remove_code(int code)
{
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(code);
    int err = MPI_SUCCESS;
    if (!of || of->state != CODE) {
        err = pl_fail(MPI_ERR_ARG, "errorcode %d is not a code that was added", code);
    } else if (of->text) {
        err = pl_fail(MPI_ERR_OTHER, "errorcode %d still has its string; remove it first", code);
    } else {
        struct code *class = error_codes_find_locked(of->class);
        if (class)
            class->codes--;
        clear_locked(of);
    }
    pl_lock_drop(&lock);
    return err;
}

int pl_error_remove_text(int code)
{
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(code);
    int err = MPI_SUCCESS;
    if (!of || !of->text) {
        err = pl_fail(MPI_ERR_ARG, "errorcode %d has no string that was added", code);
    } else {
        free(of->text);
        of->text = NULL;
    }
    pl_lock_drop(&lock);
    return err;
}

bool pl_error_user_text(int code, char text[MPI_MAX_ERROR_STRING])
{
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(code);
    if (of)
        strcpy(text, of->text ? of->text : ""); /* pl_error_add_text() has checked that it fits */
    pl_lock_drop(&lock);
    return of != NULL;
}

const int *pl_error_last_used(void)
{
    return (const int *)&last_used;
}

bool pl_error_code_valid(int code)
{
    if (pl_error_class_name(code))
        return true;
    pl_lock_take(&lock);
    bool valid = error_codes_find_locked(code) != NULL;
    pl_lock_drop(&lock);
    return valid;
}

int pl_error_code_class(int code)
{
    if (pl_error_class_name(code))
        return code;
    pl_lock_take(&lock);
    struct code *of = error_codes_find_locked(code);
    int class = !of ? MPI_ERR_UNKNOWN : of->state == CLASS ? code : of->class;
    pl_lock_drop(&lock);
    return class;
}
