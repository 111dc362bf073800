/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading datatypes as bytes. What they look like: the header.
 *
 * The reader makes the layout by the functions that the constructors use. So it is in normal form, whatever the bytes
 * are, and its measures are right and fit.
 */
#include "core/datatype/wire.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/build.h"

enum { DERIVED = 0, PAIR = 255 };

/* --- writing -------------------------------------------------------------------------------------------------- */

/* A node that has been written: its how many-th, and how many are within each other there. */
struct written {
    const struct pl_type_layout *node;
    size_t number;
    unsigned height;
};

struct writer {
    struct pl_type_wire *wire;
    struct written *table; /* [room], open addressing by the node's address */
    size_t room, nodes;
    int err; /* the first error: what follows does nothing */
};

static void put_byte(struct writer *to, unsigned char byte)
{
    struct pl_type_wire *wire = to->wire;
    if (to->err)
        return;
    if (wire->length == wire->room) {
        unsigned char *bytes = wire->bytes == wire->own ? NULL : wire->bytes;
        unsigned char *more = pl_realloc(bytes, 2 * wire->room);
        if (!more) {
            to->err = pl_fail_memory("the bytes of a datatype");
            return;
        }
        if (!bytes)
            memcpy(more, wire->own, wire->length);
        wire->bytes = more;
        wire->room *= 2;
    }
    wire->bytes[wire->length++] = byte;
}

static void type_wire_put_number(struct writer *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(to, (unsigned char)(number | 0x80));
    put_byte(to, (unsigned char)number);
}

