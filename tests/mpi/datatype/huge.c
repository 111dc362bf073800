/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and local reductions of more than 2^31 elements at once (MPI-5.0 sections 5.2 and 6.9.7): every element
 * arrives.
 */
/* ranks: 1 */
/* seconds: 600 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtest.h"

#define BYTES ((size_t)(1ll << 31) + 4096)
#define WORDS (BYTES / sizeof(uint64_t))

static uint64_t word(size_t i)
{
    return i * 0x9e3779b97f4a7c15ull;
}

int main(int argc, char **argv)
{
    uint64_t *data[2];
    MPI_Count position = 0;
    size_t wrong = 0;
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    puts("the sanitizers need several times the memory");
    return 77;
#endif
    if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < (long)(BYTES * 3)) {
        puts("less than 6.5 GB of memory are free");
        return 77;
    }
    MTEST_INIT(argc, argv);
    for (int i = 0; i < 2; i++) {
        data[i] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!CHECK(data[i] != MAP_FAILED))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < WORDS; i++)
        data[0][i] = word(i);
    CHECK_OK(MPI_Pack_c(data[0], (MPI_Count)BYTES, MPI_BYTE, data[1], (MPI_Count)BYTES, &position, MPI_COMM_SELF));
    CHECK(position == (MPI_Count)BYTES);
    CHECK(memcmp(data[0], data[1], BYTES) == 0);
    for (size_t i = 0; i < WORDS; i++)
        data[1][i] = ~word(i) << 1;
    CHECK_OK(MPI_Reduce_local_c(data[0], data[1], (MPI_Count)BYTES, MPI_UINT8_T, MPI_BXOR));
    for (size_t i = 0; i < WORDS; i++)
        wrong += data[1][i] != (word(i) ^ ~word(i) << 1);
    CHECK(wrong == 0);
    position = 0;
    CHECK_OK(MPI_Unpack_c(data[0], (MPI_Count)BYTES, &position, data[1], (MPI_Count)BYTES, MPI_UINT8_T, MPI_COMM_SELF));
    CHECK(position == (MPI_Count)BYTES);
    CHECK(memcmp(data[0], data[1], BYTES) == 0);
    munmap(data[0], BYTES);
    munmap(data[1], BYTES);
    MTEST_END;
}
