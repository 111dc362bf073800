/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations at the origin: checked, then done at once where the memory is mapped here, else ordered. */
#include "core/rma/rma.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/wire.h"
#include "core/engine/instance.h"
#include "core/engine/peer_failure.h"

enum { INLINE_MOST = 8192 }; /* bytes of data that travel with their order: they are copied */

/* --- may it be? ----------------------------------------------------------------------------------------------- */

static int __attribute__((cold)) fail_epoch(const struct pl_rma *rma)
{
    return pl_fail(MPI_ERR_RMA_SYNC,
                   "%s is in no epoch for rank %d: MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
                   "MPI_Win_lock_all comes first",
                   pl_win_label(rma->win), rma->target);
}

static int __attribute__((cold)) fail_passive(const struct pl_rma *rma)
{
    return pl_fail(MPI_ERR_RMA_SYNC, "operations with a request need rank %d of %s to be locked", rma->target,
                   pl_win_label(rma->win));
}

static inline int check_epoch(const struct pl_rma *rma, bool passive)
{
    struct pl_win *win = rma->win;
    int open = atomic_load_explicit(&win->targets[rma->target].open, memory_order_relaxed);
    int access = atomic_load_explicit(&win->access, memory_order_relaxed);
    if (open == PL_OPEN_LOCKED || access == PL_ACCESS_LOCK_ALL)
        return MPI_SUCCESS;
    if (open == PL_OPEN_NOT && access != PL_ACCESS_FENCE)
        return fail_epoch(rma);
    if (passive)
        return fail_passive(rma);
    if (access == PL_ACCESS_FENCE && !atomic_load_explicit(&win->fence_used, memory_order_relaxed))
        atomic_store_explicit(&win->fence_used, true, memory_order_relaxed);
    return MPI_SUCCESS;
}

static int __attribute__((cold)) fail_range(const struct pl_rma *rma)
{
    const struct pl_win_target *target = &rma->win->targets[rma->target];
    MPI_Aint lowest;
    size_t span = pl_type_span(rma->type, rma->count, &lowest);
    if (rma->win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return pl_fail(MPI_ERR_RMA_RANGE, "target_disp %#llx and %zu bytes from there are not attached at rank %d",
                       (unsigned long long)rma->disp, span, rma->target);
    return pl_fail(MPI_ERR_RMA_RANGE,
                   "target_disp %lld in units of %lld bytes, and %zu bytes from %+lld on, are not in the %lld bytes "
                   "that rank %d has in %s",
                   (long long)rma->disp, (long long)target->disp_unit, span, (long long)lowest, (long long)target->size,
                   rma->target, pl_win_label(rma->win));
}

/* Where it goes, as struct pl_rma_wire_op says it. */
static inline int rma_locate(const struct pl_rma *rma, int64_t *at)
{
    const struct pl_win *win = rma->win;
    const struct pl_win_target *target = &win->targets[rma->target];
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        MPI_Count bytes;
        *at = rma->disp;
        return __builtin_mul_overflow(rma->count, rma->type->size, &bytes) ? fail_range(rma) : MPI_SUCCESS;
    }
    if (__builtin_mul_overflow((int64_t)rma->disp, (int64_t)target->disp_unit, at))
        return fail_range(rma);
    if (rma->type->dense && rma->type->true_lb == 0) {
        MPI_Count bytes;
        bool fits = !__builtin_mul_overflow(rma->count, rma->type->size, &bytes) && *at >= 0 && bytes <= target->size &&
                    *at <= target->size - bytes;
        return __builtin_expect(fits || bytes == 0, 1) ? MPI_SUCCESS : fail_range(rma);
    }
    return pl_rma_fits(*at, rma->count, rma->type, target->size) ? MPI_SUCCESS : fail_range(rma);
}

static int __attribute__((cold)) fail_amount(const char *what, size_t here, size_t there)
{
    return pl_fail(MPI_ERR_TYPE, "%s has %zu bytes of data, and the target's part %zu: they have to be alike", what,
                   here, there);
}

static inline size_t rma_bytes_of(MPI_Count count, const struct pl_type *type)
{
    return (size_t)count * (size_t)type->size;
}

