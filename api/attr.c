/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators, datatypes and windows, and the standard's attributes of every communicator.
 *
 * The value of a standard attribute is a pointer to an int that belongs to the library. The value of a user's attribute
 * is the pointer itself.
 */
#include "core/object/attr.h"

#include <limits.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/base/error_codes.h"
#include "core/job/process.h"

/* The address of a standard attribute's value; NULL: not a standard attribute. */
static const int *predefined_value(int keyval)
{
    static const int tag_ub = INT_MAX, any_source = MPI_ANY_SOURCE, no_host = MPI_PROC_NULL, not_global = 0;
    switch (keyval) {
    case MPI_TAG_UB: return &tag_ub;
    case MPI_IO: return &any_source;
    case MPI_HOST: return &no_host;
    case MPI_WTIME_IS_GLOBAL: return &not_global;
    case MPI_LASTUSEDCODE: return pl_error_last_used();
    case MPI_APPNUM: return pl_process.identity.appnum >= 0 ? &pl_process.identity.appnum : NULL;
    case MPI_UNIVERSE_SIZE: return pl_process.identity.universe > 0 ? &pl_process.identity.universe : NULL;
    default: return NULL;
    }
}

/* The others are the World's: communicators of sessions do not have them (MPI-5.0 section 9.1.2). */
static bool has_predefined(const struct pl_comm *comm, int keyval)
{
    return comm->instance->world || keyval == MPI_TAG_UB || keyval == MPI_LASTUSEDCODE;
}

static bool is_predefined(enum pl_kind kind, int keyval)
{
    return (kind == PL_COMM && keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) ||
           (kind == PL_WIN && keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL);
}

static void refuse_predefined(struct pl_call *call, enum pl_kind kind, int keyval)
{
    if (is_predefined(kind, keyval))
        pl_call_error(call, MPI_ERR_KEYVAL, "keyval %d is predefined; it cannot be set, deleted or freed", keyval);
}

/* --- for all three kinds of objects; `call` has resolved the object --------------------------------------------- */

static int create_keyval(struct pl_call *call, enum pl_kind kind, union pl_attr_copy copy, union pl_attr_delete delete,
                         void *extra, int *keyval)
{
    pl_arg_output(call, keyval, "keyval");
    if (!call->err)
        call->err = pl_keyval_create(kind, copy, delete, extra, keyval);
    return pl_call_leave(call);
}

static int free_keyval(struct pl_call *call, enum pl_kind kind, int *keyval)
{
    pl_arg_output(call, keyval, "keyval");
    if (!call->err)
        refuse_predefined(call, kind, *keyval);
    if (!call->err)
        call->err = pl_keyval_free(kind, *keyval);
    if (!call->err)
        *keyval = MPI_KEYVAL_INVALID;
    return pl_call_leave(call);
}

static int set_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, const void *handle, int keyval,
                    void *value)
{
    refuse_predefined(call, kind, keyval);
    if (!call->err)
        call->err = pl_attr_set(attrs, kind, keyval, handle, value);
    return pl_call_leave(call);
}

static int get_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, int keyval, void *value,
                    int *flag)
{
    bool found = false;
    void *got = NULL;
    pl_arg_output(call, value, "attribute_val");
    pl_arg_output(call, flag, "flag");
    if (!call->err && is_predefined(kind, keyval)) {
        got = (void *)(uintptr_t)predefined_value(keyval);
        found = got != NULL;
    } else if (!call->err) {
        call->err = pl_attr_get(attrs, kind, keyval, &got, &found);
    }
    if (!call->err) {
        *flag = found;
        if (found)
            *(void **)value = got;
    }
    return pl_call_leave(call);
}

static int get_comm_attr(struct pl_call *call, MPI_Comm comm, int keyval, void *value, int *flag)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    if (c && flag && is_predefined(PL_COMM, keyval) && !has_predefined(c, keyval)) {
        *flag = 0;
        return pl_call_leave(call);
    }
    return get_attr(call, c ? &c->attrs : NULL, PL_COMM, keyval, value, flag);
}

static int delete_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, const void *handle, int keyval)
{
    refuse_predefined(call, kind, keyval);
    if (!call->err)
        call->err = pl_attr_delete(attrs, kind, keyval, handle);
    return pl_call_leave(call);
}

/* --- communicators ------------------------------------------------------------------------------------------- */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Comm_create_keyval);
    union pl_attr_copy copy = { .comm = comm_copy_attr_fn };
    union pl_attr_delete delete = { .comm = comm_delete_attr_fn };
    return create_keyval(&call, PL_COMM, copy, delete, extra_state, comm_keyval);
}

