/* SPDX-License-Identifier: BSD-3-Clause */
/* See agree.h. What arrives was written by another process: texts are ended, and nothing else is trusted further than
 * to be compared. */
#include "core/coll/agree.h"

#include "core/base/error.h"
#include "core/coll/algorithm.h"
#include "core/coll/schedule_run.h"
#include "core/coll/statement.h"
#include "core/coll/traits.h"
#include "core/engine/comm_break.h"
#include "core/engine/request.h"

bool pl_coll_agreeing;

/* What a rank has found. */
struct agree_verdict {
    int32_t class; /* MPI_SUCCESS: no mistake */
    char text[PL_DETAIL_MAX];
};

/* Lives in its schedule's memory. */
struct agreement {
    struct pl_comm *comm;
    int tag;                              /* of the collective's own messages */
    int targets;                          /* ranks that tell each other */
    struct pl_statement *told, *heard;    /* [targets] */
    struct agree_verdict mine, *verdicts; /* [targets] */
};

/* --- rounds ------------------------------------------------------------------------------------------------------- */

static bool agree_is_self(const struct agreement *a, int rank)
{
    return !pl_comm_is_inter(a->comm) && rank == a->comm->rank;
}

/* Sends each rank its part of `out`, or the same if `each` is 0, and receives as much from it. */
static void agree_exchange(struct pl_schedule *schedule, const struct agreement *a, const void *out, size_t each,
                           void *in, size_t bytes)
{
    for (int i = 0; i < a->targets; i++)
        if (!agree_is_self(a, i))
            pl_schedule_recv(schedule, pl_packed(in, bytes, i, 1), i);
    for (int i = 0; i < a->targets; i++)
        if (!agree_is_self(a, i))
            pl_schedule_send(schedule, pl_block_bytes(pl_address(out, (MPI_Aint)((size_t)i * each)), bytes), i);
    pl_schedule_wait(schedule);
}

/* Compares what all have told this rank with what it has told them; keeps the first mistake. */
static int agree_compare(struct pl_schedule *schedule, void *context)
{
    struct agreement *a = context;
    bool inter = pl_comm_is_inter(a->comm);
    (void)schedule;
    for (int i = 0; i < a->targets; i++)
        if (!agree_is_self(a, i))
            pl_statement_tidy(&a->heard[i]);
    for (int i = 0; i < a->targets && a->mine.class == MPI_SUCCESS; i++) {
        if (agree_is_self(a, i))
            continue;
        a->mine.class = pl_statements_compare(&a->told[i], &a->heard[i], inter, a->mine.text);
        if (a->mine.class == MPI_SUCCESS && inter && i > 0)
            a->mine.class = pl_statements_compare_group(&a->heard[0], &a->heard[i], a->mine.text);
    }
    return MPI_SUCCESS;
}

/* The mistake that all ranks name alike: that of the lowest rank. */
static int agree_conclude(struct pl_schedule *schedule, void *context)
{
    struct agreement *a = context;
    const struct agree_verdict *first = NULL;
    for (int i = 0; i < a->targets && !first; i++) {
        struct agree_verdict *verdict = agree_is_self(a, i) ? &a->mine : &a->verdicts[i];
        verdict->text[sizeof verdict->text - 1] = '\0';
        if (verdict->class != MPI_SUCCESS)
            first = verdict;
    }
    if (!first && a->mine.class != MPI_SUCCESS)
        first = &a->mine;
    if (first && first != &a->mine)
        a->mine = *first;
    if (a->mine.class != MPI_SUCCESS && !pl_error_class_name(a->mine.class))
        a->mine.class = MPI_ERR_OTHER;
    schedule->tag = a->tag;
    if (a->mine.class == MPI_SUCCESS)
        return MPI_SUCCESS;
    pl_fail(a->mine.class, "%s", a->mine.text);
    return pl_error_agreed(a->mine.class);
}

static void agree_append_verdicts(struct pl_schedule *schedule, struct agreement *a)
{
    agree_exchange(schedule, a, &a->mine, 0, a->verdicts, sizeof a->mine);
    pl_schedule_verify(schedule, agree_conclude, a);
}

/* --- neighborhoods: what passes along each edge ------------------------------------------------------------------- */

struct agree_edges {
    struct agreement *agreement;
    struct pl_neighbors neighbors;
    struct pl_amount *out, *in, *expected; /* [outdegree], [indegree], [indegree] */
};

static int agree_compare_edges(struct pl_schedule *schedule, void *context)
{
    struct agree_edges *edges = context;
    struct agreement *a = edges->agreement;
    (void)schedule;
    for (int i = 0; i < edges->neighbors.sources && a->mine.class == MPI_SUCCESS; i++) {
        int source = edges->neighbors.source[i];
        if (source == MPI_PROC_NULL)
            continue;
        pl_amount_tidy(&edges->in[i]);
        a->mine.class = pl_amounts_compare_edge(&edges->in[i], source, &edges->expected[i], a->comm->rank,
                                                a->told[0].function, a->mine.text);
    }
    return MPI_SUCCESS;
}

