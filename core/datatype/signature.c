/* SPDX-License-Identifier: BSD-3-Clause */
/* Making signatures, and counting elements in them. See signature.h. */
#include "core/datatype/signature.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"

/* A nested signature with at most this many items is replaced by them while the whole is small. This keeps the depth
 * low. */
enum { SPLICE_ITEMS = 64, FLAT_ITEMS = 1024 };

const struct pl_type_signature *pl_signature_retain(const struct pl_type_signature *signature)
{
    if (signature)
        atomic_fetch_add_explicit(&((struct pl_type_signature *)signature)->refs, 1, memory_order_relaxed);
    return signature;
}

void pl_signature_release(const struct pl_type_signature *signature)
{
    struct pl_type_signature *own = (struct pl_type_signature *)signature;
    if (!own || atomic_fetch_sub_explicit(&own->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < own->count; i++)
        pl_signature_release(own->items[i].nested);
    free(own);
}

static MPI_Count item_size(const struct pl_signature_item *item)
{
    return item->nested ? item->nested->size : item->element->size;
}

static MPI_Count item_elements(const struct pl_signature_item *item)
{
    if (item->nested)
        return item->nested->elements;
    return item->element->signature ? item->element->signature->elements : 1;
}

/* A type as an item: its one kind of element, or its signature, repeated according to its size. */
static struct pl_signature_item signature_item(const struct pl_type *type, MPI_Count count)
{
    struct pl_signature_item item = { 0, type->element, type->element ? NULL : type->signature };
    item.repeat = count * (type->size / item_size(&item));
    return item;
}

/* Appends an item, or raises the count of the last one. */
static size_t signature_put_item(struct pl_signature_item *items, size_t n, struct pl_signature_item item)
{
    if (n > 0 && items[n - 1].element == item.element && items[n - 1].nested == item.nested) {
        items[n - 1].repeat += item.repeat;
        return n;
    }
    items[n] = item;
    return n + 1;
}

/* Is it replaced by the items of its signature while the whole is small? */
static bool is_spliced(const struct pl_signature_item *item)
{
    return item->nested && item->repeat == 1 && item->nested->count <= SPLICE_ITEMS;
}

static size_t signature_put_type(struct pl_signature_item *items, size_t n, const struct pl_type *type, MPI_Count count)
{
    struct pl_signature_item item = signature_item(type, count);
    if (!is_spliced(&item) || n > FLAT_ITEMS)
        return signature_put_item(items, n, item);
    for (size_t i = 0; i < item.nested->count; i++)
        n = signature_put_item(items, n, item.nested->items[i]);
    return n;
}

static bool has_data(const struct pl_type *type, MPI_Count count)
{
    return count > 0 && type->size > 0;
}

/* The items of a struct at most: SPLICE_ITEMS for each type up to the limit, one for each after it. */
static size_t signature_capacity(size_t count, const MPI_Count counts[], struct pl_type *const types[])
{
    size_t most = count + FLAT_ITEMS + SPLICE_ITEMS + 1, capacity = 0;
    for (size_t i = 0; i < count && capacity < most; i++)
        if (has_data(types[i], counts[i])) {
            struct pl_signature_item item = signature_item(types[i], counts[i]);
            capacity += is_spliced(&item) ? item.nested->count : 1;
        }
    return capacity < most ? capacity : most;
}

static struct pl_type_signature *signature_collect(size_t count, const MPI_Count counts[],
                                                   struct pl_type *const types[])
{
    size_t capacity = signature_capacity(count, counts, types);
    struct pl_type_signature *signature = pl_malloc(sizeof *signature + capacity * sizeof signature->items[0]);
    if (!signature) {
        pl_fail_memory("the signature of a datatype");
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (has_data(types[i], counts[i]))
            n = signature_put_type(signature->items, n, types[i], counts[i]);
    atomic_init(&signature->refs, 1);
    signature->count = n;
    signature->size = signature->elements = 0;
    if (n == capacity)
        return signature;
    struct pl_type_signature *fitting = pl_realloc(signature, sizeof *signature + n * sizeof signature->items[0]);
    return fitting ? fitting : signature;
}

int pl_signature_of_struct(size_t count, const MPI_Count counts[], struct pl_type *const types[], struct pl_type *type)
{
    struct pl_type_signature *signature = signature_collect(count, counts, types);
    if (!signature)
        return MPI_ERR_NO_MEM;
    if (signature->count <= 1) { /* one kind of element: no signature of its own */
        if (signature->count == 1) {
            type->element = signature->items[0].element;
            type->signature = pl_signature_retain(signature->items[0].nested);
        }
        free(signature);
    } else {
        for (size_t i = 0; i < signature->count; i++) {
            const struct pl_signature_item *item = &signature->items[i];
            pl_signature_retain(item->nested);
            signature->size += item->repeat * item_size(item);
            signature->elements += item->repeat * item_elements(item);
        }
        type->signature = signature;
    }
    type->basic = type->element ? type->element->basic : PL_NONE;
    return MPI_SUCCESS;
}

/* The number of basic elements in the first `bytes` bytes of repetitions of an item. `rest`: bytes left over. */
static MPI_Count signature_count_elements(const struct pl_signature_item *item, MPI_Count bytes, MPI_Count *rest)
{
    MPI_Count elements = 0;
    for (;;) {
        const struct pl_type_signature *inner = item->nested ? item->nested : item->element->signature;
        elements += bytes / item_size(item) * item_elements(item);
        bytes %= item_size(item);
        if (!inner || bytes == 0)
            break;
        size_t i = 0;
        for (; bytes >= inner->items[i].repeat * item_size(&inner->items[i]); i++) {
            bytes -= inner->items[i].repeat * item_size(&inner->items[i]);
            elements += inner->items[i].repeat * item_elements(&inner->items[i]);
        }
        item = &inner->items[i];
    }
    *rest = bytes;
    return elements;
}

MPI_Count pl_type_elements(const struct pl_type *type, MPI_Count bytes)
{
    if (type->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    struct pl_signature_item item = signature_item(type, 1);
    MPI_Count rest, elements = signature_count_elements(&item, bytes, &rest);
    return rest == 0 ? elements : MPI_UNDEFINED;
}

MPI_Count pl_type_element_bytes(const struct pl_type *type, MPI_Count elements)
{
    if (elements == 0)
        return 0;
    if (type->size == 0)
        return -1;
    struct pl_signature_item own = signature_item(type, 1);
    const struct pl_signature_item *item = &own;
    MPI_Count bytes = 0;
    if (elements / item_elements(item) >= INT64_MAX / item_size(item))
        return -1;
    for (;;) {
        const struct pl_type_signature *inner = item->nested ? item->nested : item->element->signature;
        bytes += elements / item_elements(item) * item_size(item);
        elements %= item_elements(item);
        if (elements == 0)
            return bytes;
        size_t i = 0;
        for (; elements >= inner->items[i].repeat * item_elements(&inner->items[i]); i++) {
            elements -= inner->items[i].repeat * item_elements(&inner->items[i]);
            bytes += inner->items[i].repeat * item_size(&inner->items[i]);
        }
        item = &inner->items[i];
    }
}

typedef bool visit_function(void *context, const struct pl_type *element, MPI_Count elements);

static bool signature_walk(const struct pl_signature_item *item, MPI_Count repeat, visit_function *visit, void *context)
{
    const struct pl_type_signature *inner = item->nested ? item->nested : item->element->signature;
    if (!inner)
        return visit(context, item->element, repeat);
    for (MPI_Count i = 0; i < repeat; i++)
        for (size_t j = 0; j < inner->count; j++)
            if (!signature_walk(&inner->items[j], inner->items[j].repeat, visit, context))
                return false;
    return true;
}

void pl_signature_walk(const struct pl_type *type, MPI_Count count, visit_function *visit, void *context)
{
    if (type->size == 0 || count == 0)
        return;
    struct pl_signature_item item = signature_item(type, count);
    signature_walk(&item, item.repeat, visit, context);
}
