/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every algorithm of every collective, on 1 to 17 ranks, with random counts, roots, datatypes and MPI_IN_PLACE, against
 * a plain reference. All bytes of all buffers are compared, gaps between the data too.
 */
#include "ranks.h"

#include "core/base/config.h"
#include "core/datatype/build.h"
#include "core/datatype/cursor.h"

enum { DRAWS = 40, UNIT = 2 /* int64s in a unit of data: one element of the derived types */ };

/* --- datatypes: dense; with a gap; with negative and positive places ---------------------------------------------- */

static struct pl_type *types[3];

static void make_types(void)
{
    struct pl_type *base = pl_type_predefined((uintptr_t)MPI_INT64_T);
    struct pl_type_envelope *vector = pl_envelope_create(MPI_COMBINER_VECTOR, 3, 0, 0, 1);
    pl_envelope_put(vector, 2);
    pl_envelope_put(vector, 1);
    pl_envelope_put(vector, 3);
    pl_envelope_put_type(vector, base);
    struct pl_type_envelope *around = pl_envelope_create(MPI_COMBINER_HINDEXED, 3, 2, 0, 1);
    pl_envelope_put(around, 2);
    pl_envelope_put(around, 1);
    pl_envelope_put(around, 1);
    pl_envelope_put(around, 8);
    pl_envelope_put(around, -16);
    pl_envelope_put_type(around, base);
    types[0] = base;
    ck_assert_int_eq(pl_type_build(vector, &types[1]), MPI_SUCCESS);
    ck_assert_int_eq(pl_type_build(around, &types[2]), MPI_SUCCESS);
    types[1]->committed = types[2]->committed = true;
}

static void free_types(void)
{
    pl_handle_drop(types[1]);
    pl_handle_drop(types[2]);
}

static int per_element(const struct pl_type *type)
{
    return (int)(type->size / 8);
}

/* --- buffers: what is there, and what should be in the end ---------------------------------------------------------
 */

struct buffer {
    const struct pl_type *type;
    size_t bytes;
    unsigned char *memory, *wanted;
    MPI_Aint skew; /* from `memory` to element 0 */
};

static struct buffer buffer_make(const struct pl_type *type, MPI_Count count)
{
    MPI_Aint lowest = 0;
    struct buffer buffer = { .type = type, .bytes = pl_type_span(type, count, &lowest) + 64 };
    buffer.memory = malloc(buffer.bytes);
    buffer.wanted = malloc(buffer.bytes);
    memset(buffer.memory, 0xa5, buffer.bytes);
    memset(buffer.wanted, 0xa5, buffer.bytes);
    buffer.skew = 32 - lowest;
    return buffer;
}

static void *buffer_base(const struct buffer *buffer)
{
    return buffer->memory ? buffer->memory + buffer->skew : NULL;
}

/* Writes `n` values from element `first` on, into `wanted` or both. */
static void buffer_put(struct buffer *buffer, MPI_Count first, const int64_t *values, MPI_Count n, bool both)
{
    unsigned char *memories[2] = { buffer->wanted, buffer->memory };
    for (int i = 0; i < 1 + both; i++) {
        struct pl_cursor cursor;
        pl_cursor_init(&cursor, memories[i] + buffer->skew + first * buffer->type->extent,
                       n / per_element(buffer->type), buffer->type);
        pl_cursor_unpack(&cursor, values, (size_t)n * 8);
    }
}

static void buffer_check(struct buffer *buffer, const char *what)
{
    if (buffer->memory)
        for (size_t i = 0; i < buffer->bytes; i++)
            EXPECT(buffer->memory[i] == buffer->wanted[i], "%s: byte %zu is wrong", what, i);
    free(buffer->memory);
    free(buffer->wanted);
}

/* --- moving data -----------------------------------------------------------------------------------------------------
 */

/* The blocks of one side, in elements. */
struct side {
    bool used, each; /* a block for each rank, or one block */
    struct buffer buffer;
    MPI_Count count[RANKS_MAX];
    MPI_Aint displ[RANKS_MAX];
    MPI_Aint bytes[RANKS_MAX]; /* displacements of alltoallw */
    MPI_Datatype types[RANKS_MAX];
};

struct draw {
    enum pl_coll_kind kind;
    int size, root;
    bool in_place, varied, to_each, long_blocks;
    int units[RANKS_MAX][RANKS_MAX]; /* from one rank to another */
    struct side send[RANKS_MAX], recv[RANKS_MAX];
};

