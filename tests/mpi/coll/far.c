/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data beyond 2^31 (MPI-5.0 section 19.2), in everything that moves data. Displacements of the v and w collectives and
 * neighborhood collectives, in their three forms, lead there, and derived datatypes in messages, partitioned messages
 * and collectives. Only memory with data is touched.
 */
/* ranks: 1 2 3 */
#include <stdint.h>
#include <sys/mman.h>

#include "coll.h"

enum { RANKS = 16, COUNT = 3 };
#define FAR  ((size_t)5 << 29) /* ints: 10 GB */
#define INTS ((FAR + 64 * RANKS) * sizeof(int))

/* COLL() of the _c forms, on a communicator. */
#define MOVE(form, Name, name, ...)                                                                                    \
    do {                                                                                                               \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                                       \
        clear();                                                                                                       \
        if ((form) == BLOCKING)                                                                                        \
            CHECK_OK(MPI_##Name##_c(__VA_ARGS__));                                                                     \
        else if ((form) == NONBLOCKING)                                                                                \
            CHECK_OK(MPI_I##name##_c(__VA_ARGS__, &request_));                                                         \
        else {                                                                                                         \
            CHECK_OK(MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request_));                                      \
            CHECK_OK(MPI_Start(&request_));                                                                            \
        }                                                                                                              \
        CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                              \
        if (request_ != MPI_REQUEST_NULL)                                                                              \
            CHECK_OK(MPI_Request_free(&request_));                                                                     \
    } while (0)

static int *in, *out;
static MPI_Count counts[RANKS];
static MPI_Aint displs[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

/* Every second block is far away. */
static size_t place(int i)
{
    return (size_t)i * 8 + (i % 2 == 0 ? FAR : 0);
}

static int word(int from, int block, int k)
{
    return from * 1000 + block * 10 + k;
}

static void clear(void)
{
    for (int i = 0; i < RANKS; i++)
        for (int k = 0; k < COUNT; k++)
            out[place(i) + (size_t)k] = -1;
}

static int is_block(int i, int from, int block)
{
    for (int k = 0; k < COUNT; k++)
        if (out[place(i) + (size_t)k] != word(from, block, k))
            return 0;
    return 1;
}

static void varied(enum form form)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int root = mtest_size - 1, own = mtest_rank == root;
    const int *mine = in + place(0);
    MOVE(form, Gatherv, gatherv, mine, COUNT, MPI_INT, out, counts, displs, MPI_INT, root, world);
    for (int i = 0; own && i < mtest_size; i++)
        CHECK(is_block(i, i, 0));
    MOVE(form, Scatterv, scatterv, in, counts, displs, MPI_INT, out + place(0), COUNT, MPI_INT, root, world);
    CHECK(is_block(0, root, mtest_rank));
    MOVE(form, Allgatherv, allgatherv, mine, COUNT, MPI_INT, out, counts, displs, MPI_INT, world);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(i, i, 0));
    MOVE(form, Alltoallv, alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, world);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(i, i, mtest_rank));
    MOVE(form, Alltoallw, alltoallw, in, counts, bytes, types, out, counts, bytes, types, world);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(i, i, mtest_rank));
}

/* On a ring the neighbors are the rank before, then the rank after. */
static void neighbors(enum form form)
{
    int left = (mtest_rank + mtest_size - 1) % mtest_size, right = (mtest_rank + 1) % mtest_size;
    MPI_Comm ring;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mtest_size, &(int){ 1 }, 0, &ring));
    MOVE(form, Neighbor_allgatherv, neighbor_allgatherv, in + place(0), COUNT, MPI_INT, out, counts, displs, MPI_INT,
         ring);
    CHECK(is_block(0, left, 0) && is_block(1, right, 0));
    MOVE(form, Neighbor_alltoallv, neighbor_alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, ring);
    CHECK(is_block(0, left, 1) && is_block(1, right, 0));
    MOVE(form, Neighbor_alltoallw, neighbor_alltoallw, in, counts, bytes, types, out, counts, bytes, types, ring);
    CHECK(is_block(0, left, 1) && is_block(1, right, 0));
    CHECK_OK(MPI_Comm_free(&ring));
}

/* One element is the blocks 0 and 1: one of them far away. */
static void datatypes(void)
{
    MPI_Count places[] = { (MPI_Count)place(0), (MPI_Count)place(1) };
    MPI_Datatype far;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Count elements = 0;
    int left = (mtest_rank + mtest_size - 1) % mtest_size, right = (mtest_rank + 1) % mtest_size, root = mtest_size / 2;
    CHECK_OK(MPI_Type_create_indexed_block_c(2, COUNT, places, MPI_INT, &far));
    CHECK_OK(MPI_Type_commit(&far));
    clear();
    CHECK_OK(MPI_Sendrecv_c(in, 1, far, right, 0, out, 1, far, left, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_elements_c(&status, far, &elements));
    CHECK(elements == 2 * COUNT && is_block(0, left, 0) && is_block(1, left, 1));
    clear();
    CHECK_OK(MPI_Precv_init(out, 1, 1, far, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(in, 1, 1, far, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready(0, requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(is_block(0, left, 0) && is_block(1, left, 1));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    clear();
    CHECK_OK(MPI_Bcast_c(mtest_rank == root ? in : out, 1, far, root, MPI_COMM_WORLD));
    CHECK(mtest_rank == root || (is_block(0, root, 0) && is_block(1, root, 1)));
    CHECK_OK(MPI_Type_free(&far));
}

int main(int argc, char **argv)
{
    in = mmap(NULL, INTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    out = mmap(NULL, INTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (in == MAP_FAILED || out == MAP_FAILED) {
        puts("no addresses for two times 10 GB");
        return 77;
    }
    MTEST_INIT(argc, argv);
    for (int i = 0; i < RANKS; i++) {
        counts[i] = COUNT;
        displs[i] = (MPI_Aint)place(i);
        bytes[i] = displs[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
        for (int k = 0; k < COUNT; k++)
            in[place(i) + (size_t)k] = word(mtest_rank, i, k);
    }
    for (int form = 0; form < FORMS; form++) {
        varied((enum form)form);
        neighbors((enum form)form);
    }
    datatypes();
    MTEST_END;
}
