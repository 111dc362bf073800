/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined operation on every predefined datatype that it is defined for, by MPI_Accumulate,
 * MPI_Get_accumulate and MPI_Fetch_and_op, checked against MPI_Reduce_local. MPI_Compare_and_swap on every datatype
 * that it allows. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "rma.h"

enum { COUNT = 5, ELEMENT = 32, INTEGER = 1, REAL = 2, COMPLEX = 4, LOGICAL = 8, BYTES = 16, PAIR = 32 };

/* Datatype, C type, class, and its significant bytes. */
#define TYPES(X)                                                                                                       \
    X(MPI_CHAR, char, INTEGER, 1)                                                                                      \
    X(MPI_SIGNED_CHAR, signed char, INTEGER, 1)                                                                        \
    X(MPI_UNSIGNED_CHAR, unsigned char, INTEGER, 1)                                                                    \
    X(MPI_SHORT, short, INTEGER, sizeof(short))                                                                        \
    X(MPI_UNSIGNED_SHORT, unsigned short, INTEGER, sizeof(short))                                                      \
    X(MPI_INT, int, INTEGER, sizeof(int))                                                                              \
    X(MPI_UNSIGNED, unsigned, INTEGER, sizeof(int))                                                                    \
    X(MPI_LONG, long, INTEGER, sizeof(long))                                                                           \
    X(MPI_UNSIGNED_LONG, unsigned long, INTEGER, sizeof(long))                                                         \
    X(MPI_LONG_LONG, long long, INTEGER, 8)                                                                            \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long, INTEGER, 8)                                                          \
    X(MPI_INT8_T, int8_t, INTEGER, 1)                                                                                  \
    X(MPI_UINT8_T, uint8_t, INTEGER, 1)                                                                                \
    X(MPI_INT16_T, int16_t, INTEGER, 2)                                                                                \
    X(MPI_UINT16_T, uint16_t, INTEGER, 2)                                                                              \
    X(MPI_INT32_T, int32_t, INTEGER, 4)                                                                                \
    X(MPI_UINT32_T, uint32_t, INTEGER, 4)                                                                              \
    X(MPI_INT64_T, int64_t, INTEGER, 8)                                                                                \
    X(MPI_UINT64_T, uint64_t, INTEGER, 8)                                                                              \
    X(MPI_AINT, MPI_Aint, INTEGER, sizeof(MPI_Aint))                                                                   \
    X(MPI_OFFSET, MPI_Offset, INTEGER, sizeof(MPI_Offset))                                                             \
    X(MPI_COUNT, MPI_Count, INTEGER, sizeof(MPI_Count))                                                                \
    X(MPI_FLOAT, float, REAL, sizeof(float))                                                                           \
    X(MPI_DOUBLE, double, REAL, sizeof(double))                                                                        \
    X(MPI_LONG_DOUBLE, long double, REAL, 10)                                                                          \
    X(MPI_C_BOOL, bool, LOGICAL, sizeof(bool))                                                                         \
    X(MPI_C_FLOAT_COMPLEX, float complex, COMPLEX, sizeof(float complex))                                              \
    X(MPI_C_DOUBLE_COMPLEX, double complex, COMPLEX, sizeof(double complex))                                           \
    X(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, COMPLEX, 10)                                                     \
    X(MPI_BYTE, unsigned char, BYTES, 1)

#define PAIRS(X)                                                                                                       \
    X(MPI_FLOAT_INT, float)                                                                                            \
    X(MPI_DOUBLE_INT, double)                                                                                          \
    X(MPI_LONG_INT, long)                                                                                              \
    X(MPI_2INT, int)                                                                                                   \
    X(MPI_SHORT_INT, short)                                                                                            \
    X(MPI_LONG_DOUBLE_INT, long double)

struct kind {
    MPI_Datatype type;
    size_t size, meaning; /* of an element; of a pair: of its value */
    size_t index;         /* the offset of a pair's index */
    int class;
    void (*fill)(void *data, int seed);
};

#define FILL(datatype, ctype, class, meaning)                                                                          \
    static void fill_##datatype(void *data, int seed)                                                                  \
    {                                                                                                                  \
        for (int i = 0; i < COUNT; i++)                                                                                \
            ((ctype *)data)[i] = (ctype)((seed + i) % 4);                                                              \
    }
TYPES(FILL)
#define FILL_PAIR(datatype, ctype)                                                                                     \
    struct pair_##datatype {                                                                                           \
        ctype v;                                                                                                       \
        int i;                                                                                                         \
    };                                                                                                                 \
    static void fill_##datatype(void *data, int seed)                                                                  \
    {                                                                                                                  \
        struct pair_##datatype *pairs = data;                                                                          \
        for (int i = 0; i < COUNT; i++) {                                                                              \
            pairs[i].v = (ctype)((seed + i) % 3);                                                                      \
            pairs[i].i = seed % 5 + i;                                                                                 \
        }                                                                                                              \
    }