static bool is_rooted(enum pl_coll_kind kind)
{
    return kind == PL_COLL_BCAST || kind == PL_COLL_REDUCE || (kind >= PL_COLL_GATHER && kind <= PL_COLL_SCATTERV);
}

static bool is_varied(enum pl_coll_kind kind)
{
    return kind == PL_COLL_GATHERV || kind == PL_COLL_SCATTERV || kind == PL_COLL_ALLGATHERV ||
           kind == PL_COLL_ALLTOALLV || kind == PL_COLL_ALLTOALLW;
}

static bool is_alltoall(enum pl_coll_kind kind)
{
    return kind >= PL_COLL_ALLTOALL && kind <= PL_COLL_ALLTOALLW;
}

static int draw_units(const struct draw *draw)
{
    return draw->long_blocks ? 20000 + (int)random_below(9) : (int)random_below(6);
}

/* The source and destination of data, alike on all ranks. */
static void values_of(int64_t *values, const struct draw *draw, int from, int to, MPI_Count n)
{
    int target = draw->to_each ? to : 0;
    for (MPI_Count i = 0; i < n; i++)
        values[i] = (int64_t)(from * 64 + target) << 32 | i;
}

static void make_side(struct side *side, bool used, bool each, int size, const int *units)
{
    const struct pl_type *type = types[random_below(3)];
    bool gaps = random_below(2);
    MPI_Count total = 0;
    side->used = used;
    side->each = each;
    for (int i = 0; used && i < (each ? size : 1); i++) {
        side->count[i] = (MPI_Count)units[i] * UNIT / per_element(type);
        side->displ[i] = total;
        side->bytes[i] = total * type->extent;
        side->types[i] = pl_type_handle(type);
        total += side->count[i] + gaps;
    }
    side->buffer = used ? buffer_make(type, total) : (struct buffer){ .type = type };
}

/* A block without a displacement lies where the standard demands. */
static void make_regular(struct side *side, int size)
{
    free(side->buffer.memory);
    free(side->buffer.wanted);
    for (int i = 0; i < size; i++)
        side->displ[i] = i * side->count[0];
    side->buffer = buffer_make(side->buffer.type, size * side->count[0]);
}

static void draw_call(struct draw *draw)
{
    bool rooted = is_rooted(draw->kind), gather = draw->kind == PL_COLL_GATHER || draw->kind == PL_COLL_GATHERV;
    bool bcast = draw->kind == PL_COLL_BCAST, scatter = rooted && !gather && !bcast;
    int same = draw_units(draw), size = draw->size;
    draw->varied = is_varied(draw->kind);
    draw->to_each = is_alltoall(draw->kind) || scatter;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            draw->units[i][j] = !draw->varied             ? same
                                : draw->in_place && j < i ? draw->units[j][i]
                                : draw->to_each || j == 0 ? draw_units(draw)
                                                          : draw->units[i][0];
    for (int rank = 0; rank < size; rank++) {
        int column[RANKS_MAX];
        bool root = rank == draw->root;
        for (int i = 0; i < size; i++)
            column[i] = draw->units[i][rank];
        make_side(&draw->send[rank], bcast ? false : scatter ? root : true, draw->to_each, size, draw->units[rank]);
        make_side(&draw->recv[rank], gather ? root : true, !(scatter || bcast), size,
                  bcast || scatter ? column + draw->root : column);
        if (!draw->varied && draw->send[rank].used && draw->send[rank].each)
            make_regular(&draw->send[rank], size);
        if (!draw->varied && draw->recv[rank].used && draw->recv[rank].each)
            make_regular(&draw->recv[rank], size);
    }
}

/* Fills the blocks that are sent, and notes the expected ones. */
static void fill(struct draw *draw)
{
    int64_t *values = malloc(sizeof *values * 64 * 1024);
    for (int rank = 0; rank < draw->size; rank++) {
        struct side *send = &draw->send[rank], *recv = &draw->recv[rank];
        for (int i = 0; i < (send->each ? draw->size : send->used); i++) {
            values_of(values, draw, rank, send->each ? i : 0, send->count[i] * per_element(send->buffer.type));
            buffer_put(&send->buffer, send->displ[i], values, send->count[i] * per_element(send->buffer.type), true);
        }
        for (int i = 0; i < (recv->each ? draw->size : recv->used); i++) {
            int from = recv->each ? i : draw->root;
            MPI_Count n = recv->count[i] * per_element(recv->buffer.type);
            bool there = draw->kind == PL_COLL_BCAST
                             ? rank == draw->root
                             : draw->in_place && !is_alltoall(draw->kind) && recv->each && i == rank;
            if (draw->in_place && is_alltoall(draw->kind)) {
                values_of(values, draw, rank, i, n); /* goes to i, and is then replaced */
                buffer_put(&recv->buffer, recv->displ[i], values, n, true);
            }
            values_of(values, draw, from, rank, n);
            buffer_put(&recv->buffer, recv->displ[i], values, n, there);
        }
    }
    free(values);
}

