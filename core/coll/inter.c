/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on intercommunicators. All messages go between the two groups, directly from the ranks that have the data
 * to those that receive it, so that no communicator of the local group is needed. In rooted operations the root passes
 * MPI_ROOT, the rest of its group MPI_PROC_NULL (and does nothing), and the other group the root's rank.
 */
#include "core/coll/inter.h"

static void send_to_all(struct pl_schedule *schedule, const struct pl_coll *coll, struct pl_block data)
{
    for (int i = 0; i < pl_comm_targets(coll->comm); i++)
        pl_schedule_send(schedule, data, i);
}

static void receive_blocks(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    for (int i = 0; i < pl_comm_targets(coll->comm); i++)
        pl_schedule_recv(schedule, pl_recv_block(coll, i), i);
}

static void send_blocks(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    for (int i = 0; i < pl_comm_targets(coll->comm); i++)
        pl_schedule_send(schedule, pl_send_block(coll, i), i);
}

static void append_barrier(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_block nothing = pl_block_bytes(NULL, 0);
    for (int i = 0; i < pl_comm_targets(coll->comm); i++)
        pl_schedule_recv(schedule, nothing, i);
    send_to_all(schedule, coll, nothing);
}

static void append_bcast(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->root == MPI_ROOT)
        send_to_all(schedule, coll, pl_coll_received(coll));
    else if (coll->root != MPI_PROC_NULL)
        pl_schedule_recv(schedule, pl_coll_received(coll), coll->root);
}

static void append_gather(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->root == MPI_ROOT)
        receive_blocks(schedule, coll);
    else if (coll->root != MPI_PROC_NULL)
        pl_schedule_send(schedule, pl_coll_sent(coll), coll->root);
}

static void inter_append_scatter(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->root == MPI_ROOT)
        send_blocks(schedule, coll);
    else if (coll->root != MPI_PROC_NULL)
        pl_schedule_recv(schedule, pl_coll_received(coll), coll->root);
}

static void append_allgather(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    receive_blocks(schedule, coll);
    send_to_all(schedule, coll, pl_coll_sent(coll));
}

static void append_alltoall(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    receive_blocks(schedule, coll);
    send_blocks(schedule, coll);
}

/* The other group's vectors, combined in the order of its ranks: from the last one down, the next one under way. It
 * waits for receives alone: sends of this rank may need receives that the others post after theirs. */
static void append_reduction_of_remote(struct pl_schedule *schedule, const struct pl_coll *coll, struct pl_block value)
{
    int n = pl_comm_targets(coll->comm), received = 0;
    struct pl_block operands[2] = {
        pl_schedule_temp_block(schedule, value.count, value.type),
        pl_schedule_temp_block(schedule, value.count, value.type),
    };
    for (int i = n - 1; i >= -1; i--) {
        int before = received;
        received = pl_schedule_mark(schedule);
        if (i >= 0)
            pl_schedule_recv(schedule, i == n - 1 ? value : operands[i % 2], i);
        if (i == n - 1)
            continue;
        pl_schedule_wait_for(schedule, before, before + 1);
        if (i + 1 < n - 1)
            pl_schedule_reduce(schedule, coll->op, operands[(i + 1) % 2].buf, value);
    }
}

static void append_reduce(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    if (coll->root == MPI_ROOT)
        append_reduction_of_remote(schedule, coll, pl_coll_received(coll));
    else if (coll->root != MPI_PROC_NULL)
        pl_schedule_send(schedule, pl_coll_input(coll, coll->recvcount), coll->root);
}

static void append_allreduce(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    send_to_all(schedule, coll, pl_coll_input(coll, coll->recvcount));
    append_reduction_of_remote(schedule, coll, pl_coll_received(coll));
}

/* The counts are those of the local group. Only their sum is the same in both groups, so whole vectors are sent. */
static void append_reduce_scatter(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    MPI_Count before = 0, total = 0, own = coll->recvcount;
    for (int i = 0; i < coll->comm->size; i++) {
        MPI_Count count = pl_has_counts(coll->recvcounts) ? pl_count_at(coll->recvcounts, i) : coll->recvcount;
        if (i == coll->comm->rank) {
            before = total;
            own = count;
        }
        total += count;
    }
    struct pl_block sum = pl_schedule_temp_block(schedule, total, coll->recvtype);
    send_to_all(schedule, coll, pl_coll_input(coll, total));
    append_reduction_of_remote(schedule, coll, sum);
    pl_schedule_copy(schedule, pl_block_slice(sum, before, own), pl_block(coll->recvbuf, own, coll->recvtype));
}

const struct pl_algorithm *pl_coll_inter(enum pl_coll_kind kind)
{
    static const struct pl_algorithm algorithms[PL_COLL_KINDS] = {
        [PL_COLL_BARRIER] = { PL_COLL_BARRIER, "inter", append_barrier, NULL },
        [PL_COLL_BCAST] = { PL_COLL_BCAST, "inter", append_bcast, NULL },
        [PL_COLL_GATHER] = { PL_COLL_GATHER, "inter", append_gather, NULL },
        [PL_COLL_GATHERV] = { PL_COLL_GATHERV, "inter", append_gather, NULL },
        [PL_COLL_SCATTER] = { PL_COLL_SCATTER, "inter", inter_append_scatter, NULL },
        [PL_COLL_SCATTERV] = { PL_COLL_SCATTERV, "inter", inter_append_scatter, NULL },
        [PL_COLL_ALLGATHER] = { PL_COLL_ALLGATHER, "inter", append_allgather, NULL },
        [PL_COLL_ALLGATHERV] = { PL_COLL_ALLGATHERV, "inter", append_allgather, NULL },
        [PL_COLL_ALLTOALL] = { PL_COLL_ALLTOALL, "inter", append_alltoall, NULL },
        [PL_COLL_ALLTOALLV] = { PL_COLL_ALLTOALLV, "inter", append_alltoall, NULL },
        [PL_COLL_ALLTOALLW] = { PL_COLL_ALLTOALLW, "inter", append_alltoall, NULL },
        [PL_COLL_REDUCE] = { PL_COLL_REDUCE, "inter", append_reduce, NULL },
        [PL_COLL_ALLREDUCE] = { PL_COLL_ALLREDUCE, "inter", append_allreduce, NULL },
        [PL_COLL_REDUCE_SCATTER] = { PL_COLL_REDUCE_SCATTER, "inter", append_reduce_scatter, NULL },
        [PL_COLL_REDUCE_SCATTER_BLOCK] = { PL_COLL_REDUCE_SCATTER_BLOCK, "inter", append_reduce_scatter, NULL },
    };
    return algorithms[kind].append ? &algorithms[kind] : NULL;
}
