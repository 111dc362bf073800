/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: blocking, nonblocking and persistent, with all shapes of buffers. */
#include "mix.h"

#include <stdlib.h>
#include <string.h>

enum form { BLOCKING, STARTED, PERSISTENT };

#if COMPLETE
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &op->request)
#else
#define INIT(Name, ...) MPI_ERR_OTHER
#endif
#define RUN(Name, name, ...)                                                                                           \
    OK(form == BLOCKING  ? MPI_##Name(__VA_ARGS__)                                                                     \
       : form == STARTED ? MPI_I##name(__VA_ARGS__, &op->request)                                                      \
                         : INIT(Name, __VA_ARGS__))

static enum form plan_form(void)
{
    return plan_below(2 + COMPLETE);
}

static void coll_end(struct op *op, enum form form, int serial)
{
    op->persistent = form == PERSISTENT;
    if (form == BLOCKING)
        op_end(op, NULL);
    else
        op_keep(op);
    if (form == PERSISTENT)
        channel_add(op, serial);
}

/* --- moving data -------------------------------------------------------------------------------------------------- */

/* The buffer of one side of a collective: a block of elements for each peer. */
struct side {
    MPI_Datatype type, types[RANKS];
    size_t stride;
    int blocks, counts[RANKS], displs[RANKS], bytes[RANKS]; /* displs in units of the type, bytes in bytes */
    MPI_Aint places[RANKS];                                 /* bytes, for neighbors */
    struct area *area;
};

static void side_make(struct side *s, struct area *area, const struct base *base, int blocks, const int *counts,
                      bool spread)
{
    size_t at = 0;
    s->type = strided_make(base, &s->stride);
    s->blocks = blocks;
    s->area = area;
    int turn = spread && blocks ? (int)own_below((unsigned)blocks) : 0;
    for (int k = 0; k < blocks; k++) {
        int b = (k + turn) % blocks;
        s->counts[b] = counts[b];
        s->displs[b] = (int)at;
        s->bytes[b] = (int)(at * s->stride);
        s->types[b] = s->type;
        at += (size_t)counts[b] + (spread ? own_below(3) : 0);
    }
    area_make(area, at * s->stride);
}

static void side_fill(struct side *s, const struct base *base, int block, uint64_t id, bool first, bool expected)
{
    if (s->stride == base->size) {
        area_fill(s->area, (size_t)s->bytes[block], (size_t)s->counts[block] * base->size, id, 0, first, expected);
        return;
    }
    for (int e = 0; e < s->counts[block]; e++)
        area_fill(s->area, (size_t)s->bytes[block] + (size_t)e * s->stride, base->size, id, (size_t)e * base->size,
                  first, expected);
}

enum what { BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW };

/* How much rank `from` gives to rank `to`, in elements. */
struct amounts {
    enum what what;
    int one;
    uint64_t seed;
};

static int amount(const struct amounts *a, int from, int to)
{
    switch (a->what) {
    case GATHERV:
    case ALLGATHERV: return (int)(mix_hash(a->seed + (uint64_t)from) % (unsigned)(a->one + 1));
    case SCATTERV: return (int)(mix_hash(a->seed + (uint64_t)to) % (unsigned)(a->one + 1));
    case ALLTOALLV:
    case ALLTOALLW: /* symmetric, for MPI_IN_PLACE */
        return (int)(mix_hash(a->seed + (uint64_t)(from + to) + 1000 * (uint64_t)(from * to)) % (unsigned)(a->one + 1));
    default: return a->one;
    }
}

/* The data: one for all receivers, unless each gets its own. */
static uint64_t data_id(const struct amounts *a, int side, int from, int to)
{
    bool same = a->what == BCAST || a->what == ALLGATHER || a->what == ALLGATHERV;
    return mix_hash(a->seed + 7) + (uint64_t)(side * 100000 + from * 1000 + (same ? 0 : to));
}

/* A collective, as this rank sees it. */
struct call {
    struct amounts amounts;
    const struct comm *c;
    const struct base *base;
    enum form form;
    int root_side, root, at_root; /* at_root: the argument */
    bool is_root, in_place, spread;
    int outs, ins; /* blocks */
};

static bool collects(const struct call *call)
{
    return call->amounts.what == GATHER || call->amounts.what == GATHERV;
}

static bool scatters(const struct call *call)
{
    return call->amounts.what == SCATTER || call->amounts.what == SCATTERV;
}

static bool is_rooted(const struct call *call)
{
    return call->amounts.what == BCAST || collects(call) || scatters(call);
}