static bool has_data(const struct pl_rma *rma)
{
    return rma->origin_type && rma->kind != PL_RMA_GET;
}

static inline int check_amount(const struct pl_rma *rma)
{
    size_t there = rma_bytes_of(rma->count, rma->type);
    if (has_data(rma) && rma_bytes_of(rma->origin_count, rma->origin_type) != there)
        return fail_amount("the origin", rma_bytes_of(rma->origin_count, rma->origin_type), there);
    if (rma->result_type && rma_bytes_of(rma->result_count, rma->result_type) != there)
        return fail_amount("the result", rma_bytes_of(rma->result_count, rma->result_type), there);
    return MPI_SUCCESS;
}

/* --- direct --------------------------------------------------------------------------------------------------- */

static int check_attached(const struct pl_rma *rma, int64_t at)
{
    struct pl_win *win = rma->win;
    struct pl_engine *engine = &win->comm->instance->engine;
    MPI_Aint lowest;
    size_t span = pl_type_span(rma->type, rma->count, &lowest);
    uintptr_t address = (uintptr_t)at + (uintptr_t)lowest;
    int rc = MPI_SUCCESS;
    if (span > 0 && win->targets[rma->target].cma) {
        rc = pl_cma_attached(win, rma->target, address, span);
    } else if (span > 0) {
        pl_engine_enter(engine);
        rc = pl_win_is_attached(&win->regions, address, span) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
        pl_engine_leave(engine);
    }
    return rc == MPI_ERR_RMA_RANGE ? fail_range(rma) : rc;
}

/* The data packed: where it is, if it is one run, else in memory that the caller frees (`copy`). */
static int bring_together(const void *buf, MPI_Count count, const struct pl_type *type, const void **data, void **copy)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, buf, count, type);
    *copy = NULL;
    *data = pl_cursor_direct(&cursor);
    if (*data || cursor.total == 0)
        return MPI_SUCCESS;
    *data = *copy = pl_malloc(cursor.total);
    if (!*copy)
        return pl_fail_memory("the data of a one-sided operation");
    pl_cursor_pack(&cursor, *copy, cursor.total);
    return MPI_SUCCESS;
}

static int accumulate_direct(const struct pl_rma *rma, char *memory)
{
    struct pl_rma_change change = {
        .at = memory, .count = rma->count, .type = rma->type, .op = rma->op, .compare = rma->compare
    };
    struct pl_cursor result;
    void *copy = NULL, *before = NULL;
    int rc = has_data(rma) ? bring_together(rma->origin, rma->origin_count, rma->origin_type, &change.data, &copy)
                           : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && rma->result_type) {
        pl_cursor_init(&result, rma->result, rma->result_count, rma->result_type);
        change.before = pl_cursor_direct(&result);
        if (!change.before && result.total > 0) {
            change.before = before = pl_malloc(result.total);
            rc = before ? MPI_SUCCESS : pl_fail_memory("the result of a one-sided operation");
        }
    }
    const struct pl_win_target *target = &rma->win->targets[rma->target];
    if (rc == MPI_SUCCESS && target->cma)
        rc = pl_cma_apply(rma->win, rma->target, &change);
    else if (rc == MPI_SUCCESS)
        pl_rma_apply(rma->win, target->ctl, &change);
    if (rc == MPI_SUCCESS && before)
        pl_cursor_unpack(&result, before, result.total);
    free(copy);
    free(before);
    return rc;
}

static inline void rma_move(const void *from, MPI_Count from_count, const struct pl_type *from_type, void *to,
                            MPI_Count to_count, const struct pl_type *to_type)
{
    if (__builtin_expect(from_type->dense && to_type->dense, 1)) {
        size_t bytes = rma_bytes_of(to_count, to_type);
        if (bytes > 0)
            memmove(pl_address(to, (MPI_Aint)to_type->true_lb), pl_address(from, (MPI_Aint)from_type->true_lb), bytes);
    } else {
        pl_type_copy(from, from_count, from_type, to, to_count, to_type);
    }
}

