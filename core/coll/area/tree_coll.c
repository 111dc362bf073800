/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives along the tree of the ranks' places. What comes from all ranks goes up: a rank waits for its children,
 * combines, and publishes to its parent. What goes to all goes down. A barrier and an allreduce are two operations on
 * the area, one up and one down. After them a rank knows that all have completed the operations before.
 *
 * When an amount does not fit, a slot says so in place of its data, up and then down, so that all ranks learn of it.
 */
#include "core/coll/area/tree_coll.h"

#include "core/coll/area/copy.h"
#include "core/coll/area/reduce.h"

/* A rank has given another amount than the rank expects that meets it. In a slot of PL_AREA_ELSEWHERE bytes. */
struct tree_wrong {
    int32_t rank, met_by;
    uint64_t given, expected;
};
_Static_assert(sizeof(struct tree_wrong) <= PL_AREA_SMALL, "it is in a slot");

/* The operation under way, at one rank. */
struct tree_step {
    struct pl_area_call *call;
    struct pl_area *area;
    struct pl_area_links links;
    int root, rc;
    size_t bytes;
    bool is_wrong;
    struct tree_wrong wrong;
};

static struct tree_step tree_step_of(struct pl_area_call *call, int root, size_t bytes)
{
    return (struct tree_step){ .call = call,
                               .area = call->area,
                               .links = pl_area_tree_links(&call->area->tree, root),
                               .root = root,
                               .bytes = bytes };
}

static bool tree_goes_on(const struct tree_step *step)
{
    return step->rc == MPI_SUCCESS || step->rc == MPI_ERR_TRUNCATE;
}

/* The slot of a rank that has been waited for has other bytes. All ranks are told of the first two amounts that differ,
 * and each names one that differs from its own. */
static PL_COLD void tree_note_wrong(struct tree_step *step, int rank, size_t written)
{
    const struct tree_wrong *wrong = &step->wrong;
    if (step->is_wrong)
        return;
    step->is_wrong = true;
    step->wrong = (struct tree_wrong){ rank, step->area->rank, written, step->bytes };
    if (written == PL_AREA_ELSEWHERE)
        pl_copy_shared(&step->wrong, step->area->slots[rank].data, sizeof step->wrong);
    bool is_other = wrong->given != step->bytes;
    step->rc = pl_area_fail_amount(step->area, is_other ? wrong->rank : wrong->met_by,
                                   is_other ? wrong->given : wrong->expected, step->bytes);
}

/* Waits for another rank's slot. NULL: its data is of no use. */
static const void *tree_wait(struct tree_step *step, int rank)
{
    struct pl_area *area = step->area;
    int rc = pl_area_has(area, rank) ? MPI_SUCCESS : pl_area_await(area, step->call, rank, rank + 1);
    if (pl_unlikely(rc != MPI_SUCCESS)) {
        step->rc = rc;
        return NULL;
    }
    size_t written = pl_area_written(area, rank);
    if (pl_likely(written == step->bytes))
        return pl_area_data(area, rank, written);
    tree_note_wrong(step, rank, written);
    return NULL;
}

/* Space for this rank's data; NULL after an error. */
static void *tree_reserve(struct tree_step *step)
{
    void *slot = NULL;
    int rc = tree_goes_on(step) ? pl_area_reserve(step->area, step->bytes, &slot) : step->rc;
    step->rc = step->rc ? step->rc : rc;
    return slot;
}

static void tree_tell(const struct tree_step *step)
{
    struct pl_area_slot *slot = &step->area->slots[step->area->rank];
    if (pl_likely(!step->is_wrong))
        return;
    slot->bytes = PL_AREA_ELSEWHERE;
    memcpy(slot->data, &step->wrong, sizeof step->wrong);
}

static void tree_publish_up(const struct tree_step *step)
{
    tree_tell(step);
    pl_area_publish_up(step->area, step->links.parent);
}

static void tree_publish_down(const struct tree_step *step)
{
    tree_tell(step);
    pl_area_publish_down(step->area, step->root, false);
}

/* --- up ----------------------------------------------------------------------------------------------------------- */

/* Combines the operands of this rank and of those below it into `to`: in its slot, or at the root its result. */
static void tree_combine(struct tree_step *step, size_t at, void *to)
{
    const void *with = pl_area_reduce_input(step->call, at);
    for (int i = 0; i < step->links.children && tree_goes_on(step); i++) {
        const void *operand = tree_wait(step, step->links.child[i]);
        if (!operand)
            continue;
        pl_area_reduce_apply(step->call, operand, with, to, step->bytes);
        with = to;
    }
    if (with != to)
        pl_copy_bytes(to, with, step->bytes);
}

