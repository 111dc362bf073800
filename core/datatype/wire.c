/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading datatypes as bytes. See wire.h for the format.
 *
 * The reader makes the layout by the functions that the constructors use. So it is in normal form, whatever the bytes
 * are, and its measures are right and fit.
 */
#include "core/datatype/wire.h"

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/vec.h"
#include "core/datatype/build.h"
#include "core/datatype/parametric.h"

enum { DERIVED = 0, PAIR = 255 };

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* A node that has been written: its index, and its height, which is 1 without nodes inside it. */
struct written {
    const struct pl_type_layout *node;
    size_t number;
    unsigned height;
};

struct encoder {
    struct pl_writer to;
    struct written *table; /* [slots], open addressing by the node's address */
    size_t slots, nodes;
    int err; /* the first error; nothing is written after it */
};

static struct written *encoder_slot(const struct encoder *to, const struct pl_type_layout *node)
{
    size_t i = (size_t)(((uintptr_t)node >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    for (;; i++) {
        struct written *slot = &to->table[i & (to->slots - 1)];
        if (!slot->node || slot->node == node)
            return slot;
    }
}

static bool encoder_reserve(struct encoder *to)
{
    if (2 * to->nodes < to->slots)
        return true;
    struct encoder larger = { .slots = to->slots ? 2 * to->slots : 16 };
    larger.table = pl_calloc(larger.slots, sizeof *larger.table);
    if (!larger.table) {
        to->err = pl_fail_memory("the bytes of a datatype");
        return false;
    }
    for (size_t i = 0; i < to->slots; i++)
        if (to->table[i].node)
            *encoder_slot(&larger, to->table[i].node) = to->table[i];
    free(to->table);
    to->table = larger.table;
    to->slots = larger.slots;
    return true;
}

static void encode_part(struct encoder *to, const struct pl_type_layout *part, size_t size)
{
    pl_write_leb128(&to->to, part ? to->nodes - encoder_slot(to, part)->number : 0);
    if (!part)
        pl_write_leb128(&to->to, size);
}

static void encode_node(struct encoder *to, const struct pl_type_layout *node)
{
    pl_write_u8(&to->to, (uint8_t)node->kind);
    if (node->kind != PL_LAYOUT_LIST)
        encode_part(to, node->part, node->part_size);
    pl_write_leb128(&to->to, node->count);
    if (node->kind == PL_LAYOUT_LOOP)
        pl_write_folded(&to->to, node->stride);
    MPI_Aint before = 0;
    for (size_t i = 0; i < node->count && node->kind != PL_LAYOUT_LOOP; i++) {
        MPI_Aint at = node->kind == PL_LAYOUT_LIST ? node->parts[i].at : node->at[i];
        pl_write_folded(&to->to, at - before);
        before = at;
        if (node->kind == PL_LAYOUT_LIST)
            encode_part(to, node->parts[i].layout, node->parts[i + 1].before - node->parts[i].before);
    }
}

/* Writes a node after the nodes inside it, unless it was written already. Returns its height. `above`: the number of
 * nodes that it is inside of. */
static unsigned encode_tree(struct encoder *to, const struct pl_type_layout *node, unsigned above)
{
    if (!node || to->err)
        return 0;
    if (to->slots && encoder_slot(to, node)->node)
        return encoder_slot(to, node)->height;
    unsigned height = 0;
    if (above < PL_TYPE_WIRE_DEPTH && node->kind != PL_LAYOUT_LIST)
        height = encode_tree(to, node->part, above + 1);
    for (size_t i = 0; above < PL_TYPE_WIRE_DEPTH && node->kind == PL_LAYOUT_LIST && i < node->count; i++) {
        unsigned part = encode_tree(to, node->parts[i].layout, above + 1);
        height = part > height ? part : height;
    }
    if (!to->err && (above >= PL_TYPE_WIRE_DEPTH || height >= PL_TYPE_WIRE_DEPTH))
        to->err = pl_fail(MPI_ERR_TYPE, "the target's datatype is nested more than %d levels deep", PL_TYPE_WIRE_DEPTH);
    if (to->err || !encoder_reserve(to))
        return 0;
    encode_node(to, node);
    *encoder_slot(to, node) = (struct written){ node, to->nodes++, height + 1 };
    return height + 1;
}

static void encode_predefined(struct pl_writer *to, const struct pl_type *type)
{
    if (type->obj.predefined) {
        pl_write_u8(to, (uint8_t)(type->obj.abi - PL_TYPE_FIRST));
        return;
    }
    pl_write_u8(to, PAIR);
    encode_predefined(to, type->envelope->type[0]);
    encode_predefined(to, type->envelope->type[1]);
}

static void encode_derived(struct encoder *to, const struct pl_type *type)
{
    pl_write_u8(&to->to, DERIVED);
    if (type->element)
        encode_predefined(&to->to, type->element);
    else
        pl_write_u8(&to->to, 0);
    pl_write_folded(&to->to, type->lb);
    pl_write_folded(&to->to, type->extent);
    pl_write_folded(&to->to, type->true_lb);
    pl_write_leb128(&to->to, (uint64_t)type->size);
    encode_tree(to, type->layout, 0);
    free(to->table);
}

int pl_type_encode(const struct pl_type *type, struct pl_type_wire *wire)
{
    struct encoder to = { .to = pl_writer_growing(wire->own, sizeof wire->own) };
    if (type->obj.predefined || type->permanent)
        encode_predefined(&to.to,
                          type->element); /* of Fortran's types by precision: the named one with the same data */
    else
        encode_derived(&to, type);
    wire->bytes = to.to.data;
    wire->length = to.to.length;
    if (pl_likely(!to.err && !to.to.failed))
        return MPI_SUCCESS;
    pl_type_wire_drop(wire);
    return to.err ? to.err : pl_fail_memory("the bytes of a datatype");
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* A node that has been read; its lowest byte is at 0. */
struct node {
    struct pl_shape shape;
    unsigned height;
};

struct decoder {
    struct pl_reader from;
    PL_VEC(struct node) nodes;
    size_t parts; /* in all nodes */
    int err;      /* of the functions that make the type; the reader has failed, too */
};

/* Small lists in lists are joined, which may give more parts than bytes: at most this many more. */
enum { PARTS_SPARE = 4096 };

static void decode_fail(struct decoder *from, int err)
{
    if (err && !from->from.failed)
        from->err = err;
    if (err)
        pl_reader_fail(&from->from);
}

/* A count, or the size of a run: positive. */
static MPI_Count decode_count(struct pl_reader *from)
{
    uint64_t number = pl_read_leb128(from);
    pl_reader_expect(from, number > 0 && number <= INT64_MAX);
    return (MPI_Count)number;
}

/* NULL: failed. */
static struct pl_type *decode_predefined(struct decoder *from, uint8_t first)
{
    struct pl_type *type = NULL;
    if (first != PAIR) {
        type = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)first);
    } else {
        struct pl_type *value = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)pl_read_u8(&from->from));
        struct pl_type *index = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)pl_read_u8(&from->from));
        if (value && index)
            decode_fail(from, pl_type_value_index(value, index, &type));
    }
    pl_reader_expect(&from->from, type);
    return type;
}

