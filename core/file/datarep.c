/* SPDX-License-Identifier: BSD-3-Clause */
/* Data representations of files: names, types as stored in the file, conversion. See datarep.h. */
#include "core/file/datarep.h"

#include <limits.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/datatype/build.h"
#include "core/datatype/external.h"
#include "core/datatype/signature.h"

const struct pl_datarep pl_datarep_native = { .name = "native" };
static const struct pl_datarep internal = { .name = "internal" };
static const struct pl_datarep external32 = { .name = "external32", .external = true };

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct pl_datarep *registered; /* grows at its head until all are forgotten */

/* --- names -------------------------------------------------------------------------------------------------------- */

static const struct pl_datarep *datarep_find_locked(const char *name)
{
    const struct pl_datarep *const standard[] = { &pl_datarep_native, &internal, &external32 };
    for (int i = 0; i < 3; i++)
        if (strcmp(name, standard[i]->name) == 0)
            return standard[i];
    for (const struct pl_datarep *datarep = registered; datarep; datarep = datarep->next)
        if (strcmp(name, datarep->name) == 0)
            return datarep;
    return NULL;
}

int pl_datarep_find(const char *name, const struct pl_datarep **datarep)
{
    pl_lock_take(&lock);
    *datarep = datarep_find_locked(name);
    pl_lock_drop(&lock);
    return *datarep ? MPI_SUCCESS
                    : pl_fail(MPI_ERR_UNSUPPORTED_DATAREP,
                              "datarep is \"%.64s\"; it must be native, internal, external32 or one that this process "
                              "has registered with MPI_Register_datarep",
                              name);
}

int pl_datarep_register(const struct pl_datarep *datarep)
{
    if (!datarep->name[0])
        return pl_fail(MPI_ERR_ARG, "datarep must have 1 to %d bytes", MPI_MAX_DATAREP_STRING - 1);
    struct pl_datarep *made = pl_malloc(sizeof *made);
    if (!made)
        return pl_fail_memory("a data representation");
    *made = *datarep;
    pl_lock_take(&lock);
    bool known = datarep_find_locked(made->name) != NULL;
    if (!known) {
        made->next = registered;
        registered = made;
    }
    pl_lock_drop(&lock);
    if (!known)
        return MPI_SUCCESS;
    free(made);
    return pl_fail(MPI_ERR_DUP_DATAREP, "data representation \"%s\" is already registered", datarep->name);
}

void pl_datareps_forget(void)
{
    pl_lock_take(&lock);
    struct pl_datarep *first = registered;
    registered = NULL;
    pl_lock_drop(&lock);
    while (first) {
        struct pl_datarep *next = first->next;
        free(first);
        first = next;
    }
}

/* --- sizes in the file -------------------------------------------------------------------------------------------- */

/* Adds up the sizes of elements in the file, up to a limit. */
struct count {
    const struct pl_datarep *datarep;
    size_t left; /* bytes of the file */
    size_t in_file, native;
    MPI_Count elements;
    int error;
};

static int datarep_element_size(const struct pl_datarep *datarep, const struct pl_type *element, MPI_Count *size)
{
    MPI_Aint extent = 0;
    *size = datarep->external ? pl_external_size(element) : element->size;
    if (!datarep->user)
        return MPI_SUCCESS;
    int rc = datarep->extent(pl_type_handle(element), &extent, datarep->extra_state);
    if (rc != MPI_SUCCESS || extent <= 0)
        return pl_fail(MPI_ERR_CONVERSION, "the extent function of \"%s\" returned %d and extent %lld for %s",
                       datarep->name, rc, (long long)extent, pl_type_standard_name(element));
    *size = extent;
    return MPI_SUCCESS;
}

static bool datarep_count_elements(void *context, const struct pl_type *element, MPI_Count elements)
{
    struct count *count = context;
    MPI_Count size;
    count->error = datarep_element_size(count->datarep, element, &size);
    if (count->error)
        return false;
    size_t fit = count->left / (size_t)size;
    MPI_Count taken = (size_t)elements < fit ? elements : (MPI_Count)fit;
    count->left -= (size_t)(taken * size);
    count->in_file += (size_t)(taken * size);
    count->native += (size_t)(taken * element->size);
    count->elements += taken;
    return taken == elements;
}

static int count_in_file(const struct pl_datarep *datarep, const struct pl_type *type, MPI_Count number, size_t bytes,
                         struct count *count)
{
    *count = (struct count){ .datarep = datarep, .left = bytes };
    if (type->size > 0 && number > 0)
        pl_signature_walk(type, number, datarep_count_elements, count);
    return count->error;
}

int pl_datarep_size(const struct pl_datarep *datarep, MPI_Count count, const struct pl_type *type, MPI_Count *bytes)
{
    struct count all;
    int rc = count_in_file(datarep, type, count, SIZE_MAX, &all);
    *bytes = (MPI_Count)all.in_file;
    return rc;
}

/* --- types in the file -------------------------------------------------------------------------------------------- */

