/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry and exit of public functions. See call.h. Locking: an object's lock while its name is read. */
#include "api/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/comm_break.h"

/* --- names --------------------------------------------------------------------------------------------------- */

static _Thread_local struct {
    const char *function, *name;
} call_alias;

void pl_call_as(const char *function, const char *name)
{
    call_alias.function = name ? function : NULL;
    call_alias.name = name;
}

/* The name of a function in messages. */
static const char *call_name(const char *function)
{
    return call_alias.function && strcmp(call_alias.function, function) == 0 ? call_alias.name : function;
}

/* --- exit ---------------------------------------------------------------------------------------------------- */

/* Of an error that its arguments do not explain, the processes that take part in the call learn. */
static void call_break(const struct pl_call *call)
{
    bool unforeseen = call->err == MPI_ERR_NO_MEM || call->err == MPI_ERR_PROC_ABORTED || call->err == MPI_ERR_INTERN;
    struct pl_comm *comm = call->kind == PL_COMM   ? call->object
                           : call->kind == PL_WIN  ? ((struct pl_win *)call->object)->comm
                           : call->kind == PL_FILE ? ((struct pl_file *)call->object)->comm
                                                   : NULL;
    if (unforeseen && comm)
        pl_comm_break_for_all(comm, call->err);
}

int pl_call_fail(struct pl_call *call)
{
    if (call->together && call->object)
        call_break(call);
    char message[MPI_MAX_ERROR_STRING];
    const char *function = call_name(call->function);
    int code = call->err, returned = code;
    pl_error_publish(function, code, message);
    struct pl_raised raised = {
        .function = function,
        .kind = call->kind,
        .object = call->object,
        .code = code,
        .returned = &returned,
        .message = message,
    };
    pl_errhandler_raise(&raised, call->handler);
    return returned;
}

int pl_call_leave_kept(struct pl_call *call, void *object)
{
    if (call->err == MPI_SUCCESS || !object) {
        pl_object_release(object);
        return pl_call_leave(call);
    }
    pl_errhandler_keep(object);
    return pl_call_fail(call);
}

int pl_call_failed(const char *function, struct pl_comm *comm, int class)
{
    return pl_call_fail(&(struct pl_call){ .function = function, .err = class, .kind = PL_COMM, .object = comm });
}

void pl_call_error(struct pl_call *call, int class, const char *format, ...)
{
    if (call->err)
        return;
    va_list arguments;
    va_start(arguments, format);
    pl_error_record(class, format, arguments);
    va_end(arguments);
    call->err = class;
}

const struct pl_arg_names pl_send_names = { "sendbuf", "sendcount", "sendtype", "sendtag", NULL };
const struct pl_arg_names pl_recv_names = { "recvbuf", "recvcount", "recvtype", "recvtag", NULL };

static const char *name_or(const char *name, const char *otherwise)
{
    return name ? name : otherwise;
}

static const char *call_name_buffer(const struct pl_call *call)
{
    return name_or(call->names ? call->names->buffer : NULL, "the buffer");
}

static const char *call_name_count(const struct pl_call *call)
{
    return name_or(call->names ? call->names->count : NULL, "count");
}

static const char *call_name_type(const struct pl_call *call)
{
    return name_or(call->names ? call->names->type : NULL, "datatype");
}

static const char *call_name_tag(const struct pl_call *call)
{
    return name_or(call->names ? call->names->tag : NULL, "tag");
}

static const char *call_name_comm(const struct pl_call *call)
{
    return name_or(call->names ? call->names->comm : NULL, "comm");
}

void pl_call_element(struct pl_call *call, const char *array, MPI_Count index)
{
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    pl_fail(call->err, "%s[%lld]: %s", array, (long long)index, why);
}

/* --- objects ------------------------------------------------------------------------------------------------- */

static void *call_resolve(struct pl_call *call, enum pl_kind kind, const void *handle, const char *argument)
{
    if (call->err)
        return NULL;
    void *object = pl_object_get(kind, handle, argument);
    if (!object)
        call->err = pl_kinds[kind].error;
    return object;
}

/* Sets the object whose error handler is invoked, unless an earlier argument has set it. */
static void call_attach(struct pl_call *call, enum pl_kind kind, void *object)
{
    if (call->kind)
        return;
    call->kind = kind;
    call->object = object;
}

/* A message that names MPI_COMM_WORLD or MPI_COMM_SELF while there is no World. */
static void call_explain_comm(struct pl_call *call, MPI_Comm comm)
{
    if (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)
        return;
    call->err =
        pl_fail(MPI_ERR_COMM, "%s does not exist %s", comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF",
                pl_world_state == PL_WORLD_FINALIZED ? "any more after MPI_Finalize" : "before MPI_Init");
}