/* A part that a node repeats or lists; borrowed. The node's height becomes larger than the part's. */
static struct pl_shape decode_part(struct decoder *from, struct node *node)
{
    uint64_t back = pl_read_leb128(&from->from);
    if (back == 0) {
        MPI_Count size = decode_count(&from->from);
        return (struct pl_shape){ NULL, size, 0, size };
    }
    pl_reader_expect(&from->from, back <= from->nodes.count);
    if (from->from.failed)
        return (struct pl_shape){ 0 };
    const struct node *part = &from->nodes.items[from->nodes.count - back];
    node->height = part->height < node->height ? node->height : part->height + 1;
    return part->shape;
}

static void decode_loop(struct decoder *from, struct node *node)
{
    struct pl_shape part = decode_part(from, node);
    MPI_Count count = decode_count(&from->from);
    MPI_Aint stride = (MPI_Aint)pl_read_folded(&from->from);
    if (!from->from.failed)
        decode_fail(from, pl_shape_repeat(&part, count, stride, &node->shape));
}

/* BLOCKS repeat one part, a LIST has a part for each displacement. */
static void decode_parts(struct decoder *from, bool list, struct node *node)
{
    struct pl_shape_list parts = { 0 };
    struct pl_shape part = list ? (struct pl_shape){ 0 } : decode_part(from, node);
    MPI_Count count = decode_count(&from->from);
    MPI_Aint at = 0;
    for (MPI_Count i = 0; i < count && !from->from.failed; i++) {
        pl_reader_expect(&from->from, !__builtin_add_overflow(at, (MPI_Aint)pl_read_folded(&from->from), &at));
        if (list)
            part = decode_part(from, node);
        if (!from->from.failed)
            decode_fail(from, pl_shape_list_add(&parts, at, &part));
    }
    if (from->from.failed)
        pl_shape_list_drop(&parts);
    else
        decode_fail(from, pl_shape_list_finish(&parts, &node->shape));
}

