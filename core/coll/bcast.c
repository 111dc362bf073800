/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast. The binomial tree moves the data in the user's datatype. The other algorithms cut it into segments, which
 * must mean the same on all ranks whatever their datatypes: they work on the packed bytes.
 */
#include "core/coll/algorithm.h"

/* Ranks that give different amounts find it at the first segment of a chain: it is the shorter, the more there are. */
enum { AHEAD_MAX = 512, ALIGNED = 64 };

/* The last rank of a chain has all after as many further segments as there are ranks before it, so short ones are
 * better; but each has a cost of its own at every rank. SEGMENTS_MAX bounds the steps of the schedule. */
enum { SEGMENT = 128 * 1024, SEGMENTS_MAX = 1024 };

/* Receives under way. A segment that comes before its receive is posted is copied twice. */
enum { WINDOW = 8 };

/* A rank that uses the binomial tree, while the root cuts a longer vector, gets a part of at least this size. A vector
 * of more than PL_BCAST_WHOLE_MAX bytes is scattered. */
static size_t bcast_part_min(int size)
{
    size_t first = SEGMENT - AHEAD_MAX * ALIGNED, scattered = (size_t)PL_BCAST_WHOLE_MAX / (size_t)size;
    return first < scattered ? first : scattered;
}

static void bcast_append_binomial(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size), bit = 1;
    struct pl_block data = pl_coll_received(coll);

    schedule->exact = true; /* a rank that gives less than the root passes on less */
    if (size > 2)
        schedule->cut_from = bcast_part_min(size);
    while (bit < size && !(me & bit))
        bit *= 2;
    if (me != 0) {
        pl_schedule_recv(schedule, data, pl_rank_back(coll->root, me - bit, size));
        pl_schedule_wait(schedule);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < size)
            pl_schedule_send(schedule, data, pl_rank_back(coll->root, me + bit, size));
}

/* --- packed bytes ---------------------------------------------------------------------------------------------- */

struct packed {
    unsigned char *bytes;
    size_t size;
    size_t ahead; /* bytes by which the first segment is shorter than the others */
    bool copied;  /* else the bytes are in the user's buffer */
};

static struct packed bcast_pack(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block data = pl_coll_received(coll);
    struct packed packed = { .size = pl_block_size(data), .copied = !data.type->dense };
    schedule->exact = true;
    schedule->cut_from = 0;
    packed.bytes = packed.copied ? pl_schedule_temp(schedule, packed.size) : pl_address(data.buf, data.type->true_lb);
    if (packed.copied && coll->comm->rank == coll->root)
        pl_schedule_copy(schedule, data, pl_block_bytes(packed.bytes, packed.size));
    return packed;
}

static void bcast_unpack(struct pl_schedule *schedule, const struct pl_coll *coll, struct packed packed)
{
    if (!packed.copied || coll->comm->rank == coll->root)
        return;
    pl_schedule_wait(schedule);
    pl_schedule_copy(schedule, pl_block_bytes(packed.bytes, packed.size), pl_coll_received(coll));
}

/* Segments `from` to `to` (exclusive) of equal size, of which the last ones may be short or empty. */
static struct pl_block bcast_segments(struct packed packed, size_t segment, int from, int to)
{
    size_t begin = from > 0 ? (size_t)from * segment - packed.ahead : 0, end = (size_t)to * segment - packed.ahead;
    if (begin > packed.size)
        begin = packed.size;
    if (end > packed.size)
        end = packed.size;
    return pl_block_bytes(pl_address(packed.bytes, (MPI_Aint)begin), end - begin);
}

/* --- scatter and allgather (van de Geijn): every byte leaves a rank about twice, whatever the number of ranks --- */

/* Down a binomial tree; a rank receives the segments of all ranks below it, and keeps the first. */
static void bcast_append_scatter(struct pl_schedule *schedule, const struct pl_coll *coll, struct packed packed,
                                 size_t segment)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size), bit = 1;

    while (bit < size && !(me & bit))
        bit *= 2;
    if (me != 0) {
        int end = me + bit < size ? me + bit : size;
        pl_schedule_recv(schedule, bcast_segments(packed, segment, me, end), pl_rank_back(coll->root, me - bit, size));
        pl_schedule_wait(schedule);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < size) {
            int end = me + 2 * bit < size ? me + 2 * bit : size;
            pl_schedule_send(schedule, bcast_segments(packed, segment, me + bit, end),
                             pl_rank_back(coll->root, me + bit, size));
        }
}

