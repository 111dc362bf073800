/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: which one applies to an error, its invocation, and the report that it gets.
 *
 * Locking: an object's lock protects its handler; `lock` protects that of MPI_FILE_NULL and the one for errors of no
 * object. A thread that invokes a handler holds a reference and no lock.
 */
#include "core/object/errhandler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/error_codes.h"
#include "core/base/lock.h"
#include "core/base/log.h"
#include "core/object/errhandler_policy.h"
#include "core/object/errhandler_standard.h"
#include "core/object/info.h"

#define PREDEFINED(constant, ops_)                                                                                     \
    {                                                                                                                  \
        .obj = PL_OBJECT_PREDEFINED(PL_ERRHANDLER, (int32_t)(uintptr_t)(constant)), .named.ops = &(ops_)               \
    }

static struct pl_errhandler are_fatal = PREDEFINED(MPI_ERRORS_ARE_FATAL, pl_errhandler_are_fatal);
static struct pl_errhandler errors_abort = PREDEFINED(MPI_ERRORS_ABORT, pl_errhandler_abort);
static struct pl_errhandler errors_return = PREDEFINED(MPI_ERRORS_RETURN, pl_errhandler_return);

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_OBJECT);
static struct pl_errhandler *of_file_null = &errors_return;
static struct pl_errhandler
    *of_nothing; /* that of MPI_COMM_SELF while the World is initialized; NULL: the initial one */

void *pl_errhandler_predefined(uintptr_t constant)
{
    switch (constant) {
    case (uintptr_t)MPI_ERRORS_ARE_FATAL: return &are_fatal;
    case (uintptr_t)MPI_ERRORS_ABORT: return &errors_abort;
    case (uintptr_t)MPI_ERRORS_RETURN: return &errors_return;
    default: return NULL;
    }
}

void pl_errhandler_destroy(void *errhandler)
{
    struct pl_errhandler *handler = errhandler;
    pl_named_close(&handler->named);
    if (handler->destructor)
        handler->destructor(handler->extra_state);
}

