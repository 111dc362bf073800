/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way to send (MPI-5.0 sections 3.4, 3.7, 3.9: four modes, blocking, nonblocking, persistent) delivers every size
 * from nothing to megabytes to the neighbor in a ring, with source, tag and count. A single rank sends to itself.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 3 << 20, ROUNDS = 2 };
static const int sizes[] = { 0, 1, 7, 64, 1000, 4096, 8200, 20000, 65536, 70001, 300000, LONGEST };

static int blocking_standard(void *b, int n, int to, int tag)
{
    return MPI_Send(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
static int blocking_synchronous(void *b, int n, int to, int tag)
{
    return MPI_Ssend(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
static int blocking_ready(void *b, int n, int to, int tag)
{
    return MPI_Rsend(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
static int blocking_buffered(void *b, int n, int to, int tag)
{
    return MPI_Bsend(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

typedef int start_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static int nonblocking(start_function *start, void *b, int n, int to, int tag)
{
    MPI_Request request;
    CHECK_OK(start(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    return rc;
}
static int nonblocking_standard(void *b, int n, int to, int tag)
{
    return nonblocking(MPI_Isend, b, n, to, tag);
}
static int nonblocking_synchronous(void *b, int n, int to, int tag)
{
    return nonblocking(MPI_Issend, b, n, to, tag);
}
static int nonblocking_ready(void *b, int n, int to, int tag)
{
    return nonblocking(MPI_Irsend, b, n, to, tag);
}
static int nonblocking_buffered(void *b, int n, int to, int tag)
{
    return nonblocking(MPI_Ibsend, b, n, to, tag);
}

static int persistent(start_function *init, void *b, int n, int to, int tag)
{
    MPI_Request request;
    CHECK_OK(init(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Request_free(&request));
    return rc;
}
static int persistent_standard(void *b, int n, int to, int tag)
{
    return persistent(MPI_Send_init, b, n, to, tag);
}
static int persistent_synchronous(void *b, int n, int to, int tag)
{
    return persistent(MPI_Ssend_init, b, n, to, tag);
}
static int persistent_ready(void *b, int n, int to, int tag)
{
    return persistent(MPI_Rsend_init, b, n, to, tag);
}
static int persistent_buffered(void *b, int n, int to, int tag)
{
    return persistent(MPI_Bsend_init, b, n, to, tag);
}

static int (*const ways[])(void *, int, int, int) = {
    blocking_standard,    blocking_synchronous,    blocking_ready,    blocking_buffered,
    nonblocking_standard, nonblocking_synchronous, nonblocking_ready, nonblocking_buffered,
    persistent_standard,  persistent_synchronous,  persistent_ready,  persistent_buffered,
};

/* The receive is posted, and the receiver has notified its neighbor, as the ready mode requires. */
static void exchange(int way, int bytes, unsigned char *out, unsigned char *in)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, tag = 100 * way + 7,
        count;
    MPI_Request request;
    MPI_Status status;
    pattern_fill(out, (size_t)bytes, (uint64_t)(way * 1000 + mtest_rank));
    memset(in, 0xee, (size_t)bytes + 1);
    CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(ways[way](out, bytes, to, tag));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag && count == bytes);
    CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)(way * 1000 + from)));
    CHECK(in[bytes] == 0xee);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST + 1);
    int capacity = LONGEST + MPI_BSEND_OVERHEAD, detached;
    void *buffer = malloc((size_t)capacity);
    MPI_Buffer_attach(buffer, capacity);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                exchange((int)way, sizes[i], out, in);
                MPI_Buffer_detach(&buffer, &detached); /* the whole buffer is free for the next one */
                MPI_Buffer_attach(buffer, capacity);
            }
    MPI_Buffer_detach(&buffer, &detached);
    CHECK(detached == capacity);
    free(buffer);
    free(out);
    free(in);
    MTEST_END;
}