/* A predefined type: itself, or the bytes that represent it in the file. */
static int basic_type(const struct pl_datarep *datarep, struct pl_type *type, struct pl_type **in_file)
{
    struct count count;
    int rc = count_in_file(datarep, type, 1, SIZE_MAX, &count);
    if (rc)
        return rc;
    if ((MPI_Count)count.in_file == type->size && type->size == type->extent) {
        *in_file = pl_object_retain(type);
        return MPI_SUCCESS;
    }
    struct pl_type_envelope *envelope = pl_envelope_create(MPI_COMBINER_CONTIGUOUS, 0, 0, 1, 1);
    if (!envelope)
        return MPI_ERR_NO_MEM;
    pl_envelope_put(envelope, (MPI_Count)count.in_file);
    pl_envelope_put_type(envelope, pl_type_predefined((uintptr_t)MPI_BYTE));
    return pl_type_build(envelope, in_file);
}

/* Fills a copy of a derived type's envelope with its component types as stored in the file. */
static int parts_in_file(const struct pl_datarep *datarep, const struct pl_type_envelope *from,
                         struct pl_type_envelope *to, bool *same)
{
    size_t numbers = from->ints + from->addresses + from->counts;
    for (size_t i = 0; i < numbers; i++)
        pl_envelope_put(to, pl_envelope_get(from, i));
    *same = true;
    for (size_t i = 0; i < from->types; i++) {
        struct pl_type *part;
        int rc = pl_datarep_type(datarep, from->type[i], &part);
        if (rc)
            return rc;
        *same &= part == from->type[i];
        pl_envelope_put_type(to, part);
        pl_object_release(part);
    }
    return MPI_SUCCESS;
}

static int derived_type(const struct pl_datarep *datarep, struct pl_type *type, struct pl_type **in_file)
{
    const struct pl_type_envelope *from = type->envelope;
    bool same;
    struct pl_type_envelope *to =
        pl_envelope_create(from->combiner, from->ints, from->addresses, from->counts, from->types);
    if (!to)
        return MPI_ERR_NO_MEM;
    int rc = parts_in_file(datarep, from, to, &same);
    if (rc || same) {
        pl_envelope_release(to);
        *in_file = rc ? NULL : pl_object_retain(type);
        return rc;
    }
    return pl_type_build(to, in_file);
}

/* The handle of a type built here stays inside the library: it is a reference like any other. */
int pl_datarep_type(const struct pl_datarep *datarep, struct pl_type *type, struct pl_type **in_file)
{
    *in_file = NULL;
    if (!datarep->external && !datarep->user) {
        *in_file = pl_object_retain(type);
        return MPI_SUCCESS;
    }
    return type->envelope && !type->permanent ? derived_type(datarep, type, in_file)
                                              : basic_type(datarep, type, in_file);
}

/* --- conversion --------------------------------------------------------------------------------------------------- */

static int datarep_convert(const struct pl_datarep *datarep, bool write, void *buf, const struct pl_type *type,
                           MPI_Count elements, void *filebuf)
{
    MPI_Datarep_conversion_function *narrow = write ? datarep->write : datarep->read;
    MPI_Datarep_conversion_function_c *wide = write ? datarep->write_c : datarep->read_c;
    MPI_Datatype handle = pl_type_handle(type);
    if (!wide && elements > INT_MAX)
        return pl_fail(MPI_ERR_CONVERSION,
                       "the functions of \"%s\" count in int and cannot convert %lld elements at once; register it "
                       "with MPI_Register_datarep_c",
                       datarep->name, (long long)elements);
    int rc = wide ? wide(buf, handle, elements, filebuf, 0, datarep->extra_state)
                  : narrow(buf, handle, (int)elements, filebuf, 0, datarep->extra_state);
    return rc == MPI_SUCCESS ? rc
                             : pl_fail(MPI_ERR_CONVERSION, "the %s conversion function of \"%s\" returned %d",
                                       write ? "write" : "read", datarep->name, rc);
}

int pl_datarep_write(const struct pl_datarep *datarep, const void *buf, MPI_Count count, const struct pl_type *type,
                     void *filebuf, size_t bytes)
{
    struct count all;
    int rc = count_in_file(datarep, type, count, SIZE_MAX, &all);
    if (rc)
        return rc;
    if (all.in_file != bytes)
        return pl_fail(MPI_ERR_TYPE, "the data takes %zu bytes as \"%s\", but the view's etypes for it have %zu",
                       all.in_file, datarep->name, bytes);
    if (all.elements == 0)
        return MPI_SUCCESS;
    if (!datarep->external)
        return datarep_convert(datarep, true, (void *)(uintptr_t)buf, type, all.elements, filebuf);
    pl_external_pack(buf, count, type, filebuf);
    return MPI_SUCCESS;
}

int pl_datarep_read(const struct pl_datarep *datarep, void *buf, MPI_Count count, const struct pl_type *type,
                    const void *filebuf, size_t bytes, size_t *native)
{
    struct count some;
    int rc = count_in_file(datarep, type, count, bytes, &some);
    *native = some.native;
    if (rc || some.elements == 0)
        return rc;
    if (!datarep->external)
        return datarep_convert(datarep, false, buf, type, some.elements, (void *)(uintptr_t)filebuf);
    pl_external_unpack_some(filebuf, some.in_file, buf, count, type);
    return MPI_SUCCESS;
}
