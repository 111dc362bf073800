/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes cached on communicators, datatypes and windows; keyvals with copy and delete callbacks. */
#ifndef PLENUM_CORE_ATTR_H
#define PLENUM_CORE_ATTR_H

#include "core/object.h"
#include "mpi.h"

/* An object's attributes; NULL: none yet. Owned by the object. User callbacks run with no lock held. */
struct pl_attrs;

/* Copies to the new object what the copy callbacks allow (MPI_Comm_dup, MPI_Type_dup). `handle` is the old object's
 * handle as the callback sees it. On failure nothing stays copied. */
int pl_attrs_copy(struct pl_attrs *from, const void *from_handle, struct pl_attrs **to);

/* Calls the delete callbacks, the attribute set last first, and frees. Stops and returns the error of a callback that
 * fails, leaving the rest in place. `handle` is what the callbacks get. */
int pl_attrs_delete(struct pl_attrs **attrs, const void *handle);

#endif