struct pl_comm *pl_resolve_comm(struct pl_call *call, MPI_Comm comm)
{
    if (call->err)
        return NULL;
    struct pl_comm *c = call_resolve(call, PL_COMM, comm, call_name_comm(call));
    if (c)
        call_attach(call, PL_COMM, c);
    else
        call_explain_comm(call, comm);
    return c;
}

struct pl_comm *pl_arg_intracomm(struct pl_call *call, MPI_Comm comm)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    if (!c || !pl_comm_is_inter(c))
        return c;
    pl_call_error(call, MPI_ERR_COMM, "%s is an intercommunicator; it must be an intracommunicator",
                  call_name_comm(call));
    return NULL;
}

struct pl_comm *pl_arg_intercomm(struct pl_call *call, MPI_Comm comm)
{
    struct pl_comm *c = pl_arg_comm(call, comm);
    if (!c || pl_comm_is_inter(c))
        return c;
    pl_call_error(call, MPI_ERR_COMM, "%s is an intracommunicator; it must be an intercommunicator",
                  call_name_comm(call));
    return NULL;
}

struct pl_type *pl_resolve_type(struct pl_call *call, MPI_Datatype datatype)
{
    struct pl_type *t = pl_arg_type_uncommitted(call, datatype);
    if (!t || t->committed)
        return t;
    pl_call_error(call, MPI_ERR_TYPE, "%s is not committed", call_name_type(call));
    return NULL;
}

struct pl_type *pl_arg_type_uncommitted(struct pl_call *call, MPI_Datatype datatype)
{
    return call_resolve(call, PL_DATATYPE, datatype, call_name_type(call));
}

struct pl_type *pl_arg_oldtype(struct pl_call *call, MPI_Datatype oldtype)
{
    static const struct pl_arg_names names = { .type = "oldtype" };
    call->names = &names;
    return pl_arg_type_uncommitted(call, oldtype);
}

struct pl_op *pl_arg_op(struct pl_call *call, MPI_Op op)
{
    return call_resolve(call, PL_OP, op, "op");
}

/* An error of a procedure on a session's groups is the session's, unless an argument before has a handler of its own
 * (MPI-5.0 section 9.3). After the session's end, as for the groups of the World, it is an error of no object. */
struct pl_group *pl_arg_group(struct pl_call *call, MPI_Group group, const char *name)
{
    struct pl_group *g = call_resolve(call, PL_GROUP, group, name);
    if (!g || call->kind)
        return g;
    struct pl_instance *session = pl_object_find(PL_SESSION, g->instance);
    if (session && session->serial == g->instance_serial)
        call_attach(call, PL_SESSION, session);
    return g;
}

struct pl_request *pl_resolve_request(struct pl_call *call, MPI_Request request)
{
    return call_resolve(call, PL_REQUEST, request, "request");
}

struct pl_errhandler *pl_arg_errhandler(struct pl_call *call, MPI_Errhandler errhandler, enum pl_kind target)
{
    struct pl_errhandler *handler = call_resolve(call, PL_ERRHANDLER, errhandler, "errhandler");
    if (!handler || handler->target == 0 || handler->target == target)
        return handler;
    pl_call_error(call, MPI_ERR_ERRHANDLER, "errhandler was made for a %s and cannot be attached to a %s",
                  pl_kinds[handler->target].name, pl_kinds[target].name);
    return NULL;
}

struct pl_errhandler *pl_arg_info_errhandler(struct pl_call *call, struct pl_info *info)
{
    struct pl_errhandler *handler = NULL;
    if (!call->err)
        call->err = pl_errhandler_from_info(info, &handler);
    return handler;
}

struct pl_info *pl_arg_info(struct pl_call *call, MPI_Info info)
{
    return call_resolve(call, PL_INFO, info, "info");
}

struct pl_info *pl_arg_info_or_null(struct pl_call *call, MPI_Info info)
{
    return info == MPI_INFO_NULL ? NULL : pl_arg_info(call, info);
}

struct pl_instance *pl_arg_session(struct pl_call *call, MPI_Session session)
{
    struct pl_instance *instance = call_resolve(call, PL_SESSION, session, "session");
    if (instance)
        call_attach(call, PL_SESSION, instance);
    return instance;
}

struct pl_win *pl_arg_win(struct pl_call *call, MPI_Win win)
{
    void *object = call_resolve(call, PL_WIN, win, "win");
    call_attach(call, PL_WIN, object);
    return object;
}

