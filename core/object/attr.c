/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keyvals and attributes.
 *
 * Locking: `lock` protects the keyvals, all lists of attributes, and the objects' pointers to them. It is not held
 * while a callback runs. The attribute is marked `busy` meanwhile: it stays in place, and no other thread deletes it.
 * All state is read again after the callback.
 */
#include "core/object/attr.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/table.h"
#include "core/base/vec.h"

enum { FIRST = 1024, KEYVALS_MAX = 1 << 20 }; /* numbers of the user's keyvals; the standard's are lower */

struct keyval {
    enum pl_kind kind;
    int number;
    int refs;   /* one of the user, and one of each attribute */
    bool freed; /* by the user */
    struct pl_keyval_functions functions;
};

struct attr {
    struct pl_list link;
    struct pl_table *table;         /* the object's, of by_keyval */
    struct pl_table_node by_keyval; /* the key is the keyval's number */
    struct keyval *keyval;          /* counted */
    void *value;
    bool fortran; /* `value` is an integer */
    bool busy;    /* its delete callback is running */
};

struct pl_attrs {
    struct pl_list list; /* of attr.link, in the order in which they were set */
    struct pl_table by_keyval;
};

/* A place for a keyval: all that are free from `first_free` on are a list. */
struct slot {
    struct keyval *keyval; /* NULL: the place is free */
    int next_free;
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static struct slot few[16]; /* a few keyvals need no memory, which unloading the library would leak */
static PL_VEC(struct slot) slots = { .any = { few, .capacity = sizeof few / sizeof *few, .caller_owned = true } };
static int first_free = -1; /* -1: the list ends */

/* --- keyvals ------------------------------------------------------------------------------------------------- */

/* A keyval that the user may name; a freed one counts while it has attributes. */
static struct keyval *keyval_find_locked(enum pl_kind kind, int number)
{
    if (number < FIRST || number - FIRST >= (int)slots.count)
        return NULL;
    struct keyval *keyval = slots.items[number - FIRST].keyval;
    return keyval && keyval->kind == kind ? keyval : NULL;
}

static int fail_keyval(enum pl_kind kind, int number)
{
    if (number == MPI_KEYVAL_INVALID)
        return pl_fail(MPI_ERR_KEYVAL, "keyval is MPI_KEYVAL_INVALID");
    return pl_fail(MPI_ERR_KEYVAL, "keyval %d is not one for a %s", number, pl_kinds[kind].name);
}

/* Returns the keyval to destroy once the lock is dropped, or NULL. */
static struct keyval *keyval_release_locked(struct keyval *keyval)
{
    if (--keyval->refs > 0)
        return NULL;
    int slot = keyval->number - FIRST;
    slots.items[slot] = (struct slot){ .next_free = first_free };
    first_free = slot;
    return keyval;
}

static void keyval_destroy(struct keyval *dead)
{
    if (dead && dead->functions.destructor)
        dead->functions.destructor(dead->functions.extra);
    free(dead);
}

static int keyval_take_slot_locked(int *slot)
{
    *slot = first_free;
    if (first_free >= 0) {
        first_free = slots.items[first_free].next_free;
        return MPI_SUCCESS;
    }
    *slot = (int)slots.count;
    const struct slot *added = slots.count < KEYVALS_MAX ? PL_VEC_PUSH(&slots) : NULL;
    return added ? MPI_SUCCESS : pl_fail_memory("attribute keys");
}

int pl_keyval_create(enum pl_kind kind, const struct pl_keyval_functions *functions, int *keyval)
{
    struct keyval *made = pl_malloc(sizeof *made);
    if (!made)
        return pl_fail_memory("an attribute key");
    *made = (struct keyval){ .kind = kind, .refs = 1, .functions = *functions };
    int slot = 0;
    pl_lock_take(&lock);
    int err = keyval_take_slot_locked(&slot);
    if (!err) {
        made->number = FIRST + slot;
        *keyval = made->number;
        slots.items[slot].keyval = made;
        made = NULL;
    }
    pl_lock_drop(&lock);
    free(made);
    return err;
}

/* A keyval that is freed but still has attributes may be freed again: their delete callbacks know its number. */
int pl_keyval_free(enum pl_kind kind, int number)
{
    struct keyval *dead = NULL;
    pl_lock_take(&lock);
    struct keyval *keyval = keyval_find_locked(kind, number);
    if (keyval && !keyval->freed) {
        keyval->freed = true;
        dead = keyval_release_locked(keyval);
    }
    pl_lock_drop(&lock);
    keyval_destroy(dead);
    return keyval ? MPI_SUCCESS : fail_keyval(kind, number);
}

/* --- callbacks: no lock held --------------------------------------------------------------------------------- */

/* The value as C has it. */
static void *value_for_c(struct attr *attr)
{
    return attr->fortran ? &attr->value : attr->value;
}

/* An attribute to copy from, so that callbacks may change the object meanwhile. */
struct snapshot {
    struct keyval *keyval; /* counted */
    void *value, *for_c;
    bool fortran;
};

/* The copy is of the original's language, unless a callback in C has made it: its result is a pointer. No function
 * copies a window. */
static int call_copy(const struct snapshot *one, const void *handle, struct attr *copy, int *flag)
{
    const struct keyval *keyval = one->keyval;
    const struct pl_keyval_functions *functions = &keyval->functions;
    void *of = (void *)handle, *in = functions->values ? one->value : one->for_c;
    *flag = functions->copy.constant == (uintptr_t)MPI_COMM_DUP_FN;
    copy->value = one->value;
    copy->fortran = one->fortran;
    if (*flag || functions->copy.constant == (uintptr_t)MPI_COMM_NULL_COPY_FN)
        return MPI_SUCCESS;
    copy->fortran = functions->values && one->fortran;
    int code = keyval->kind == PL_COMM
                   ? functions->copy.comm(of, keyval->number, functions->extra, in, &copy->value, flag)
                   : functions->copy.type(of, keyval->number, functions->extra, in, &copy->value, flag);
    return code ? pl_fail(code, "the copy callback of keyval %d returned %d", keyval->number, code) : MPI_SUCCESS;
}

static int call_delete(struct attr *attr, const void *handle)
{
    const struct keyval *keyval = attr->keyval;
    const struct pl_keyval_functions *functions = &keyval->functions;
    void *of = (void *)handle, *deleted = functions->values ? attr->value : value_for_c(attr);
    if (functions->delete.constant == (uintptr_t)MPI_COMM_NULL_DELETE_FN)
        return MPI_SUCCESS;
    int code;
    if (keyval->kind == PL_COMM)
        code = functions->delete.comm(of, keyval->number, deleted, functions->extra);
    else if (keyval->kind == PL_DATATYPE)
        code = functions->delete.type(of, keyval->number, deleted, functions->extra);
    else
        code = functions->delete.win(of, keyval->number, deleted, functions->extra);
    return code ? pl_fail(code, "the delete callback of keyval %d returned %d", keyval->number, code) : MPI_SUCCESS;
}

/* --- one attribute ------------------------------------------------------------------------------------------- */

static struct attr *attr_find_locked(struct pl_attrs *attrs, const struct keyval *keyval)
{
    return attrs ? PL_TABLE_FIND(&attrs->by_keyval, (uint64_t)keyval->number, struct attr, by_keyval) : NULL;
}

/* Runs the delete callback of an attribute that the caller has marked busy; removes it if the callback succeeds, or in
 * any case (`anyway`). Without a handle there is no callback. */
static int delete_busy(struct attr *attr, const void *handle, bool anyway)
{
    int err = handle ? call_delete(attr, handle) : MPI_SUCCESS;
    struct keyval *dead = NULL;
    pl_lock_take(&lock);
    attr->busy = false;
    if (!err || anyway) {
        pl_list_remove(&attr->link);
        pl_table_remove(attr->table, &attr->by_keyval);
        dead = keyval_release_locked(attr->keyval);
    }
    pl_lock_drop(&lock);
    keyval_destroy(dead);
    if (!err || anyway)
        free(attr);
    return anyway ? MPI_SUCCESS : err;
}

static struct attr *attr_create(void *value, bool fortran)
{
    struct attr *attr = pl_malloc(sizeof *attr);
    if (attr)
        *attr = (struct attr){ .value = value, .fortran = fortran };
    return attr;
}

static int append_locked(struct pl_attrs **attrs, struct keyval *keyval, struct attr *attr)
{
    if (!*attrs) {
        struct pl_attrs *made = pl_calloc(1, sizeof *made);
        if (!made)
            return pl_fail_memory("an attribute");
        pl_list_init(&made->list);
        *attrs = made;
    }
    attr->keyval = keyval;
    keyval->refs++;
    pl_list_append(&(*attrs)->list, &attr->link);
    attr->table = &(*attrs)->by_keyval;
    pl_table_insert(attr->table, &attr->by_keyval, (uint64_t)keyval->number);
    return MPI_SUCCESS;
}

/* Deletes old values until there is none: another thread may set one meanwhile. */
int pl_attr_set(struct pl_attrs **attrs, enum pl_kind kind, int number, const void *handle, void *value, bool fortran)
{
    struct attr *attr = attr_create(value, fortran);
    if (!attr)
        return pl_fail_memory("an attribute");
    int err = MPI_SUCCESS;
    for (bool done = false; !err && !done;) {
        pl_lock_take(&lock);
        struct keyval *keyval = keyval_find_locked(kind, number);
        struct attr *old = keyval ? attr_find_locked(*attrs, keyval) : NULL;
        bool valid = keyval && !keyval->freed, busy = old && old->busy;
        if (valid && !old) {
            err = append_locked(attrs, keyval, attr);
            done = true;
        } else if (valid && !busy) {
            old->busy = true;
        }
        pl_lock_drop(&lock);
        if (!valid)
            err = fail_keyval(kind, number);
        else if (busy)
            err = pl_fail(MPI_ERR_KEYVAL, "the attribute with keyval %d is being deleted", number);
        else if (!done)
            err = delete_busy(old, handle, false);
    }
    if (err)
        free(attr);
    return err;
}

int pl_attr_get(struct pl_attrs *const *attrs, enum pl_kind kind, int number, bool fortran, void **value, bool *found)
{
    pl_lock_take(&lock);
    struct keyval *keyval = keyval_find_locked(kind, number);
    struct attr *attr = keyval ? attr_find_locked(*attrs, keyval) : NULL;
    *found = attr != NULL;
    if (attr)
        *value = fortran ? attr->value : value_for_c(attr);
    pl_lock_drop(&lock);
    return keyval ? MPI_SUCCESS : fail_keyval(kind, number);
}

/* An attribute that is not set is deleted without an error. */
int pl_attr_delete(struct pl_attrs **attrs, enum pl_kind kind, int number, const void *handle)
{
    pl_lock_take(&lock);
    struct keyval *keyval = keyval_find_locked(kind, number);
    struct attr *attr = keyval ? attr_find_locked(*attrs, keyval) : NULL;
    if (attr && attr->busy)
        attr = NULL;
    if (attr)
        attr->busy = true;
    pl_lock_drop(&lock);
    if (!keyval)
        return fail_keyval(kind, number);
    return attr ? delete_busy(attr, handle, false) : MPI_SUCCESS;
}

/* --- all attributes of an object ----------------------------------------------------------------------------- */

/* Marks the attribute that was set last as busy, except those that are being deleted. */
static struct attr *take_last_locked(struct pl_attrs *attrs)
{
    for (struct pl_list *node = attrs->list.prev; node != &attrs->list; node = node->prev) {
        struct attr *attr = PL_CONTAINER(node, struct attr, link);
        if (attr->busy)
            continue;
        attr->busy = true;
        return attr;
    }
    return NULL;
}

static int delete_all(struct pl_attrs **attrs, const void *handle, bool anyway)
{
    struct pl_attrs *dead = NULL;
    int err = MPI_SUCCESS;
    while (!err) {
        pl_lock_take(&lock);
        struct attr *attr = *attrs ? take_last_locked(*attrs) : NULL;
        if (*attrs && pl_list_empty(&(*attrs)->list)) {
            dead = *attrs;
            *attrs = NULL;
        }
        pl_lock_drop(&lock);
        if (!attr)
            break;
        err = delete_busy(attr, handle, anyway);
    }
    if (dead)
        pl_table_fini(&dead->by_keyval);
    free(dead);
    return err;
}

int pl_attrs_delete(struct pl_attrs **attrs, const void *handle)
{
    return delete_all(attrs, handle, false);
}

void pl_attrs_discard(struct pl_attrs **attrs, const void *handle)
{
    delete_all(attrs, handle, true);
}

void pl_attrs_forget(struct pl_attrs **attrs)
{
    delete_all(attrs, NULL, true);
}

static int snapshot_take(struct pl_attrs *const *from, struct snapshot **list, int *count)
{
    int i = 0, err = MPI_SUCCESS;
    *list = NULL;
    *count = 0;
    pl_lock_take(&lock);
    if (*from) {
        PL_LIST_EACH(attr, &(*from)->list, struct attr, link)
            i++;
        *list = pl_malloc(((size_t)i + 1) * sizeof **list);
        if (!*list)
            err = pl_fail_memory("attributes");
        else
            PL_LIST_EACH(attr, &(*from)->list, struct attr, link) {
                attr->keyval->refs++;
                (*list)[(*count)++] = (struct snapshot){ attr->keyval, attr->value, value_for_c(attr), attr->fortran };
            }
    }
    pl_lock_drop(&lock);
    return err;
}

static void snapshot_free(struct snapshot *list, int count)
{
    for (int i = 0; i < count; i++) {
        pl_lock_take(&lock);
        struct keyval *dead = keyval_release_locked(list[i].keyval);
        pl_lock_drop(&lock);
        keyval_destroy(dead);
    }
    free(list);
}

static int copy_one(const struct snapshot *one, const void *handle, struct pl_attrs **to)
{
    struct attr *attr = attr_create(NULL, one->fortran);
    if (!attr)
        return pl_fail_memory("an attribute");
    attr->keyval = one->keyval;
    int flag, err = call_copy(one, handle, attr, &flag);
    if (!err && flag) {
        pl_lock_take(&lock);
        err = append_locked(to, one->keyval, attr);
        pl_lock_drop(&lock);
        if (err)
            call_delete(attr, handle);
        else
            return MPI_SUCCESS;
    }
    free(attr);
    return err;
}

int pl_attrs_copy(struct pl_attrs *const *from, const void *handle, struct pl_attrs **to)
{
    struct snapshot *list;
    int count, err = snapshot_take(from, &list, &count);
    for (int i = 0; i < count && !err; i++)
        err = copy_one(&list[i], handle, to);
    snapshot_free(list, count);
    if (err) {
        char detail[PL_DETAIL_MAX];
        strcpy(detail, pl_error_detail(NULL)); /* failures of delete callbacks must not replace the reason */
        pl_attrs_discard(to, handle);
        pl_fail(err, "%s", detail);
    }
    return err;
}
