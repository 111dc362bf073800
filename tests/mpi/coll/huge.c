/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over more than 2^31 bytes: through the _c form, and through a contiguous datatype of 64 KiB with a small
 * count. Every word holds its index. Also a reduction, where there is memory for its operands.
 */
/* ranks: 2 */
/* seconds: 600 */
#include <sys/mman.h>
#include <unistd.h>

#include "mtest.h"

enum { ELEMENT = 64 * 1024, ELEMENTS = 33000 }; /* 2.16e9 bytes */
#define BYTES ((size_t)ELEMENT * ELEMENTS)
#define WORDS (BYTES / sizeof(uint64_t))

static uint64_t *data;

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < WORDS; i++)
        data[i] = i * 0x9e3779b97f4a7c15ull + seed;
}

static int holds(uint64_t seed)
{
    for (size_t i = 0; i < WORDS; i++)
        if (data[i] != i * 0x9e3779b97f4a7c15ull + seed)
            return 0;
    return 1;
}

/* Is it the exclusive or of two fillings? */
static int is_difference(uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < WORDS; i++)
        if (data[i] != ((i * 0x9e3779b97f4a7c15ull + a) ^ (i * 0x9e3779b97f4a7c15ull + b)))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Datatype element;
#ifdef __SANITIZE_THREAD__
    puts("the thread sanitizer needs several times the memory");
    return 77;
#endif
    if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < (long)(BYTES * 3)) {
        puts("less than 6.5 GB of memory are free");
        return 77;
    }
    MTEST_INIT(argc, argv);
    int enough = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) > (long)(BYTES * 6);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!CHECK(data != MAP_FAILED))
        MPI_Abort(MPI_COMM_WORLD, 1);
    CHECK_OK(MPI_Type_contiguous(ELEMENT, MPI_BYTE, &element));
    CHECK_OK(MPI_Type_commit(&element));
    if (mtest_rank == 0)
        fill(1);
    CHECK_OK(MPI_Bcast_c(data, (MPI_Count)BYTES, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(holds(1));
    if (mtest_rank == 1)
        fill(2);
    CHECK_OK(MPI_Bcast(data, ELEMENTS, element, 1, MPI_COMM_WORLD));
    CHECK(holds(2));
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, ELEMENTS / 2, element, MPI_COMM_WORLD));
    CHECK(holds(2));
    if (enough) {
        fill(mtest_rank == 0 ? 3 : 4);
        CHECK_OK(MPI_Allreduce_c(MPI_IN_PLACE, data, (MPI_Count)BYTES, MPI_UINT8_T, MPI_BXOR, MPI_COMM_WORLD));
        CHECK(is_difference(3, 4));
    }
    CHECK_OK(MPI_Type_free(&element));
    munmap(data, BYTES);
    MTEST_END;
}