static int do_direct(const struct pl_rma *rma, int64_t at, bool at_once)
{
    const struct pl_win_target *target = &rma->win->targets[rma->target];
    bool dynamic = rma->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    char *memory = pl_address(dynamic ? NULL : target->memory, (MPI_Aint)at);
    int rc = dynamic ? check_attached(rma, at) : MPI_SUCCESS;
    if (rc)
        return rc;
    if (target->cma && rma->kind <= PL_RMA_GET)
        return pl_cma_move(rma, memory, at_once);
    if (rma->kind == PL_RMA_PUT)
        rma_move(rma->origin, rma->origin_count, rma->origin_type, memory, rma->count, rma->type);
    else if (rma->kind == PL_RMA_GET)
        rma_move(memory, rma->count, rma->type, rma->result, rma->result_count, rma->result_type);
    else
        return accumulate_direct(rma, memory);
    return MPI_SUCCESS;
}

/* --- by messages ---------------------------------------------------------------------------------------------- */

static struct pl_type *keep_type(const struct pl_type *type)
{
    return type->obj.predefined ? NULL : pl_object_retain((struct pl_type *)type);
}

static struct pl_rma_get *make_get(const struct pl_rma *rma)
{
    struct pl_rma_get *get = pl_calloc(1, sizeof *get);
    if (!get)
        return NULL;
    pl_list_init(&get->link);
    pl_list_init(&get->request.link);
    get->win = rma->win;
    get->rank = rma->target;
    get->type = keep_type(rma->result_type);
    pl_cursor_init(&get->request.in.data, rma->result, rma->result_count, rma->result_type);
    return get;
}

/* The order, the datatype, and the data if that comes along. */
static struct pl_rma_send *make_wire_op(const struct pl_rma *rma, int64_t at, const struct pl_type_wire *wire,
                                        struct pl_cursor *data)
{
    struct pl_rma_wire_op wire_op = {
        .kind = (uint8_t)rma->kind,
        .op = rma->op ? (uint8_t)rma->op->obj.abi : 0,
        .apart = data->total > INLINE_MOST,
        .layout = (uint32_t)wire->length,
        .at = at,
        .count = (uint64_t)rma->count,
        .bytes = data->total + (rma->compare ? (size_t)rma->type->size : 0),
    };
    size_t along = wire_op.apart ? 0 : wire_op.bytes;
    struct pl_rma_send *send = pl_rma_send_make(rma->win, rma->target, sizeof wire_op + wire->length + along);
    if (!send)
        return NULL;
    unsigned char *to = send->data;
    memcpy(to, &wire_op, sizeof wire_op);
    memcpy(to + sizeof wire_op, wire->bytes, wire->length);
    to += sizeof wire_op + wire->length;
    if (!wire_op.apart)
        to += pl_cursor_pack(data, to, data->total);
    if (rma->compare)
        memcpy(to, rma->compare, (size_t)rma->type->size);
    return send;
}

/* The data behind an order, from where the user has it. */
static struct pl_rma_send *make_data(const struct pl_rma *rma, const struct pl_cursor *data)
{
    struct pl_rma_send *send = pl_rma_send_make(rma->win, rma->target, 0);
    if (!send)
        return NULL;
    send->request.out.data = *data;
    send->type = keep_type(rma->origin_type);
    send->holds_data = true;
    return send;
}

static void start_get(struct pl_rma_get *get)
{
    struct pl_win *win = get->win;
    get->sync_id = pl_rma_next_sync(win);
    win->targets[get->rank].unsent++;
    pl_list_append(&win->responses, &get->link);
}

/* A lock of all is asked for when it is first needed: the stream behind it waits. */
static int lock_first(struct pl_win *win, int rank)
{
    struct pl_win_target *target = &win->targets[rank];
    uint32_t type = MPI_LOCK_SHARED;
    if (atomic_load(&win->access) != PL_ACCESS_LOCK_ALL || win->unchecked || target->locked)
        return MPI_SUCCESS;
    int rc = pl_rma_send_control(win, rank, PL_PART_LOCK, 0, &type, sizeof type);
    if (rc == MPI_SUCCESS)
        target->locked = MPI_LOCK_SHARED - MPI_LOCK_EXCLUSIVE + 1;
    return rc;
}

struct parts {
    struct pl_rma_send *wire_op, *data; /* data NULL: it comes along */
    struct pl_rma_get *get;             /* NULL: no answer with data */
    struct pl_request *user;            /* NULL: none */
};