static void describe(struct draw *draw, int rank, struct pl_coll *coll)
{
    struct side *send = &draw->send[rank], *recv = &draw->recv[rank];
    bool root = rank == draw->root;
    *coll = (struct pl_coll){
        .kind = draw->kind,
        .comm = &ranks_comm[rank],
        .root = draw->root,
        .sendbuf = buffer_base(&send->buffer),
        .sendcount = send->count[0],
        .sendtype = send->buffer.type,
        .recvbuf = buffer_base(&recv->buffer),
        .recvcount = recv->count[0],
        .recvtype = recv->buffer.type,
    };
    if (draw->varied && send->each && send->used) {
        coll->sendcounts.wide = send->count;
        coll->senddispls.wide = send->displ;
    }
    if (draw->varied && recv->each && recv->used) {
        coll->recvcounts.wide = recv->count;
        coll->recvdispls.wide = recv->displ;
    }
    if (draw->kind == PL_COLL_ALLTOALLW) {
        coll->senddispls.wide = send->bytes;
        coll->recvdispls.wide = recv->bytes;
        coll->sendtypes = send->types;
        coll->recvtypes = recv->types;
    }
    bool gather = draw->kind == PL_COLL_GATHER || draw->kind == PL_COLL_GATHERV;
    if (!draw->in_place || draw->kind == PL_COLL_BCAST || (is_rooted(draw->kind) && !root))
        return;
    if (is_rooted(draw->kind) && !gather)
        coll->recvbuf = MPI_IN_PLACE;
    else
        coll->sendbuf = MPI_IN_PLACE;
}

static void check_moving(const struct pl_algorithm *algorithm, int size, bool long_blocks)
{
    static struct draw draw;
    struct pl_coll coll[RANKS_MAX];
    int errors[RANKS_MAX];
    memset(&draw, 0, sizeof draw);
    draw.kind = algorithm->kind;
    draw.size = size;
    draw.root = (int)random_below((unsigned)size);
    draw.in_place = random_below(2);
    draw.long_blocks = long_blocks;
    ranks_open(size);
    draw_call(&draw);
    fill(&draw);
    for (int rank = 0; rank < size; rank++)
        describe(&draw, rank, &coll[rank]);
    bool fits = !algorithm->fits || algorithm->fits(&coll[0]);
    ranks_algorithm = fits ? algorithm : NULL;
    ranks_run(coll, errors);
    for (int rank = 0; rank < size; rank++) {
        EXPECT(errors[rank] == MPI_SUCCESS, "%s: error %d at rank %d", algorithm->name, errors[rank], rank);
        if (coll[rank].recvbuf == MPI_IN_PLACE) { /* the root keeps what it has */
            free(draw.recv[rank].buffer.memory);
            free(draw.recv[rank].buffer.wanted);
            draw.recv[rank].buffer.memory = draw.recv[rank].buffer.wanted = NULL;
        }
        buffer_check(&draw.send[rank].buffer, algorithm->name);
        buffer_check(&draw.recv[rank].buffer, algorithm->name);
    }
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* An interval of ranks of one element: [low, high), which only the adjacent one may join. Does not commute. */
static int64_t interval(int low, int high, MPI_Count index)
{
    return (int64_t)low << 48 | (int64_t)high << 32 | index;
}

static int64_t join(int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || (a >> 32 & 0xffff) != b >> 48 || (uint32_t)a != (uint32_t)b)
        return -1;
    return (a & ~((int64_t)0xffff << 32)) | (b & (int64_t)0xffff << 32);
}

static int64_t add(int64_t a, int64_t b)
{
    return a + b;
}

