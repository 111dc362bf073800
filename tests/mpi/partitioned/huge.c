/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication (MPI-5.0 section 4.2) of more than 2^31 elements: in one partition of the receiver, then in
 * one of the sender, and in 3 of the other. The count of the one exceeds an int.
 */
/* ranks: 2 */
/* seconds: 600 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtest.h"

enum { PARTITIONS = 3 };
#define EACH  ((size_t)716 << 20)
#define BYTES (EACH * PARTITIONS) /* 2.25e9 */
#define WORDS (BYTES / sizeof(uint64_t))

static void exchange(uint64_t *data, int sent, int received)
{
    MPI_Request request;
    size_t wrong = 0;
    if (mtest_rank == 0)
        CHECK_OK(MPI_Psend_init(data, sent, (MPI_Count)BYTES / sent, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
    else
        CHECK_OK(MPI_Precv_init(data, received, (MPI_Count)BYTES / received, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    for (int p = sent - 1; mtest_rank == 0 && p >= 0; p--) {
        for (size_t i = WORDS / (size_t)sent * (size_t)p; i < WORDS / (size_t)sent * (size_t)(p + 1); i++)
            data[i] = i * 0x9e3779b97f4a7c15ull;
        CHECK_OK(MPI_Pready(p, request));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (size_t i = 0; i < WORDS; i++)
        wrong += data[i] != i * 0x9e3779b97f4a7c15ull;
    CHECK(wrong == 0);
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    uint64_t *data;
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    puts("the sanitizers need several times the memory");
    return 77;
#endif
    if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < (long)(BYTES * 3)) {
        puts("less than 6.8 GB of memory are free");
        return 77;
    }
    MTEST_INIT(argc, argv);
    data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!CHECK(data != MAP_FAILED))
        MPI_Abort(MPI_COMM_WORLD, 1);
    exchange(data, PARTITIONS, 1);
    memset(data, 0, BYTES);
    exchange(data, 1, PARTITIONS);
    munmap(data, BYTES);
    MTEST_END;
}
