/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes cached on communicators, datatypes and windows; keyvals with copy and delete callbacks. */
#ifndef PLENUM_CORE_OBJECT_ATTR_H
#define PLENUM_CORE_OBJECT_ATTR_H

#include "core/object/object.h"
#include "mpi.h"

/* An object's attributes; NULL: none yet. Owned by the object. User callbacks run with no lock held. */
struct pl_attrs;

/* Copies to the new object what the copy callbacks allow (MPI_Comm_dup, MPI_Type_dup), in the order in which it was
 * set. `handle` is the old object's handle as the callback sees it. On failure nothing stays copied: what was is
 * deleted again, the callbacks being told of the old object, since the new one never came to be. */
int pl_attrs_copy(struct pl_attrs *const *from, const void *from_handle, struct pl_attrs **to);

/* Calls the delete callbacks, the attribute set last first, and frees. Stops and returns the error of a callback that
 * fails, leaving the rest in place. `handle` is what the callbacks get. */
int pl_attrs_delete(struct pl_attrs **attrs, const void *handle);

/* The same for an object that goes in any case: callbacks that fail stop nothing. */
void pl_attrs_discard(struct pl_attrs **attrs, const void *handle);

/* The callbacks of a keyval, by its kind: PL_COMM, PL_DATATYPE or PL_WIN. The predefined ones are MPI_COMM_DUP_FN
 * etc. */
union pl_attr_copy {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
    MPI_Win_copy_attr_function *win;
    uintptr_t constant;
};
union pl_attr_delete {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *win;
    uintptr_t constant;
};

int pl_keyval_create(enum pl_kind kind, union pl_attr_copy copy, union pl_attr_delete delete, void *extra, int *keyval);

/* The user lets go of it. It lives on with its attributes, which can still be read and deleted, but no more be set. */
int pl_keyval_free(enum pl_kind kind, int keyval);

/* One attribute of the object with this handle. MPI_ERR_KEYVAL: not a keyval of this kind. Setting deletes the old
 * value first; a delete callback that fails leaves everything as it was, and its code is what is returned. */
int pl_attr_set(struct pl_attrs **attrs, enum pl_kind kind, int keyval, const void *handle, void *value);
int pl_attr_get(struct pl_attrs *const *attrs, enum pl_kind kind, int keyval, void **value, bool *found);
int pl_attr_delete(struct pl_attrs **attrs, enum pl_kind kind, int keyval, const void *handle);

#endif