static void apply(const void *in, void *inout, int *len, MPI_Datatype *datatype, int64_t (*combine)(int64_t, int64_t))
{
    const struct pl_type *type = (const struct pl_type *)*datatype;
    for (int i = 0; i < *len; i++) {
        int64_t a[UNIT], b[UNIT];
        struct pl_block bytes_a = pl_block_bytes(a, (size_t)type->size),
                        bytes_b = pl_block_bytes(b, (size_t)type->size);
        struct pl_block left = pl_block_slice(pl_block(in, *len, type), i, 1),
                        right = pl_block_slice(pl_block(inout, *len, type), i, 1);
        pl_type_copy(left.buf, 1, type, a, bytes_a.count, bytes_a.type);
        pl_type_copy(right.buf, 1, type, b, bytes_b.count, bytes_b.type);
        for (int k = 0; k < per_element(type); k++)
            b[k] = combine(a[k], b[k]);
        pl_type_copy(b, bytes_b.count, bytes_b.type, right.buf, 1, type);
    }
}

static void apply_join(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    apply(in, inout, len, datatype, join);
}

static void apply_add(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    apply(in, inout, len, datatype, add);
}

static const struct pl_op operations[2] = {
    { .obj = { .predefined = true }, .commute = false, .user = apply_join, .name = "join" },
    { .obj = { .predefined = true }, .commute = true, .user = apply_add, .name = "add" },
};

/* The combination of ranks low to high - 1 of element `index`. */
static int64_t reduced(const struct pl_op *op, int low, int high, MPI_Count index)
{
    if (!op->commute)
        return interval(low, high, index);
    int64_t sum = 0;
    for (int rank = low; rank < high; rank++)
        sum += rank * 1000003 + index * 7;
    return sum;
}

/* The ranks whose contributions a rank receives, and the part of the vector. */
struct share {
    int low, high;
    MPI_Count first, count;
};

static struct share share_of(enum pl_coll_kind kind, int rank, int size, int root, MPI_Count total,
                             const MPI_Count *counts)
{
    struct share share = { 0, size, 0, total };
    if (kind == PL_COLL_REDUCE && rank != root)
        share.count = 0;
    if (kind == PL_COLL_SCAN)
        share.high = rank + 1;
    if (kind == PL_COLL_EXSCAN)
        share.high = rank;
    if (kind == PL_COLL_REDUCE_SCATTER || kind == PL_COLL_REDUCE_SCATTER_BLOCK) {
        for (int i = 0; i < rank; i++)
            share.first += counts[i];
        share.count = counts[rank];
    }
    return share;
}

static void put_reduced(struct buffer *buffer, const struct pl_op *op, int low, int high, MPI_Count first,
                        MPI_Count count, bool both)
{
    int k = per_element(buffer->type);
    int64_t *values = malloc((size_t)(count * k + 1) * sizeof *values);
    for (MPI_Count i = 0; i < count * k; i++)
        values[i] = reduced(op, low, high, first * k + i);
    buffer_put(buffer, 0, values, count * k, both);
    free(values);
}