static void call_plan(struct call *call, bool place)
{
    const struct comm *c = call->c;
    enum what what = call->amounts.what;
    bool beside_root = c->inter && c->side == call->root_side;
    int n = c->inter ? c->sizes[!c->side] : c->sizes[0];
    call->is_root = c->side == call->root_side && c->rank == call->root;
    call->at_root = !beside_root ? call->root : call->is_root ? MPI_ROOT : MPI_PROC_NULL;
    call->in_place = place && what != BCAST && (call->is_root || !is_rooted(call));
    call->spread = what == GATHERV || what == SCATTERV || what == ALLGATHERV || what >= ALLTOALLV;
    switch (what) {
    case BARRIER: break;
    case BCAST:
        call->outs = call->is_root;
        call->ins = !call->is_root && !beside_root;
        break;
    case GATHER:
    case GATHERV:
        call->outs = !beside_root;
        call->ins = call->is_root ? n : 0;
        break;
    case SCATTER:
    case SCATTERV:
        call->outs = call->is_root ? n : 0;
        call->ins = !beside_root;
        break;
    case ALLGATHER:
    case ALLGATHERV:
        call->outs = 1;
        call->ins = n;
        break;
    default: call->outs = call->ins = n;
    }
}

/* The buffers with their data: what is there first, and what is expected. */
static void call_fill(const struct call *call, struct side *s, struct side *r)
{
    const struct amounts *a = &call->amounts;
    int side = call->c->side, other = call->c->inter ? !side : 0, me = call->c->rank;
    for (int b = 0; b < call->outs; b++)
        side_fill(s, call->base, b, data_id(a, side, me, collects(call) ? call->root : b), true, true);
    for (int b = 0; b < call->ins; b++) {
        if (call->in_place && scatters(call)) /* the root's own part stays where it is */
            continue;
        int from = a->what == BCAST || scatters(call) ? call->root : b;
        side_fill(r, call->base, b, data_id(a, other, from, me), false, true);
        if (call->in_place && (b == me || a->what >= ALLTOALL))
            side_fill(r, call->base, b, data_id(a, 0, me, b), true, false);
    }
}

static void call_run(const struct call *call, struct op *op, struct side *s, struct side *r)
{
    void *from = area_at(&op->sent, 0), *to = area_at(&op->received, 0);
    if (call->in_place && scatters(call))
        to = MPI_IN_PLACE;
    else if (call->in_place)
        from = MPI_IN_PLACE;
    int given = call->outs ? s->counts[0] : 0, taken = call->ins ? r->counts[0] : 0, root = call->at_root;
    enum form form = call->form;
    MPI_Comm comm = call->c->comm;
    switch (call->amounts.what) {
    case BARRIER: RUN(Barrier, barrier, comm); break;
    case BCAST:
        if (call->outs)
            RUN(Bcast, bcast, from, given, s->type, root, comm);
        else
            RUN(Bcast, bcast, to, taken, r->type, root, comm);
        break;
    case GATHER: RUN(Gather, gather, from, given, s->type, to, taken, r->type, root, comm); break;
    case GATHERV: RUN(Gatherv, gatherv, from, given, s->type, to, r->counts, r->displs, r->type, root, comm); break;
    case SCATTER: RUN(Scatter, scatter, from, given, s->type, to, taken, r->type, root, comm); break;
    case SCATTERV: RUN(Scatterv, scatterv, from, s->counts, s->displs, s->type, to, taken, r->type, root, comm); break;
    case ALLGATHER: RUN(Allgather, allgather, from, given, s->type, to, taken, r->type, comm); break;
    case ALLGATHERV: RUN(Allgatherv, allgatherv, from, given, s->type, to, r->counts, r->displs, r->type, comm); break;
    case ALLTOALL: RUN(Alltoall, alltoall, from, given, s->type, to, taken, r->type, comm); break;
    case ALLTOALLV:
        RUN(Alltoallv, alltoallv, from, s->counts, s->displs, s->type, to, r->counts, r->displs, r->type, comm);
        break;
    case ALLTOALLW:
        RUN(Alltoallw, alltoallw, from, s->counts, s->bytes, s->types, to, r->counts, r->bytes, r->types, comm);
        break;
    }
}

