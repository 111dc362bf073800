/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry and exit of every public function.
 *
 *     struct pl_call call = PL_CALL(MPI_Send);
 *     struct pl_comm *c = pl_arg_comm(&call, comm);
 *     pl_arg_count(&call, count);
 *     if (!call.err)
 *         call.err = pl_send(...);
 *     return pl_call_leave(&call);
 *
 * The record keeps the first error. Checks after it do nothing (and return NULL), so callers need no branches.
 * pl_call_leave() is the only place that invokes error handlers. It uses the handler of `object`, which the pl_arg_*
 * functions of communicators, windows, files and sessions set, and that of groups: their session. The first one wins.
 * Without an object it uses MPI_COMM_SELF's while the World is initialized, else the initial one.
 */
#ifndef PLENUM_API_CALL_H
#define PLENUM_API_CALL_H

#include "core/base/compiler.h"
#include "core/base/counts.h"
#include "core/base/error.h"
#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"
#include "core/engine/comm_info.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"
#include "core/file/file.h"
#include "core/object/arena.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/object/object.h"
#include "core/rma/window.h"
#include "mpi.h"

/* What errors call the arguments of one side of a call. NULL: the buffer, count, datatype, tag, comm. */
struct pl_arg_names {
    const char *buffer, *count, *type, *tag, *comm;
};

extern const struct pl_arg_names pl_send_names; /* sendbuf, sendcount, ... */
extern const struct pl_arg_names pl_recv_names;

struct pl_call {
    const char *function;
    const struct pl_arg_names *names; /* of the arguments that are checked next; NULL: those above. Borrowed */
    int err;                          /* the first error class, or MPI_SUCCESS */
    bool together;                    /* several processes take part: what fails on one breaks its communicator */
    enum pl_kind kind;                /* of object; 0: no object */
    void *object;                     /* its error handler is invoked */
    struct pl_errhandler *handler;    /* invoked instead, for constructors with an error handler argument; borrowed */
};

#define PL_CALL(name)                                                                                                  \
    {                                                                                                                  \
        .function = #name                                                                                              \
    }

/* The same for a function in which other processes may wait for this one (core/engine/comm_break.h). */
#define PL_CALL_TOGETHER(name)                                                                                         \
    {                                                                                                                  \
        .function = #name, .together = true                                                                            \
    }

/* From now on, errors of this function in this thread name it so, for a binding of another language. Both strings are
 * borrowed until the next call of this. NULL: no function. */
void pl_call_as(const char *function, const char *name);

/* Invokes the error handler and returns the error class. */
PL_COLD PL_NOINLINE int pl_call_fail(struct pl_call *call);
/* The same for a function without a record that failed with this class on this communicator. */
PL_COLD PL_NOINLINE int pl_call_failed(const char *function, struct pl_comm *comm, int class);
static inline int pl_call_leave(struct pl_call *call)
{
    return pl_likely(call->err == MPI_SUCCESS) ? MPI_SUCCESS : pl_call_fail(call);
}
/* The same for a call that has retained this object, which is stolen; NULL: none. It is released even if an error
 * handler is left by an exception or longjmp(), so that nothing after the handler runs. */
int pl_call_leave_kept(struct pl_call *call, void *object);

/* Records an error of an argument if it is the first one: like pl_fail(). */
PL_COLD PL_PRINTF(3, 4) void pl_call_error(struct pl_call *call, int class, const char *format, ...);

/* The error just recorded is that of an element of an array: names it. */
PL_COLD void pl_call_element(struct pl_call *call, const char *array, MPI_Count index);

/* Objects from handles. Null, freed and foreign handles record the class of their kind. Borrowed. */
struct pl_comm *pl_resolve_comm(struct pl_call *call, MPI_Comm comm);
static inline struct pl_comm *pl_arg_comm(struct pl_call *call, MPI_Comm comm)
{
    struct pl_comm *world = pl_world_comm;
    if (comm != MPI_COMM_WORLD || !world || call->kind || call->err)
        return pl_resolve_comm(call, comm);
    call->kind = PL_COMM;
    return call->object = world;
}
/* The same for fast paths; records no error. NULL: bad, or a constant other than MPI_COMM_WORLD. */
static inline struct pl_comm *pl_comm_known(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return pl_world_comm;
    struct pl_object *live = pl_arena_find(PL_COMM, comm);
    return live && atomic_load_explicit(&live->handles, memory_order_acquire) > 0 ? (struct pl_comm *)live : NULL;
}
struct pl_comm *pl_arg_intracomm(struct pl_call *call, MPI_Comm comm); /* an intercommunicator is MPI_ERR_COMM */
struct pl_comm *pl_arg_intercomm(struct pl_call *call, MPI_Comm comm);
struct pl_type *pl_resolve_type(struct pl_call *call, MPI_Datatype datatype);
static inline struct pl_type *pl_arg_type(struct pl_call *call, MPI_Datatype datatype) /* committed */
{
    struct pl_type *basic = pl_type_basic((uintptr_t)datatype);
    return basic && !call->err ? basic : pl_resolve_type(call, datatype);
}
struct pl_type *pl_arg_type_uncommitted(struct pl_call *call, MPI_Datatype datatype); /* for constructors, queries */
struct pl_type *pl_arg_oldtype(struct pl_call *call, MPI_Datatype oldtype);           /* the same, by that name */
struct pl_op *pl_arg_op(struct pl_call *call, MPI_Op op);
struct pl_group *pl_arg_group(struct pl_call *call, MPI_Group group, const char *name);
struct pl_request *pl_resolve_request(struct pl_call *call, MPI_Request request);
static inline struct pl_request *pl_arg_request(struct pl_call *call, MPI_Request request)
{
    struct pl_object *live = call->err ? NULL : pl_arena_find(PL_REQUEST, request);
    return live && atomic_load_explicit(&live->handles, memory_order_acquire) > 0 ? (struct pl_request *)live
                                                                                  : pl_resolve_request(call, request);
}
struct pl_errhandler *pl_arg_errhandler(struct pl_call *call, MPI_Errhandler errhandler, enum pl_kind target);
/* The one that the info key "plenum_errhandler" names, retained; NULL: the info has no such key. */
struct pl_errhandler *pl_arg_info_errhandler(struct pl_call *call, struct pl_info *info);
struct pl_info *pl_arg_info(struct pl_call *call, MPI_Info info);         /* MPI_INFO_NULL is an error */
struct pl_info *pl_arg_info_or_null(struct pl_call *call, MPI_Info info); /* MPI_INFO_NULL gives NULL */
struct pl_instance *pl_arg_session(struct pl_call *call, MPI_Session session);
struct pl_win *pl_arg_win(struct pl_call *call, MPI_Win win);
struct pl_file *pl_arg_file(struct pl_call *call, MPI_File file); /* MPI_FILE_NULL is an error here */

