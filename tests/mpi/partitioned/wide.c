/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that span more than 2^31 bytes but hold little data: numbers a mebibyte apart, in partitions and in blocks
 * for neighbors. Also more than 2^31 elements of a datatype without data.
 */
/* ranks: 1 2 3 */
#include <stdint.h>
#include <sys/mman.h>

#include "mtest.h"

enum { APART = 1 << 20, ALL = 3072, SENT = 6, RECEIVED = 4 };
#define SPAN ((size_t)APART * ALL)

static int next, last;

static uint64_t *map(void)
{
    void *memory = mmap(NULL, SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!CHECK(memory != MAP_FAILED))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static uint64_t *number(uint64_t *memory, int i)
{
    return memory + (size_t)i * (APART / sizeof(uint64_t));
}

static int holds(uint64_t *memory, int seed, int step)
{
    for (int i = 0; i < ALL; i++)
        if (*number(memory, i) != (uint64_t)(seed * 10000 + (i + step) % ALL))
            return 0;
    return 1;
}

static void partitions(uint64_t *out, uint64_t *in, MPI_Datatype wide)
{
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, SENT, ALL / SENT, wide, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, RECEIVED, ALL / RECEIVED, wide, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    for (int i = SENT - 1; i >= 0; i--)
        CHECK_OK(MPI_Pready(i, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(holds(in, last, 0));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* Halves up and down in a ring: the half that comes from below was sent upward. */
static void neighbors(uint64_t *out, uint64_t *in, MPI_Datatype wide)
{
    MPI_Comm ring;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mtest_size, &(int){ 1 }, 0, &ring));
    CHECK_OK(MPI_Neighbor_alltoall_c(out, ALL / 2, wide, in, ALL / 2, wide, ring));
    for (int i = 0; i < ALL; i++)
        *number(out, i) = *number(in, i) - (uint64_t)((i < ALL / 2 ? last : next) * 10000);
    for (int i = 0; i < ALL; i++)
        *number(in, i) = *number(out, i);
    CHECK(holds(in, 0, ALL / 2));
    CHECK_OK(MPI_Comm_free(&ring));
}

static void many_of_nothing(void)
{
    MPI_Datatype nothing;
    MPI_Request requests[2];
    MPI_Count many = (MPI_Count)3 << 31;
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    CHECK_OK(MPI_Type_commit(&nothing));
    CHECK_OK(MPI_Psend_init(NULL, 3, many, nothing, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(NULL, 2, many, nothing, last, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 2, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK_OK(MPI_Type_free(&nothing));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Datatype wide;
    uint64_t *out = map(), *in = map();
    next = (mtest_rank + 1) % mtest_size;
    last = (mtest_rank + mtest_size - 1) % mtest_size;
    CHECK_OK(MPI_Type_create_resized(MPI_UINT64_T, 0, APART, &wide));
    CHECK_OK(MPI_Type_commit(&wide));
    for (int i = 0; i < ALL; i++)
        *number(out, i) = (uint64_t)(mtest_rank * 10000 + i);
    partitions(out, in, wide);
    neighbors(out, in, wide);
    many_of_nothing();
    CHECK_OK(MPI_Type_free(&wide));
    munmap(out, SPAN);
    munmap(in, SPAN);
    MTEST_END;
}
