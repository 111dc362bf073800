/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators, datatypes and windows, and the standard's attributes of every communicator.
 *
 * The value of a standard attribute is a pointer to an int that belongs to the library. The value of a user's attribute
 * is the pointer itself. Fortran has integers (core/object/attr.h): the functions _as_fortran set and get these.
 */
#include "core/object/attr.h"

#include <limits.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/base/error_codes.h"
#include "core/job/process.h"
#include "mpi-ext.h"

#define NAMES(X)                                                                                                       \
    X(MPIX_Comm_create_keyval_x)                                                                                       \
    X(MPIX_Type_create_keyval_x)                                                                                       \
    X(MPIX_Win_create_keyval_x)                                                                                        \
    X(MPIX_Comm_set_attr_as_fortran)                                                                                   \
    X(MPIX_Comm_get_attr_as_fortran)                                                                                   \
    X(MPIX_Type_set_attr_as_fortran)                                                                                   \
    X(MPIX_Type_get_attr_as_fortran)                                                                                   \
    X(MPIX_Win_set_attr_as_fortran)                                                                                    \
    X(MPIX_Win_get_attr_as_fortran)
NAMES(PL_WEAK)

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

static int create_keyval(struct pl_call *call, enum pl_kind kind, const struct pl_keyval_functions *functions,
                         int *keyval)
{
    pl_arg_output(call, keyval, "keyval");
    if (!call->err)
        call->err = pl_keyval_create(kind, functions, keyval);
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

/* Ends a call that has kept the object: a delete callback may have freed it, or finalized its session. Then it has no
 * attributes either. */
static int leave_kept(struct pl_call *call, struct pl_attrs **attrs, void *object)
{
    struct pl_object *o = object;
    if (o && atomic_load(&o->handles) <= 0)
        pl_attrs_forget(attrs);
    return pl_call_leave_kept(call, o);
}

static int set_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, void *object, int keyval,
                    void *value, bool fortran)
{
    refuse_predefined(call, kind, keyval);
    void *kept = call->err ? NULL : pl_object_retain(object);
    if (!call->err)
        call->err = pl_attr_set(attrs, kind, keyval, pl_object_handle(object), value, fortran);
    return leave_kept(call, attrs, kept);
}

static int get_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, int keyval, void *value,
                    int *flag, bool fortran)
{
    bool found = false;
    void *got = NULL;
    pl_arg_output(call, value, "attribute_val");
    pl_arg_output(call, flag, "flag");
    if (!call->err && is_predefined(kind, keyval)) {
        const int *number = predefined_value(keyval);
        found = number != NULL;
        got = found && fortran ? (void *)(intptr_t)*number : (void *)(uintptr_t)number;
    } else if (!call->err) {
        call->err = pl_attr_get(attrs, kind, keyval, fortran, &got, &found);
    }
    if (!call->err) {
        *flag = found;
        if (found)
            *(void **)value = got;
    }
    return pl_call_leave(call);
}

static int get_comm_attr(struct pl_call *call, MPI_Comm comm, int keyval, void *value, int *flag, bool fortran)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    if (c && flag && is_predefined(PL_COMM, keyval) && !has_predefined(c, keyval)) {
        *flag = 0;
        return pl_call_leave(call);
    }
    return get_attr(call, c ? &c->attrs : NULL, PL_COMM, keyval, value, flag, fortran);
}

static int delete_attr(struct pl_call *call, struct pl_attrs **attrs, enum pl_kind kind, void *object, int keyval)
{
    refuse_predefined(call, kind, keyval);
    void *kept = call->err ? NULL : pl_object_retain(object);
    if (!call->err)
        call->err = pl_attr_delete(attrs, kind, keyval, pl_object_handle(object));
    return leave_kept(call, attrs, kept);
}

/* --- communicators ------------------------------------------------------------------------------------------- */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Comm_create_keyval);
    struct pl_keyval_functions functions = {
        { .comm = comm_copy_attr_fn }, { .comm = comm_delete_attr_fn }, extra_state, NULL, false
    };
    return create_keyval(&call, PL_COMM, &functions, comm_keyval);
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
    return set_attr(&call, c ? &c->attrs : NULL, PL_COMM, c, comm_keyval, attribute_val, false);
}

int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_attr);
    return get_comm_attr(&call, comm, comm_keyval, attribute_val, flag, false);
}

int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    struct pl_call call = PL_CALL(MPI_Comm_delete_attr);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return delete_attr(&call, c ? &c->attrs : NULL, PL_COMM, c, comm_keyval);
}

int MPIX_Comm_create_keyval_x(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                              MPI_Comm_delete_attr_function *comm_delete_attr_fn, MPIX_Destructor_function *destructor,
                              int *comm_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPIX_Comm_create_keyval_x);
    struct pl_keyval_functions functions = {
        { .comm = comm_copy_attr_fn }, { .comm = comm_delete_attr_fn }, extra_state, destructor, true
    };
    return create_keyval(&call, PL_COMM, &functions, comm_keyval);
}

int MPIX_Comm_set_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPIX_Comm_set_attr_as_fortran);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return set_attr(&call, c ? &c->attrs : NULL, PL_COMM, c, comm_keyval, attribute_val, true);
}

int MPIX_Comm_get_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPIX_Comm_get_attr_as_fortran);
    return get_comm_attr(&call, comm, comm_keyval, attribute_val, flag, true);
}

/* --- communicators, by the deprecated names ------------------------------------------------------------------ */

