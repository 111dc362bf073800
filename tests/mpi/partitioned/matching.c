/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of partitioned operations: initializations of the same communicator, rank and tag match in their order,
 * those of other tags and communicators separately, and never ordinary messages of the same tag. Requests are never
 * started, freed before the other side initializes, or freed while active. Also MPI_PROC_NULL, a freed communicator,
 * many channels at once, and derived datatypes.
 */
#include "mtest.h"
#include "pattern.h"

static int next, last;

/* Four channels, the same tag for three of them, initialized in another order of tags on each side. */
static void in_order(void)
{
    enum { CHANNELS = 4, PARTS = 3 };
    static const int sent[CHANNELS] = { 5, 5, 9, 5 }, received[CHANNELS] = { 5, 9, 5, 5 };
    int out[CHANNELS][PARTS], in[CHANNELS][PARTS], plain = -1, own = mtest_rank;
    MPI_Request send[CHANNELS], receive[CHANNELS], ordinary;
    CHECK_OK(MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ordinary));
    for (int i = 0; i < CHANNELS; i++)
        CHECK_OK(MPI_Psend_init(out[i], PARTS, 1, MPI_INT, next, sent[i], MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]));
    for (int i = 0; i < CHANNELS; i++)
        CHECK_OK(
            MPI_Precv_init(in[i], 1, PARTS, MPI_INT, last, received[i], MPI_COMM_WORLD, MPI_INFO_NULL, &receive[i]));
    for (int time = 0; time < 3; time++) {
        for (int i = 0; i < CHANNELS; i++)
            for (int k = 0; k < PARTS; k++)
                out[i][k] = mtest_rank * 1000 + time * 100 + i * 10 + k;
        CHECK_OK(MPI_Startall(CHANNELS, send));
        for (int i = CHANNELS - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready_range(0, PARTS - 1, send[i]));
        CHECK_OK(MPI_Startall(CHANNELS, receive));
        CHECK_OK(MPI_Waitall(CHANNELS, receive, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(CHANNELS, send, MPI_STATUSES_IGNORE));
        static const int from[CHANNELS] = { 0, 2, 1, 3 };
        for (int i = 0; i < CHANNELS; i++)
            for (int k = 0; k < PARTS; k++)
                CHECK(in[i][k] == last * 1000 + time * 100 + from[i] * 10 + k);
    }
    int flag;
    CHECK_OK(MPI_Test(&ordinary, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&own, 1, MPI_INT, next, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&ordinary, MPI_STATUS_IGNORE));
    CHECK(plain == last);
    for (int i = 0; i < CHANNELS; i++) {
        CHECK_OK(MPI_Request_free(&send[i]));
        CHECK_OK(MPI_Request_free(&receive[i]));
    }
}

/* Neither side of the first pair is ever started; the second pair must still match. */
static void never_started(void)
{
    int out = mtest_rank, in = -1, unused = -1;
    MPI_Request first[2], second[2];
    CHECK_OK(MPI_Precv_init(&unused, 1, 1, MPI_INT, last, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &first[1]));
    CHECK_OK(MPI_Request_free(&first[1])); /* perhaps before the other side has initialized */
    CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, last, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &second[1]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Psend_init(&unused, 1, 1, MPI_INT, next, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &first[0]));
    CHECK_OK(MPI_Request_free(&first[0]));
    CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, next, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &second[0]));
    CHECK_OK(MPI_Startall(2, second));
    CHECK_OK(MPI_Pready(0, second[0]));
    CHECK_OK(MPI_Waitall(2, second, MPI_STATUSES_IGNORE));
    CHECK(in == last && unused == -1);
    CHECK_OK(MPI_Request_free(&second[0]));
    CHECK_OK(MPI_Request_free(&second[1]));
}

/* The communicator is freed early, and the requests go on. An active request cannot be freed. */
static int kept[4096];

static void freed_while_active(void)
{
    MPI_Comm comm;
    MPI_Request send, receive;
    static int in[4096];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < 4096; i++)
        kept[i] = mtest_rank + i;
    CHECK_OK(MPI_Psend_init(kept, 64, 64, MPI_INT, next, 0, comm, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, 16, 256, MPI_INT, last, 0, comm, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Pready_range(0, 63, send));
    CHECK_CLASS(MPI_Request_free(&send), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4096; i++)
        if (in[i] != last + i)
            CHECK(!"wrong data");
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

static void nobody(void)
{
    int data[4] = { 1, 2, 3, 4 }, flag = 0, count;
    MPI_Status status;
    MPI_Request send, receive;
    CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int time = 0; time < 3; time++) {
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Pready_range(0, 2, send));
        CHECK_OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag); /* one is not ready */
        CHECK_OK(MPI_Pready(3, send));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Parrived(receive, 1, &flag));
        CHECK(flag);
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
        CHECK(data[0] == 1 && data[3] == 4);
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

