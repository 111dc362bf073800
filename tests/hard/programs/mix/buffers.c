/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded memory, known data, and random layouts with their datatypes. */
#include "mix.h"

#include <stdlib.h>
#include <string.h>

enum { UNTOUCHED = 0xa5, BASES = 7 };

static struct base bases[BASES];

void bases_make(void)
{
    const MPI_Datatype plain[] = { MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_INT64_T };
    for (int b = 0; b < BASES - 1; b++) {
        int size;
        MPI_Type_size(plain[b], &size);
        bases[b] = (struct base){ plain[b], (size_t)size };
    }
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_CHAR };
    OK(MPI_Type_create_struct(3, (int[]){ 1, 1, 1 }, (MPI_Aint[]){ 0, 8, 12 }, types, &bases[BASES - 1].type));
    MPI_Datatype packed;
    OK(MPI_Type_create_resized(bases[BASES - 1].type, 0, 13, &packed));
    OK(MPI_Type_free(&bases[BASES - 1].type));
    OK(MPI_Type_commit(&packed));
    bases[BASES - 1] = (struct base){ packed, 13 };
}

void bases_free(void)
{
    OK(MPI_Type_free(&bases[BASES - 1].type));
}

const struct base *plan_base(void)
{
    return &bases[plan_below(BASES)];
}

static unsigned char *guarded(size_t size)
{
    unsigned char *memory = malloc(size);
    return memory ? memset(memory, UNTOUCHED, size) : (fail("no memory"), NULL);
}

void area_make(struct area *area, size_t span)
{
    area->size = span + 2 * (size_t)GUARD;
    area->memory = guarded(area->size);
    area->first = guarded(area->size);
    area->expected = guarded(area->size);
}

void *area_at(const struct area *area, size_t offset)
{
    return area->memory + GUARD + offset;
}

static unsigned char data_byte(uint64_t id, size_t at, uint64_t *word, size_t *cached)
{
    if (*cached != at / 8) {
        *cached = at / 8;
        *word = mix_hash(id * 0x10001 + at / 8);
    }
    return (unsigned char)(*word >> at % 8 * 8);
}

void area_fill(struct area *area, size_t offset, size_t bytes, uint64_t id, size_t from, bool first, bool expected)
{
    uint64_t word = 0;
    size_t cached = SIZE_MAX;
    for (size_t b = 0; b < bytes; b++) {
        unsigned char byte = data_byte(id, from + b, &word, &cached);
        if (first)
            area->first[GUARD + offset + b] = area->memory[GUARD + offset + b] = byte;
        if (expected)
            area->expected[GUARD + offset + b] = byte;
    }
}

void area_put(struct area *area, size_t offset, size_t bytes, const void *data, bool first, bool expected)
{
    if (first) {
        memcpy(area->first + GUARD + offset, data, bytes);
        memcpy(area->memory + GUARD + offset, data, bytes);
    }
    if (expected)
        memcpy(area->expected + GUARD + offset, data, bytes);
}

void area_reset(struct area *area)
{
    if (area->memory)
        memcpy(area->memory, area->first, area->size);
}

void area_check(const struct area *area, const char *what, int step)
{
    if (!area->memory || memcmp(area->memory, area->expected, area->size) == 0)
        return;
    size_t at = 0, wrong = 0;
    for (size_t b = area->size; b-- > 0;)
        if (area->memory[b] != area->expected[b])
            at = b, wrong++;
    fail("%s of step %d: %zu of %zu bytes are wrong, first at %td: %02x, not %02x", what, step, wrong,
         area->size - 2 * GUARD, (ptrdiff_t)at - GUARD, area->memory[at], area->expected[at]);
}

void area_free(struct area *area)
{
    free(area->memory);
    free(area->first);
    free(area->expected);
    *area = (struct area){ 0 };
}

