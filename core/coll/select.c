/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm of a collective: the one that PLENUM_COLL_<NAME> names if it can do the call, else that of the first
 * rule that applies, of the user's table (rules_file.h) and then of the one here. All ranks must choose alike, so the
 * choice reads only what all of them know.
 */
#include "core/coll/select.h"

#include <limits.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/coll/inter.h"
#include "core/coll/rules_file.h"
#include "core/coll/traits.h"
#include "core/job/process.h"

#define ANY_RANKS INT_MAX
#define ANY_BYTES SIZE_MAX
#define K         ((size_t)1024)

/* Each rule is for up to a number of ranks and of bytes: of the whole vector in bcast, reductions and scans, of one
 * block in gather, scatter and alltoall, of all blocks in allgather. The last rules of a kind together serve every
 * call. */
enum { RULES_MAX = 8 }; /* of a kind */
static const struct pl_coll_rule rules[PL_COLL_KINDS][RULES_MAX] = {
    [PL_COLL_BARRIER] = {
        { ANY_RANKS, ANY_BYTES, &pl_barrier_recursive_doubling },
        { ANY_RANKS, ANY_BYTES, &pl_barrier_dissemination },
    },
    [PL_COLL_BCAST] = {
        { 2, ANY_BYTES, &pl_bcast_binomial },
        { ANY_RANKS, PL_BCAST_WHOLE_MAX, &pl_bcast_binomial },
        { 4, ANY_BYTES, &pl_bcast_chain },
        { ANY_RANKS, ANY_BYTES, &pl_bcast_scatter_allgather },
    },
    [PL_COLL_GATHER] = {
        { 4, ANY_BYTES, &pl_gather_linear },
        { ANY_RANKS, 4 * K, &pl_gather_binomial },
        { ANY_RANKS, ANY_BYTES, &pl_gather_linear },
    },
    [PL_COLL_GATHERV] = {
        { ANY_RANKS, ANY_BYTES, &pl_gatherv_linear },
    },
    [PL_COLL_SCATTER] = {
        { ANY_RANKS, 8 * K, &pl_scatter_binomial },
        { ANY_RANKS, ANY_BYTES, &pl_scatter_linear },
    },
    [PL_COLL_SCATTERV] = {
        { ANY_RANKS, ANY_BYTES, &pl_scatterv_linear },
    },
    [PL_COLL_ALLGATHER] = {
        { ANY_RANKS, 256 * K, &pl_allgather_recursive_doubling },
        { ANY_RANKS, 8 * K, &pl_allgather_bruck },
        { 3, ANY_BYTES, &pl_allgather_ring },
        { ANY_RANKS, 256 * K, &pl_allgather_bruck },
        { ANY_RANKS, ANY_BYTES, &pl_allgather_ring },
    },
    [PL_COLL_ALLGATHERV] = {
        { ANY_RANKS, 8 * K, &pl_allgatherv_bruck },
        { 3, ANY_BYTES, &pl_allgatherv_ring },
        { ANY_RANKS, 256 * K, &pl_allgatherv_bruck },
        { ANY_RANKS, ANY_BYTES, &pl_allgatherv_ring },
    },
    [PL_COLL_ALLTOALL] = {
        { ANY_RANKS, ANY_BYTES, &pl_alltoall_exchange },
        { 2, ANY_BYTES, &pl_alltoall_linear },
        { ANY_RANKS, 1 * K, &pl_alltoall_bruck },
        { 8, 8 * K, &pl_alltoall_bruck },
        { 4, ANY_BYTES, &pl_alltoall_linear },
        { ANY_RANKS, 32 * K, &pl_alltoall_linear },
        { ANY_RANKS, ANY_BYTES, &pl_alltoall_pairwise },
    },
    [PL_COLL_ALLTOALLV] = {
        { ANY_RANKS, ANY_BYTES, &pl_alltoallv_exchange },
        { 32, ANY_BYTES, &pl_alltoallv_linear },
        { ANY_RANKS, ANY_BYTES, &pl_alltoallv_pairwise },
    },
    [PL_COLL_ALLTOALLW] = {
        { ANY_RANKS, ANY_BYTES, &pl_alltoallw_exchange },
        { 32, ANY_BYTES, &pl_alltoallw_linear },
        { ANY_RANKS, ANY_BYTES, &pl_alltoallw_pairwise },
    },
    [PL_COLL_REDUCE] = {
        { 2, ANY_BYTES, &pl_reduce_binomial },
        { ANY_RANKS, 64 * K, &pl_reduce_binomial },
        { 8, 128 * K, &pl_reduce_binomial },
        { 4, ANY_BYTES, &pl_reduce_chain },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_rabenseifner },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_in_order },
    },
    [PL_COLL_ALLREDUCE] = {
        { ANY_RANKS, 16 * K, &pl_allreduce_recursive_doubling },
        { 8, 32 * K, &pl_allreduce_recursive_doubling },
        { 2, 64 * K, &pl_allreduce_recursive_doubling },
        { ANY_RANKS, 1024 * K, &pl_allreduce_rabenseifner },
        { ANY_RANKS, ANY_BYTES, &pl_allreduce_ring },
        { 2, ANY_BYTES, &pl_allreduce_recursive_doubling },
        { ANY_RANKS, 256 * K, &pl_allreduce_recursive_doubling },
        { ANY_RANKS, ANY_BYTES, &pl_allreduce_reduce_bcast },
    },
    [PL_COLL_REDUCE_SCATTER_BLOCK] = {
        { 2, ANY_BYTES, &pl_reduce_scatter_block_pairwise },
        { ANY_RANKS, 64 * K, &pl_reduce_scatter_block_recursive_halving },
        { 4, ANY_BYTES, &pl_reduce_scatter_block_pairwise },
        { ANY_RANKS, 256 * K, &pl_reduce_scatter_block_recursive_halving },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_scatter_block_pairwise },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_scatter_block_in_order },
    },
    [PL_COLL_REDUCE_SCATTER] = {
        { 2, ANY_BYTES, &pl_reduce_scatter_pairwise },
        { ANY_RANKS, 64 * K, &pl_reduce_scatter_recursive_halving },
        { 4, ANY_BYTES, &pl_reduce_scatter_pairwise },
        { ANY_RANKS, 256 * K, &pl_reduce_scatter_recursive_halving },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_scatter_pairwise },
        { ANY_RANKS, ANY_BYTES, &pl_reduce_scatter_in_order },
    },
    [PL_COLL_SCAN] = {
        { 8, ANY_BYTES, &pl_scan_linear },
        { ANY_RANKS, ANY_BYTES, &pl_scan_doubling },
    },
    [PL_COLL_EXSCAN] = {
        { 8, ANY_BYTES, &pl_exscan_linear },
        { ANY_RANKS, ANY_BYTES, &pl_exscan_doubling },
    },
};