/* MPI_ERR_GROUP unless every member of the group is in the communicator. */
void pl_arg_subset(struct pl_call *call, const struct pl_comm *comm, const struct pl_group *group);

/* Values. The pl_bad_*() functions record the errors, out of line. */
PL_COLD void pl_bad_count(struct pl_call *call, MPI_Count count);
PL_COLD void pl_bad_rank(struct pl_call *call, int class, const struct pl_comm *comm, const char *what, int rank);
PL_COLD void pl_bad_tag(struct pl_call *call, int tag, bool receiving);
/* A wildcard that the user has promised not to use: an error in a strict session. */
PL_COLD void pl_bad_wildcard(struct pl_call *call, int class, const struct pl_comm *comm, const char *what,
                             const char *hint);
PL_COLD void pl_bad_output(struct pl_call *call, const char *name);
void pl_check_buffer(struct pl_call *call, const void *buf, MPI_Count count, const struct pl_type *type);

/* MPI_ERR_COUNT when negative. */
static inline void pl_arg_count(struct pl_call *call, MPI_Count count)
{
    if (pl_unlikely(count < 0))
        pl_bad_count(call, count);
}

/* A rank or MPI_PROC_NULL. */
static inline void pl_arg_dest(struct pl_call *call, const struct pl_comm *comm, int dest)
{
    if (pl_unlikely(comm && (unsigned)dest >= (unsigned)pl_comm_targets(comm) && dest != MPI_PROC_NULL))
        pl_bad_rank(call, MPI_ERR_RANK, comm, "rank", dest);
}

/* The same or MPI_ANY_SOURCE. */
static inline void pl_arg_source(struct pl_call *call, const struct pl_comm *comm, int source)
{
    if (source != MPI_ANY_SOURCE)
        pl_arg_dest(call, comm, source);
    else if (pl_unlikely(comm && comm->hints.asserted & PL_ASSERT_NO_ANY_SOURCE))
        pl_bad_wildcard(call, MPI_ERR_RANK, comm, "source is MPI_ANY_SOURCE", "mpi_assert_no_any_source");
}

/* A rank of an intracommunicator. */
static inline void pl_arg_root(struct pl_call *call, const struct pl_comm *comm, int root)
{
    if (pl_unlikely(comm && (unsigned)root >= (unsigned)comm->size))
        pl_bad_rank(call, MPI_ERR_ROOT, comm, "root", root);
}

/* 0 .. MPI_TAG_UB. */
static inline void pl_arg_tag(struct pl_call *call, int tag)
{
    if (pl_unlikely(tag < 0))
        pl_bad_tag(call, tag, false);
}

/* The same or MPI_ANY_TAG. */
static inline void pl_arg_recv_tag(struct pl_call *call, const struct pl_comm *comm, int tag)
{
    if (pl_unlikely(tag < 0) && tag != MPI_ANY_TAG)
        pl_bad_tag(call, tag, true);
    else if (pl_unlikely(tag == MPI_ANY_TAG && comm && comm->hints.asserted & PL_ASSERT_NO_ANY_TAG))
        pl_bad_wildcard(call, MPI_ERR_TAG, comm, "tag is MPI_ANY_TAG", "mpi_assert_no_any_tag");
}

/* MPI_ERR_ARG when NULL. */
static inline void pl_arg_output(struct pl_call *call, const void *pointer, const char *name)
{
    if (pl_unlikely(!pointer))
        pl_bad_output(call, name);
}

/* A data buffer. NULL with data to move is MPI_ERR_BUFFER unless the type is absolute (MPI_BOTTOM). So is MPI_IN_PLACE;
 * callers that accept it test for it first. */
static inline void pl_arg_buffer(struct pl_call *call, const void *buf, MPI_Count count, const struct pl_type *type)
{
    if ((uintptr_t)buf <= (uintptr_t)MPI_IN_PLACE || count > INT32_MAX || (type && type->size > INT32_MAX))
        pl_check_buffer(call, buf, count, type);
}

#endif
