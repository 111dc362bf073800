/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes of 64 KiB of data: packed with MPI_Pack, and sent there and back. A loop written for the layout
 * does the same: it packs into memory, or packs, sends bytes and unpacks.
 */
#include "bench.h"

enum { DATA = 65536, DOUBLES = DATA / 8, BLOCKS = DOUBLES / 4, ROWS = 128, COLUMNS = 64, WIDE = 160 };
struct particle {
    double x[3];
    int kind, flags;
    double mass, unused;
};
enum { PARTICLES = DATA / 36 };

static int place[BLOCKS];
static MPI_Datatype type;
static int count;

/* --- by hand: one loop each way; `pack` 0 unpacks ----------------------------------------------------------------- */

static size_t vector_by_hand(double *memory, double *packed, int pack)
{
    for (int i = 0; i < DOUBLES; i++)
        if (pack)
            packed[i] = memory[2 * i];
        else
            memory[2 * i] = packed[i];
    return DATA;
}

static size_t indexed_by_hand(double *memory, double *packed, int pack)
{
    for (int i = 0; i < BLOCKS; i++)
        if (pack)
            memcpy(packed + 4 * i, memory + place[i], 32);
        else
            memcpy(memory + place[i], packed + 4 * i, 32);
    return DATA;
}

static size_t struct_by_hand(double *memory, double *packed, int pack)
{
    struct particle *p = (struct particle *)memory;
    char *at = (char *)packed;
    for (int i = 0; i < PARTICLES; i++, at += 36)
        if (pack) {
            memcpy(at, p[i].x, 28);
            memcpy(at + 28, &p[i].mass, 8);
        } else {
            memcpy(p[i].x, at, 28);
            memcpy(&p[i].mass, at + 28, 8);
        }
    return 36 * PARTICLES;
}

static size_t subarray_by_hand(double *memory, double *packed, int pack)
{
    for (int i = 0; i < ROWS; i++) {
        double *row = memory + (i + 16) * WIDE + 32;
        if (pack)
            memcpy(packed + i * COLUMNS, row, COLUMNS * 8);
        else
            memcpy(row, packed + i * COLUMNS, COLUMNS * 8);
    }
    return ROWS * COLUMNS * 8;
}

/* --- the same for MPI --------------------------------------------------------------------------------------------- */

static void vector_type(void)
{
    MPI_Type_vector(DOUBLES, 1, 2, MPI_DOUBLE, &type);
    count = 1;
}

static void indexed_type(void)
{
    int length[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        place[i] = 8 * i + i % 5;
        length[i] = 4;
    }
    MPI_Type_indexed(BLOCKS, length, place, MPI_DOUBLE, &type);
    count = 1;
}

static void struct_type(void)
{
    int length[] = { 3, 1, 1 };
    MPI_Aint at[] = { offsetof(struct particle, x), offsetof(struct particle, kind), offsetof(struct particle, mass) };
    MPI_Datatype of[] = { MPI_DOUBLE, MPI_INT, MPI_DOUBLE }, one;
    MPI_Type_create_struct(3, length, at, of, &one);
    MPI_Type_create_resized(one, 0, sizeof(struct particle), &type);
    MPI_Type_free(&one);
    count = PARTICLES;
}

static void subarray_type(void)
{
    int sizes[] = { ROWS + 32, WIDE }, part[] = { ROWS, COLUMNS }, start[] = { 16, 32 };
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    count = 1;
}

/* --- what is measured --------------------------------------------------------------------------------------------- */

static size_t (*by_hand)(double *memory, double *packed, int pack);
static char packed[2 * DATA] __attribute__((aligned(64)));

static void pack(struct bench *bench, int bytes, int times)
{
    (void)bytes;
    for (int i = 0; i < times; i++) {
        int position = 0;
        MPI_Pack(bench->buffer, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    }
}

static void pack_by_hand(struct bench *bench, int bytes, int times)
{
    (void)bytes;
    for (int i = 0; i < times; i++) {
        by_hand((double *)bench->buffer, (double *)packed, 1);
        __asm__ volatile("" ::: "memory");
    }
}

static void send(struct bench *bench, int bytes, int times)
{
    int peer = 1 - bench->rank;
    (void)bytes;
    for (int i = 0; i < times; i++) {
        if (bench->rank == 0)
            MPI_Send(bench->buffer, count, type, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(bench->other, count, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bench->rank == 1)
            MPI_Send(bench->buffer, count, type, peer, 1, MPI_COMM_WORLD);
    }
}

static void send_packed(struct bench *bench)
{
    size_t bytes = by_hand((double *)bench->buffer, (double *)packed, 1);
    MPI_Send(packed, (int)bytes, MPI_BYTE, 1 - bench->rank, 1, MPI_COMM_WORLD);
}

static void send_by_hand(struct bench *bench, int bytes, int times)
{
    (void)bytes;
    for (int i = 0; i < times; i++) {
        if (bench->rank == 0)
            send_packed(bench);
        MPI_Recv(packed, sizeof packed, MPI_BYTE, 1 - bench->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        by_hand((double *)bench->other, (double *)packed, 0);
        if (bench->rank == 1)
            send_packed(bench);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
        size_t (*by_hand)(double *memory, double *packed, int pack);
    } layout[] = { { "vector", vector_type, vector_by_hand },
                   { "indexed", indexed_type, indexed_by_hand },
                   { "struct", struct_type, struct_by_hand },
                   { "subarray", subarray_type, subarray_by_hand } };
    static const struct {
        const char *name;
        bench_body *body;
        double scale;
    } what[] = { { "pack %s", pack, 1e6 },
                 { "pack %s, by hand", pack_by_hand, 1e6 },
                 { "send %s", send, 1e6 / 2 },
                 { "send %s, by hand", send_by_hand, 1e6 / 2 } };
    struct bench bench = bench_open(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        by_hand = layout[i].by_hand;
        layout[i].make();
        MPI_Type_commit(&type);
        for (int k = 0; k < 4; k++) {
            char name[64];
            snprintf(name, sizeof name, what[k].name, layout[i].name);
            bench_print(&bench, name, -1, what[k].scale * bench_seconds(&bench, what[k].body, DATA), "us");
        }
        MPI_Type_free(&type);
    }
    bench_close(&bench);
    return 0;
}