/* Columns of a matrix on one side, rows of triples on the other: chunks end inside an element. */
static void datatypes(void)
{
    enum { ROWS = 12, COLUMNS = 8, ALL = ROWS * COLUMNS };
    int out[ROWS][COLUMNS], in[ALL + ALL / 3 + 1], count = 0;
    MPI_Datatype column, resized, triple, gapped;
    MPI_Request requests[2];
    CHECK_OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column));
    CHECK_OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
    CHECK_OK(MPI_Type_commit(&resized));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &triple));
    CHECK_OK(MPI_Type_create_resized(triple, 0, 4 * sizeof(int), &gapped));
    CHECK_OK(MPI_Type_commit(&gapped));
    for (int parts = 1; parts <= COLUMNS; parts *= 2)
        for (int others = 1; others <= ALL / 3; others *= 2) {
            CHECK_OK(MPI_Psend_init(out, parts, COLUMNS / parts, resized, next, parts, MPI_COMM_WORLD, MPI_INFO_NULL,
                                    &requests[0]));
            CHECK_OK(MPI_Precv_init(in, others, ALL / 3 / others, gapped, last, parts, MPI_COMM_WORLD, MPI_INFO_NULL,
                                    &requests[1]));
            for (int i = 0; i < ALL; i++)
                out[i / COLUMNS][i % COLUMNS] = mtest_rank * ALL + i;
            memset(in, 0xff, sizeof in);
            CHECK_OK(MPI_Startall(2, requests));
            for (int i = parts - 1; i >= 0; i--)
                CHECK_OK(MPI_Pready(i, requests[0]));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            count = 0;
            for (int c = 0; c < COLUMNS; c++)
                for (int r = 0; r < ROWS; r++, count++)
                    CHECK(in[count + count / 3] == last * ALL + r * COLUMNS + c);
            for (int i = 3; i < ALL + ALL / 3; i += 4)
                CHECK(in[i] == -1);
            CHECK_OK(MPI_Request_free(&requests[0]));
            CHECK_OK(MPI_Request_free(&requests[1]));
        }
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Type_free(&resized));
    CHECK_OK(MPI_Type_free(&triple));
    CHECK_OK(MPI_Type_free(&gapped));
}

/* A type that is freed at once, with chunks of one and a half elements: the receiver's elements have four ints. */
static void ragged(void)
{
    int out[24], in[24], parts = 4;
    MPI_Datatype six, four;
    MPI_Request requests[2];
    CHECK_OK(MPI_Type_contiguous(6, MPI_INT, &six));
    CHECK_OK(MPI_Type_commit(&six));
    CHECK_OK(MPI_Type_contiguous(4, MPI_INT, &four));
    CHECK_OK(MPI_Type_commit(&four));
    CHECK_OK(MPI_Psend_init(out, parts, 1, six, next, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, 3, 2, four, last, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Type_free(&six));
    CHECK_OK(MPI_Type_free(&four));
    for (int time = 0; time < 3; time++) {
        for (int i = 0; i < 24; i++) {
            out[i] = mtest_rank * 100 + time * 30 + i;
            in[i] = -1;
        }
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_list(4, (int[]){ 2, 0, 3, 1 }, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 24; i++)
            CHECK(in[i] == last * 100 + time * 30 + i);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* The sender runs several activations ahead. */
static void ahead(void)
{
    enum { TIMES = 10, PARTS = 4 };
    int out[PARTS], in[PARTS];
    MPI_Request send, receive;
    CHECK_OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int time = 0; time < TIMES; time++) {
        CHECK_OK(MPI_Start(&send));
        for (int i = 0; i < PARTS; i++) {
            out[(i + time) % PARTS] = mtest_rank * 100 + time * PARTS + (i + time) % PARTS;
            CHECK_OK(MPI_Pready((i + time) % PARTS, send));
        }
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE)); /* these few bytes are sent without waiting */
    }
    for (int time = 0; time < TIMES; time++) {
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < PARTS; i++)
            CHECK(in[i] == last * 100 + time * PARTS + i);
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

/* Rank 0 receives from all others at once, with one tag: messages of one must not complete the channel of another. */
static void many_senders(void)
{
    enum { PARTS = 3, TIMES = 4 };
    int out[PARTS], (*in)[PARTS] = malloc((size_t)mtest_size * sizeof *in);
    MPI_Request *requests = malloc((size_t)mtest_size * sizeof *requests);
    int first = mtest_rank == 0 ? 1 : mtest_rank, end = mtest_rank == 0 ? mtest_size : mtest_rank + 1;
    for (int i = first; i < end; i++)
        CHECK_OK(mtest_rank == 0
                     ? MPI_Precv_init(in[i], PARTS, 1, MPI_INT, i, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i])
                     : MPI_Psend_init(out, PARTS, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]));
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < PARTS; i++)
            out[i] = mtest_rank * 1000 + time * PARTS + i;
        if (time % 2 && mtest_rank > 0) /* behind the receives, or before them */
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = first; i < end; i++)
            CHECK_OK(MPI_Start(&requests[i]));
        for (int i = PARTS - 1; i >= 0 && mtest_rank > 0; i--)
            CHECK_OK(MPI_Pready(i, requests[mtest_rank]));
        if (time % 2 && mtest_rank == 0)
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = first; i < end; i++)
            CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        for (int i = 1; i < mtest_size && mtest_rank == 0; i++)
            for (int k = 0; k < PARTS; k++)
                CHECK(in[i][k] == i * 1000 + time * PARTS + k);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = first; i < end; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    free(requests);
    free(in);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    next = (mtest_rank + 1) % mtest_size;
    last = (mtest_rank + mtest_size - 1) % mtest_size;
    in_order();
    never_started();
    freed_while_active();
    nobody();
    datatypes();
    ragged();
    ahead();
    many_senders();
    MTEST_END;
}
