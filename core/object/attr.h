/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes cached on communicators, datatypes and windows; keyvals with copy and delete callbacks.
 *
 * An attribute is a pointer of C or an integer of Fortran (MPI-5.0, section 19.3.7). C has a pointer to an integer that
 * Fortran set, which is valid until the attribute is replaced or deleted; Fortran has a pointer as an integer.
 */
#ifndef PLENUM_CORE_OBJECT_ATTR_H
#define PLENUM_CORE_OBJECT_ATTR_H

#include "core/object/object.h"
#include "mpi-ext.h"

/* An object's attributes, which the object owns; NULL: none yet. User callbacks run without locks. */
struct pl_attrs;

/* Copies the attributes that copy callbacks permit (MPI_Comm_dup, MPI_Type_dup) to a new object, in the order in which
 * they were set. Callbacks get the handle of the old object. On failure all copies are deleted again; the delete
 * callbacks get the old object's handle too, since the new object never exists. */
int pl_attrs_copy(struct pl_attrs *const *from, const void *from_handle, struct pl_attrs **to);

/* Deletes all attributes in the reverse order of setting; callbacks get `handle`. Stops at a callback that fails, keeps
 * the remaining attributes, and returns the callback's error. */
int pl_attrs_delete(struct pl_attrs **attrs, const void *handle);

/* The same for an object that is freed in any case: ignores failures of callbacks. */
void pl_attrs_discard(struct pl_attrs **attrs, const void *handle);

/* The same without callbacks. */
void pl_attrs_forget(struct pl_attrs **attrs);

/* The callbacks of a keyval of kind PL_COMM, PL_DATATYPE or PL_WIN. `constant` has the predefined ones: MPI_COMM_DUP_FN
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

/* What a keyval is made of. */
struct pl_keyval_functions {
    union pl_attr_copy copy;
    union pl_attr_delete delete;
    void *extra;
    MPIX_Destructor_function *destructor; /* of extra, when the keyval and all its attributes are gone; NULL: none */
    bool values; /* callbacks get and give integers of Fortran as values, and a copy is of the original's language */
};

int pl_keyval_create(enum pl_kind kind, const struct pl_keyval_functions *functions, int *keyval);

/* Frees a keyval. It lives on while it has attributes, which can be read and deleted, but no longer set. */
int pl_keyval_free(enum pl_kind kind, int keyval);

/* One attribute of the object with this handle. MPI_ERR_KEYVAL: it is not a keyval of this kind. Setting deletes the
 * old value first. If the delete callback fails, nothing changes, and its error is returned. `fortran`: the value is an
 * integer, which the pointer's bits are. */
int pl_attr_set(struct pl_attrs **attrs, enum pl_kind kind, int keyval, const void *handle, void *value, bool fortran);
int pl_attr_get(struct pl_attrs *const *attrs, enum pl_kind kind, int keyval, bool fortran, void **value, bool *found);
int pl_attr_delete(struct pl_attrs **attrs, enum pl_kind kind, int keyval, const void *handle);

#endif