PAIRS(FILL_PAIR)

#define ROW(datatype, ctype, class, meaning) { datatype, sizeof(ctype), meaning, 0, class, fill_##datatype },
#define ROW_PAIR(datatype, ctype)                                                                                      \
    { datatype,                                                                                                        \
      sizeof(struct pair_##datatype),                                                                                  \
      sizeof(ctype) > 10 ? 10 : sizeof(ctype),                                                                         \
      offsetof(struct pair_##datatype, i),                                                                             \
      PAIR,                                                                                                            \
      fill_##datatype },

static const struct {
    const char *name;
    MPI_Op op;
    int classes;
} ops[] = {
    { "sum", MPI_SUM, INTEGER | REAL | COMPLEX },
    { "prod", MPI_PROD, INTEGER | REAL | COMPLEX },
    { "min", MPI_MIN, INTEGER | REAL },
    { "max", MPI_MAX, INTEGER | REAL },
    { "band", MPI_BAND, INTEGER | BYTES },
    { "bor", MPI_BOR, INTEGER | BYTES },
    { "bxor", MPI_BXOR, INTEGER | BYTES },
    { "land", MPI_LAND, INTEGER | LOGICAL },
    { "lor", MPI_LOR, INTEGER | LOGICAL },
    { "lxor", MPI_LXOR, INTEGER | LOGICAL },
    { "minloc", MPI_MINLOC, PAIR },
    { "maxloc", MPI_MAXLOC, PAIR },
    { "replace", MPI_REPLACE, 63 },
    { "no_op", MPI_NO_OP, 63 },
};

/* Are the elements equal, padding aside? */
static int same(const struct kind *kind, const void *a, const void *b, int count)
{
    for (int i = 0; i < count; i++) {
        const char *x = (const char *)a + (size_t)i * kind->size, *y = (const char *)b + (size_t)i * kind->size;
        if (memcmp(x, y, kind->meaning) != 0)
            return 0;
        if (kind->index && memcmp(x + kind->index, y + kind->index, sizeof(int)) != 0)
            return 0;
        if (kind->class == COMPLEX && memcmp(x + kind->size / 2, y + kind->size / 2, kind->meaning / 2) != 0)
            return 0;
    }
    return 1;
}

static void model(MPI_Op op, const void *in, void *inout, int count, const struct kind *kind)
{
    if (op == MPI_REPLACE)
        memcpy(inout, in, (size_t)count * kind->size);
    else if (op != MPI_NO_OP)
        CHECK_OK(MPI_Reduce_local(in, inout, count, kind->type, op));
}

/* Each rank accumulates on its own elements at the next rank, by the three functions in turn. */
static void apply(const struct window *w, int o, const struct kind *kind)
{
    _Alignas(16) char in[COUNT * ELEMENT] = { 0 }, state[COUNT * ELEMENT] = { 0 }, before[COUNT * ELEMENT] = { 0 };
    _Alignas(16) char seen[COUNT * ELEMENT] = { 0 };
    int next = (mtest_rank + 1) % mtest_size, good = 1;
    MPI_Aint at = w->offset[next];
    MPI_Op op = ops[o].op;
    kind->fill(state, mtest_rank);
    kind->fill(in, mtest_rank + 2);
    CHECK_OK(MPI_Put(state, COUNT, kind->type, next, at, COUNT, kind->type, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));

    if (op != MPI_NO_OP) /* MPI_Accumulate does not allow it */
        CHECK_OK(MPI_Accumulate(in, COUNT, kind->type, next, at, COUNT, kind->type, op, w->win));
    model(op, in, state, COUNT, kind);
    memcpy(before, state, sizeof before);
    CHECK_OK(MPI_Get_accumulate(op == MPI_NO_OP ? NULL : in, op == MPI_NO_OP ? 0 : COUNT, kind->type, seen, COUNT,
                                kind->type, next, at, COUNT, kind->type, op, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win)); /* the previous accumulate has come first */
    good &= same(kind, seen, before, COUNT);
    model(op, in, state, COUNT, kind);

    memcpy(before, state, sizeof before);
    CHECK_OK(MPI_Fetch_and_op(in, seen, kind->type, next, at + (MPI_Aint)kind->size, op, w->win));
    CHECK_OK(MPI_Win_flush_local(next, w->win));
    good &= same(kind, seen, before + kind->size, 1);
    model(op, in, state + kind->size, 1, kind);

    CHECK_OK(
        MPI_Get_accumulate(NULL, 0, MPI_BYTE, seen, COUNT, kind->type, next, at, COUNT, kind->type, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    good &= same(kind, seen, state, COUNT);
    if (!good) {
        char name[MPI_MAX_OBJECT_NAME], what[MPI_MAX_OBJECT_NAME + 60];
        int length;
        MPI_Type_get_name(kind->type, name, &length);
        snprintf(what, sizeof what, "%s of %s, window %d", ops[o].name, name, w->kind);
        mtest_check(0, __FILE__, __LINE__, "wrong data", what);
    }
}

static const struct kind kinds[] = { TYPES(ROW) PAIRS(ROW_PAIR) };

static void swap(const struct window *w, const struct kind *kind)
{
    _Alignas(16) char old[COUNT * ELEMENT] = { 0 }, new[COUNT * ELEMENT] = { 0 }, seen[ELEMENT] = { 0 };
    int next = (mtest_rank + 1) % mtest_size;
    MPI_Aint at = w->offset[next];
    kind->fill(old, 1);
    kind->fill(new, 2);
    CHECK_OK(MPI_Put(old, 1, kind->type, next, at, 1, kind->type, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK_OK(MPI_Compare_and_swap(new, new, seen, kind->type, next, at, w->win)); /* the comparison fails */
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK(same(kind, seen, old, 1));
    CHECK_OK(MPI_Compare_and_swap(new, old, seen, kind->type, next, at, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK(same(kind, seen, old, 1));
    CHECK_OK(MPI_Compare_and_swap(old, new, seen, kind->type, next, at, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK(same(kind, seen, new, 1));
    CHECK_OK(MPI_Get(seen, 1, kind->type, next, at, 1, kind->type, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK(same(kind, seen, old, 1));
}

/* Unnamed pair datatypes, and pairs in a derived datatype. */
static void pairs(const struct window *w)
{
    int next = (mtest_rank + 1) % mtest_size;
    struct {
        double v;
        int i;
    } in[6], out[6];
    MPI_Datatype spread;
    for (int i = 0; i < 6; i++) {
        in[i].v = i % 2 ? -1.5 : 5;
        in[i].i = i;
    }
    memset(out, 0, sizeof out);
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &spread));
    CHECK_OK(MPI_Type_commit(&spread));
    CHECK_OK(MPI_Put(out, sizeof out, MPI_BYTE, next, w->offset[next], sizeof out, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK_OK(MPI_Accumulate(in + 1, 1, spread, next, w->offset[next], 3, MPI_DOUBLE_INT, MPI_MINLOC, w->win));
    CHECK_OK(MPI_Accumulate(in, 3, MPI_DOUBLE_INT, next, w->offset[next] + 16, 1, spread, MPI_MAXLOC, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, out, 6, MPI_DOUBLE_INT, next, w->offset[next], 6, MPI_DOUBLE_INT,
                                MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    const double values[] = { -1.5, 5, -1.5, 0, 0, 5 };
    const int indices[] = { 1, 0, 5, 0, 0, 2 };
    for (int i = 0; i < 6; i++)
        CHECK(out[i].v == values[i] && out[i].i == indices[i]);
    MPI_Type_free(&spread);
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
    struct {
        int16_t v;
        int64_t i;
    } custom[4] = { { 3, 30 }, { 2, 20 }, { 7, 70 }, { 1, 10 } }, got[4];
    MPI_Datatype pair;
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Type_get_value_index(MPI_INT16_T, MPI_INT64_T, &pair));
    CHECK_OK(MPI_Type_vector(2, 1, 2, pair, &spread));
    CHECK_OK(MPI_Type_commit(&spread));
    CHECK_OK(MPI_Put(got, sizeof got, MPI_BYTE, next, w->offset[next], sizeof got, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK_OK(MPI_Accumulate(custom, 2, pair, next, w->offset[next], 1, spread, MPI_MAXLOC, w->win));
    CHECK_OK(MPI_Accumulate(custom + 2, 1, pair, next, w->offset[next], 1, pair, MPI_MAXLOC, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, got, 4, pair, next, w->offset[next], 4, pair, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(next, w->win));
    CHECK(got[0].v == 7 && got[0].i == 70 && got[1].v == 0 && got[1].i == 0 && got[2].v == 2 && got[2].i == 20);
    MPI_Type_free(&spread);
#endif
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(kind, MPI_COMM_WORLD, COUNT * ELEMENT);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++)
            for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
                if (ops[o].classes & kinds[k].class)
                    apply(&w, (int)o, &kinds[k]);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (kinds[k].class & (INTEGER | LOGICAL | BYTES))
                swap(&w, &kinds[k]);
        pairs(&w);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        window_close(&w, MPI_COMM_WORLD);
    }
    MTEST_END;
}