/* Errors of files without a file are those of MPI_FILE_NULL. */
struct pl_file *pl_arg_file(struct pl_call *call, MPI_File file)
{
    struct pl_file *object = call_resolve(call, PL_FILE, file, "fh");
    call_attach(call, PL_FILE, object);
    return object;
}

void pl_arg_subset(struct pl_call *call, const struct pl_comm *comm, const struct pl_group *group)
{
    if (!call->err && pl_group_check_same(comm->group, group))
        pl_call_error(call, MPI_ERR_GROUP, "group is from another session than %s", pl_comm_label(comm));
    for (int i = 0; !call->err && i < group->size; i++)
        if (pl_group_find(comm->group, pl_group_proc(group, i)) == MPI_UNDEFINED)
            pl_call_error(call, MPI_ERR_GROUP, "rank %d of group is not in %s", i, pl_comm_label(comm));
}

/* --- values -------------------------------------------------------------------------------------------------- */

/* The processes that a communicator reaches in words: communicator "ocean" of 4 processes. */
enum { DESCRIPTION_MAX = MPI_MAX_OBJECT_NAME + 96 };
static const char *call_describe(struct pl_comm *comm, char text[DESCRIPTION_MAX])
{
    char name[MPI_MAX_OBJECT_NAME];
    pl_comm_name(comm, name, sizeof name);
    int size = pl_comm_targets(comm);
    const char *kind = comm->win ? "window" : pl_comm_is_inter(comm) ? "intercommunicator" : "communicator";
    const char *of = pl_comm_is_inter(comm) ? "with a remote group of" : "of";
    const char *processes = size == 1 ? "process" : "processes";
    if (name[0])
        snprintf(text, DESCRIPTION_MAX, "%s \"%s\" %s %d %s", kind, name, of, size, processes);
    else
        snprintf(text, DESCRIPTION_MAX, "the %s (unnamed, %s %d %s)", kind, of, size, processes);
    return text;
}

void pl_bad_rank(struct pl_call *call, int class, const struct pl_comm *comm, const char *what, int rank)
{
    char text[DESCRIPTION_MAX];
    const char *name = rank == MPI_ANY_SOURCE  ? " (MPI_ANY_SOURCE)"
                       : rank == MPI_PROC_NULL ? " (MPI_PROC_NULL)"
                       : rank == MPI_ROOT      ? " (MPI_ROOT)"
                                               : "";
    if (!call->err)
        pl_call_error(call, class, "%s %d%s is not in %s", what, rank, name,
                      call_describe((struct pl_comm *)comm, text));
}

void pl_bad_count(struct pl_call *call, MPI_Count count)
{
    pl_call_error(call, MPI_ERR_COUNT, "%s is %lld; it must not be negative", call_name_count(call), (long long)count);
}

void pl_bad_tag(struct pl_call *call, int tag, bool receiving)
{
    pl_call_error(call, MPI_ERR_TAG, "%s is %d%s; it must not be negative%s", call_name_tag(call), tag,
                  tag == MPI_ANY_TAG ? " (MPI_ANY_TAG)" : "", receiving ? " unless it is MPI_ANY_TAG" : "");
}

void pl_bad_wildcard(struct pl_call *call, int class, const struct pl_comm *comm, const char *what, const char *hint)
{
    char text[DESCRIPTION_MAX];
    if (!call->err && comm->instance->strict)
        pl_call_error(call, class, "%s, but %s was set for %s", what, hint,
                      call_describe((struct pl_comm *)comm, text));
}

void pl_bad_output(struct pl_call *call, const char *name)
{
    pl_call_error(call, MPI_ERR_ARG, "%s is NULL", name);
}

/* With MPI_BOTTOM, which is NULL, too, the type holds the addresses. No object lies near address 0. */
void pl_check_buffer(struct pl_call *call, const void *buf, MPI_Count count, const struct pl_type *type)
{
    enum { UNMAPPED = 4096 };
    MPI_Count bytes;
    if (type && __builtin_mul_overflow(count, type->size, &bytes))
        pl_call_error(call, MPI_ERR_COUNT,
                      "%s is %lld, of a datatype of %lld bytes; the product must fit into MPI_Count",
                      call_name_count(call), (long long)count, (long long)type->size);
    if (buf == MPI_IN_PLACE)
        pl_call_error(call, MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which is not allowed here", call_name_buffer(call));
    else if ((uintptr_t)buf < UNMAPPED && type && count > 0 && type->size > 0 && type->true_lb > -UNMAPPED &&
             type->true_lb < UNMAPPED)
        pl_call_error(call, MPI_ERR_BUFFER, "%s is NULL, with %lld element%s of data", call_name_buffer(call),
                      (long long)count, count == 1 ? "" : "s");
}
