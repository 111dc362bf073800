/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: order of steps, temporary memory, failures while they are made and while they run, and starting again. */
#include "ranks.h"

#include "core/base/config.h"

static const struct pl_type *int64(void)
{
    return pl_type_predefined((uintptr_t)MPI_INT64_T);
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *len; i++)
        ((int64_t *)inout)[i] += ((int64_t *)in)[i];
}

static const struct pl_op sum_op = { .obj = { .predefined = true }, .commute = true, .user = sum, .name = "sum" };

/* Runs a collective as a blocking one that matches the first nonblocking one of other ranks. */
static int run_among_started(const struct pl_coll *coll)
{
    struct pl_schedule schedule;
    pl_schedule_init(&schedule, coll->comm, PL_NONBLOCKING_TAGS);
    pl_coll_append(&schedule, coll);
    int rc = pl_schedule_run(&schedule);
    pl_schedule_fini(&schedule);
    return rc;
}

static void check_nothing_left(void)
{
    ck_assert_int_eq(message_count, 0);
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

START_TEST(test_straight_line)
{
    int64_t a[3] = { 1, 2, 3 }, b[3] = { 0 }, c[3] = { 10, 20, 30 };
    struct pl_schedule schedule;
    ranks_open(1);
    pl_schedule_init(&schedule, &ranks_comm[0], 1);
    pl_schedule_copy(&schedule, pl_block(a, 3, int64()), pl_block(b, 3, int64()));
    pl_schedule_reduce(&schedule, &sum_op, b, pl_block(c, 3, int64()));
    pl_schedule_copy(&schedule, pl_block_slice(pl_block(c, 3, int64()), 1, 2), pl_block(a, 2, int64()));
    pl_schedule_wait(&schedule);
    ck_assert_int_eq(b[0], 0); /* nothing happens before it runs */
    ck_assert_int_eq(pl_schedule_run(&schedule), MPI_SUCCESS);
    pl_schedule_fini(&schedule);
    ck_assert_int_eq(c[0], 11);
    ck_assert_int_eq(c[2], 33);
    ck_assert_int_eq(a[0], 22);
    ck_assert_int_eq(a[1], 33);
    ck_assert_int_eq(a[2], 3);
}
END_TEST

START_TEST(test_many_steps)
{
    enum { STEPS = 1000 };
    int64_t one = 1, total = 0;
    struct pl_schedule schedule;
    ranks_open(1);
    pl_schedule_init(&schedule, &ranks_comm[0], 1);
    for (int i = 0; i < STEPS; i++)
        pl_schedule_reduce(&schedule, &sum_op, &one, pl_block(&total, 1, int64()));
    ck_assert_int_eq(pl_schedule_run(&schedule), MPI_SUCCESS);
    pl_schedule_fini(&schedule);
    ck_assert_int_eq(total, STEPS);
}
END_TEST

START_TEST(test_temporary_memory)
{
    struct pl_schedule schedule;
    unsigned char *blocks[64];
    ranks_open(1);
    pl_schedule_init(&schedule, &ranks_comm[0], 1);
    for (int i = 0; i < 64; i++) {
        size_t bytes = (size_t)i * 37;
        blocks[i] = pl_schedule_temp(&schedule, bytes);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], i, bytes);
    }
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < i * 37; k++)
            ck_assert_uint_eq(blocks[i][k], i);
    struct pl_block block = pl_schedule_temp_block(&schedule, 100, int64());
    memset(block.buf, 0, pl_block_size(block));
    ck_assert_ptr_null(pl_schedule_temp_block(&schedule, 0, int64()).buf);
    pl_schedule_fini(&schedule);
}
END_TEST

/* --- running --------------------------------------------------------------------------------------------------------
 */

static void allreduce_of(struct pl_coll *coll, int rank, const int64_t *in, int64_t *out, int count)
{
    *coll = (struct pl_coll){ .kind = PL_COLL_ALLREDUCE,
                              .comm = &ranks_comm[rank],
                              .sendbuf = in,
                              .recvbuf = out,
                              .recvcount = count,
                              .recvtype = int64(),
                              .op = &sum_op };
}