static int send_parts(struct pl_win *win, int rank, const struct parts *parts)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    pl_engine_enter(engine);
    int rc = atomic_load(&win->comm->health.failed) ? pl_failure_record(win->comm) : lock_first(win, rank);
    if (rc == MPI_SUCCESS) {
        win->targets[rank].dirty = true;
        if (parts->get)
            start_get(parts->get);
        pl_rma_send(parts->wire_op, PL_PART_OP, parts->get ? parts->get->sync_id : 0);
        if (parts->data)
            pl_rma_send(parts->data, PL_PART_DATA, 0);
    }
    pl_engine_leave(engine);
    return rc;
}

static void drop_parts(struct parts *parts)
{
    if (parts->get) {
        pl_object_release(parts->get->type);
        free(parts->get);
    }
    if (parts->data)
        pl_object_release(parts->data->type);
    free(parts->data);
    free(parts->wire_op);
    if (parts->user)
        pl_handle_drop(parts->user);
}

static int make_parts(const struct pl_rma *rma, int64_t at, bool wants_request, struct parts *parts)
{
    struct pl_type_wire wire;
    struct pl_cursor data = { .total = 0 };
    int rc = pl_type_encode(rma->type, &wire);
    if (rc)
        return rc;
    if (has_data(rma))
        pl_cursor_init(&data, rma->origin, rma->origin_count, rma->origin_type);
    bool apart = data.total > INLINE_MOST;
    parts->wire_op = make_wire_op(rma, at, &wire, &data);
    parts->data = apart ? make_data(rma, &data) : NULL;
    parts->get = rma->result_type ? make_get(rma) : NULL;
    pl_type_wire_drop(&wire);
    if (!parts->wire_op || (apart && !parts->data) || (rma->result_type && !parts->get))
        return pl_fail_memory("a one-sided operation");
    if (!wants_request || (!parts->get && !apart))
        return MPI_SUCCESS;
    parts->user = pl_request_create(PL_REQ_RMA, rma->win->comm, NULL, false);
    if (!parts->user)
        return MPI_ERR_NO_MEM;
    parts->user->args.peer_rank = rma->target;
    parts->user->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    if (parts->get)
        parts->get->user = parts->user;
    else
        parts->data->user = parts->user;
    return MPI_SUCCESS;
}

static int do_by_messages(const struct pl_rma *rma, int64_t at, struct pl_request **request)
{
    struct parts parts = { 0 };
    int rc = make_parts(rma, at, request != NULL, &parts);
    struct pl_request *user = parts.user;
    if (rc == MPI_SUCCESS)
        rc = send_parts(rma->win, rma->target, &parts);
    if (rc)
        drop_parts(&parts);
    else if (request)
        *request = user;
    return rc;
}

/* --- all of it ------------------------------------------------------------------------------------------------ */

static int give_done(struct pl_request **request)
{
    if (!request)
        return MPI_SUCCESS;
    *request = *request ? *request : pl_request_sent();
    return *request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int pl_rma_start(const struct pl_rma *rma, struct pl_request **request)
{
    int64_t at;
    if (request)
        *request = NULL;
    if (rma->target == MPI_PROC_NULL)
        return give_done(request);
    int rc = check_epoch(rma, request != NULL);
    rc = rc ? rc : rma_locate(rma, &at);
    rc = rc ? rc : check_amount(rma);
    if (rc)
        return rc;
    if (__builtin_expect(rma->win->targets[rma->target].ctl != NULL, 1))
        rc = do_direct(rma, at, request != NULL);
    else if (rma_bytes_of(rma->count, rma->type) > 0)
        rc = do_by_messages(rma, at, request);
    return rc ? rc : give_done(request);
}

int pl_rma_report(const struct pl_request *request, int error)
{
    const struct pl_win *win = request->comm->win;
    if (error == MPI_ERR_RMA_RANGE)
        return pl_fail(error, "the operation goes to memory that rank %d has not attached", request->args.peer_rank);
    return pl_fail(error, "rank %d could not do the operation on %s", request->args.peer_rank,
                   win ? pl_win_label(win) : "the window");
}