int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Keyval_create);
    struct pl_keyval_functions functions = { { .comm = copy_fn }, { .comm = delete_fn }, extra_state, NULL, false };
    return create_keyval(&call, PL_COMM, &functions, keyval);
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
    return set_attr(&call, c ? &c->attrs : NULL, PL_COMM, c, keyval, attribute_val, false);
}

int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Attr_get);
    return get_comm_attr(&call, comm, keyval, attribute_val, flag, false);
}

int MPI_Attr_delete(MPI_Comm comm, int keyval)
{
    struct pl_call call = PL_CALL(MPI_Attr_delete);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    return delete_attr(&call, c ? &c->attrs : NULL, PL_COMM, c, keyval);
}

/* --- datatypes ----------------------------------------------------------------------------------------------- */

int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                           MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Type_create_keyval);
    struct pl_keyval_functions functions = {
        { .type = type_copy_attr_fn }, { .type = type_delete_attr_fn }, extra_state, NULL, false
    };
    return create_keyval(&call, PL_DATATYPE, &functions, type_keyval);
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
    return set_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, t, type_keyval, attribute_val, false);
}

int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Type_get_attr);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return get_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, type_keyval, attribute_val, flag, false);
}

int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    struct pl_call call = PL_CALL(MPI_Type_delete_attr);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return delete_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, t, type_keyval);
}

int MPIX_Type_create_keyval_x(MPI_Type_copy_attr_function *type_copy_attr_fn,
                              MPI_Type_delete_attr_function *type_delete_attr_fn, MPIX_Destructor_function *destructor,
                              int *type_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPIX_Type_create_keyval_x);
    struct pl_keyval_functions functions = {
        { .type = type_copy_attr_fn }, { .type = type_delete_attr_fn }, extra_state, destructor, true
    };
    return create_keyval(&call, PL_DATATYPE, &functions, type_keyval);
}

int MPIX_Type_set_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPIX_Type_set_attr_as_fortran);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return set_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, t, type_keyval, attribute_val, true);
}

int MPIX_Type_get_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPIX_Type_get_attr_as_fortran);
    struct pl_type *t = pl_arg_type_uncommitted(&call, datatype);
    return get_attr(&call, t ? &t->attrs : NULL, PL_DATATYPE, type_keyval, attribute_val, flag, true);
}

/* --- windows --------------------------------------------------------------------------------------------- */

int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                          MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Win_create_keyval);
    struct pl_keyval_functions functions = {
        { .win = win_copy_attr_fn }, { .win = win_delete_attr_fn }, extra_state, NULL, false
    };
    return create_keyval(&call, PL_WIN, &functions, win_keyval);
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
    return set_attr(&call, w ? &w->attrs : NULL, PL_WIN, w, win_keyval, attribute_val, false);
}

/* C gets the base itself and pointers to the others, Fortran their values. */
static void *value_of_window(struct pl_win *win, int keyval, bool fortran)
{
    switch (keyval) {
    case MPI_WIN_BASE: return pl_win_address(win, win->base, win->size);
    case MPI_WIN_SIZE: return fortran ? (void *)win->size : &win->size;
    case MPI_WIN_DISP_UNIT: return fortran ? (void *)(intptr_t)win->disp_unit_int : &win->disp_unit_int;
    case MPI_WIN_CREATE_FLAVOR: return fortran ? (void *)(intptr_t)win->flavor : &win->flavor;
    default: return fortran ? (void *)(intptr_t)win->model : &win->model;
    }
}

static int get_win_attr(struct pl_call *call, MPI_Win win, int keyval, void *value, int *flag, bool fortran)
{
    struct pl_win *w = pl_arg_win(call, win);
    if (!w || !value || !flag || !is_predefined(PL_WIN, keyval))
        return get_attr(call, w ? &w->attrs : NULL, PL_WIN, keyval, value, flag, fortran);
    *(void **)value = value_of_window(w, keyval, fortran);
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Win_get_attr);
    return get_win_attr(&call, win, win_keyval, attribute_val, flag, false);
}

int MPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    struct pl_call call = PL_CALL(MPI_Win_delete_attr);
    struct pl_win *w = pl_arg_win(&call, win);
    return delete_attr(&call, w ? &w->attrs : NULL, PL_WIN, w, win_keyval);
}

int MPIX_Win_create_keyval_x(MPI_Win_copy_attr_function *win_copy_attr_fn,
                             MPI_Win_delete_attr_function *win_delete_attr_fn, MPIX_Destructor_function *destructor,
                             int *win_keyval, void *extra_state)
{
    struct pl_call call = PL_CALL(MPIX_Win_create_keyval_x);
    struct pl_keyval_functions functions = {
        { .win = win_copy_attr_fn }, { .win = win_delete_attr_fn }, extra_state, destructor, true
    };
    return create_keyval(&call, PL_WIN, &functions, win_keyval);
}

int MPIX_Win_set_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val)
{
    struct pl_call call = PL_CALL(MPIX_Win_set_attr_as_fortran);
    struct pl_win *w = pl_arg_win(&call, win);
    return set_attr(&call, w ? &w->attrs : NULL, PL_WIN, w, win_keyval, attribute_val, true);
}

int MPIX_Win_get_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    struct pl_call call = PL_CALL(MPIX_Win_get_attr_as_fortran);
    return get_win_attr(&call, win, win_keyval, attribute_val, flag, true);
}

PL_NAMES_ATTR(PL_PMPI)
NAMES(PL_PMPI)