/* Before these, for few ranks on one node: one round, since ranks that share cores need a switch for each round. Over a
 * network messages take the time. */
static const struct pl_coll_rule near[PL_COLL_KINDS] = {
    [PL_COLL_BARRIER] = { 8, ANY_BYTES, &pl_barrier_linear },
    [PL_COLL_ALLGATHER] = { 8, 8 * K, &pl_allgather_linear },
    [PL_COLL_ALLGATHERV] = { 8, 8 * K, &pl_allgatherv_linear },
    [PL_COLL_ALLTOALL] = { 32, ANY_BYTES, &pl_alltoall_linear },
    [PL_COLL_ALLREDUCE] = { 8, 4 * K, &pl_allreduce_linear },
    [PL_COLL_REDUCE_SCATTER_BLOCK] = { 16, 64 * K, &pl_reduce_scatter_block_in_order },
    [PL_COLL_REDUCE_SCATTER] = { 16, 64 * K, &pl_reduce_scatter_in_order },
};

static const struct pl_algorithm *const algorithms[] = {
#define ADDRESS(name) &pl_##name,
    PL_ALGORITHMS(ADDRESS)
#undef ADDRESS
};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

const struct pl_algorithm *pl_coll_named(enum pl_coll_kind kind, const char *name)
{
    for (int i = 0; i < ALGORITHMS; i++)
        if (algorithms[i]->kind == kind && strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    return NULL;
}

/* Looks the names up again after the configuration has been read again. Two threads may do so at once: they store the
 * same. */
const struct pl_algorithm *pl_coll_forced(enum pl_coll_kind kind)
{
    static _Atomic(const struct pl_algorithm *) found[PL_COLL_KINDS];
    static _Atomic unsigned seen;
    unsigned now = pl_config_loads();
    if (pl_unlikely(atomic_load_explicit(&seen, memory_order_acquire) != now)) {
        for (int i = 0; i < PL_COLL_KINDS; i++) {
            const char *name = pl_config_text(pl_coll_traits[i].variable);
            const struct pl_algorithm *forced =
                strcmp(name, "auto") == 0 ? NULL : pl_coll_named((enum pl_coll_kind)i, name);
            atomic_store_explicit(&found[i], forced, memory_order_relaxed);
        }
        atomic_store_explicit(&seen, now, memory_order_release);
    }
    return atomic_load_explicit(&found[kind], memory_order_relaxed);
}

/* The bytes that rules compare. */
static size_t select_bytes_of(const struct pl_coll *coll)
{
    enum pl_coll_shape shape = pl_coll_traits[coll->kind].shape;
    bool all = shape == PL_SHAPE_TO_ALL || shape == PL_SHAPE_PARTS;
    return all ? pl_coll_blocks_bytes(coll) : pl_coll_block_bytes(coll);
}

static inline bool select_fits(const struct pl_algorithm *algorithm, const struct pl_coll *coll)
{
    return !algorithm->fits || algorithm->fits(coll);
}

/* The algorithm of the first rule that applies; NULL: none does. */
static const struct pl_algorithm *select_first_of(const struct pl_coll_rule *table, int count,
                                                  const struct pl_coll *coll, size_t bytes)
{
    for (int i = 0; i < count && table[i].algorithm; i++)
        if (coll->comm->size <= table[i].ranks && bytes <= table[i].bytes && select_fits(table[i].algorithm, coll))
            return table[i].algorithm;
    return NULL;
}

/* Only if they are of this job, which has no other node. */
bool pl_coll_are_near(const struct pl_comm *comm)
{
    const struct pl_group *group = comm->group;
    bool all = pl_process.identity.local_size == pl_process.identity.size &&
               PL_PROC_JOB(pl_group_proc(group, group->size - 1)) == 0;
    for (int i = 0; all && i < (group->list ? group->size : 1); i++)
        all = PL_PROC_JOB(pl_group_proc(group, i)) == 0;
    return all;
}

const struct pl_algorithm *pl_coll_select(const struct pl_coll *coll)
{
    if (coll->kind >= PL_COLL_KINDS)
        return pl_coll_neighborhood;
    if (pl_comm_is_inter(coll->comm))
        return pl_coll_inter(coll->kind);
    const struct pl_algorithm *wanted = pl_coll_forced(coll->kind);
    if (wanted && select_fits(wanted, coll))
        return wanted;
    int count;
    const struct pl_coll_rule *own = pl_coll_rules(coll->kind, &count);
    size_t bytes = select_bytes_of(coll);
    const struct pl_algorithm *found = count ? select_first_of(own, count, coll, bytes) : NULL;
    if (!found && (found = select_first_of(&near[coll->kind], 1, coll, bytes)) != NULL && !pl_coll_are_near(coll->comm))
        found = NULL;
    if (!found)
        found = select_first_of(rules[coll->kind], RULES_MAX, coll, bytes);
    assert(found && "the table has a rule for every call");
    return found;
}
