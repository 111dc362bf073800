/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of more than 2 GiB (MPI-5.0 sections 3.2 and 5.1.2), of which every byte arrives. With the _c form an
 * MPI_Count counts the bytes. With the int form and a contiguous derived type, the number of elements fits an int but
 * the number of bytes does not. One program tests both, because touching fresh memory takes most of the time.
 */
/* ranks: 2 */
/* seconds: 600 */
#include <stdint.h>
#include <sys/mman.h>

#include "mtest.h"

enum { CHUNK = 1 << 20, CHUNKS = 2049 }; /* a little more than 2 GiB */

/* Each word encodes its position and its message. */
static uint64_t word(size_t i, uint64_t message)
{
    return i * 0x9e3779b97f4a7c15ull + message;
}

static void fill(uint64_t *data, size_t words, uint64_t message)
{
    for (size_t i = 0; i < words; i++)
        data[i] = word(i, message);
}

static size_t wrong(const uint64_t *data, size_t words, uint64_t message)
{
    size_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += data[i] != word(i, message);
    return count;
}

/* The number of bytes in one call. */
static void test_count(uint64_t *data, size_t bytes)
{
    MPI_Status status;
    MPI_Count count = -1;
    if (mtest_rank == 0) {
        fill(data, bytes / sizeof *data, 1);
        CHECK_OK(MPI_Send_c(data, (MPI_Count)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
        return;
    }
    CHECK_OK(MPI_Recv_c(data, (MPI_Count)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status));
    CHECK(wrong(data, bytes / sizeof *data, 1) == 0);
    CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    CHECK(count == (MPI_Count)bytes);
}

/* A type of a mebibyte. */
static void test_type(uint64_t *data, size_t bytes)
{
    MPI_Status status;
    MPI_Datatype chunk;
    int count = -1;
    CHECK_OK(MPI_Type_contiguous(CHUNK, MPI_BYTE, &chunk));
    CHECK_OK(MPI_Type_commit(&chunk));
    if (mtest_rank == 0) {
        fill(data, bytes / sizeof *data, 2);
        CHECK_OK(MPI_Send(data, CHUNKS, chunk, 1, 0, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv(data, CHUNKS, chunk, 0, 0, MPI_COMM_WORLD, &status));
        CHECK(wrong(data, bytes / sizeof *data, 2) == 0);
        CHECK_OK(MPI_Get_count(&status, chunk, &count));
        CHECK(count == CHUNKS);
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK(count == MPI_UNDEFINED);
    }
    CHECK_OK(MPI_Type_free(&chunk));
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_THREAD__
    puts("the thread sanitizer needs several times the memory");
    return 77;
#endif
    MTEST_INIT(argc, argv);
    size_t bytes = (size_t)CHUNK * CHUNKS;
    uint64_t *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!CHECK(data != MAP_FAILED))
        MPI_Abort(MPI_COMM_WORLD, 1);
    test_count(data, bytes);
    test_type(data, bytes);
    munmap(data, bytes);
    MTEST_END;
}
