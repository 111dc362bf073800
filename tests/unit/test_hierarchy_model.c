/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of many ranks: their steps are appended and counted, not run. Barriers, broadcasts and reductions by a node
 * hierarchy on simulated nodes have correct results and as many messages as the model says, so it holds for more ranks
 * than can be simulated.
 */
#include "ranks_on_nodes.h"

/* --- what is simulated -------------------------------------------------------------------------------------------- */

/* All ranks get the same, or the root does: the sum of all ranks, or the words of the root. */
static void describe_whole(enum pl_coll_kind kind, int rank, int root)
{
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    struct rank *r = &ranks[rank];
    bool gives = kind != PL_COLL_BCAST || rank == root;
    r->in = calloc(COUNT, sizeof *r->in);
    r->out = calloc(COUNT, sizeof *r->out);
    fill_words(gives && kind == PL_COLL_BCAST ? r->out : r->in, COUNT, rank);
    r->coll = (struct pl_coll){ .kind = kind,
                                .comm = &ranks_comm[rank],
                                .sendbuf = r->in,
                                .recvbuf = r->out,
                                .recvcount = COUNT,
                                .recvtype = type,
                                .root = root,
                                .op = kind >= PL_COLL_REDUCE ? pl_op_predefined((uintptr_t)MPI_SUM) : NULL };
    if (!gives)
        memset(r->out, 0xff, COUNT * sizeof *r->out);
}

static void check_whole(enum pl_coll_kind kind, int rank, int root)
{
    struct rank *r = &ranks[rank];
    bool gets = kind == PL_COLL_BCAST || kind == PL_COLL_ALLREDUCE || (kind == PL_COLL_REDUCE && rank == root);
    for (int i = 0; i < COUNT && gets; i++) {
        int64_t want = kind == PL_COLL_BCAST ? word(root, i) : 0;
        for (int from = 0; kind != PL_COLL_BCAST && from < ranks_size; from++)
            want += word(from, i);
        EXPECT(r->out[i] == want, "collective %d: element %d of rank %d is wrong", kind, i, rank);
    }
    free(r->in);
    free(r->out);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

struct model {
    long messages, crossings; /* in all; from node to node */
    int waits;                /* of the rank that waits most often */
};

static void model_add(struct model *model, const struct pl_schedule *schedule, int rank, int ranks_each)
{
    int waits = 0;
    for (int i = 0; i < schedule->count; i++) {
        const struct pl_step *step = &schedule->steps[i];
        waits += step->kind == PL_STEP_WAIT;
        model->messages += step->kind == PL_STEP_SEND;
        model->crossings += step->kind == PL_STEP_SEND && step->peer / ranks_each != rank / ranks_each;
    }
    model->waits = waits > model->waits ? waits : model->waits;
}

/* Messages among all ranks, as selected for their number; the root is rank 0. */
static struct model model_of(enum pl_coll_kind kind, int size, int ranks_each)
{
    static struct pl_comm comm;
    static struct pl_schedule schedule;
    struct pl_group group = { .size = size, .stride = 1 };
    struct model model = { 0 };
    int64_t in[COUNT] = { 0 }, out[COUNT];
    comm = (struct pl_comm){ .obj.predefined = true, .size = size, .group = &group };
    for (comm.rank = 0; comm.rank < size; comm.rank++) {
        struct pl_coll coll = { .kind = kind,
                                .comm = &comm,
                                .sendbuf = in,
                                .recvbuf = out,
                                .recvcount = COUNT,
                                .recvtype = pl_type_predefined((uintptr_t)MPI_INT64_T),
                                .op = kind >= PL_COLL_REDUCE ? pl_op_predefined((uintptr_t)MPI_SUM) : NULL };
        pl_schedule_init(&schedule, &comm, 0);
        pl_coll_append(&schedule, &coll);
        ck_assert_int_eq(schedule.broken, MPI_SUCCESS);
        model_add(&model, &schedule, comm.rank, ranks_each);
        pl_schedule_fini(&schedule);
    }
    return model;
}

static const enum pl_coll_kind wholes[] = { PL_COLL_BARRIER, PL_COLL_BCAST, PL_COLL_REDUCE, PL_COLL_ALLREDUCE };
enum { WHOLES = sizeof wholes / sizeof *wholes };

/* What is run has as many messages between nodes as the model has for one rank on each node. */
START_TEST(test_model)
{
    static const int counts[] = { 2, 3, 5, 8, 13, 33, 64 };
    for (int turn = 0; turn < 14; turn++) {
        int i = turn / 2;
        struct nodes nodes = { .count = counts[i], .interleaved = i % 2 };
        started = turn % 2;
        for (int node = 0; node < counts[i]; node++)
            nodes.size[node] = 2 + node % 2;
        open_nodes(&nodes);
        int root = (int)random_below((unsigned)ranks_size);
        for (int rank = 0; rank < ranks_size; rank++)
            describe_whole(wholes[_i], rank, root);
        run_all();
        for (int rank = 0; rank < ranks_size; rank++)
            check_whole(wholes[_i], rank, root);
        close_nodes(&nodes);
        long want = model_of(wholes[_i], counts[i], 1).crossings;
        EXPECT(ranks_crossings == want, "collective %d on %d nodes: %d messages between nodes, not %ld", wholes[_i],
               counts[i], ranks_crossings, want);
    }
}
END_TEST

static void expect_model(const struct model *got, const struct model *want)
{
    EXPECT(got->messages == want->messages && got->crossings == want->crossings && got->waits == want->waits,
           "{ %ld, %ld, %d }", got->messages, got->crossings, got->waits);
}

/* 98,304 ranks on 1,024 nodes: what docs/notes/network.md says. */
START_TEST(test_model_large)
{
    enum { NODES = 1024, EACH = 96 };
    static const struct {
        struct model all, among;
    } expected[WHOLES] = {
        { { 1671168, 1113088, 17 }, { 10240, 10240, 10 } },
        { { 98303, 1791, 1 }, { 1023, 1023, 1 } },
        { { 98303, 1791, 17 }, { 1023, 1023, 10 } },
        { { 1114112, 688128, 18 }, { 10240, 10240, 10 } },
    };
    pl_process.identity.size = 2; /* of which one is on this node: there is a network */
    pl_process.identity.local_size = 1;
    struct model all = model_of(wholes[_i], NODES * EACH, EACH), among = model_of(wholes[_i], NODES, 1);
    expect_model(&all, &expected[_i].all);
    expect_model(&among, &expected[_i].among);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hierarchy model");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_model, 0, WHOLES);
    tcase_add_loop_test(tcase, test_model_large, 0, WHOLES);
    return unit_end(suite);
}