/* The scatter leaves a rank with its own segment and those of all ranks below it: it does not receive them again. */
static bool has_segment(int rank, int size, int segment)
{
    int below = rank == 0 ? size : rank & -rank;
    return segment >= rank && segment < rank + below;
}

static void bcast_append_ring(struct pl_schedule *schedule, const struct pl_coll *coll, struct packed packed,
                              size_t segment)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size);
    int next = pl_rank_back(coll->root, me + 1, size), previous = pl_rank_back(coll->root, me - 1 + size, size);

    for (int i = 0; i < size - 1; i++) {
        int out = (me - i + size) % size, in = (me - i - 1 + size) % size;
        if (!has_segment(me, size, in))
            pl_schedule_recv(schedule, bcast_segments(packed, segment, in, in + 1), previous);
        int received = pl_schedule_mark(schedule);
        if (!has_segment((me + 1) % size, size, out))
            pl_schedule_send(schedule, bcast_segments(packed, segment, out, out + 1), next);
        pl_schedule_wait_until(schedule, received);
    }
}

static void bcast_append_doubling(struct pl_schedule *schedule, const struct pl_coll *coll, struct packed packed,
                                  size_t segment)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size);

    for (int bit = 1; bit < size; bit *= 2) {
        int other = me ^ bit, mine = me & ~(bit - 1), theirs = mine ^ bit;
        int peer = pl_rank_back(coll->root, other, size);
        if (!has_segment(me, size, theirs))
            pl_schedule_recv(schedule, bcast_segments(packed, segment, theirs, theirs + bit), peer);
        int received = pl_schedule_mark(schedule);
        if (!has_segment(other, size, mine))
            pl_schedule_send(schedule, bcast_segments(packed, segment, mine, mine + bit), peer);
        pl_schedule_wait_until(schedule, received);
    }
}

/* Doubling has fewer steps, a ring moves long data better. */
enum { DOUBLED_MAX = 1024 * 1024 };

static void append_scatter_allgather(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size;
    struct packed packed = bcast_pack(schedule, coll);
    size_t segment = (packed.size + (size_t)size - 1) / (size_t)size;

    bcast_append_scatter(schedule, coll, packed, segment);
    if (packed.size <= DOUBLED_MAX && pl_coll_is_power(coll))
        bcast_append_doubling(schedule, coll, packed, segment);
    else
        bcast_append_ring(schedule, coll, packed, segment);
    bcast_unpack(schedule, coll, packed);
}

/* --- chain: segments flow from rank to rank --------------------------------------------------------------------- */

static void append_chain(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    int size = coll->comm->size, me = pl_rank_from(coll->root, coll->comm->rank, size);
    int next = pl_rank_back(coll->root, me + 1, size), previous = pl_rank_back(coll->root, me - 1 + size, size);
    bool first = me == 0, last = me == size - 1;
    struct packed packed = bcast_pack(schedule, coll);
    size_t segment = packed.size / SEGMENTS_MAX > SEGMENT ? packed.size / SEGMENTS_MAX + 1 : SEGMENT;
    packed.ahead = packed.size > SEGMENT ? (packed.size / SEGMENT) % AHEAD_MAX * ALIGNED : 0;
    int n = (int)((packed.size + packed.ahead + segment - 1) / segment);
    int received[WINDOW + 1]; /* marks behind the receives of the last segments */

    for (int i = 0; i < n + WINDOW; i++) {
        if (!first && i < n)
            pl_schedule_recv(schedule, bcast_segments(packed, segment, i, i + 1), previous);
        received[i % (WINDOW + 1)] = pl_schedule_mark(schedule);
        int passed = i - WINDOW;
        if (!last && passed >= 0) {
            pl_schedule_wait_until(schedule, received[passed % (WINDOW + 1)]);
            pl_schedule_send(schedule, bcast_segments(packed, segment, passed, passed + 1), next);
        }
    }
    bcast_unpack(schedule, coll, packed);
}

const struct pl_algorithm pl_bcast_binomial = { PL_COLL_BCAST, "binomial", bcast_append_binomial, NULL };
const struct pl_algorithm pl_bcast_scatter_allgather = { PL_COLL_BCAST, "scatter_allgather", append_scatter_allgather,
                                                         NULL };
const struct pl_algorithm pl_bcast_chain = { PL_COLL_BCAST, "chain", append_chain, NULL };
