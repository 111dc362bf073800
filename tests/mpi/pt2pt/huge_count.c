/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message of more than 2 GiB with the _c form (MPI-5.0 section 3.2): every byte arrives, and an MPI_Count counts them.
 */
/* ranks: 2 */
/* seconds: 600 */
#include <stdint.h>
#include <sys/mman.h>

#include "mtest.h"

enum { PIECE = 1 << 20, PIECES = 2253 }; /* 2.2 GiB */

/* Each word knows where it is. */
static void fill(uint64_t *data, size_t words)
{
    for (size_t i = 0; i < words; i++)
        data[i] = i * 0x9e3779b97f4a7c15ull;
}

static size_t wrong(const uint64_t *data, size_t words)
{
    size_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += data[i] != i * 0x9e3779b97f4a7c15ull;
    return count;
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_THREAD__
    puts("the thread sanitizer needs several times the memory");
    return 77;
#endif
    MTEST_INIT(argc, argv);
    size_t bytes = (size_t)PIECE * PIECES;
    uint64_t *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Status status;
    MPI_Count count = -1;
    if (!CHECK(data != MAP_FAILED))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (mtest_rank == 0) {
        fill(data, bytes / sizeof *data);
        CHECK_OK(MPI_Send_c(data, (MPI_Count)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv_c(data, (MPI_Count)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status));
        CHECK(wrong(data, bytes / sizeof *data) == 0);
        CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
        CHECK(count == (MPI_Count)bytes);
    }
    munmap(data, bytes);
    MTEST_END;
}
