/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as objects: handles, names, destruction. See datatype.h. */
#include "core/datatype/datatype.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/datatype/envelope.h"
#include "core/datatype/layout.h"
#include "core/datatype/signature.h"
#include "core/object/attr.h"

struct pl_type *pl_type_from(MPI_Datatype handle)
{
    return pl_object_find(PL_DATATYPE, handle);
}

MPI_Datatype pl_type_handle(const struct pl_type *type)
{
    return pl_object_handle(type);
}

void *pl_type_predefined(uintptr_t constant)
{
    return pl_type_basic(constant);
}

void pl_type_destroy(void *object)
{
    struct pl_type *type = object;
    if (type->attrs) /* not for types that a target has decoded: there the engine's lock may be held */
        pl_attrs_discard(&type->attrs, pl_type_handle(type));
    pl_layout_release(type->layout);
    pl_signature_release(type->signature);
    pl_envelope_release(type->envelope);
    free(type->name);
}

/* Names are set and read rarely: one lock for all types. */
static struct pl_lock name_lock = PL_LOCK_INIT(PL_RANK_LEAF);

int pl_type_set_name(struct pl_type *type, const char *name)
{
    char *copy = pl_malloc(MPI_MAX_OBJECT_NAME);
    if (!copy)
        return pl_fail_memory("a datatype's name");
    snprintf(copy, MPI_MAX_OBJECT_NAME, "%s", name);
    pl_lock_take(&name_lock);
    char *old = type->name;
    type->name = copy;
    pl_lock_drop(&name_lock);
    free(old);
    return MPI_SUCCESS;
}

void pl_type_get_name(struct pl_type *type, char name[MPI_MAX_OBJECT_NAME])
{
    pl_lock_take(&name_lock);
    snprintf(name, MPI_MAX_OBJECT_NAME, "%s", type->name ? type->name : pl_type_standard_name(type));
    pl_lock_drop(&name_lock);
}

const char *pl_type_standard_name(const struct pl_type *type)
{
    return type->obj.predefined ? pl_basic_names[type - pl_basics] : "";
}

const char *pl_type_label(const struct pl_type *type, char buffer[MPI_MAX_OBJECT_NAME])
{
    pl_type_get_name((struct pl_type *)type, buffer);
    if (!buffer[0])
        snprintf(buffer, MPI_MAX_OBJECT_NAME, "%s", type->permanent ? "an unnamed datatype" : "a derived datatype");
    return buffer;
}