static void check_reducing(const struct pl_algorithm *algorithm, int size, bool long_vectors)
{
    struct pl_coll coll[RANKS_MAX];
    struct buffer send[RANKS_MAX], recv[RANKS_MAX];
    int errors[RANKS_MAX], root = (int)random_below((unsigned)size);
    enum pl_coll_kind kind = algorithm->kind;
    const struct pl_type *type = types[random_below(3)];
    const struct pl_op *op = &operations[algorithm->fits || random_below(2)];
    bool in_place = random_below(2), parts = kind == PL_COLL_REDUCE_SCATTER || kind == PL_COLL_REDUCE_SCATTER_BLOCK;
    MPI_Count counts[RANKS_MAX], total = 0, same = long_vectors ? 30011 : random_below(12);
    for (int i = 0; i < size; i++)
        total += counts[i] = kind == PL_COLL_REDUCE_SCATTER ? (long_vectors ? 9000 : 0) + random_below(9) : same;
    if (!parts)
        total = same;

    ranks_open(size);
    for (int rank = 0; rank < size; rank++) {
        bool here = in_place && (kind != PL_COLL_REDUCE || rank == root);
        struct share share = share_of(kind, rank, size, root, total, counts);
        send[rank] = buffer_make(type, total);
        recv[rank] = buffer_make(type, total);
        put_reduced(here ? &recv[rank] : &send[rank], op, rank, rank + 1, 0, total, true);
        if (share.high > share.low)
            put_reduced(&recv[rank], op, share.low, share.high, share.first, share.count, false);
        coll[rank] = (struct pl_coll){
            .kind = kind,
            .comm = &ranks_comm[rank],
            .root = root,
            .op = op,
            .sendbuf = here ? MPI_IN_PLACE : buffer_base(&send[rank]),
            .recvbuf = buffer_base(&recv[rank]),
            .recvcount = parts ? same : total,
            .recvtype = type,
            .recvcounts.wide = kind == PL_COLL_REDUCE_SCATTER ? counts : NULL,
        };
    }
    ranks_algorithm = algorithm;
    ranks_run(coll, errors);
    for (int rank = 0; rank < size; rank++) {
        EXPECT(errors[rank] == MPI_SUCCESS, "%s: error %d at rank %d", algorithm->name, errors[rank], rank);
        buffer_check(&send[rank], algorithm->name);
        buffer_check(&recv[rank], algorithm->name);
    }
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static int algorithms_listed(enum pl_coll_kind kind)
{
    int n = 0;
#define COUNT(name) n += pl_##name.kind == kind;
    PL_ALGORITHMS(COUNT)
#undef COUNT
    return n;
}

/* The algorithms of a kind are those that the configuration offers. */
static int algorithms_of(enum pl_coll_kind kind, const char *collective, const struct pl_algorithm **found)
{
    char name[64];
    int n = 0;
    snprintf(name, sizeof name, "coll_%s", collective);
    for (size_t i = 0; i < pl_config_count; i++) {
        if (strcmp(pl_config_table[i].name, name) != 0)
            continue;
        char *words = strdup(pl_config_table[i].choices), *rest = words, *word;
        while ((word = strsep(&rest, "|")) != NULL) {
            if (strcmp(word, "auto") == 0)
                continue;
            found[n] = pl_coll_named(kind, word);
            ck_assert_msg(found[n] != NULL, "%s of the configuration is not an algorithm of %s", word, collective);
            n++;
        }
        free(words);
    }
    ck_assert_msg(n > 0 && n == algorithms_listed(kind),
                  "%s: core/base/config.c names %d algorithms, core/coll/algorithm.h lists %d", name, n,
                  algorithms_listed(kind));
    return n;
}

static const char *const names[PL_COLL_KINDS] = {
    "barrier",        "bcast",    "gather",    "gatherv",   "scatter", "scatterv",  "allgather",
    "allgatherv",     "alltoall", "alltoallv", "alltoallw", "reduce",  "allreduce", "reduce_scatter_block",
    "reduce_scatter", "scan",     "exscan",
};

/* No rank leaves a barrier before the last one has begun it. */
static void check_barrier_late(const struct pl_coll *coll, int size)
{
    struct pl_request *requests[RANKS_MAX];
    int late = (int)random_below((unsigned)size);
    for (int i = 1; i <= size; i++) {
        int rank = (late + i) % size; /* `late` is the last */
        while (rank == late && ranks_step())
            ;
        for (int other = 0; rank == late && other < size; other++)
            EXPECT(other == late || !pl_request_done(requests[other]), "rank %d of %d does not wait for rank %d", other,
                   size, late);
        EXPECT(pl_coll_start(&coll[rank], &requests[rank]) == MPI_SUCCESS, "rank %d cannot start", rank);
    }
    for (int rank = 0; rank < size; rank++) {
        EXPECT(ranks_wait(requests[rank]) == MPI_SUCCESS, "rank %d fails", rank);
        pl_handle_drop(requests[rank]);
    }
}

static void check_barrier(const struct pl_algorithm *algorithm, int size)
{
    struct pl_coll coll[RANKS_MAX];
    int errors[RANKS_MAX];
    ranks_open(size);
    for (int rank = 0; rank < size; rank++)
        coll[rank] = (struct pl_coll){ .kind = PL_COLL_BARRIER, .comm = &ranks_comm[rank] };
    ranks_algorithm = !algorithm->fits || algorithm->fits(&coll[0]) ? algorithm : NULL;
    ranks_run(coll, errors);
    check_barrier_late(coll, size);
}

START_TEST(test_algorithms)
{
    enum pl_coll_kind kind = (enum pl_coll_kind)_i;
    const struct pl_algorithm *found[16];
    int n = algorithms_of(kind, names[kind], found);
    make_types();
    for (int i = 0; i < n; i++)
        for (int size = 1; size <= RANKS_MAX; size++)
            for (int draw = 0; draw < DRAWS + (size <= 5); draw++) {
                if (kind == PL_COLL_BARRIER)
                    check_barrier(found[i], size);
                else if (kind >= PL_COLL_REDUCE)
                    check_reducing(found[i], size, draw == DRAWS);
                else
                    check_moving(found[i], size, draw == DRAWS);
            }
    free_types();
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collectives");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_algorithms, 0, PL_COLL_KINDS);
    return unit_end(suite);
}