/* The messages go as those of the collective itself will. */
static void agree_append_edges(struct pl_schedule *schedule, struct agreement *a, const struct pl_coll *coll)
{
    struct pl_neighbors neighbors = pl_coll_neighbors(coll->comm);
    bool gather = pl_coll_traits[coll->kind].shape == PL_SHAPE_NEIGHBORS;
    size_t sources = (size_t)neighbors.sources, destinations = (size_t)neighbors.destinations;
    struct agree_edges *edges = pl_schedule_temp(schedule, sizeof *edges);
    struct pl_amount *amounts = pl_schedule_temp(schedule, (destinations + 2 * sources) * sizeof *amounts + 1);
    if (!edges || !amounts)
        return;
    *edges = (struct agree_edges){ a, neighbors, amounts, amounts + destinations, amounts + destinations + sources };
    for (int i = 0; i < neighbors.destinations; i++)
        edges->out[i] = pl_amount_of(gather ? pl_coll_sent(coll) : pl_send_block(coll, i));
    for (int i = 0; i < neighbors.sources; i++)
        edges->expected[i] = pl_amount_of(pl_recv_block(coll, i));
    const struct pl_coll exchange = { .kind = PL_COLL_NEIGHBOR_ALLTOALL,
                                      .comm = coll->comm,
                                      .sendbuf = edges->out,
                                      .recvbuf = edges->in,
                                      .sendcount = sizeof *amounts,
                                      .recvcount = sizeof *amounts,
                                      .sendtype = PL_TYPE_BYTE,
                                      .recvtype = PL_TYPE_BYTE };
    pl_coll_neighborhood->append(schedule, &exchange);
    pl_schedule_wait(schedule);
    pl_schedule_verify(schedule, agree_compare_edges, edges);
    agree_append_verdicts(schedule, a);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void agree_append(struct pl_schedule *schedule, const struct pl_coll *coll, enum pl_coll_form form,
                         const char *function)
{
    int targets = pl_comm_targets(coll->comm), tag = schedule->tag;
    struct agreement *a = pl_schedule_temp(schedule, sizeof *a);
    struct pl_statement *told = pl_schedule_temp(schedule, 2 * (size_t)targets * sizeof *told);
    struct agree_verdict *verdicts = pl_schedule_temp(schedule, (size_t)targets * sizeof *verdicts);
    schedule->tag = pl_comm_tag(PL_AGREE_TAGS, coll->comm->coll.tags.agreements++);
    if (tag == PL_AGREE_TAGS) /* the collective is not in this schedule */
        tag = schedule->tag;
    if (!a || !told || !verdicts)
        return;
    *a = (struct agreement){ coll->comm, tag, targets, told, told + targets, { .class = MPI_SUCCESS }, verdicts };
    for (int i = 0; i < targets; i++)
        pl_statement_make(&told[i], coll, form, function, i);
    agree_exchange(schedule, a, told, sizeof *told, a->heard, sizeof *told);
    pl_schedule_verify(schedule, agree_compare, a);
    agree_append_verdicts(schedule, a);
    if (coll->kind >= PL_COLL_KINDS)
        agree_append_edges(schedule, a, coll);
}

void pl_agree_append(struct pl_schedule *schedule, const struct pl_coll *coll, const char *function)
{
    agree_append(schedule, coll, PL_COLL_NONBLOCKING, function);
}

int pl_agree(const struct pl_coll *coll, enum pl_coll_form form, const char *function)
{
    struct pl_schedule schedule;
    int rc = pl_coll_check(coll->comm);
    if (rc)
        return rc;
    pl_schedule_init(&schedule, coll->comm, PL_AGREE_TAGS);
    agree_append(&schedule, coll, form, function);
    rc = pl_schedule_run_for(&schedule, coll);
    pl_schedule_fini(&schedule);
    return rc ? pl_comm_break_for_all(coll->comm, rc) : MPI_SUCCESS; /* unless all have the same error */
}

int pl_agree_report(const struct pl_request *request, int error)
{
    const struct pl_schedule *schedule = request->coll.schedule;
    for (int i = 0; schedule && i < schedule->count; i++) {
        const struct pl_step *step = &schedule->steps[i];
        const struct agreement *a = step->verify.context;
        if (step->kind == PL_STEP_VERIFY && step->verify.run == agree_conclude && a->mine.class == error)
            return pl_error_agreed(pl_fail(error, "%s", a->mine.text));
    }
    return error;
}
