/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking beside a loop written by hand for the very layout, and beside memcpy() of as many bytes, in
 * turns. Printed are speeds as ratios: 1 is as fast as the loop (as memcpy). Links with the static library:
 *
 *     cc -O3 -DNDEBUG -D_GNU_SOURCE -I. -Iapi tests/bench/bench_pack.c build/lib/libmpi_abi.a \
 *       -ljansson -ldl -lm -pthread
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/datatype/datatype.h"

enum { ROUNDS = 41, PACKED = 1 << 18, MEMORY = 1 << 22, ITEMS = 1 << 16 };

static char memory[MEMORY], packed[PACKED + 64];
static int places[ITEMS], lengths[ITEMS];

/* A layout, and a function that packs it without a library and returns the packed bytes. */
struct layout {
    const char *name;
    MPI_Datatype type;
    MPI_Count count;
    size_t (*pack)(void);
    size_t (*unpack)(void);
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every other block, of a length known to the compiler, and at a distance that it knows. */
#define VECTOR_LOOPS(bytes)                                                                                            \
    static size_t pack_vector_##bytes(void)                                                                            \
    {                                                                                                                  \
        for (size_t i = 0; i < PACKED / bytes; i++)                                                                    \
            memcpy(packed + i * bytes, memory + 2 * i * bytes, bytes);                                                 \
        return PACKED / bytes * bytes;                                                                                 \
    }                                                                                                                  \
    static size_t unpack_vector_##bytes(void)                                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < PACKED / bytes; i++)                                                                    \
            memcpy(memory + 2 * i * bytes, packed + i * bytes, bytes);                                                 \
        return PACKED / bytes * bytes;                                                                                 \
    }
VECTOR_LOOPS(4)
VECTOR_LOOPS(8)
VECTOR_LOOPS(16)
VECTOR_LOOPS(40)
VECTOR_LOOPS(64)
VECTOR_LOOPS(1024)

/* A column of a matrix whose width is not known to the compiler. */
static volatile size_t width_ = 13;
static size_t width;
#define COLUMN_LOOPS(type)                                                                                             \
    static size_t pack_column_##type(void)                                                                             \
    {                                                                                                                  \
        const type *restrict from = (const type *)memory;                                                              \
        type *restrict to = (type *)packed;                                                                            \
        for (size_t i = 0; i < PACKED / 2 / sizeof(type); i++)                                                         \
            to[i] = from[i * width];                                                                                   \
        return PACKED / 2;                                                                                             \
    }                                                                                                                  \
    static size_t unpack_column_##type(void)                                                                           \
    {                                                                                                                  \
        const type *restrict from = (const type *)packed;                                                              \
        type *restrict to = (type *)memory;                                                                            \
        for (size_t i = 0; i < PACKED / 2 / sizeof(type); i++)                                                         \
            to[i * width] = from[i];                                                                                   \
        return PACKED / 2;                                                                                             \
    }
COLUMN_LOOPS(float)
COLUMN_LOOPS(double)

static size_t pack_indexed_block(void)
{
    for (size_t i = 0; i < PACKED / 8; i++)
        memcpy(packed + 8 * i, memory + 8 * (size_t)places[i], 8);
    return PACKED;
}

static size_t unpack_indexed_block(void)
{
    for (size_t i = 0; i < PACKED / 8; i++)
        memcpy(memory + 8 * (size_t)places[i], packed + 8 * i, 8);
    return PACKED;
}

enum { UNEVEN = 8000 };

static size_t pack_indexed(void)
{
    char *to = packed;
    for (int i = 0; i < UNEVEN; i++) {
        memcpy(to, memory + 4 * (size_t)places[i], 4 * (size_t)lengths[i]);
        to += 4 * lengths[i];
    }
    return (size_t)(to - packed);
}

static size_t unpack_indexed(void)
{
    const char *from = packed;
    for (int i = 0; i < UNEVEN; i++) {
        memcpy(memory + 4 * (size_t)places[i], from, 4 * (size_t)lengths[i]);
        from += 4 * lengths[i];
    }
    return (size_t)(from - packed);
}

/* Blocks of 32 bytes, some of which touch the one before. */
enum { QUADS = 2048 };
static int quads[QUADS];

static size_t pack_quads(void)
{
    for (size_t i = 0; i < QUADS; i++)
        memcpy(packed + 32 * i, memory + 8 * (size_t)quads[i], 32);
    return 32 * QUADS;
}

static size_t unpack_quads(void)
{
    for (size_t i = 0; i < QUADS; i++)
        memcpy(memory + 8 * (size_t)quads[i], packed + 32 * i, 32);
    return 32 * QUADS;
}