static void decode_node(struct decoder *from, size_t length)
{
    struct node node = { .height = 1 };
    uint8_t kind = pl_read_u8(&from->from);
    pl_reader_expect(&from->from, kind <= PL_LAYOUT_LIST);
    if (!from->from.failed && !PL_VEC_RESERVE(&from->nodes, 1))
        decode_fail(from, pl_fail_memory("a datatype"));
    if (kind == PL_LAYOUT_LOOP)
        decode_loop(from, &node);
    else
        decode_parts(from, kind == PL_LAYOUT_LIST, &node);
    if (from->from.failed)
        return;
    node.shape.low = 0;
    from->nodes.items[from->nodes.count++] = node;
    if (node.shape.layout && node.shape.layout->kind != PL_LAYOUT_LOOP)
        from->parts += node.shape.layout->count;
    pl_reader_expect(&from->from, node.height <= PL_TYPE_WIRE_DEPTH && from->parts <= length + PARTS_SPARE);
}

/* The measures and data of a derived datatype, after the first byte. */
static void decode_derived(struct decoder *from, size_t length, struct pl_type *type)
{
    uint8_t first = pl_read_u8(&from->from);
    type->element = first ? decode_predefined(from, first) : NULL;
    type->lb = pl_read_folded(&from->from);
    type->extent = pl_read_folded(&from->from);
    type->true_lb = pl_read_folded(&from->from);
    uint64_t size = pl_read_leb128(&from->from);
    pl_reader_expect(&from->from, size <= INT64_MAX);
    while (pl_reader_left(&from->from) > 0)
        decode_node(from, length);
    struct pl_shape run = { NULL, (MPI_Count)size, 0, (MPI_Count)size };
    const struct pl_shape *whole = from->nodes.count ? &from->nodes.items[from->nodes.count - 1].shape : &run;
    MPI_Count ignored;
    pl_reader_expect(&from->from, whole->size == run.size &&
                                      !__builtin_add_overflow(type->lb, type->extent, &ignored) &&
                                      !__builtin_add_overflow(type->true_lb, whole->span, &ignored) &&
                                      (!type->element || whole->size % type->element->size == 0));
    type->size = whole->size;
    type->true_extent = whole->span;
    type->layout = pl_layout_retain(whole->layout);
    type->solid = !type->layout;
    type->dense = type->solid && (type->size == type->extent || type->size == 0);
    type->basic = type->element ? type->element->basic : PL_NONE;
    type->align = type->element ? type->element->align : 1;
    type->committed = true;
    for (size_t i = 0; i < from->nodes.count; i++)
        pl_shape_release(&from->nodes.items[i].shape);
    PL_VEC_FINI(&from->nodes);
}

int pl_type_decode(const void *bytes, size_t length, struct pl_type **result)
{
    struct decoder from = { .from = pl_reader(bytes, length) };
    uint8_t first = pl_read_u8(&from.from);
    struct pl_type *type = NULL;
    *result = NULL;
    if (first != DERIVED) {
        type = decode_predefined(&from, first);
        pl_reader_expect(&from.from, pl_reader_left(&from.from) == 0);
        if (!from.from.failed)
            pl_object_retain(type);
    } else if (!from.from.failed) {
        type = pl_object_create_hidden(PL_DATATYPE);
        if (!type)
            return MPI_ERR_NO_MEM;
        decode_derived(&from, length, type);
    }
    if (!from.from.failed) {
        *result = type;
        return MPI_SUCCESS;
    }
    if (first == DERIVED)
        pl_object_release(type);
    return from.err ? from.err
                    : pl_fail(MPI_ERR_TYPE, "the bytes received for a datatype are damaged, or of another version");
}
