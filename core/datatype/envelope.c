/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording the arguments of a datatype constructor in one block of memory. See envelope.h. */
#include "core/datatype/envelope.h"

#include <assert.h>

#include "core/base/error.h"
#include "core/base/memory.h"

struct pl_type_envelope *pl_envelope_create(int combiner, size_t ints, size_t addresses, size_t counts, size_t types)
{
    struct pl_type_envelope *envelope =
        pl_calloc(1, sizeof *envelope + types * sizeof *envelope->type + counts * sizeof *envelope->count +
                         addresses * sizeof *envelope->address + ints * sizeof *envelope->integer);
    if (!envelope) {
        pl_fail_memory("the arguments of a datatype");
        return NULL;
    }
    envelope->combiner = combiner;
    envelope->ints = ints;
    envelope->addresses = addresses;
    envelope->counts = counts;
    envelope->types = types;
    envelope->type = (struct pl_type **)(envelope + 1);
    envelope->count = (MPI_Count *)(envelope->type + types);
    envelope->address = (MPI_Aint *)(envelope->count + counts);
    envelope->integer = (int *)(envelope->address + addresses);
    return envelope;
}

/* An envelope may hold the last reference to a type, which has another envelope, and so on, as deep as the user has
 * nested types. They are queued here instead of using the stack. */
static _Thread_local struct {
    struct pl_type_envelope *first;
    bool busy;
} to_free;

void pl_envelope_release(const struct pl_type_envelope *envelope)
{
    struct pl_type_envelope *own = (struct pl_type_envelope *)envelope;
    if (!own)
        return;
    own->next = to_free.first;
    to_free.first = own;
    if (to_free.busy)
        return; /* called from the loop below */
    to_free.busy = true;
    while ((own = to_free.first)) {
        to_free.first = own->next;
        for (size_t i = 0; i < own->types_written; i++)
            pl_object_release(own->type[i]);
        free(own);
    }
    to_free.busy = false;
}

void pl_envelope_put(struct pl_type_envelope *envelope, MPI_Count value)
{
    size_t i = envelope->written++;
    if (i < envelope->ints) {
        envelope->integer[i] = (int)value;
        return;
    }
    i -= envelope->ints;
    if (i < envelope->addresses) {
        envelope->address[i] = (MPI_Aint)value;
        return;
    }
    assert(i - envelope->addresses < envelope->counts);
    envelope->count[i - envelope->addresses] = value;
}

void pl_envelope_put_type(struct pl_type_envelope *envelope, struct pl_type *type)
{
    assert(envelope->types_written < envelope->types);
    envelope->type[envelope->types_written++] = pl_object_retain(type);
}
