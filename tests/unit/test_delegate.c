/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that are delegated to a target: both sides in one thread. While the origin polls, the target has its turn,
 * in which it takes what is there, or does not. Random operations are compared with a model of the target's memory.
 */
#include "unit.h"

#include "core/base/cpu.h"

static void target_turn(void);
#define pl_relax target_turn
#include "core/rma/delegate.c"
#undef pl_relax

#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/datatype/parametric.h"

enum { INTS = 20000, RUNS = 200, ROUNDS = 3000, MISSING_EVERY = 3 };

static struct pl_comm comm_of[2];
static struct pl_win_target targets[2];
static struct pl_win win_of[2]; /* of the origin, and of the target */
static int memory[INTS], model[INTS], buffer[2 * INTS], wanted[2 * INTS];
static int turns, copies, rings;
static bool attends;
static uint64_t seed = 5;

static int below(int bound)
{
    return unit_below(&seed, bound);
}

static void target_turn(void)
{
    turns++;
    if (!attends)
        return;
    pl_engine_enter(&win_of[1].comm->instance->engine);
    pl_delegate_take(&win_of[1]);
    pl_engine_leave(&win_of[1].comm->instance->engine);
}

/* What the kernel does, in one address space. */
static int copy_by_kernel(struct pl_endpoint *peer, struct pl_cma *cma)
{
    (void)peer;
    struct iovec here = *cma->here, there = *cma->there;
    int next_here = 1, next_there = 1;
    copies++;
    for (size_t done = 0, some; done < cma->bytes; done += some) {
        if (here.iov_len == 0)
            here = cma->here[next_here++];
        if (there.iov_len == 0)
            there = cma->there[next_there++];
        some = here.iov_len < there.iov_len ? here.iov_len : there.iov_len;
        memcpy(cma->write ? there.iov_base : here.iov_base, cma->write ? here.iov_base : there.iov_base, some);
        here = (struct iovec){ (char *)here.iov_base + some, here.iov_len - some };
        there = (struct iovec){ (char *)there.iov_base + some, there.iov_len - some };
    }
    return MPI_SUCCESS;
}

static void ring(struct pl_endpoint *peer)
{
    (void)peer;
    rings++;
}

static const struct pl_transport_ops kernel_ops = { .cma = copy_by_kernel, .ring = ring };
static struct pl_endpoint kernel = { .ops = &kernel_ops };

static MPI_Session session;
static MPI_Group group;
static MPI_Comm comm;