struct particle {
    int id;
    double x[3];
    char kind;
};
enum { PARTICLE = sizeof(int) + 3 * sizeof(double) + 1, PARTICLES = PACKED / PARTICLE };

static size_t pack_struct(void)
{
    const struct particle *from = (const struct particle *)memory;
    char *to = packed;
    for (int i = 0; i < PARTICLES; i++, from++, to += PARTICLE) {
        memcpy(to, &from->id, sizeof from->id);
        memcpy(to + 4, from->x, sizeof from->x);
        to[28] = from->kind;
    }
    return PARTICLES * PARTICLE;
}

static size_t unpack_struct(void)
{
    struct particle *to = (struct particle *)memory;
    const char *from = packed;
    for (int i = 0; i < PARTICLES; i++, to++, from += PARTICLE) {
        memcpy(&to->id, from, sizeof to->id);
        memcpy(to->x, from + 4, sizeof to->x);
        to->kind = from[28];
    }
    return PARTICLES * PARTICLE;
}

struct body {
    double x[3];
    int kind, flags;
    double mass, unused;
};
enum { BODIES = PACKED / 36 };

static size_t pack_body(void)
{
    const struct body *from = (const struct body *)memory;
    for (int i = 0; i < BODIES; i++) {
        memcpy(packed + 36 * i, from[i].x, 28);
        memcpy(packed + 36 * i + 28, &from[i].mass, 8);
    }
    return BODIES * 36;
}

static size_t unpack_body(void)
{
    struct body *to = (struct body *)memory;
    for (int i = 0; i < BODIES; i++) {
        memcpy(to[i].x, packed + 36 * i, 28);
        memcpy(&to[i].mass, packed + 36 * i + 28, 8);
    }
    return BODIES * 36;
}

/* The face of a cube of doubles with the worst access: all planes and rows, one column of two. */
enum { EDGE = 72 };

static size_t pack_face(void)
{
    const double *from = (const double *)memory;
    char *to = packed;
    for (int z = 0; z < EDGE; z++)
        for (int y = 0; y < EDGE; y++, to += 16)
            memcpy(to, &from[(z * EDGE + y) * EDGE], 16);
    return EDGE * EDGE * 16;
}

static size_t unpack_face(void)
{
    double *to = (double *)memory;
    const char *from = packed;
    for (int z = 0; z < EDGE; z++)
        for (int y = 0; y < EDGE; y++, from += 16)
            memcpy(&to[(z * EDGE + y) * EDGE], from, 16);
    return EDGE * EDGE * 16;
}

/* A box of 32 x 32 x 32 doubles in the middle of it. */
static size_t pack_box(void)
{
    const double *from = (const double *)memory;
    char *to = packed;
    for (int z = 10; z < 42; z++)
        for (int y = 10; y < 42; y++, to += 256)
            memcpy(to, &from[(z * EDGE + y) * EDGE + 10], 256);
    return 32 * 32 * 256;
}

static size_t unpack_box(void)
{
    double *to = (double *)memory;
    const char *from = packed;
    for (int z = 10; z < 42; z++)
        for (int y = 10; y < 42; y++, from += 256)
            memcpy(&to[(z * EDGE + y) * EDGE + 10], from, 256);
    return 32 * 32 * 256;
}

