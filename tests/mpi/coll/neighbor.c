/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighborhood collectives (MPI-5.0 sections 8.6 to 8.9): all five, blocking, nonblocking and persistent, with int and
 * with MPI_Count arguments. The topologies are grids with borders and with dimensions of one and two processes that
 * wrap around, graphs, and distributed graphs with several edges between two processes. The whole receive buffer is
 * compared with the expected one, gaps and blocks without a neighbor included.
 */
#include "neighbor.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { PLACE = 96, MOST = 3 /* elements in a block */, TYPES = 3, PER = 2 /* ints in an element */ };

#define DO(form, suffix, op, comm, ...)                                                                                \
    do {                                                                                                               \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                                       \
        if ((form) == BLOCKING) {                                                                                      \
            CHECK_OK(MPI_Neighbor_##op##suffix(__VA_ARGS__, comm));                                                    \
        } else if ((form) == NONBLOCKING) {                                                                            \
            CHECK_OK(MPI_Ineighbor_##op##suffix(__VA_ARGS__, comm, &request_));                                        \
            CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                          \
        } else {                                                                                                       \
            CHECK_OK(MPI_Neighbor_##op##_init##suffix(__VA_ARGS__, comm, MPI_INFO_NULL, &request_));                   \
            for (int time_ = 0; time_ < 2; time_++) {                                                                  \
                CHECK_OK(MPI_Start(&request_));                                                                        \
                CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                      \
            }                                                                                                          \
            CHECK_OK(MPI_Request_free(&request_));                                                                     \
        }                                                                                                              \
    } while (0)

#define BOTH(form, wide, op, comm, narrow_args, wide_args)                                                             \
    do {                                                                                                               \
        if (wide)                                                                                                      \
            DO(form, _c, op, comm, LIST wide_args);                                                                    \
        else                                                                                                           \
            DO(form, , op, comm, LIST narrow_args);                                                                    \
    } while (0)
#define LIST(...) __VA_ARGS__

static MPI_Datatype types[TYPES]; /* of two ints each, 16 bytes apart */

static void make_types(void)
{
    MPI_Datatype plain;
    CHECK_OK(MPI_Type_contiguous(PER, MPI_INT, &plain));
    CHECK_OK(MPI_Type_create_resized(plain, 0, 16, &types[0]));
    CHECK_OK(MPI_Type_free(&plain));
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &plain));
    CHECK_OK(MPI_Type_create_resized(plain, 0, 16, &types[1]));
    CHECK_OK(MPI_Type_free(&plain));
    CHECK_OK(MPI_Type_create_indexed_block(2, 1, (int[]){ 3, 1 }, MPI_INT, &plain)); /* backwards */
    CHECK_OK(MPI_Type_create_resized(plain, 0, 16, &types[2]));
    CHECK_OK(MPI_Type_free(&plain));
    for (int i = 0; i < TYPES; i++)
        CHECK_OK(MPI_Type_commit(&types[i]));
}

/* --- buffers: one place of PLACE bytes for each block ------------------------------------------------------------- */

struct buffers {
    unsigned char *sent, *received, *wanted;
    size_t bytes;
};

static struct buffers buffers_make(int in, int out)
{
    struct buffers b = { .bytes = (size_t)(in + 1) * PLACE };
    b.sent = malloc((size_t)(out + 1) * PLACE);
    b.received = malloc(b.bytes);
    b.wanted = malloc(b.bytes);
    memset(b.sent, 0x11, (size_t)(out + 1) * PLACE);
    memset(b.received, 0x5a, b.bytes);
    memset(b.wanted, 0x5a, b.bytes);
    return b;
}

static void buffers_check(struct buffers *b)
{
    CHECK(memcmp(b->received, b->wanted, b->bytes) == 0);
    free(b->sent);
    free(b->received);
    free(b->wanted);
}

/* Writes the message of a sender's edge into memory. */
static void put(unsigned char *to, MPI_Datatype type, int count, int sender, int slot)
{
    int values[MOST * PER], position = 0;
    for (int i = 0; i < count * PER; i++)
        values[i] = sender * 10000 + slot * 100 + i;
    CHECK_OK(MPI_Unpack(values, count * PER * (int)sizeof(int), &position, to, count, type, MPI_COMM_SELF));
}

/* Its length in elements. */
static int length(int sender, int slot)
{
    return (sender * 3 + slot * 2) % (MOST + 1);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

enum { EDGES_MAX = 256 }; /* of a process */

static void allgather(struct hood *h, enum form form, int wide, int v)
{
    struct buffers b = buffers_make(h->in, h->out);
    int counts[EDGES_MAX], displs[EDGES_MAX], count = v ? length(h->rank, 1) : 2;
    MPI_Count counts_c[EDGES_MAX];
    MPI_Aint displs_c[EDGES_MAX];
    put(b.sent, types[1], count, h->rank, 0);
    for (int k = 0; k < h->in; k++) {
        int there = h->sources[k] != MPI_PROC_NULL, place = h->in - 1 - k; /* backwards */
        counts_c[k] = counts[k] = !there ? 1 : v ? length(h->sources[k], 1) : 2;
        displs_c[k] = displs[k] = place * PLACE / 16;
        if (there)
            put(b.wanted + (v ? (size_t)place * PLACE : (size_t)k * 2 * 16), types[2], counts[k], h->sources[k], 0);
    }
    if (v)
        BOTH(form, wide, allgatherv, h->comm, (b.sent, count, types[1], b.received, counts, displs, types[2]),
             (b.sent, count, types[1], b.received, counts_c, displs_c, types[2]));
    else
        BOTH(form, wide, allgather, h->comm, (b.sent, count, types[1], b.received, count, types[2]),
             (b.sent, count, types[1], b.received, count, types[2]));
    buffers_check(&b);
}

static void alltoall(struct hood *h, enum form form, int wide)
{
    struct buffers b = buffers_make(h->in, h->out);
    for (int i = 0; i < h->out; i++)
        put(b.sent + i * MOST * 16, types[0], MOST, h->rank, i);
    for (int k = 0; k < h->in; k++)
        if (h->sources[k] != MPI_PROC_NULL)
            put(b.wanted + k * MOST * 16, types[1], MOST, h->sources[k], h->slots[k]);
    BOTH(form, wide, alltoall, h->comm, (b.sent, MOST, types[0], b.received, MOST, types[1]),
         (b.sent, MOST, types[0], b.received, MOST, types[1]));
    buffers_check(&b);
}

static void alltoallv(struct hood *h, enum form form, int wide, int w)
{
    int sendcounts[EDGES_MAX], sdispls[EDGES_MAX], recvcounts[EDGES_MAX], rdispls[EDGES_MAX];
    struct buffers b = buffers_make(h->in, h->out);
    MPI_Count sendcounts_c[EDGES_MAX], recvcounts_c[EDGES_MAX];
    MPI_Aint sdispls_c[EDGES_MAX], rdispls_c[EDGES_MAX];
    MPI_Datatype sendtypes[EDGES_MAX], recvtypes[EDGES_MAX];
    int unit = w ? 1 : 16; /* of displacements */
    for (int i = 0; i < h->out; i++) {
        int place = (i + 1) % h->out;
        sendcounts_c[i] = sendcounts[i] = length(h->rank, i);
        sdispls_c[i] = sdispls[i] = place * PLACE / unit;
        sendtypes[i] = w && sendcounts[i] == 0 ? MPI_DATATYPE_NULL : types[w ? i % TYPES : 1];
        if (sendcounts[i])
            put(b.sent + place * PLACE, sendtypes[i], sendcounts[i], h->rank, i);
    }
    for (int k = 0; k < h->in; k++) {
        int there = h->sources[k] != MPI_PROC_NULL, place = h->in - 1 - k;
        recvcounts_c[k] = recvcounts[k] = there ? length(h->sources[k], h->slots[k]) : 1;
        rdispls_c[k] = rdispls[k] = place * PLACE / unit;
        recvtypes[k] = types[w ? (k + 1) % TYPES : 2];
        if (there)
            put(b.wanted + place * PLACE, recvtypes[k], recvcounts[k], h->sources[k], h->slots[k]);
    }
    if (w)
        BOTH(form, wide, alltoallw, h->comm,
             (b.sent, sendcounts, sdispls_c, sendtypes, b.received, recvcounts, rdispls_c, recvtypes),
             (b.sent, sendcounts_c, sdispls_c, sendtypes, b.received, recvcounts_c, rdispls_c, recvtypes));
    else
        BOTH(form, wide, alltoallv, h->comm,
             (b.sent, sendcounts, sdispls, types[1], b.received, recvcounts, rdispls, types[2]),
             (b.sent, sendcounts_c, sdispls_c, types[1], b.received, recvcounts_c, rdispls_c, types[2]));
    buffers_check(&b);
}

static void all_of_them(struct hood *hood)
{
    CHECK(hood->in <= EDGES_MAX && hood->out <= EDGES_MAX);
    for (int form = 0; form < FORMS; form++) {
        int wide = (hood->number + form) % 2;
        allgather(hood, form, wide, 0);
        allgather(hood, form, wide, 1);
        alltoall(hood, form, wide);
        alltoallv(hood, form, wide, 0);
        alltoallv(hood, form, wide, 1);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    make_types();
    hood_each(all_of_them);
    for (int i = 0; i < TYPES; i++)
        CHECK_OK(MPI_Type_free(&types[i]));
    MTEST_END;
}
