/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: which one applies to an error, its invocation, and the report that it gets.
 *
 * Locking: an object's lock protects its handler; `lock` protects that of MPI_FILE_NULL and the one for errors of no
 * object. A thread that invokes a handler holds a reference and no lock.
 */
#include "core/object/errhandler.h"

#include <execinfo.h>
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
 * The handlers that this thread is executing, by the stack address of each invocation, and the references that each
 * needs. A handler may be left by an exception or longjmp(): it is then below the next invocation's address (stacks
 * grow downwards), is forgotten, and its references are released. Those that a handler does not need are released
 * before it is called, since nothing may run after it.
 */
enum { DEEPEST = 16 };
struct invocation {
    uintptr_t at;
    void *object, *until_raised; /* retained, or NULL */
    struct pl_errhandler *handler;
    enum pl_kind kind; /* of the object */
    bool shared;       /* its handle exists for this handler alone */
};
static _Thread_local struct {
    int depth;
    struct invocation of[DEEPEST];
    void *raised_at; /* where pl_errhandler_raise() continues */
} inside;

static void raised_unshare(enum pl_kind kind, void *object)
{
    const struct pl_kind_errors *errors = errors_of(kind, object);
    pl_handle_drop(object);
    if (errors->unshared)
        errors->unshared(object);
}

static void invocation_release(const struct invocation *one)
{
    if (one->shared)
        raised_unshare(one->kind, one->object);
    pl_object_release(one->object);
    pl_object_release(one->handler);
    pl_object_release(one->until_raised);
}

/* Those that are below this address. */
static void forget_below(uintptr_t here)
{
    while (inside.depth > 0 && inside.of[inside.depth - 1].at <= here) {
        struct invocation left = inside.of[--inside.depth];
        invocation_release(&left);
    }
}

void pl_errhandler_forget_left(void)
{
    forget_below((uintptr_t)__builtin_frame_address(0));
}

/* How many handlers this thread is really executing on its stack, besides the one to be entered. */
static int count_running(void)
{
    enum { FRAMES = 1024 };
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), running = -1;
    for (int i = 0; i < count; i++)
        running += frames[i] == inside.raised_at;
    return count < FRAMES && running >= 0 ? running : DEEPEST;
}

/* Addresses do not tell of all handlers that were left: each may have been deeper in a recursion than the one before,
 * or on another stack. Forgets the oldest ones. */
static PL_NOINLINE void forget_oldest(void)
{
    int left = inside.depth - count_running();
    for (; left > 0; left--) {
        struct invocation oldest = inside.of[0];
        memmove(&inside.of[0], &inside.of[1], (size_t)--inside.depth * sizeof oldest);
        invocation_release(&oldest);
    }
}

/* The record of an invocation; NULL: too deep. A destructor that a release calls may raise errors, too. */
static struct invocation *enter_handler(uintptr_t here)
{
    forget_below(here);
    if (inside.depth == DEEPEST)
        forget_oldest();
    if (inside.depth == DEEPEST) {
        pl_log("errhandler", 0, "an error in an error handler is not handled: %d others are being handled", DEEPEST);
        return NULL;
    }
    struct invocation *one = &inside.of[inside.depth++];
    *one = (struct invocation){ .at = here };
    return one;
}

/* Not inline: a handler that switches between stacks may return in another thread, whose records are others. */
static PL_NOINLINE void leave_handler(uintptr_t here)
{
    for (int i = inside.depth - 1; i >= 0; i--) {
        if (inside.of[i].at != here)
            continue;
        while (inside.depth > i) {
            struct invocation left = inside.of[--inside.depth];
            invocation_release(&left);
        }
        return;
    }
}

static void invoke_extended(const struct pl_errhandler *handler, void *handle, int code)
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
static void invoke_plain(const struct pl_errhandler *handler, void *handle, const struct pl_raised *raised)
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
 * thread finalizes meanwhile. */
static void invoke_user(const struct pl_errhandler *handler, void *handle, const struct pl_raised *raised)
{
    if (!raised->object && handler->target == PL_COMM)
        handle = MPI_COMM_SELF;
    if (handler->extended)
        invoke_extended(handler, handle, raised->code);
    else
        invoke_plain(handler, handle, raised);
}

/* The handle of the object with the error. One that the user has freed while operations go on is shared, so that it is
 * valid inside the handler. */
static void *raised_handle(const struct pl_errhandler *handler, const struct pl_raised *raised, bool *shared)
{
    void *object = raised->object;
    void *handle = object ? pl_object_handle(object) : (void *)pl_kinds[handler->target].null;
    *shared = object && !pl_object_find(raised->kind, handle);
    if (*shared)
        pl_handle_share(object);
    return handle;
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
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!enter_handler(here))
        return;
    pl_errhandler_describe(raised, name, &error);
    int action = named->ops->handle(named->state, &error);
    leave_handler(here);
    if (action == PLENUM_ERROR_ABORT || action == PLENUM_ERROR_FATAL)
        errhandler_end(action, raised);
}

void pl_errhandler_invoke(struct pl_errhandler *handler, const struct pl_raised *raised)
{
    if (handler->named.ops) {
        pl_errhandler_invoke_named(&handler->named, raised);
        return;
    }
    bool shared;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!enter_handler(here))
        return;
    void *handle = raised_handle(handler, raised, &shared);
    invoke_user(handler, handle, raised);
    if (shared)
        raised_unshare(raised->kind, raised->object);
    leave_handler(here);
}

/* The same for a handler of the user that may be left: all references of `own` are stolen. */
static void invoke_last(const struct invocation *own, const struct pl_raised *raised)
{
    const struct pl_errhandler function = {
        .target = own->handler->target,
        .extended = own->handler->extended,
        .call = own->handler->call,
        .extra_state = own->handler->extra_state,
    };
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct invocation *one = enter_handler(here), kept_here = *own;
    if (!one) {
        invocation_release(own);
        return;
    }
    void *handle = raised_handle(own->handler, raised, &kept_here.shared);
    kept_here.at = here;
    if (kept_here.shared || function.extended)
        *one = kept_here;
    else
        invocation_release(&kept_here);
    invoke_user(&function, handle, raised);
    leave_handler(here);
}

static _Thread_local void *kept;

void pl_errhandler_keep(void *object)
{
    pl_object_release(kept);
    kept = object;
}

/* All references of `own` are stolen. */
static PL_NOINLINE void raise_with(const struct invocation *own, const struct pl_raised *raised)
{
    inside.raised_at = __builtin_return_address(0);
    bool applied = pl_errhandler_policy_apply(raised, own->handler);
    if (!applied && !own->handler->named.ops) {
        invoke_last(own, raised);
        return;
    }
    if (!applied)
        pl_errhandler_invoke_named(&own->handler->named, raised);
    invocation_release(own);
}

void pl_errhandler_raise(const struct pl_raised *raised, struct pl_errhandler *given)
{
    void *until_raised = kept;
    kept = NULL; /* a handler may raise errors, too */
    struct invocation own = {
        .object = raised->object ? pl_object_retain(raised->object) : NULL, /* a handler may free it */
        .kind = raised->kind,
        .handler = given ? pl_object_retain(given) : pl_errhandler_of(raised->kind, raised->object),
        .until_raised = until_raised,
    };
    raise_with(&own, raised); /* not a tail call: `own` is here */
}