int MPI_Comm_free_keyval(int *comm_keyval)
{
    struct pl_call call = PL_CALL(MPI_Comm_free_keyval);
    return free_keyval(&call, PL_COMM, comm_keyval);
}

int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPI_Comm_set_attr);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return set_attr(&call, c ? &c->attrs : NULL, PL_COMM, comm, comm_keyval, attribute_val);
}

int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_attr);
    return get_comm_attr(&call, comm, comm_keyval, attribute_val, flag);
}

int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    struct pl_call call = PL_CALL(MPI_Comm_delete_attr);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return delete_attr(&call, c ? &c->attrs : NULL, PL_COMM, comm, comm_keyval);
}

/* --- communicators, by the deprecated names ------------------------------------------------------------------ */

int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Keyval_create);
    union pl_attr_copy copy = { .comm = copy_fn };
    union pl_attr_delete delete = { .comm = delete_fn };
    return create_keyval(&call, PL_COMM, copy, delete, extra_state, keyval);
}

int MPI_Keyval_free(int *keyval)
{
    struct pl_call call = PL_CALL(MPI_Keyval_free);
    return free_keyval(&call, PL_COMM, keyval);
}

int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPI_Attr_put);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return set_attr(&call, c ? &c->attrs : NULL, PL_COMM, comm, keyval, attribute_val);
}

int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Attr_get);
    return get_comm_attr(&call, comm, keyval, attribute_val, flag);
}

int MPI_Attr_delete(MPI_Comm comm, int keyval)
{
    struct pl_call call = PL_CALL(MPI_Attr_delete);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return delete_attr(&call, c ? &c->attrs : NULL, PL_COMM, comm, keyval);
}

/* --- datatypes ----------------------------------------------------------------------------------------------- */

int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                           MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Type_create_keyval);
    union pl_attr_copy copy = { .type = type_copy_attr_fn };
    union pl_attr_delete delete = { .type = type_delete_attr_fn };
    return create_keyval(&call, PL_DATATYPE, copy, delete, extra_state, type_keyval);
}

int MPI_Type_free_keyval(int *type_keyval)
{
    struct pl_call call = PL_CALL(MPI_Type_free_keyval);
    return free_keyval(&call, PL_DATATYPE, type_keyval);
}

int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPI_Type_set_attr);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return set_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, datatype, type_keyval, attribute_val);
}

int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Type_get_attr);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return get_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, type_keyval, attribute_val, flag);
}

int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    struct pl_call call = PL_CALL(MPI_Type_delete_attr);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return delete_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, datatype, type_keyval);
}

/* --- windows --------------------------------------------------------------------------------------------- */

int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                          MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Win_create_keyval);
    union pl_attr_copy copy = { .win = win_copy_attr_fn };
    union pl_attr_delete delete = { .win = win_delete_attr_fn };
    return create_keyval(&call, PL_WIN, copy, delete, extra_state, win_keyval);
}

int MPI_Win_free_keyval(int *win_keyval)
{
    struct pl_call call = PL_CALL(MPI_Win_free_keyval);
    return free_keyval(&call, PL_WIN, win_keyval);
}

int MPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPI_Win_set_attr);
    struct pl_win *w = pl_arg_win(&call, win);
    return set_attr(&call, w ? &w->attrs : NULL, PL_WIN, win, win_keyval, attribute_val);
}

/* The base is the attribute itself; the others are pointers. */
static void *value_of_window(struct pl_win *win, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE: return pl_win_address(win, win->base, win->size);
    case MPI_WIN_SIZE: return &win->size;
    case MPI_WIN_DISP_UNIT: return &win->disp_unit_int;
    case MPI_WIN_CREATE_FLAVOR: return &win->flavor;
    default: return &win->model;
    }
}

int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Win_get_attr);
    struct pl_win *w = pl_arg_win(&call, win);
    if (!w || !attribute_val || !flag || !is_predefined(PL_WIN, win_keyval))
        return get_attr(&call, w ? &w->attrs : NULL, PL_WIN, win_keyval, attribute_val, flag);
    *(void **)attribute_val = value_of_window(w, win_keyval);
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    struct pl_call call = PL_CALL(MPI_Win_delete_attr);
    struct pl_win *w = pl_arg_win(&call, win);
    return delete_attr(&call, w ? &w->attrs : NULL, PL_WIN, win, win_keyval);
}

PL_NAMES_ATTR(PL_PMPI)