static void call_make(struct call *call, bool place)
{
    const struct comm *c = call->c;
    const struct amounts *a = &call->amounts;
    struct op *op = op_new(c->serial, "collective %d, form %d%s%s, %d elements of %zu", a->what, call->form,
                           place ? ", in place" : "", c->inter ? ", inter" : "", a->one, call->base->size);
    struct side *sides = op->arrays = calloc(2, sizeof *sides), *s = &sides[0], *r = &sides[1];
    int in[RANKS], out[RANKS], serial = c->serial;
    call_plan(call, place);
    for (int p = 0; p < RANKS; p++) {
        in[p] = amount(a, p, c->rank);
        out[p] = amount(a, c->rank, p);
    }
    side_make(s, &op->sent, call->base, call->outs, out, call->spread);
    side_make(r, &op->received, call->base, call->ins, in, call->spread);
    call_fill(call, s, r);
    if (own_below(30) == 0)
        ops_some();
    call_run(call, op, s, r);
    strided_free(call->base, &s->type);
    strided_free(call->base, &r->type);
    coll_end(op, call->form, serial);
}

void collective_step(void)
{
    struct comm *c = plan_comm(true);
    struct call call = { .c = c, .base = plan_base() };
    struct amounts *a = &call.amounts;
    a->what = plan_below(ALLTOALLW + 1);
    a->one = (int)(plan_length(70000) / call.base->size);
    if (plan_below(10) == 0 && (a->what == BCAST || a->what == GATHER || a->what == ALLGATHERV))
        a->one = (int)(plan_length(1100000) / call.base->size);
    call.form = plan_form();
    call.root_side = (int)plan_below(2) && c->inter;
    call.root = (int)plan_below((unsigned)c->sizes[call.root_side]);
    bool place = plan_below(3) == 0 && !c->inter;
    a->seed = mix_hash(mix.plan);
    if (c->comm != MPI_COMM_NULL)
        call_make(&call, place);
    else if (call.form == PERSISTENT)
        channel_add(NULL, c->serial);
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* An affine map modulo 2^32; one after the other is not the other after the one. */
struct map {
    uint32_t scale, shift;
};
struct place {
    int value, rank;
};

enum element { UNSIGNED_SUM, INT_MAX_OP, UINT64_BXOR, DOUBLE_SUM, MAPS, MINLOC, ELEMENTS };
static const size_t element_size[] = { 4, 4, 8, 8, 8, 8 };

static MPI_Op after;
static MPI_Datatype map_type;

static void maps_combine(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *second = inout;
    (void)type;
    for (int i = 0; i < *length; i++) {
        second[i].shift += second[i].scale * first[i].shift;
        second[i].scale *= first[i].scale;
    }
}

void collectives_open(void)
{
    OK(MPI_Op_create(maps_combine, 0, &after));
    OK(MPI_Type_contiguous(2, MPI_UINT32_T, &map_type));
    OK(MPI_Type_commit(&map_type));
}

void collectives_close(void)
{
    OK(MPI_Op_free(&after));
    OK(MPI_Type_free(&map_type));
}

static void element_make(enum element kind, uint64_t id, int rank, int at, void *out)
{
    uint64_t x = mix_hash(id + (uint64_t)rank * 0x100000001 + (uint64_t)at * 31);
    double real = (double)(x % 1000);
    struct place place = { (int)(x % 5), rank };
    if (kind == DOUBLE_SUM)
        memcpy(out, &real, 8);
    else if (kind == MINLOC)
        memcpy(out, &place, 8);
    else
        memcpy(out, &x, element_size[kind]);
}

/* Puts n elements that the rank gives into what it sends, and into the buffer of the result where that is used instead;
 * NULL: it is not. */
static void elements_put(struct area *sent, struct area *in_place, enum element kind, uint64_t id, int rank, int n)
{
    uint64_t value;
    size_t bytes = element_size[kind];
    for (int e = 0; e < n; e++) {
        element_make(kind, id, rank, e, &value);
        area_put(sent, (size_t)e * bytes, bytes, &value, true, true);
        if (in_place)
            area_put(in_place, (size_t)e * bytes, bytes, &value, true, true);
    }
}

/* inout = in op inout */
static void element_combine(enum element kind, const void *in, void *inout)
{
    int one = 1;
    switch (kind) {
    case UNSIGNED_SUM: *(unsigned *)inout += *(const unsigned *)in; break;
    case INT_MAX_OP: *(int *)inout = *(int *)inout > *(const int *)in ? *(int *)inout : *(const int *)in; break;
    case UINT64_BXOR: *(uint64_t *)inout ^= *(const uint64_t *)in; break;
    case DOUBLE_SUM: *(double *)inout += *(const double *)in; break;
    case MAPS: maps_combine((void *)(uintptr_t)in, inout, &one, NULL); break;
    default: /* MINLOC: ranks are combined from the last to the first, so the lower rank is `in` */
        if (((const struct place *)in)->value <= ((struct place *)inout)->value)
            *(struct place *)inout = *(const struct place *)in;
    }
}

/* Puts what ranks first .. last give, combined, for elements from .. from + n, into what is expected. */
static void combined_expect(struct area *area, enum element kind, uint64_t id, int first, int last, int from, int n)
{
    uint64_t value, other;
    for (int e = 0; e < n; e++) {
        element_make(kind, id, last, from + e, &value);
        for (int r = last - 1; r >= first; r--) {
            element_make(kind, id, r, from + e, &other);
            element_combine(kind, &other, &value);
        }
        area_put(area, (size_t)e * element_size[kind], element_size[kind], &value, false, true);
    }
}

enum reduction { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN };

/* What each rank of this side gets of a scattered reduction: `one` elements, or a number up to that by `id`. Returns
 * the sum. Between groups, both sides divide the same number of elements. */
static int counts_make(const struct comm *c, enum reduction what, uint64_t id, int one, int counts[])
{
    int size = c->sizes[c->side], all = 0;
    if (c->inter) {
        all = one * c->sizes[0] * c->sizes[1] % 40000;
        all -= all % (c->sizes[0] * c->sizes[1]);
        for (int r = 0; r < size; r++)
            counts[r] = all / size;
        return all;
    }
    for (int r = 0; r < size; r++) {
        counts[r] = what == REDUCE_SCATTER ? (int)(mix_hash(id + (uint64_t)r) % (unsigned)(one + 1)) : one;
        all += counts[r];
    }
    return all;
}

void reduction_step(void)
{
    const MPI_Datatype types[] = { MPI_UNSIGNED, MPI_INT, MPI_UINT64_T, MPI_DOUBLE, map_type, MPI_2INT };
    const MPI_Op operations[] = { MPI_SUM, MPI_MAX, MPI_BXOR, MPI_SUM, after, MPI_MINLOC };
    struct comm *c = plan_comm(true);
    enum reduction what = plan_below(c->inter ? SCAN : EXSCAN + 1);
    enum element kind = plan_below(ELEMENTS);
    enum form form = plan_form();
    bool place = plan_below(3) == 0 && !c->inter, scatters = what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK;
    int root_side = (int)plan_below(2) && c->inter, root = (int)plan_below((unsigned)c->sizes[root_side]);
    int one = (int)(plan_length(plan_below(8) ? 20000 : 300000) / element_size[kind]), serial = c->serial;
    uint64_t id = mix_hash(mix.plan);
    if (c->comm == MPI_COMM_NULL) {
        if (form == PERSISTENT)
            channel_add(NULL, serial);
        return;
    }
    int me = c->rank, size = c->sizes[c->side], theirs = c->inter ? c->sizes[!c->side] : size, all = one, before = 0;
    struct op *op = op_new(serial, "reduction %d of kind %d, form %d%s%s, %d elements", what, kind, form,
                           place ? ", in place" : "", c->inter ? ", inter" : "", one);
    int *counts = op->arrays = calloc(RANKS, sizeof *counts);
    if (scatters)
        all = counts_make(c, what, id, one, counts);
    for (int r = 0; r < me; r++) /* 0 unless it scatters */
        before += counts[r];
    bool is_root = c->side == root_side && me == root, gives = !c->inter || what != REDUCE || c->side != root_side;
    bool takes = what == REDUCE ? is_root : what != EXSCAN || me > 0;
    bool in_place = place && (what != REDUCE || is_root);
    int taken = scatters ? counts[me] : all;
    uint64_t mine = id + (uint64_t)c->side * 77, theirs_id = c->inter ? id + (uint64_t)!c->side * 77 : id;
    size_t bytes = element_size[kind];
    area_make(&op->sent, gives ? (size_t)all * bytes : 0);
    area_make(&op->received, (size_t)(in_place ? all : taken) * bytes);
    if (gives)
        elements_put(&op->sent, in_place ? &op->received : NULL, kind, mine, me, all);
    int last = what == SCAN ? me : what == EXSCAN ? me - 1 : theirs - 1;
    if (takes)
        combined_expect(&op->received, kind, theirs_id, 0, last, before, taken);
    void *from = in_place ? MPI_IN_PLACE : area_at(&op->sent, 0), *to = area_at(&op->received, 0);
    int at_root = c->inter && c->side == root_side ? (is_root ? MPI_ROOT : MPI_PROC_NULL) : root;
    MPI_Comm comm = c->comm;
    switch (what) {
    case REDUCE: RUN(Reduce, reduce, from, to, all, types[kind], operations[kind], at_root, comm); break;
    case ALLREDUCE: RUN(Allreduce, allreduce, from, to, all, types[kind], operations[kind], comm); break;
    case REDUCE_SCATTER:
        RUN(Reduce_scatter, reduce_scatter, from, to, counts, types[kind], operations[kind], comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        RUN(Reduce_scatter_block, reduce_scatter_block, from, to, taken, types[kind], operations[kind], comm);
        break;
    case SCAN: RUN(Scan, scan, from, to, all, types[kind], operations[kind], comm); break;
    case EXSCAN: RUN(Exscan, exscan, from, to, all, types[kind], operations[kind], comm); break;
    }
    if (scatters && in_place) { /* what is behind the result may be anything */
        op->loose = (size_t)taken * bytes;
        op->loose_end = (size_t)all * bytes;
    }
    coll_end(op, form, serial);
}

/* --- neighbors ---------------------------------------------------------------------------------------------------- */

static int edge_amount(int what, uint64_t seed, int one, int from, int edge)
{
    bool varies = what != 0 && what != 2;
    return varies
               ? (int)(mix_hash(seed + (uint64_t)from * 100 + (what == 1 ? 0 : (uint64_t)edge)) % (unsigned)(one + 1))
               : one;
}

void neighbor_step(void)
{
    struct comm *c = &comms[plan_below(COMMS)];
    for (int tries = 0; tries < 8 && !(c->serial && c->topology); tries++)
        c = &comms[plan_below(COMMS)];
    if (!c->serial || !c->topology)
        return;
    const struct base *base = plan_base();
    int what = (int)plan_below(5), one = (int)(plan_length(70000) / base->size), in[RANKS] = { 0 }, out[RANKS] = { 0 };
    enum form form = plan_form();
    uint64_t seed = mix_hash(mix.plan);
    if (c->comm == MPI_COMM_NULL) {
        if (form == PERSISTENT)
            channel_add(NULL, c->serial);
        return;
    }
    bool gathers = what < 2;
    int me = c->rank, outs = gathers ? 1 : c->outs;
    for (int e = 0; e < c->ins; e++)
        in[e] = edge_amount(what, seed, one, c->in[e] == MPI_PROC_NULL ? 0 : c->in[e], c->in_edge[e]);
    for (int e = 0; e < outs; e++)
        out[e] = edge_amount(what, seed, one, me, e);
    struct op *op = op_new(c->serial, "neighbors %d, form %d, %d elements of %zu", what, form, one, base->size);
    struct side *sides = op->arrays = calloc(2, sizeof *sides), *s = &sides[0], *r = &sides[1];
    side_make(s, &op->sent, base, outs, out, what == 3 || what == 4);
    side_make(r, &op->received, base, c->ins, in, what == 1 || what >= 3);
    for (int e = 0; e < outs; e++)
        side_fill(s, base, e, mix_hash(seed) + (uint64_t)(me * 1000 + e), true, true);
    for (int e = 0; e < c->ins; e++)
        if (c->in[e] != MPI_PROC_NULL)
            side_fill(r, base, e, mix_hash(seed) + (uint64_t)(c->in[e] * 1000 + (gathers ? 0 : c->in_edge[e])), false,
                      true);
    for (int e = 0; e < RANKS; e++) {
        s->places[e] = s->bytes[e];
        r->places[e] = r->bytes[e];
    }
    void *from = area_at(&op->sent, 0), *to = area_at(&op->received, 0);
    MPI_Comm comm = c->comm;
    switch (what) {
    case 0: RUN(Neighbor_allgather, neighbor_allgather, from, one, s->type, to, one, r->type, comm); break;
    case 1:
        RUN(Neighbor_allgatherv, neighbor_allgatherv, from, out[0], s->type, to, r->counts, r->displs, r->type, comm);
        break;
    case 2: RUN(Neighbor_alltoall, neighbor_alltoall, from, one, s->type, to, one, r->type, comm); break;
    case 3:
        RUN(Neighbor_alltoallv, neighbor_alltoallv, from, s->counts, s->displs, s->type, to, r->counts, r->displs,
            r->type, comm);
        break;
    default:
        RUN(Neighbor_alltoallw, neighbor_alltoallw, from, s->counts, s->places, s->types, to, r->counts, r->places,
            r->types, comm);
    }
    int serial = c->serial;
    strided_free(base, &s->type);
    strided_free(base, &r->type);
    coll_end(op, form, serial);
}