START_TEST(test_blocking_among_nonblocking)
{
    enum { SIZE = 5, COUNT = 50 };
    int64_t in[SIZE][COUNT], out[SIZE][COUNT];
    struct pl_request *requests[SIZE];
    struct pl_coll coll;
    ranks_open(SIZE);
    for (int rank = 0; rank < SIZE; rank++)
        for (int i = 0; i < COUNT; i++)
            in[rank][i] = rank * 100 + i;
    for (int rank = 1; rank < SIZE; rank++) {
        allreduce_of(&coll, rank, in[rank], out[rank], COUNT);
        ck_assert_int_eq(pl_coll_start(&coll, &requests[rank]), MPI_SUCCESS);
    }
    allreduce_of(&coll, 0, in[0], out[0], COUNT);
    ck_assert_int_eq(run_among_started(&coll), MPI_SUCCESS);
    for (int rank = 1; rank < SIZE; rank++) {
        ck_assert_int_eq(ranks_wait(requests[rank]), MPI_SUCCESS);
        pl_handle_drop(requests[rank]);
    }
    for (int rank = 0; rank < SIZE; rank++)
        for (int i = 0; i < COUNT; i++)
            ck_assert_int_eq(out[rank][i], 1000 + SIZE * i);
    check_nothing_left();
}
END_TEST

/* However many collectives there were, a blocking one never has the tag of a nonblocking one, which may be active. */
START_TEST(test_tags)
{
    static const uint32_t numbers[] = { 0,         1,         PL_TAGS - 1, PL_TAGS, PL_NONBLOCKING_TAGS, PL_AGREE_TAGS,
                                        INT32_MAX, UINT32_MAX };
    ranks_open(1);
    struct pl_comm *comm = &ranks_comm[0];
    struct pl_comm_tags *tags = &comm->coll.tags;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        tags->blocking = tags->nonblocking = tags->persistent = numbers[i];
        int tag = pl_comm_next_tag(comm), started = pl_comm_next_nonblocking_tag(comm);
        int made = pl_comm_next_persistent_tag(comm);
        ck_assert(tag >= 0 && tag < PL_AREA_TAGS);
        ck_assert(started >= PL_NONBLOCKING_TAGS && started < PL_PERSISTENT_TAGS);
        ck_assert(made >= PL_PERSISTENT_TAGS && made < PL_AGREE_TAGS);
        ck_assert_uint_eq(tags->blocking, numbers[i] + 1);
    }
}
END_TEST

/* What has ended, and what has yet to begin, is known by tags that are used again. */
START_TEST(test_tags_behind)
{
    static const uint32_t numbers[] = { 0, 1, PL_TAGS - 1, PL_TAGS, PL_TAGS + 1, INT32_MAX, UINT32_MAX };
    static const int steps[] = { 1, 2, 1000, PL_TAGS / 2 - 1 };
    ranks_open(1);
    struct pl_comm *comm = &ranks_comm[0];
    struct pl_comm_tags *tags = &comm->coll.tags;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        tags->ended = tags->started = tags->made = numbers[i];
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            uint32_t earlier = numbers[i] - (uint32_t)steps[k], later = numbers[i] + (uint32_t)steps[k] - 1;
            ck_assert(pl_comm_has_ended(comm, pl_comm_tag(PL_BLOCKING_TAGS, earlier)));
            ck_assert(!pl_comm_has_ended(comm, pl_comm_tag(PL_BLOCKING_TAGS, later)));
            ck_assert(!pl_comm_has_ended(comm, pl_comm_tag(PL_AREA_TAGS, earlier)));
            ck_assert(pl_comm_has_started(comm, pl_comm_tag(PL_NONBLOCKING_TAGS, earlier)));
            ck_assert(!pl_comm_has_started(comm, pl_comm_tag(PL_NONBLOCKING_TAGS, later)));
            ck_assert(pl_comm_has_started(comm, pl_comm_tag(PL_PERSISTENT_TAGS, earlier)));
            ck_assert(!pl_comm_has_started(comm, pl_comm_tag(PL_PERSISTENT_TAGS, later)));
            ck_assert(!pl_comm_has_started(comm, pl_comm_tag(PL_AGREE_TAGS, earlier)));
        }
    }
}
END_TEST

START_TEST(test_several_at_once)
{
    enum { SIZE = 7, AT_ONCE = 4 };
    int64_t in[AT_ONCE][SIZE], out[AT_ONCE][SIZE];
    struct pl_request *requests[AT_ONCE][SIZE];
    ranks_open(SIZE);
    for (int rank = 0; rank < SIZE; rank++)
        for (int k = 0; k < AT_ONCE; k++) {
            struct pl_coll coll;
            in[k][rank] = (k + 1) * (rank + 1);
            allreduce_of(&coll, rank, &in[k][rank], &out[k][rank], 1);
            ck_assert_int_eq(pl_coll_start(&coll, &requests[k][rank]), MPI_SUCCESS);
        }
    for (int k = AT_ONCE - 1; k >= 0; k--)
        for (int rank = 0; rank < SIZE; rank++) {
            ck_assert_int_eq(ranks_wait(requests[k][rank]), MPI_SUCCESS);
            pl_handle_drop(requests[k][rank]);
            ck_assert_int_eq(out[k][rank], (k + 1) * SIZE * (SIZE + 1) / 2);
        }
    check_nothing_left();
}
END_TEST