int pl_errhandler_create_named(const char *name, struct pl_errhandler **handler)
{
    struct pl_errhandler *const standard[] = { &are_fatal, &errors_abort, &errors_return };
    struct pl_named named;
    int rc = pl_named_open(name, &named);
    if (rc)
        return rc;
    for (int i = 0; i < 3; i++) {
        if (standard[i]->named.ops == named.ops) {
            *handler = standard[i];
            return MPI_SUCCESS;
        }
    }
    *handler = pl_object_create(PL_ERRHANDLER);
    if (*handler)
        (*handler)->named = named;
    else
        pl_named_close(&named);
    return *handler ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int pl_errhandler_from_info(struct pl_info *info, struct pl_errhandler **handler)
{
    char why[PL_DETAIL_MAX], *name;
    *handler = NULL;
    int rc = pl_info_get(info, "plenum_errhandler", &name);
    if (name)
        rc = pl_errhandler_create_named(name, handler);
    free(name);
    if (rc == MPI_SUCCESS)
        return MPI_SUCCESS;
    strcpy(why, pl_error_detail(NULL));
    return pl_fail(rc == MPI_ERR_ARG ? MPI_ERR_INFO_VALUE : rc, "info key plenum_errhandler: %s", why);
}

int pl_errhandler_initial(struct pl_errhandler **handler)
{
    int rc = pl_errhandler_create_named(pl_config_text("initial_errhandler"), handler);
    if (rc)
        *handler = &are_fatal;
    return rc;
}

/* --- attached handlers --------------------------------------------------------------------------------------- */

/* How errors of this object are handled, or errors of no object. */
static const struct pl_kind_errors *errors_of(enum pl_kind kind, const void *object)
{
    return object && pl_kinds[kind].errors ? pl_kinds[kind].errors : pl_kinds[0].errors;
}

/* The place of the handler, and the lock for it. Errors of no object may be raised at any time, also while another
 * thread finalizes: they have a slot of their own and do not use MPI_COMM_SELF's. */
static struct pl_errhandler **errhandler_slot(enum pl_kind kind, void *object, struct pl_lock **guard)
{
    const struct pl_kind_errors *errors = errors_of(kind, object);
    if (errors->slot)
        return errors->slot(object, guard);
    *guard = &lock;
    return kind == PL_FILE ? &of_file_null : &of_nothing;
}

struct pl_errhandler *pl_errhandler_of(enum pl_kind kind, void *object)
{
    struct pl_lock *guard;
    struct pl_errhandler **slot = errhandler_slot(kind, object, &guard), *handler;
    pl_lock_take(guard);
    handler = *slot ? pl_object_retain(*slot) : NULL;
    pl_lock_drop(guard);
    if (!handler && pl_errhandler_initial(&handler) != MPI_SUCCESS)
        pl_error_clear();
    return handler;
}

static void errhandler_replace(struct pl_errhandler **slot, struct pl_lock *guard, struct pl_errhandler *handler)
{
    if (handler)
        pl_object_retain(handler);
    pl_lock_take(guard);
    struct pl_errhandler *old = *slot;
    *slot = handler;
    pl_lock_drop(guard);
    pl_object_release(old);
}

void pl_errhandler_attach(enum pl_kind kind, void *object, struct pl_errhandler *handler)
{
    struct pl_lock *guard;
    struct pl_errhandler **slot = errhandler_slot(kind, object, &guard);
    errhandler_replace(slot, guard, handler);
    if (errors_of(kind, object)->attached)
        errors_of(kind, object)->attached(object, handler);
}

void pl_errhandler_of_nothing(struct pl_errhandler *handler)
{
    errhandler_replace(&of_nothing, &lock, handler);
}

struct pl_errhandler *pl_errhandler_take_file_null(void)
{
    pl_lock_take(&lock);
    struct pl_errhandler *old = of_file_null;
    of_file_null = &errors_return;
    pl_lock_drop(&lock);
    return old;
}

/* --- describing ---------------------------------------------------------------------------------------------- */

void pl_errhandler_describe(const struct pl_raised *raised, char name[MPI_MAX_OBJECT_NAME],
                            struct plenum_error_report *error)
{
    int class = pl_error_code_class(raised->code);
    const char *class_name = pl_error_class_name(class);
    const struct pl_kind_errors *errors = errors_of(raised->kind, raised->object);
    name[0] = '\0';
    if (errors->name)
        errors->name(raised->object, name, MPI_MAX_OBJECT_NAME);
    *error = (struct plenum_error_report){
        .kind = pl_kinds[raised->kind].name,
        .name = name,
        .handle = raised->object ? pl_object_handle(raised->object) : NULL,
        .function = raised->function,
        .code = raised->code,
        .error_class = class,
        .class_name = class_name ? class_name : "",
        .message = raised->message,
        .rank = errors->rank(raised->object),
    };
}

/* --- invoking ------------------------------------------------------------------------------------------------ */

/*
 * The handlers that this thread is executing, by the stack address of each invocation. A handler that was left by
 * longjmp() is below the next invocation's address (stacks grow downwards) and is forgotten.
 */
enum { DEEPEST = 16 };
static _Thread_local struct {
    int depth;
    uintptr_t at[DEEPEST];
} inside;

/* The depth to restore; -1: too deep. */
static int enter_handler(uintptr_t here)
{
    while (inside.depth > 0 && inside.at[inside.depth - 1] <= here)
        inside.depth--;
    int before = inside.depth;
    if (before == DEEPEST) {
        pl_log("errhandler", 0, "an error in an error handler is not handled: %d others are being handled", DEEPEST);
        return -1;
    }
    inside.at[inside.depth++] = here;
    return before;
}

static void invoke_extended(struct pl_errhandler *handler, void *handle, int code)
{
    switch (handler->target) {
    case PL_COMM: handler->call.comm_x(handle, code, handler->extra_state); break;
    case PL_WIN: handler->call.win_x(handle, code, handler->extra_state); break;
    case PL_FILE: handler->call.file_x(handle, code, handler->extra_state); break;
    case PL_SESSION: handler->call.session_x(handle, code, handler->extra_state); break;
    default: break;
    }
}

/*
 * The code is passed by address, as "the error code to be returned by the MPI routine that raised the error" (MPI-5.0
 * section 9.3.1): what the handler leaves there is returned, as by other libraries. MPI_SUCCESS says that the program
 * has dealt with the error; the function's results are undefined all the same.
 */
static void invoke_plain(struct pl_errhandler *handler, void *handle, const struct pl_raised *raised)
{
    int code = raised->code;
    MPI_Comm comm = handle;
    MPI_Win win = handle;
    MPI_File file = handle;
    MPI_Session session = handle;
    switch (handler->target) {
    case PL_COMM: handler->call.comm(&comm, &code); break;
    case PL_WIN: handler->call.win(&win, &code); break;
    case PL_FILE: handler->call.file(&file, &code); break;
    case PL_SESSION: handler->call.session(&session, &code); break;
    default: break;
    }
    if (raised->returned)
        *raised->returned = code;
}

/* For an error of no object a handler of communicators gets MPI_COMM_SELF, to which it is attached, even if another
 * thread finalizes meanwhile. A handle that the user has freed while operations go on is valid inside the handler. */
static void invoke_user(struct pl_errhandler *handler, const struct pl_raised *raised)
{
    void *object = raised->object;
    void *handle = object ? pl_object_handle(object) : (void *)pl_kinds[handler->target].null;
    bool freed = object && !pl_object_find(raised->kind, handle);
    if (!object && handler->target == PL_COMM)
        handle = MPI_COMM_SELF;
    if (freed)
        pl_handle_share(object);
    if (handler->extended)
        invoke_extended(handler, handle, raised->code);
    else
        invoke_plain(handler, handle, raised);
    if (freed)
        pl_handle_drop(object);
}

/* MPI_ERRORS_ABORT ends only this process if the error is of a session or of no object. */
static _Noreturn void errhandler_end(int action, const struct pl_raised *raised)
{
    if (action == PLENUM_ERROR_ABORT && (!raised->object || raised->kind == PL_SESSION)) {
        fflush(stdout); /* the program's output so far explains its end */
        fprintf(stderr, "%s\n", raised->message);
        _exit((raised->code & 0xff) ? raised->code & 0xff : 1);
    }
    errors_of(raised->kind, raised->object)
        ->end(raised->object, action == PLENUM_ERROR_ABORT, raised->code, raised->message);
}

void pl_errhandler_invoke_named(const struct pl_named *named, const struct pl_raised *raised)
{
    char name[MPI_MAX_OBJECT_NAME];
    struct plenum_error_report error;
    if (named->ops == &pl_errhandler_return)
        return;
    /* Fatal handlers act at any depth. */
    if (named->ops == &pl_errhandler_are_fatal || named->ops == &pl_errhandler_abort)
        errhandler_end(named->ops->handle(NULL, NULL), raised);
    int before = enter_handler((uintptr_t)__builtin_frame_address(0));
    if (before < 0)
        return;
    pl_errhandler_describe(raised, name, &error);
    int action = named->ops->handle(named->state, &error);
    inside.depth = before;
    if (action == PLENUM_ERROR_ABORT || action == PLENUM_ERROR_FATAL)
        errhandler_end(action, raised);
}

void pl_errhandler_invoke(struct pl_errhandler *handler, const struct pl_raised *raised)
{
    if (handler->named.ops) {
        pl_errhandler_invoke_named(&handler->named, raised);
        return;
    }
    int before = enter_handler((uintptr_t)__builtin_frame_address(0));
    if (before < 0)
        return;
    invoke_user(handler, raised);
    inside.depth = before;
}

static _Thread_local void *kept;

void pl_errhandler_keep(void *object)
{
    pl_object_release(kept);
    kept = object;
}

void pl_errhandler_raise(const struct pl_raised *raised, struct pl_errhandler *given)
{
    void *until_raised = kept;
    kept = NULL; /* a handler may raise errors, too */
    struct pl_errhandler *handler = given ? pl_object_retain(given) : pl_errhandler_of(raised->kind, raised->object);
    void *object = raised->object ? pl_object_retain(raised->object) : NULL; /* a handler may free it */
    if (!pl_errhandler_policy_apply(raised, handler))
        pl_errhandler_invoke(handler, raised);
    pl_object_release(object);
    pl_object_release(handler);
    pl_object_release(until_raised);
}
