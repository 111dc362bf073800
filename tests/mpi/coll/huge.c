/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over more than 2^31 bytes: through the _c form, and through a contiguous datatype of 64 KiB with a small
 * count. Every word knows its place. A reduction too, where there is memory for what it combines.
 */
/* ranks: 2 */
/* seconds: 600 */
#include <sys/mman.h>
#include <unistd.h>

#include "mtest.h"

enum { PIECE = 64 * 1024, PIECES = 33000 }; /* 2.16e9 bytes */
#define BYTES ((size_t)PIECE * PIECES)
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

/* Is it what two fillings have not in common? */
static int is_difference(uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < WORDS; i++)
        if (data[i] != ((i * 0x9e3779b97f4a7c15ull + a) ^ (i * 0x9e3779b97f4a7c15ull + b)))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Datatype piece;
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
    CHECK_OK(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    CHECK_OK(MPI_Type_commit(&piece));
    if (mtest_rank == 0)
        fill(1);
    CHECK_OK(MPI_Bcast_c(data, (MPI_Count)BYTES, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(holds(1));
    if (mtest_rank == 1)
        fill(2);
    CHECK_OK(MPI_Bcast(data, PIECES, piece, 1, MPI_COMM_WORLD));
    CHECK(holds(2));
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, PIECES / 2, piece, MPI_COMM_WORLD));
    CHECK(holds(2));
    if (enough) {
        fill(mtest_rank == 0 ? 3 : 4);
        CHECK_OK(MPI_Allreduce_c(MPI_IN_PLACE, data, (MPI_Count)BYTES, MPI_UINT8_T, MPI_BXOR, MPI_COMM_WORLD));
        CHECK(is_difference(3, 4));
    }
    CHECK_OK(MPI_Type_free(&piece));
    munmap(data, BYTES);
    MTEST_END;
}