START_TEST(test_persistent)
{
    enum { SIZE = 6, TIMES = 5 };
    int64_t in[SIZE], out[SIZE];
    struct pl_request *requests[SIZE];
    ranks_open(SIZE);
    for (int rank = 0; rank < SIZE; rank++) {
        struct pl_coll coll;
        allreduce_of(&coll, rank, &in[rank], &out[rank], 1);
        ck_assert_int_eq(pl_coll_prepare(&coll, &requests[rank]), MPI_SUCCESS);
    }
    for (int time = 0; time < TIMES; time++) {
        for (int rank = 0; rank < SIZE; rank++) {
            in[rank] = rank + time;
            out[rank] = -1;
        }
        for (int rank = 0; rank < SIZE; rank++)
            ck_assert_int_eq(requests[rank]->coll.restart(requests[rank]), MPI_SUCCESS);
        for (int rank = 0; rank < SIZE; rank++) {
            ck_assert_int_eq(ranks_wait(requests[rank]), MPI_SUCCESS);
            ck_assert_int_eq(out[rank], 15 + SIZE * time);
        }
    }
    for (int rank = 0; rank < SIZE; rank++)
        pl_handle_drop(requests[rank]);
    check_nothing_left();
}
END_TEST

/* A persistent collective may live as long as all tags of nonblocking ones are used. Half of the ranks start the two in
 * one order and half in the other, as programs do. */
START_TEST(test_persistent_among_many)
{
    enum { SIZE = 6 };
    int64_t in[2][SIZE], out[2][SIZE];
    struct pl_request *made[SIZE], *started[SIZE];
    struct pl_coll coll[2][SIZE];
    ranks_open(SIZE);
    for (int rank = 0; rank < SIZE; rank++) {
        in[0][rank] = rank;
        in[1][rank] = 100;
        for (int k = 0; k < 2; k++)
            allreduce_of(&coll[k][rank], rank, &in[k][rank], &out[k][rank], 1);
        ck_assert_int_eq(pl_coll_prepare(&coll[0][rank], &made[rank]), MPI_SUCCESS);
        ranks_comm[rank].coll.tags.nonblocking = 0x20000000;
    }
    for (int rank = 0; rank < SIZE; rank++) {
        if (rank % 2)
            ck_assert_int_eq(made[rank]->coll.restart(made[rank]), MPI_SUCCESS);
        ck_assert_int_eq(pl_coll_start(&coll[1][rank], &started[rank]), MPI_SUCCESS);
        if (rank % 2 == 0)
            ck_assert_int_eq(made[rank]->coll.restart(made[rank]), MPI_SUCCESS);
    }
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_int_eq(ranks_wait(made[rank]), MPI_SUCCESS);
        ck_assert_int_eq(ranks_wait(started[rank]), MPI_SUCCESS);
        ck_assert_int_eq(out[0][rank], 15);
        ck_assert_int_eq(out[1][rank], 600);
        pl_handle_drop(made[rank]);
        pl_handle_drop(started[rank]);
    }
    check_nothing_left();
}
END_TEST

/* The same bits from run to run, whatever the order in which messages arrive. */
static void add_doubles(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *len; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

START_TEST(test_same_bits)
{
    enum { SIZE = 7, COUNT = 300, RUNS = 20 };
    static const struct pl_op op = {
        .obj = { .predefined = true }, .commute = true, .user = add_doubles, .name = "add"
    };
    static const struct pl_algorithm *const algorithms[] = { &pl_allreduce_linear, &pl_allreduce_recursive_doubling,
                                                             &pl_allreduce_ring, &pl_allreduce_rabenseifner };
    static double in[SIZE][COUNT], out[SIZE][COUNT], first[COUNT];
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_DOUBLE);
    for (int i = 0; i < SIZE * COUNT; i++)
        in[i / COUNT][i % COUNT] = (double)random_below(1000000) / (1 + random_below(999));
    for (int run = 0; run < RUNS * 4; run++) {
        struct pl_coll coll[SIZE];
        int errors[RANKS_MAX];
        ranks_open(SIZE);
        ranks_algorithm = algorithms[run / RUNS];
        for (int rank = 0; rank < SIZE; rank++)
            coll[rank] = (struct pl_coll){ .kind = PL_COLL_ALLREDUCE,
                                           .comm = &ranks_comm[rank],
                                           .sendbuf = in[rank],
                                           .recvbuf = out[rank],
                                           .recvcount = COUNT,
                                           .recvtype = type,
                                           .op = &op };
        ranks_run(coll, errors);
        if (run % RUNS == 0)
            memcpy(first, out[0], sizeof first);
        for (int rank = 0; rank < SIZE; rank++)
            ck_assert_mem_eq(out[rank], first, sizeof first);
    }
    ranks_algorithm = NULL;
}
END_TEST

