/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans (MPI-5.0 sections 6.9 to 6.11): each algorithm, forced one by one, in all forms, against a plain
 * reference. The operations are predefined ones and a user's that does not commute: products of matrices modulo a
 * prime.
 */
/* seconds: 400 */
#include "coll.h"

enum { DRAWS = 6, MOST = 30000, PRIME = 10007, RANKS_MAX = 64 };

struct matrix {
    int a, b, c, d;
};

static struct world world;
static uint64_t state = 7;
static MPI_Datatype matrix_type;
static MPI_Op product;

static int below(int n)
{
    return (int)(pattern_random(&state) % (uint32_t)n);
}

static struct matrix multiply(struct matrix x, struct matrix y)
{
    return (struct matrix){ (x.a * y.a + x.b * y.c) % PRIME, (x.a * y.b + x.b * y.d) % PRIME,
                            (x.c * y.a + x.d * y.c) % PRIME, (x.c * y.b + x.d * y.d) % PRIME };
}

static void multiply_all(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count; i++)
        ((struct matrix *)inout)[i] = multiply(((struct matrix *)in)[i], ((struct matrix *)inout)[i]);
}

/* --- what each rank has, by operation ------------------------------------------------------------------------------
 */

enum what { PRODUCT, SUM, MAXLOC, WHATS };

struct pair {
    double value;
    int place;
};

static size_t width(enum what what)
{
    return what == PRODUCT ? sizeof(struct matrix) : what == SUM ? sizeof(long long) : sizeof(struct pair);
}

static void element(enum what what, int rank, int i, void *out)
{
    memset(out, 0, width(what));
    if (what == PRODUCT)
        *(struct matrix *)out =
            (struct matrix){ (rank * 17 + i) % 97 + 1, (rank + i * 3) % 89, (rank * 5 + i) % 83, (rank + i) % 79 + 1 };
    else if (what == SUM)
        *(long long *)out = rank * 1000003ll + i * 7ll - 500000;
    else
        *(struct pair *)out = (struct pair){ (double)((rank * 31 + i * 7) % 13), rank };
}

/* The plain reference: ranks low to high - 1, from the left. */
static void reduced(enum what what, int low, int high, int i, void *out)
{
    union {
        struct matrix matrix;
        long long sum;
        struct pair pair;
    } total, next;
    element(what, low, i, &total);
    for (int rank = low + 1; rank < high; rank++) {
        element(what, rank, i, &next);
        if (what == PRODUCT)
            total.matrix = multiply(total.matrix, next.matrix);
        else if (what == SUM)
            total.sum += next.sum;
        else if (next.pair.value > total.pair.value)
            total.pair = next.pair;
    }
    memcpy(out, &total, width(what));
}

static MPI_Datatype type_of(enum what what)
{
    return what == PRODUCT ? matrix_type : what == SUM ? MPI_LONG_LONG : MPI_DOUBLE_INT;
}

static MPI_Op op_of(enum what what)
{
    return what == PRODUCT ? product : what == SUM ? MPI_SUM : MPI_MAXLOC;
}

/* --- one call ----------------------------------------------------------------------------------------------------- */

struct draw {
    enum form form;
    enum what what;
    int count, root, in_place;
};

static char *input(const struct draw *draw, int count)
{
    size_t each = width(draw->what);
    char *memory = malloc((size_t)count * each + 1);
    for (int i = 0; i < count; i++)
        element(draw->what, world.rank, i, memory + (size_t)i * each);
    return memory;
}