static void set_up(void)
{
    ck_assert_int_eq(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_from_group(group, "delegate", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                     MPI_SUCCESS);
    for (int rank = 0; rank < 2; rank++) {
        size_t bytes = PL_WIN_CTL + (pl_delegate_area(2) + 4095) / 4096 * 4096;
        comm_of[rank].instance = ((struct pl_comm *)comm)->instance;
        comm_of[rank].rank = rank;
        comm_of[rank].size = 2;
        targets[rank].ctl = aligned_alloc(4096, bytes);
        memset(targets[rank].ctl, 0, bytes);
        targets[rank].cma.endpoint = &kernel;
        win_of[rank].comm = &comm_of[rank];
        win_of[rank].targets = targets;
        win_of[rank].flavor = MPI_WIN_FLAVOR_CREATE;
    }
    targets[1].memory = (char *)memory;
    targets[1].size = win_of[1].size = sizeof memory;
    targets[1].disp_unit = 1;
    win_of[1].base = memory;
    attends = true;
}

static void tear_down(void)
{
    free(targets[0].ctl);
    free(targets[1].ctl);
    MPI_Group_free(&group);
    ck_assert_int_eq(MPI_Comm_free(&comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_finalize(&session), MPI_SUCCESS);
    pl_type_trim();
    ck_assert_int_eq(pl_object_count(PL_DATATYPE), 0);
}

/* --- puts and gets ------------------------------------------------------------------------------------------------ */

/* Runs of ints in the target's memory, from `at` on with gaps, and the buffer's from the beginning. */
static void move_runs(bool write)
{
    struct iovec here[RUNS], there[RUNS];
    int most = below(4) ? 40 : 900, count = 1 + below(most > 40 ? 10 : RUNS), at = below(200), all = 0;
    for (int i = 0; i < count; i++) {
        int ints = 1 + below(most);
        there[i] = (struct iovec){ memory + at, (size_t)ints * sizeof(int) };
        for (int k = 0; k < ints; k++, all++) {
            buffer[all] = wanted[all] = write ? below(1 << 20) : 0;
            if (write)
                model[at + k] = buffer[all];
            else
                wanted[all] = model[at + k];
        }
        at += ints + below(4);
    }
    size_t bytes = (size_t)all * sizeof(int), first = bytes / 2 / 4 * 4;
    here[0] = (struct iovec){ buffer, first };
    here[1] = (struct iovec){ (char *)buffer + first, bytes - first };
    struct pl_cma cma = { .here = first ? here : here + 1,
                          .here_count = 1 + (first > 0),
                          .there = there,
                          .there_count = count,
                          .bytes = bytes,
                          .write = write };
    ck_assert_int_eq(pl_delegate_batch(&win_of[0], 1, &cma), MPI_SUCCESS);
    if (cma.bytes > 0)
        copy_by_kernel(&kernel, &cma);
    ck_assert_mem_eq(buffer, wanted, bytes);
}

static struct pl_type *strided(int count, int stride)
{
    MPI_Datatype type;
    MPI_Type_vector(count, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return pl_type_from(type);
}

static void drop(struct pl_type *type)
{
    MPI_Datatype handle = (MPI_Datatype)type;
    MPI_Type_free(&handle);
}

static void move_layout(bool write)
{
    int count = 1 + below(below(4) ? 50 : 6000), stride = 2 + below(2), at = below(100), near = 1 + below(2);
    struct pl_type *here_type = strided(count, near), *there_type = strided(count, stride);
    struct pl_type_wire wire;
    struct pl_cursor here, there;
    for (int i = 0; i < count; i++) {
        buffer[i * near] = wanted[i * near] = write ? below(1 << 20) : 0;
        if (write)
            model[at + i * stride] = buffer[i * near];
        else
            wanted[i * near] = model[at + i * stride];
    }
    ck_assert_int_eq(pl_type_encode(there_type, &wire), MPI_SUCCESS);
    pl_cursor_init(&here, buffer, 1, here_type);
    pl_cursor_init(&there, memory + at, 1, there_type);
    while (there.done < there.total) {
        ck_assert_int_eq(pl_delegate_layout(&win_of[0], 1, write, &here, &there, &wire), MPI_SUCCESS);
        ck_assert_int_eq(pl_cma_copy_layouts(&win_of[0], 1, write, &here, &there, there.total - there.done),
                         MPI_SUCCESS);
    }
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(buffer[i * near], wanted[i * near]);
    pl_type_wire_drop(&wire);
    drop(here_type);
    drop(there_type);
}

/* --- accumulates -------------------------------------------------------------------------------------------------- */

static int changed(MPI_Op op, int old, int given)
{
    return op == MPI_SUM ? (int)((unsigned)old + (unsigned)given) : op == MPI_REPLACE ? given : old;
}

/* The elements are `stride` ints apart: each a run, all one run, or a datatype. */
static void change(bool swaps)
{
    int most = PL_DELEGATED_RESULT / (int)sizeof(int);
    int count = swaps ? 1 : below(8) ? 1 + below(below(3) ? 40 : most) : most, stride = 1 + below(3), at = below(300);
    bool by_type = !swaps && (below(2) || (stride > 1 && count > PL_DELEGATED_RUNS));
    MPI_Op op = swaps || below(3) == 0 ? MPI_REPLACE : below(3) ? MPI_SUM : MPI_NO_OP;
    bool fetches = swaps || op == MPI_NO_OP || below(2);
    struct pl_type *type = by_type ? strided(count, stride) : (struct pl_type *)pl_type_predefined((uintptr_t)MPI_INT);
    struct iovec runs[PL_DELEGATED_RUNS];
    struct pl_type_wire wire;
    static int before[INTS];
    int compare = model[at] + (swaps ? below(2) : 0), some = stride == 1 ? 1 : count;
    for (int i = 0; i < count; i++)
        buffer[i] = below(1 << 20);
    for (int i = 0; !by_type && i < some; i++)
        runs[i] = (struct iovec){ memory + at + i * stride, (size_t)(count / some) * sizeof(int) };
    if (by_type)
        ck_assert_int_eq(pl_type_encode(type, &wire), MPI_SUCCESS);
    struct pl_rma_change made = { .at = (char *)(memory + at),
                                  .count = by_type ? 1 : count,
                                  .type = type,
                                  .op = pl_op_predefined((uintptr_t)op),
                                  .data = op == MPI_NO_OP ? NULL : buffer,
                                  .compare = swaps ? &compare : NULL,
                                  .before = fetches ? before : NULL };
    int rc = pl_delegate_change(&win_of[0], 1, &made, runs, by_type ? 0 : some, by_type ? &wire : NULL);
    ck_assert_int_eq(rc, attends ? MPI_SUCCESS : PL_AGAIN);
    for (int i = 0; i < count && attends; i++) {
        int *old = &model[at + i * stride];
        ck_assert(!fetches || before[i] == *old);
        *old = swaps && compare != *old ? *old : changed(op, *old, buffer[i]);
    }
    if (by_type) {
        pl_type_wire_drop(&wire);
        drop(type);
    }
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* The target attends, or it does not, or it stops in the middle of an operation. */
START_TEST(random_operations)
{
    set_up();
    for (int round = 0; round < ROUNDS; round++) {
        attends = round % MISSING_EVERY > 0;
        targets[1].cma.missed = targets[1].cma.backoff = 0;
        copies = rings = 0;
        int kind = below(6);
        if (kind < 2)
            move_runs(kind);
        else if (kind < 4)
            move_layout(kind - 2);
        else
            change(kind - 4);
        ck_assert(attends ? copies == 0 && rings == 0 : rings == 1);
        ck_assert_mem_eq(memory, model, sizeof memory);
        for (int i = 0; i < PL_DELEGATED_SLOTS; i++)
            ck_assert_uint_eq(atomic_load(&pl_delegate_slots(targets[0].ctl)[i].state), PL_DELEGATED_FREE);
    }
    tear_down();
}
END_TEST

/* After misses less and less is delegated, and all again after the first that is taken. */
START_TEST(a_target_that_misses_is_spared)
{
    int value = 1;
    struct iovec here = { &value, sizeof value }, there = { memory, sizeof value };
    set_up();
    attends = false;
    int tried = 0;
    for (int i = 0; i < 200; i++) {
        struct pl_cma cma = { &here, &there, 1, 1, sizeof value, true, 0 };
        struct iovec one = here, other = there;
        cma.here = &one;
        cma.there = &other;
        turns = 0;
        ck_assert_int_eq(pl_delegate_batch(&win_of[0], 1, &cma), MPI_SUCCESS);
        tried += turns > 0;
    }
    ck_assert_int_ge(tried, 5);
    ck_assert_int_le(tried, 10); /* after 1, 3, 7, 15, 31, and then 63 runs */
    attends = true;
    targets[1].cma.backoff = 0;
    for (int i = 0; i < 10; i++) {
        struct iovec one = here, other = there;
        struct pl_cma cma = { &one, &other, 1, 1, sizeof value, true, 0 };
        turns = 0;
        ck_assert_int_eq(pl_delegate_batch(&win_of[0], 1, &cma), MPI_SUCCESS);
        ck_assert(turns > 0 && cma.bytes == 0);
    }
    tear_down();
}
END_TEST

/* Two ranks that delegate to each other: the one that waits executes what the other one has left for it. */
START_TEST(both_ways)
{
    int value = 1, other_value = 2, other_memory = 0;
    struct iovec here = { &value, sizeof value }, there = { memory, sizeof value };
    struct pl_cma cma = { &here, &there, 1, 1, sizeof value, true, 0 };
    set_up();
    struct pl_delegated *slot = pl_delegate_slots(targets[1].ctl);
    const struct pl_delegated_run run = { (uint64_t)(uintptr_t)&other_memory, sizeof other_memory };
    slot->head = (struct pl_delegated_head){ .kind = PL_RMA_PUT, .runs = 1, .bytes = sizeof other_value };
    memcpy(slot->body, &run, sizeof run);
    memcpy(pl_delegate_data(slot, &slot->head), &other_value, sizeof other_value);
    win_of[0].base = &other_memory;
    win_of[0].size = sizeof other_memory;
    atomic_store(&slot->state, pl_delegated_made(0));
    atomic_fetch_or(&targets[0].ctl->delegated, pl_win_bit(1));
    attends = false;
    ck_assert_int_eq(pl_delegate_batch(&win_of[0], 1, &cma), MPI_SUCCESS);
    ck_assert_uint_eq(atomic_load(&slot->state), PL_DELEGATED_DONE);
    ck_assert_int_eq(other_memory, 2);
    ck_assert_int_eq(memory[0], 1);
    tear_down();
}
END_TEST

/* The target refuses what is not in its memory, and changes nothing. */
START_TEST(outside)
{
    int values[2] = { 1, 2 };
    set_up();
    for (int beyond = 0; beyond < 2; beyond++) {
        struct iovec here = { values, sizeof values };
        struct iovec there = { beyond ? memory + INTS - 1 : memory - 1, sizeof values };
        struct pl_cma cma = { &here, &there, 1, 1, sizeof values, true, 0 };
        ck_assert_int_eq(pl_delegate_batch(&win_of[0], 1, &cma), MPI_ERR_RMA_RANGE);
        struct pl_rma_change made = { .at = beyond ? (char *)(memory + INTS - 1) : (char *)(memory - 1),
                                      .count = 2,
                                      .type = pl_type_predefined((uintptr_t)MPI_INT),
                                      .op = pl_op_predefined((uintptr_t)MPI_SUM),
                                      .data = values };
        there = (struct iovec){ made.at, sizeof values };
        ck_assert_int_eq(pl_delegate_change(&win_of[0], 1, &made, &there, 1, NULL), MPI_ERR_RMA_RANGE);
    }
    ck_assert_mem_eq(memory, model, sizeof memory);
    tear_down();
}
END_TEST

UNIT_MAIN("delegate", random_operations, a_target_that_misses_is_spared, both_ways, outside)