/* --- failures -------------------------------------------------------------------------------------------------------
 */

/* One rank fails: ranks that exchange with it get the error. Others may wait for those, which have given up, so they
 * are made to fail in turn. No rank leaves a message behind. */
START_TEST(test_lost_rank)
{
    enum { SIZE = 8, COUNT = 4000 };
    static int64_t in[SIZE][COUNT], out[SIZE][COUNT];
    int dead = _i;
    struct pl_request *requests[SIZE];
    ranks_open(SIZE);
    ranks_failing = dead;
    for (int rank = 0; rank < SIZE; rank++) {
        struct pl_coll coll;
        allreduce_of(&coll, rank, in[rank], out[rank], COUNT);
        ck_assert_int_eq(pl_coll_start(&coll, &requests[rank]), MPI_SUCCESS);
    }
    while (ranks_step())
        continue;
    int failed = 0;
    for (int rank = 0; rank < SIZE; rank++) {
        ranks_failing = rank;
        ck_assert_int_eq(ranks_wait(requests[rank]), MPI_ERR_PROC_ABORTED);
        pl_handle_drop(requests[rank]);
        failed++;
    }
    ranks_failing = -1;
    ck_assert_int_eq(failed, SIZE);
    check_nothing_left();
}
END_TEST

START_TEST(test_truncation)
{
    int64_t data[2][4] = { { 1, 2, 3, 4 } };
    struct pl_request *root;
    ranks_open(2);
    ranks_strict = false;
    struct pl_coll coll = {
        .kind = PL_COLL_BCAST, .comm = &ranks_comm[0], .recvbuf = data[0], .recvcount = 4, .recvtype = int64()
    };
    ck_assert_int_eq(pl_coll_start(&coll, &root), MPI_SUCCESS);
    coll.comm = &ranks_comm[1];
    coll.recvbuf = data[1];
    coll.recvcount = 2;
    ck_assert_int_eq(run_among_started(&coll), MPI_ERR_TRUNCATE);
    ck_assert_int_eq(ranks_wait(root), MPI_SUCCESS);
    pl_handle_drop(root);
    ranks_strict = true;
    check_nothing_left();
}
END_TEST

/* Every allocation of one rank fails once: the call reports it, and leaves nothing behind. */
START_TEST(test_out_of_memory)
{
    enum { SIZE = 16, COUNT = 1000, FAR = 1000 };
    static int64_t in[COUNT], out[SIZE * COUNT];
    int n;
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS); /* has failures of its own */
    for (n = 1; n < FAR; n++) {
        struct pl_request *request = NULL;
        struct pl_coll coll = { .kind = (enum pl_coll_kind)_i,
                                .comm = &ranks_comm[0],
                                .sendbuf = in,
                                .sendcount = 10,
                                .sendtype = int64(),
                                .recvbuf = out,
                                .recvcount = 10,
                                .recvtype = int64(),
                                .op = &sum_op };
        ranks_open(SIZE);
        pl_memory_fail_at(n);
        int rc = pl_coll_prepare(&coll, &request);
        bool happened = pl_memory_failed();
        pl_memory_fail_at(0);
        if (!happened) {
            ck_assert_int_eq(rc, MPI_SUCCESS);
            pl_handle_drop(request);
            break;
        }
        ck_assert_int_eq(rc, MPI_ERR_NO_MEM);
        check_nothing_left();
    }
    ck_assert_int_lt(n, FAR);
    check_nothing_left();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_straight_line,
        test_many_steps,
        test_temporary_memory,
        test_blocking_among_nonblocking,
        test_tags,
        test_several_at_once,
        test_persistent,
        test_same_bits,
        test_tags_behind,
        test_persistent_among_many,
        test_truncation,
    };
    static const enum pl_coll_kind kinds[] = { PL_COLL_BARRIER,  PL_COLL_GATHER, PL_COLL_ALLGATHER,
                                               PL_COLL_ALLTOALL, PL_COLL_REDUCE, PL_COLL_SCAN };
    Suite *suite = suite_create("schedule");
    TCase *tcase = unit_case(suite);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        tcase_add_test(tcase, tests[i]);
    tcase_add_loop_test(tcase, test_lost_rank, 0, 8);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        tcase_add_loop_test(tcase, test_out_of_memory, kinds[i], kinds[i] + 1);
    return unit_end(suite);
}