/* `count` elements of `memory` are those of the ranks low to high - 1 from element `first` on. */
static int holds(const struct draw *draw, const char *memory, int low, int high, int first, int count)
{
    size_t each = width(draw->what);
    char wanted[sizeof(struct matrix)];
    for (int i = 0; i < count; i++) {
        reduced(draw->what, low, high, first + i, wanted);
        if (draw->what == MAXLOC) { /* the struct has padding */
            const struct pair *a = (const struct pair *)(memory + (size_t)i * each), *b = (const struct pair *)wanted;
            if (a->value != b->value || a->place != b->place)
                return 0;
        } else if (memcmp(memory + (size_t)i * each, wanted, each) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The two buffers of a call: with MPI_IN_PLACE the input is in the second. */
struct buffers {
    char *in, *out;
    const void *sendbuf;
};

static struct buffers buffers_make(const struct draw *draw, int count, int in_place)
{
    struct buffers buffers = { .in = input(draw, count), .out = input(draw, count) };
    if (!in_place)
        memset(buffers.out, 0x77, (size_t)count * width(draw->what));
    buffers.sendbuf = in_place ? MPI_IN_PLACE : buffers.in;
    return buffers;
}

static void buffers_free(const struct draw *draw, struct buffers *buffers, int count)
{
    CHECK(holds(draw, buffers->in, world.rank, world.rank + 1, 0, count));
    free(buffers->in);
    free(buffers->out);
}

static void test_reduce(const struct draw *draw)
{
    int n = draw->count, root = world.rank == draw->root;
    struct buffers buffers = buffers_make(draw, n, root && draw->in_place);
    COLL(draw->form, world.comm, Reduce, reduce, buffers.sendbuf, buffers.out, n, type_of(draw->what),
         op_of(draw->what), draw->root);
    CHECK(root ? holds(draw, buffers.out, 0, world.size, 0, n)
               : pattern_untouched(buffers.out, (size_t)n * width(draw->what), 0x77));
    buffers_free(draw, &buffers, n);
}

static void test_allreduce(const struct draw *draw)
{
    int n = draw->count;
    struct buffers buffers = buffers_make(draw, n, draw->in_place);
    COLL(draw->form, world.comm, Allreduce, allreduce, buffers.sendbuf, buffers.out, n, type_of(draw->what),
         op_of(draw->what));
    CHECK(holds(draw, buffers.out, 0, world.size, 0, n));
    buffers_free(draw, &buffers, n);
}

static void test_scan(const struct draw *draw)
{
    int n = draw->count;
    struct buffers buffers = buffers_make(draw, n, draw->in_place);
    COLL(draw->form, world.comm, Scan, scan, buffers.sendbuf, buffers.out, n, type_of(draw->what), op_of(draw->what));
    CHECK(holds(draw, buffers.out, 0, world.rank + 1, 0, n));
    buffers_free(draw, &buffers, n);
}

static void test_exscan(const struct draw *draw)
{
    int n = draw->count;
    struct buffers buffers = buffers_make(draw, n, draw->in_place);
    COLL(draw->form, world.comm, Exscan, exscan, buffers.sendbuf, buffers.out, n, type_of(draw->what),
         op_of(draw->what));
    if (world.rank > 0)
        CHECK(holds(draw, buffers.out, 0, world.rank, 0, n));
    else
        CHECK(draw->in_place ? holds(draw, buffers.out, 0, 1, 0, n)
                             : pattern_untouched(buffers.out, (size_t)n * width(draw->what), 0x77));
    buffers_free(draw, &buffers, n);
}

static void test_reduce_scatter_block(const struct draw *draw)
{
    int n = draw->count / world.size, total = n * world.size;
    struct buffers buffers = buffers_make(draw, total, draw->in_place);
    COLL(draw->form, world.comm, Reduce_scatter_block, reduce_scatter_block, buffers.sendbuf, buffers.out, n,
         type_of(draw->what), op_of(draw->what));
    CHECK(holds(draw, buffers.out, 0, world.size, world.rank * n, n));
    buffers_free(draw, &buffers, total);
}

static void test_reduce_scatter(const struct draw *draw)
{
    int counts[RANKS_MAX], first = 0, total = 0;
    for (int i = 0; i < world.size; i++) {
        counts[i] = draw->count / world.size + (i * 5 + draw->root) % 4;
        if (i < world.rank)
            first += counts[i];
        total += counts[i];
    }
    struct buffers buffers = buffers_make(draw, total, draw->in_place);
    COLL(draw->form, world.comm, Reduce_scatter, reduce_scatter, buffers.sendbuf, buffers.out, counts,
         type_of(draw->what), op_of(draw->what));
    CHECK(holds(draw, buffers.out, 0, world.size, first, counts[world.rank]));
    buffers_free(draw, &buffers, total);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static const struct collective {
    const char *name;
    void (*test)(const struct draw *draw);
} kinds[] = {
    { "REDUCE", test_reduce },
    { "ALLREDUCE", test_allreduce },
    { "REDUCE_SCATTER_BLOCK", test_reduce_scatter_block },
    { "REDUCE_SCATTER", test_reduce_scatter },
    { "SCAN", test_scan },
    { "EXSCAN", test_exscan },
};

static void test_algorithm(const struct collective *collective, const char *algorithm)
{
    world = world_open(collective->name, algorithm);
    int failures = mtest_failures;
    CHECK_OK(MPI_Type_contiguous(4, MPI_INT, &matrix_type));
    CHECK_OK(MPI_Type_commit(&matrix_type));
    CHECK_OK(MPI_Op_create(multiply_all, 0, &product));
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < DRAWS + (world.size <= 4); i++) {
            struct draw draw = { (enum form)form, (enum what)(i % WHATS), i == DRAWS ? MOST + below(9) : below(40),
                                 below(world.size), below(2) };
            collective->test(&draw);
        }
    CHECK_OK(MPI_Op_free(&product));
    CHECK_OK(MPI_Type_free(&matrix_type));
    world_close(&world);
    if (mtest_failures > failures)
        fprintf(stderr, "rank %d: %s by %s failed\n", mtest_rank, collective->name, algorithm);
}

int main(void)
{
    char algorithm[64];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int k = 0; algorithm_nth(kinds[i].name, k, algorithm); k++)
            test_algorithm(&kinds[i], algorithm);
    MTEST_END;
}