static void put_signed(struct writer *to, int64_t number)
{
    type_wire_put_number(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static struct written *slot_of(const struct writer *to, const struct pl_type_layout *node)
{
    size_t i = (size_t)(((uintptr_t)node >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    for (;; i++) {
        struct written *slot = &to->table[i & (to->room - 1)];
        if (!slot->node || slot->node == node)
            return slot;
    }
}

static bool type_wire_make_room(struct writer *to)
{
    if (2 * to->nodes < to->room)
        return true;
    struct writer larger = { .room = to->room ? 2 * to->room : 16 };
    larger.table = pl_calloc(larger.room, sizeof *larger.table);
    if (!larger.table) {
        to->err = pl_fail_memory("the bytes of a datatype");
        return false;
    }
    for (size_t i = 0; i < to->room; i++)
        if (to->table[i].node)
            *slot_of(&larger, to->table[i].node) = to->table[i];
    free(to->table);
    to->table = larger.table;
    to->room = larger.room;
    return true;
}

static void put_part(struct writer *to, const struct pl_type_layout *part, size_t size)
{
    type_wire_put_number(to, part ? to->nodes - slot_of(to, part)->number : 0);
    if (!part)
        type_wire_put_number(to, size);
}

static void put_node(struct writer *to, const struct pl_type_layout *node)
{
    put_byte(to, (unsigned char)node->kind);
    if (node->kind != PL_LAYOUT_LIST)
        put_part(to, node->part, node->part_size);
    type_wire_put_number(to, node->count);
    if (node->kind == PL_LAYOUT_LOOP)
        put_signed(to, node->stride);
    MPI_Aint before = 0;
    for (size_t i = 0; i < node->count && node->kind != PL_LAYOUT_LOOP; i++) {
        MPI_Aint at = node->kind == PL_LAYOUT_LIST ? node->parts[i].at : node->at[i];
        put_signed(to, at - before);
        before = at;
        if (node->kind == PL_LAYOUT_LIST)
            put_part(to, node->parts[i].layout, node->parts[i + 1].before - node->parts[i].before);
    }
}

/* Writes a node, before it those within it, unless it has been; returns its height. `above`: nodes that it is in. */
static unsigned write_node(struct writer *to, const struct pl_type_layout *node, unsigned above)
{
    if (!node || to->err)
        return 0;
    if (to->room && slot_of(to, node)->node)
        return slot_of(to, node)->height;
    unsigned height = 0;
    if (above < PL_TYPE_WIRE_DEPTH && node->kind != PL_LAYOUT_LIST)
        height = write_node(to, node->part, above + 1);
    for (size_t i = 0; above < PL_TYPE_WIRE_DEPTH && node->kind == PL_LAYOUT_LIST && i < node->count; i++) {
        unsigned part = write_node(to, node->parts[i].layout, above + 1);
        height = part > height ? part : height;
    }
    if (!to->err && (above >= PL_TYPE_WIRE_DEPTH || height >= PL_TYPE_WIRE_DEPTH))
        to->err = pl_fail(MPI_ERR_TYPE, "the target's datatype is made of more than %d layers; make it of fewer",
                          PL_TYPE_WIRE_DEPTH);
    if (to->err || !type_wire_make_room(to))
        return 0;
    put_node(to, node);
    *slot_of(to, node) = (struct written){ node, to->nodes++, height + 1 };
    return height + 1;
}

static void put_predefined(struct writer *to, const struct pl_type *type)
{
    if (type->obj.predefined) {
        put_byte(to, (unsigned char)(type->obj.abi - PL_TYPE_FIRST));
        return;
    }
    put_byte(to, PAIR);
    put_predefined(to, type->envelope->type[0]);
    put_predefined(to, type->envelope->type[1]);
}

int pl_type_encode(const struct pl_type *type, struct pl_type_wire *wire)
{
    wire->bytes = wire->own;
    wire->length = 0;
    wire->room = sizeof wire->own;
    struct writer to = { .wire = wire };
    if (type->obj.predefined || type->permanent) {
        put_predefined(&to, type->element); /* Fortran's types by precision: the named one with the same data */
        return MPI_SUCCESS;
    }
    put_byte(&to, DERIVED);
    if (type->element)
        put_predefined(&to, type->element);
    else
        put_byte(&to, 0);
    put_signed(&to, type->lb);
    put_signed(&to, type->extent);
    put_signed(&to, type->true_lb);
    type_wire_put_number(&to, (uint64_t)type->size);
    write_node(&to, type->layout, 0);
    free(to.table);
    if (to.err)
        pl_type_wire_drop(wire);
    return to.err;
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* A node that has been read; its lowest byte is at 0. */
struct node {
    struct pl_shape shape;
    unsigned height;
};

struct reader {
    const unsigned char *at, *end;
    struct node *nodes; /* [count] */
    size_t count, room;
    size_t parts; /* that the nodes hold */
    int err;      /* the first error: what follows reads zeros */
};

/* Small lists in lists are joined, which may give more parts than bytes: not more often than this allows. */
enum { PARTS_SPARE = 4096 };

static void type_wire_expect(struct reader *from, bool fits)
{
    if (!fits && !from->err)
        from->err =
            pl_fail(MPI_ERR_TYPE, "the bytes that came for a datatype are none: damaged, or of another version");
}

static unsigned char get_byte(struct reader *from)
{
    type_wire_expect(from, from->at < from->end);
    return from->err ? 0 : *from->at++;
}

static uint64_t type_wire_get_number(struct reader *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; !from->err; shift += 7) {
        unsigned char byte = get_byte(from);
        uint64_t bits = byte & 0x7f;
        type_wire_expect(from, shift < 63 || (shift == 63 && bits <= 1));
        if (from->err)
            break;
        number |= bits << shift;
        if (!(byte & 0x80))
            return number;
    }
    return 0;
}

static int64_t get_signed(struct reader *from)
{
    uint64_t number = type_wire_get_number(from);
    return (int64_t)(number >> 1 ^ -(number & 1));
}

/* A count, or the size of a run: positive. */
static MPI_Count get_count(struct reader *from)
{
    uint64_t number = type_wire_get_number(from);
    type_wire_expect(from, number > 0 && number <= INT64_MAX);
    return (MPI_Count)number;
}

/* NULL: failed. */
static struct pl_type *get_predefined(struct reader *from, unsigned char first)
{
    struct pl_type *type = NULL;
    if (first != PAIR) {
        type = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)first);
    } else {
        struct pl_type *value = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)get_byte(from));
        struct pl_type *index = pl_type_basic(PL_TYPE_FIRST + (uintptr_t)get_byte(from));
        if (value && index && !from->err)
            from->err = pl_type_value_index(value, index, &type);
    }
    type_wire_expect(from, type);
    return type;
}

/* What a node repeats or lists; borrowed. The node's height becomes larger than the part's. */
static struct pl_shape get_part(struct reader *from, struct node *node)
{
    uint64_t back = type_wire_get_number(from);
    if (back == 0) {
        MPI_Count size = get_count(from);
        return (struct pl_shape){ NULL, size, 0, size };
    }
    type_wire_expect(from, back <= from->count);
    if (from->err)
        return (struct pl_shape){ 0 };
    const struct node *part = &from->nodes[from->count - back];
    node->height = part->height < node->height ? node->height : part->height + 1;
    return part->shape;
}

