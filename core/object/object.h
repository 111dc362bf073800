/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects and handles.
 *
 * An MPI handle is a pointer to an object, or a small integer of the ABI that stands for a predefined object. Every
 * object begins with struct pl_object. Objects with handles live in an arena (arena.h), so that a handle is checked
 * before it is followed. A pointer that is outside the arena, not at the start of an object, of another kind, or freed
 * gives the error class of its kind and never a crash.
 *
 * Two counts: `refs` counts all references, `handles` those that are handles of the user. Without handles the object is
 * invalid for the user, while operations under way keep it. Without references it is destroyed.
 *
 * Any thread may call all functions at any time. A destructor runs in the thread that drops the last reference, without
 * any lock of the object.
 */
#ifndef PLENUM_CORE_OBJECT_OBJECT_H
#define PLENUM_CORE_OBJECT_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

enum pl_kind {
    PL_COMM = 1,
    PL_DATATYPE,
    PL_ERRHANDLER,
    PL_FILE,
    PL_GROUP,
    PL_INFO,
    PL_MESSAGE,
    PL_OP,
    PL_REQUEST,
    PL_SESSION,
    PL_WIN,
    PL_KINDS
};

/* Handles below this are the ABI's integer constants. */
enum { PL_ABI_CONSTANTS = 0x1000 };

struct pl_object {
    uint64_t stamp; /* proves that a live object of `kind` starts here; 0: freed */
    _Atomic int32_t refs;
    _Atomic int32_t handles;
    uint8_t kind;    /* enum pl_kind */
    bool predefined; /* static: it is not counted, and the user cannot free it */
    int32_t abi;     /* its integer for MPI_*_toint; 0: none yet */
};

struct pl_errhandler;
struct pl_lock;

/* How errors of one kind of object are handled: the kinds that error handlers attach to, and kind 0 for errors of no
 * object, whose functions are called with NULL. No lock is held by the caller. */
struct pl_kind_errors {
    /* Where the object keeps its error handler, and the lock that protects it. NULL for kind 0. */
    struct pl_errhandler **(*slot)(void *object, struct pl_lock **lock);
    void (*attached)(void *object, struct pl_errhandler *handler); /* a handler was attached; NULL: nothing follows */
    void (*name)(void *object, char *name, size_t capacity);       /* the name that reports show; NULL: it has none */
    void (*unshared)(void *object); /* a handle that existed for a handler alone was dropped; NULL: nothing follows */
    int (*rank)(void *object);      /* this process's rank in the job, -1 while it has none */
    /* Ends the job, or only the processes of the object if `members_only` and the kind has such. Does not return. */
    PL_NORETURN void (*end)(void *object, bool members_only, int code, const char *message);
};

/* What differs between kinds. */
struct pl_kind_ops {
    const char *name;                        /* "communicator" */
    const char *null_name;                   /* "MPI_COMM_NULL" */
    size_t size;                             /* of the object, bytes */
    int error;                               /* class of a bad handle: MPI_ERR_COMM */
    uintptr_t null;                          /* the null handle's integer: 256 for MPI_COMM_NULL; 0: none */
    void (*destroy)(void *object);           /* releases what the object refers to, but not its memory */
    void *(*predefined)(uintptr_t constant); /* the object of an ABI constant; NULL: there is none */
    const struct pl_kind_errors *errors;     /* NULL: no error handler attaches to it */
};
extern const struct pl_kind_ops pl_kinds[PL_KINDS]; /* core/kinds.c */

/* Creates a zeroed object with one reference, which is a handle. NULL: out of memory (recorded). */
void *pl_object_create(enum pl_kind kind);

/* The same without a handle, for objects that the user does not see (yet). */
void *pl_object_create_hidden(enum pl_kind kind);

void *pl_object_retain(void *object); /* returns object */
void pl_object_release(void *object); /* NULL is ignored */

/* Adds a handle of the user, which is a reference too; drops one. */
void *pl_handle_share(void *object);
void pl_handle_drop(void *object);

/* The object of a handle. NULL: the handle is bad or null, recorded with the kind's error class. `argument` is the
 * parameter's name. The object is borrowed: the user must keep the handle alive. */
void *pl_object_get(enum pl_kind kind, const void *handle, const char *argument);

/* The same; records nothing. */
void *pl_object_find(enum pl_kind kind, const void *handle);

/* The handle of an object: its pointer, or the ABI constant of a predefined object. */
void *pl_object_handle(const void *object);

/* Is it the null handle of this kind? */
static inline bool pl_handle_is_null(enum pl_kind kind, const void *handle)
{
    return (uintptr_t)handle == pl_kinds[kind].null;
}

/* The number of live objects of a kind, without predefined ones. For tests. */
long pl_object_count(enum pl_kind kind);

/* Returns the arena's memory to the system if no object lives. Called when the last instance closes. */
void pl_object_trim(void);

/* For static predefined objects. */
#define PL_OBJECT_PREDEFINED(kind_, abi_)                                                                              \
    {                                                                                                                  \
        .stamp = 0, .refs = 1, .handles = 1, .kind = (kind_), .predefined = true, .abi = (abi_)                        \
    }

#endif