/* Cuts n elements into blocks with gaps, in mixed order; the type is indexed, or a structure. */
static void layout_cut(struct layout *l, const struct base *base, size_t n)
{
    int lengths[40];
    MPI_Aint offsets[40];
    MPI_Datatype types[40];
    size_t left = n, at = 0;
    l->count = 1;
    while (left > 0) {
        size_t elements = l->blocks == 39 ? left : 1 + own_below((unsigned)(left < 200 ? left : left / 2));
        l->block[l->blocks].bytes = elements * base->size;
        lengths[l->blocks] = (int)elements;
        left -= elements;
        l->blocks++;
    }
    int start = l->blocks ? (int)own_below((unsigned)l->blocks) : 0;
    for (int k = 0; k < l->blocks; k++) { /* the place of a block in memory is not its place in the message */
        int b = (start + k) % l->blocks;
        l->block[b].offset = at;
        at += l->block[b].bytes + own_below(3) * base->size;
    }
    for (int b = 0; b < l->blocks; b++) {
        offsets[b] = (MPI_Aint)l->block[b].offset;
        types[b] = base->type;
    }
    if (own_below(2))
        OK(MPI_Type_create_hindexed(l->blocks, lengths, offsets, base->type, &l->type));
    else
        OK(MPI_Type_create_struct(l->blocks, lengths, offsets, types, &l->type));
    l->extent = l->span = at;
}

/* Instances of d elements each, where d divides n: a vector, or a part of a plane. */
static void layout_repeat(struct layout *l, const struct base *base, size_t n)
{
    size_t d = 1 + own_below(40);
    while (n % d)
        d--;
    size_t stride = 1 + own_below(3);
    MPI_Datatype rows;
    if (own_below(2)) {
        OK(MPI_Type_vector((int)d, 1, (int)stride, base->type, &rows));
        for (size_t b = 0; b < d; b++) {
            l->block[b].offset = b * stride * base->size;
            l->block[b].bytes = base->size;
        }
    } else {
        int order = own_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, first = order == MPI_ORDER_C ? 0 : 1;
        int sizes[2], parts[2], starts[2];
        sizes[first] = (int)d, parts[first] = (int)d, starts[first] = 0;
        sizes[!first] = (int)stride, parts[!first] = 1, starts[!first] = (int)stride - 1;
        OK(MPI_Type_create_subarray(2, sizes, parts, starts, order, base->type, &rows));
        for (size_t b = 0; b < d; b++) {
            l->block[b].offset = (b * stride + stride - 1) * base->size;
            l->block[b].bytes = base->size;
        }
    }
    l->blocks = (int)d;
    l->count = (int)(n / d);
    l->extent = (d * stride + own_below(2)) * base->size;
    l->span = l->extent * n / d;
    OK(MPI_Type_create_resized(rows, 0, (MPI_Aint)l->extent, &l->type));
    OK(MPI_Type_free(&rows));
}

void layout_make(struct layout *l, const struct base *base, size_t n)
{
    *l = (struct layout){ .type = base->type, .count = (int)n };
    unsigned kind = own_below(6);
    if (kind == 0 && n > 0) {
        layout_cut(l, base, n);
    } else if (kind == 1 && n > 0) {
        layout_repeat(l, base, n);
    } else {
        l->blocks = 1;
        l->block[0].bytes = l->extent = base->size;
        l->span = n * base->size;
        if (kind > 2)
            return;
        if (own_below(2))
            OK(MPI_Type_dup(base->type, &l->type));
        else {
            OK(MPI_Type_contiguous((int)n, base->type, &l->type));
            l->count = 1;
            l->block[0].bytes = l->extent = l->span;
        }
    }
    l->made = true;
    OK(MPI_Type_commit(&l->type));
}

void layout_fill(const struct layout *l, struct area *area, size_t bytes, uint64_t id, bool first, bool expected)
{
    size_t from = 0;
    for (int c = 0; c < l->count; c++)
        for (int b = 0; b < l->blocks && from < bytes; b++) {
            size_t part = l->block[b].bytes < bytes - from ? l->block[b].bytes : bytes - from;
            area_fill(area, (size_t)c * l->extent + l->block[b].offset, part, id, from, first, expected);
            from += part;
        }
}

void layout_free(struct layout *l)
{
    if (l->made)
        OK(MPI_Type_free(&l->type));
}

MPI_Datatype strided_make(const struct base *base, size_t *stride)
{
    MPI_Datatype type;
    *stride = base->size * (own_below(2) ? 1 : 1 + own_below(3));
    if (*stride == base->size)
        return base->type;
    OK(MPI_Type_create_resized(base->type, 0, (MPI_Aint)*stride, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

void strided_free(const struct base *base, MPI_Datatype *type)
{
    if (*type != base->type)
        OK(MPI_Type_free(type));
}