static void read_loop(struct reader *from, struct node *node)
{
    struct pl_shape part = get_part(from, node);
    MPI_Count count = get_count(from);
    MPI_Aint stride = (MPI_Aint)get_signed(from);
    if (!from->err)
        from->err = pl_shape_repeat(&part, count, stride, &node->shape);
}

/* BLOCKS have one part, a LIST has one at each place. */
static void read_places(struct reader *from, bool list, struct node *node)
{
    struct pl_shape_list places = { 0 };
    struct pl_shape part = list ? (struct pl_shape){ 0 } : get_part(from, node);
    MPI_Count count = get_count(from);
    MPI_Aint at = 0;
    for (MPI_Count i = 0; i < count && !from->err; i++) {
        type_wire_expect(from, !__builtin_add_overflow(at, (MPI_Aint)get_signed(from), &at));
        if (list)
            part = get_part(from, node);
        if (!from->err)
            from->err = pl_shape_list_add(&places, at, &part);
    }
    if (from->err)
        pl_shape_list_drop(&places);
    else
        from->err = pl_shape_list_finish(&places, &node->shape);
}

static bool make_node_room(struct reader *from)
{
    if (from->count < from->room)
        return true;
    size_t room = from->room ? 2 * from->room : 4;
    struct node *nodes = pl_realloc(from->nodes, room * sizeof *nodes);
    if (!nodes) {
        from->err = pl_fail_memory("a datatype");
        return false;
    }
    from->nodes = nodes;
    from->room = room;
    return true;
}

static void type_wire_read_node(struct reader *from, size_t length)
{
    struct node node = { .height = 1 };
    unsigned char kind = get_byte(from);
    type_wire_expect(from, kind <= PL_LAYOUT_LIST);
    if (from->err || !make_node_room(from))
        return;
    if (kind == PL_LAYOUT_LOOP)
        read_loop(from, &node);
    else
        read_places(from, kind == PL_LAYOUT_LIST, &node);
    if (from->err)
        return;
    node.shape.low = 0;
    from->nodes[from->count++] = node;
    if (node.shape.layout && node.shape.layout->kind != PL_LAYOUT_LOOP)
        from->parts += node.shape.layout->count;
    type_wire_expect(from, node.height <= PL_TYPE_WIRE_DEPTH && from->parts <= length + PARTS_SPARE);
}

/* Behind the first byte: measures and data of a derived datatype. */
static void read_derived(struct reader *from, size_t length, struct pl_type *type)
{
    unsigned char first = get_byte(from);
    type->element = first ? get_predefined(from, first) : NULL;
    type->lb = get_signed(from);
    type->extent = get_signed(from);
    type->true_lb = get_signed(from);
    uint64_t size = type_wire_get_number(from);
    type_wire_expect(from, size <= INT64_MAX);
    while (!from->err && from->at < from->end)
        type_wire_read_node(from, length);
    struct pl_shape run = { NULL, (MPI_Count)size, 0, (MPI_Count)size };
    const struct pl_shape *whole = from->count ? &from->nodes[from->count - 1].shape : &run;
    MPI_Count ignored;
    type_wire_expect(from, whole->size == run.size && !__builtin_add_overflow(type->lb, type->extent, &ignored) &&
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
}

int pl_type_decode(const void *bytes, size_t length, struct pl_type **result)
{
    struct reader from = { .at = bytes, .end = (const unsigned char *)bytes + length };
    unsigned char first = get_byte(&from);
    struct pl_type *type;
    *result = NULL;
    if (first == DERIVED) {
        type = from.err ? NULL : pl_object_create_hidden(PL_DATATYPE);
        if (!type)
            return from.err ? from.err : MPI_ERR_NO_MEM;
        read_derived(&from, length, type);
        for (size_t i = 0; i < from.count; i++)
            pl_shape_release(&from.nodes[i].shape);
        free(from.nodes);
    } else {
        type = get_predefined(&from, first);
        type_wire_expect(&from, from.at == from.end);
        if (!from.err)
            pl_object_retain(type);
        else
            type = NULL;
    }
    if (from.err)
        pl_object_release(type);
    else
        *result = type;
    return from.err;
}