static MPI_Datatype vector_of(int bytes)
{
    MPI_Datatype type;
    MPI_Type_vector(PACKED / bytes, bytes, 2 * bytes, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype column_of(MPI_Datatype element, int bytes)
{
    MPI_Datatype type;
    MPI_Type_vector(PACKED / 2 / bytes, 1, (int)width, element, &type);
    return type;
}

static MPI_Datatype indexed_block_type(void)
{
    MPI_Datatype type;
    MPI_Type_create_indexed_block(PACKED / 8, 1, places, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype indexed_type(void)
{
    MPI_Datatype type;
    MPI_Type_indexed(UNEVEN, lengths, places, MPI_INT, &type);
    return type;
}

static MPI_Datatype quads_type(void)
{
    MPI_Datatype type;
    for (int i = 0; i < QUADS; i++)
        quads[i] = 8 * i + i % 5;
    MPI_Type_create_indexed_block(QUADS, 4, quads, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype body_type(void)
{
    const int lengths[] = { 3, 1, 1 };
    const MPI_Aint at[] = { offsetof(struct body, x), offsetof(struct body, kind), offsetof(struct body, mass) };
    const MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_DOUBLE };
    MPI_Datatype one, type;
    MPI_Type_create_struct(3, lengths, at, types, &one);
    MPI_Type_create_resized(one, 0, sizeof(struct body), &type);
    MPI_Type_free(&one);
    return type;
}

static MPI_Datatype struct_type(void)
{
    const int ones[] = { 1, 3, 1 };
    const MPI_Aint at[] = { offsetof(struct particle, id), offsetof(struct particle, x),
                            offsetof(struct particle, kind) };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
    MPI_Datatype type;
    MPI_Type_create_struct(3, ones, at, types, &type);
    return type;
}

static MPI_Datatype box_type(int from, int depth, int rows, int columns)
{
    const int sizes[] = { EDGE, EDGE, EDGE }, subsizes[] = { depth, rows, columns }, starts[] = { from, from, from };
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static size_t move(const struct layout *layout, bool pack)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, memory, layout->count, pl_type_from(layout->type));
    return pack ? pl_cursor_pack(&cursor, packed, cursor.total) : pl_cursor_unpack(&cursor, packed, cursor.total);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over all rounds of the ratio of the library's time to the other's. */
static void measure(const struct layout *layout, bool pack)
{
    double to_loop[ROUNDS], to_copy[ROUNDS], speed[ROUNDS];
    size_t (*loop)(void) = pack ? layout->pack : layout->unpack;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        size_t bytes = loop();
        double hand = now() - start;
        start = now();
        if (move(layout, pack) != bytes)
            abort();
        double ours = now() - start;
        start = now();
        memcpy(memory + MEMORY / 2, packed, bytes);
        __asm__ volatile("" : : : "memory");
        double copy = now() - start;
        to_loop[i] = hand / ours;
        to_copy[i] = copy / ours;
        speed[i] = (double)bytes / ours;
    }
    qsort(to_loop, ROUNDS, sizeof *to_loop, compare);
    qsort(to_copy, ROUNDS, sizeof *to_copy, compare);
    qsort(speed, ROUNDS, sizeof *speed, compare);
    printf("%-28s %-7s %6.2f %8.2f %9.2f\n", layout->name, pack ? "pack" : "unpack", to_loop[ROUNDS / 2],
           to_copy[ROUNDS / 2], speed[ROUNDS / 2] * 1e-9);
}

int main(void)
{
    unsigned state = 1;
    width = width_;
    for (int i = 0, at = 0; i < ITEMS; i++) {
        state = state * 1664525 + 1013904223;
        places[i] = at;
        lengths[i] = 1 + (int)(state >> 28);
        at += lengths[i] + 1;
        if (at > MEMORY / 2 / 8 - 32)
            at = 0;
    }
    const struct layout layouts[] = {
        { "vector, blocks of 4 B", vector_of(4), 1, pack_vector_4, unpack_vector_4 },
        { "vector, blocks of 8 B", vector_of(8), 1, pack_vector_8, unpack_vector_8 },
        { "vector, blocks of 16 B", vector_of(16), 1, pack_vector_16, unpack_vector_16 },
        { "vector, blocks of 40 B", vector_of(40), 1, pack_vector_40, unpack_vector_40 },
        { "vector, blocks of 64 B", vector_of(64), 1, pack_vector_64, unpack_vector_64 },
        { "vector, blocks of 1024 B", vector_of(1024), 1, pack_vector_1024, unpack_vector_1024 },
        { "column of floats", column_of(MPI_FLOAT, 4), 1, pack_column_float, unpack_column_float },
        { "column of doubles", column_of(MPI_DOUBLE, 8), 1, pack_column_double, unpack_column_double },
        { "indexed, blocks of 8 B", indexed_block_type(), 1, pack_indexed_block, unpack_indexed_block },
        { "indexed, blocks of 4 to 64 B", indexed_type(), 1, pack_indexed, unpack_indexed },
        { "indexed, 32 B, some adjacent", quads_type(), 1, pack_quads, unpack_quads },
        { "struct of 28 and 8 B", body_type(), BODIES, pack_body, unpack_body },
        { "struct with gaps", struct_type(), PARTICLES, pack_struct, unpack_struct },
        { "face of a cube", box_type(0, EDGE, EDGE, 2), 1, pack_face, unpack_face },
        { "box in a cube", box_type(10, 32, 32, 32), 1, pack_box, unpack_box },
    };
    printf("%-28s %-7s %6s %8s %9s\n", "layout", "", "loop", "memcpy", "GB/s");
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        measure(&layouts[i], true);
        measure(&layouts[i], false);
    }
    return 0;
}