static void tree_reduce(struct tree_step *step, size_t at)
{
    void *to = step->links.parent < 0 ? pl_area_reduce_output(step->call, at) : tree_reserve(step);
    if (step->links.parent >= 0 && !to)
        return;
    tree_combine(step, at, to);
    if (step->links.parent >= 0 && tree_goes_on(step))
        tree_publish_up(step);
}

int pl_area_tree_reduce(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct tree_step step = tree_step_of(call, call->root, bytes);
    tree_reduce(&step, at);
    return step.rc;
}

/* --- down --------------------------------------------------------------------------------------------------------- */

/* Waits for what the parent says of the root's data, and tells the children. Longer data than fits into a line stays
 * where the root has it: a slot says where. *data: NULL after an error. */
static void tree_pass_on(struct tree_step *step, const void **data)
{
    struct pl_area *area = step->area;
    int parent = step->links.parent;
    step->rc = pl_area_has(area, parent) ? MPI_SUCCESS : pl_area_await(area, step->call, parent, parent + 1);
    if (step->rc)
        return;
    step->bytes = pl_area_written(area, parent);
    if (step->bytes > pl_area_most(area)) {
        step->rc = pl_area_fail_amount(area, step->root, step->bytes, pl_area_most(area));
        return;
    }
    bool is_short = step->bytes <= PL_AREA_SMALL;
    uint32_t offset = pl_read_shared(&area->slots[parent].offset);
    *data = is_short ? area->slots[parent].data : pl_area_in_ring(area, step->root, step->bytes, offset);
    if (step->links.children == 0)
        return;
    struct pl_area_slot *slot = &area->slots[area->rank];
    void *own;
    step->rc = pl_area_reserve(area, is_short ? step->bytes : 0, &own);
    if (step->rc)
        return;
    if (is_short)
        pl_copy_bytes(own, *data, step->bytes);
    slot->bytes = (uint32_t)step->bytes;
    slot->offset = offset;
    pl_area_publish_down(area, step->root, false);
}

int pl_area_tree_bcast(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct pl_block block = pl_coll_received(call->coll);
    struct tree_step step = tree_step_of(call, call->root, bytes);
    const void *data = NULL;
    void *slot;
    if (step.links.parent < 0) {
        if ((slot = tree_reserve(&step)) != NULL) {
            pl_area_pack(block, at, slot, bytes);
            pl_area_publish_down(step.area, step.root, bytes > PL_AREA_SMALL);
        }
        return step.rc;
    }
    tree_pass_on(&step, &data);
    if (step.rc == MPI_SUCCESS && step.bytes > bytes)
        return pl_area_fail_amount(step.area, step.root, step.bytes, bytes);
    if (step.rc == MPI_SUCCESS)
        pl_area_unpack(call, data, step.bytes, block, at);
    return step.rc;
}

/* The second half of a collective of all ranks: what the root has reaches all. `data`: memory for it. */
static int tree_spread(struct tree_step *step, void *data)
{
    const void *from = data;
    void *slot = NULL;
    uint32_t before = step->area->next;
    if (!tree_goes_on(step))
        return step->rc;
    pl_area_end(step->area);
    if (step->links.parent >= 0)
        from = tree_wait(step, step->links.parent);
    if (step->links.children > 0 && (slot = tree_reserve(step)) != NULL) {
        if (from)
            pl_copy_bytes(slot, from, step->bytes);
        tree_publish_down(step);
    }
    if (from && from != data)
        pl_copy_bytes(data, from, step->bytes);
    if (tree_goes_on(step))
        step->area->seen = before;
    return step->rc;
}

int pl_area_tree_allreduce(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct tree_step step = tree_step_of(call, 0, bytes);
    tree_reduce(&step, at);
    return tree_spread(&step, pl_area_reduce_output(call, at));
}

int pl_area_tree_barrier(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct tree_step step = tree_step_of(call, 0, 0);
    char nothing;
    (void)at, (void)bytes;
    step.call = NULL; /* it has no arguments */
    for (int i = 0; i < step.links.children && tree_goes_on(&step); i++)
        tree_wait(&step, step.links.child[i]);
    if (step.links.parent >= 0 && tree_reserve(&step))
        tree_publish_up(&step);
    return tree_spread(&step, &nothing);
}
