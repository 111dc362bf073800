/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of partitioned communication, each with its class; sizes that differ on the two sides. Nothing hangs. */
#include "mtest.h"

static MPI_Comm world;

static void bad_init(void)
{
    int data[4];
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(data, 1, -1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(NULL, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_INFO_NULL, &request), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, mtest_size, 0, world, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, -5, world, MPI_INFO_NULL, &request), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, world, (MPI_Info)(uintptr_t)0x12345670, &request),
                MPI_ERR_INFO);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, world, MPI_INFO_NULL, &request), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Precv_init(data, 1 << 30, INT64_MAX / 2, MPI_CHAR, 0, 0, world, MPI_INFO_NULL, &request),
                MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Precv_init(data, 2, INT64_MAX / 4, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
    CHECK(request == MPI_REQUEST_NULL);
}

static void bad_use(void)
{
    int data[4] = { 0 }, in[4], flag = -1, next = (mtest_rank + 1) % mtest_size,
        last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Request requests[2], other;
    CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, next, 0, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, 4, 1, MPI_INT, last, 0, world, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Recv_init(in, 1, MPI_INT, last, 0, world, &other));
    CHECK_CLASS(MPI_Pready(0, requests[0]), MPI_ERR_REQUEST); /* not active */
    CHECK_CLASS(MPI_Parrived(requests[1], 4, &flag), MPI_ERR_ARG);
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(-1, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(4, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(0, requests[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, other), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready_range(2, 1, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(0, 4, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(-1, data, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(1, NULL, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, (int[]){ 0, 4 }, requests[0]), MPI_ERR_ARG); /* and 0 is not ready */
    CHECK_OK(MPI_Pready_list(0, NULL, requests[0]));
    CHECK_OK(MPI_Pready(0, requests[0]));
    CHECK_CLASS(MPI_Pready(0, requests[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, (int[]){ 1, 1 }, requests[0]), MPI_ERR_ARG); /* and 1 is ready */
    CHECK_OK(MPI_Pready_range(2, 3, requests[0]));
    CHECK_CLASS(MPI_Parrived(requests[1], -1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(requests[1], 0, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(requests[0], 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(other, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&requests[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&requests[0]), MPI_ERR_REQUEST); /* and goes on */
    CHECK_CLASS(MPI_Request_free(&requests[1]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_CLASS(MPI_Pready(0, requests[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 17, &flag));
    CHECK(flag == 1);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK_OK(MPI_Request_free(&other));
}

/* The receiver gets an error each time, the sender completes, and nothing is written. */
static void bad_sizes(int sent, int bytes, int received, int capacity, int class)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    char *out = calloc((size_t)(sent * bytes + 1), 1), *in = malloc((size_t)(received * capacity + 1));
    MPI_Request requests[2];
    memset(in, 'x', (size_t)(received * capacity));
    CHECK_OK(MPI_Psend_init(out, sent, bytes, MPI_CHAR, next, 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, received, capacity, MPI_CHAR, last, 1, world, MPI_INFO_NULL, &requests[1]));
    for (int time = 0; time < 2; time++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(0, sent - 1, requests[0]));
        CHECK_CLASS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), class);
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        for (int i = 0; i < received * capacity; i++)
            if (in[i] != 'x')
                CHECK(!"written to");
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

/* The receive is larger: its partitions arrive with the data in them, or with the last one. */
static void larger(int sent, int bytes, int received, int capacity)
{
    int next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size, got = -1;
    int all = sent * bytes, space = received * capacity;
    char *out = calloc((size_t)all + 1, 1), *in = malloc((size_t)space + 1);
    MPI_Request requests[2];
    MPI_Status status;
    CHECK_OK(MPI_Psend_init(out, sent, bytes, MPI_CHAR, next, 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, received, capacity, MPI_CHAR, last, 1, world, MPI_INFO_NULL, &requests[1]));
    for (int time = 0; time < 3; time++) {
        memset(in, 'x', (size_t)space);
        for (int i = 0; i < all; i++)
            out[i] = (char)(mtest_rank + time + i % 97);
        CHECK_OK(MPI_Startall(2, requests));
        for (int i = sent - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready((i + time) % sent, requests[0]));
        for (int i = received - 1; i >= 0; i--)
            for (int flag = 0; !flag;)
                CHECK_OK(MPI_Parrived(requests[1], i, &flag));
        for (int i = 0; i < space; i++)
            if (in[i] != (i < all ? (char)(last + time + i % 97) : 'x'))
                CHECK(!"wrong data when all partitions have arrived");
        CHECK_OK(MPI_Wait(&requests[1], &status));
        CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &got));
        CHECK(got == all && status.MPI_SOURCE == last && status.MPI_TAG == 1);
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    bad_init();
    bad_use();
    bad_sizes(4, 10, 4, 9, MPI_ERR_TRUNCATE);
    bad_sizes(2, 200000, 3, 100000, MPI_ERR_TRUNCATE);
    larger(4, 9, 3, 13);
    larger(1, 1, 5, 10);
    larger(5, 3, 1, 100);
    larger(7, 10, 14, 6);
    larger(3, 0, 2, 8);
    larger(0, 5, 2, 8);
    larger(2, 100000, 3, 200000);
    larger(3, 100000, 40, 50000);
    CHECK_OK(MPI_Comm_free(&world));
    MTEST_END;
}
