/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of all kinds. Each rank knows what is in all of them; messages start in the midst of epochs. */
#include "mix.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 3, CELLS = 3000, HOT = 16, OPERATIONS = 12 };
enum kind { ALLOCATE, SHARED, CREATE, DYNAMIC, KINDS };
enum epoch { FENCE, POSTED, LOCK, LOCK_ALL, EPOCHS };
enum way {
    PUT,
    GET,
    ACCUMULATE,
    REPLACE,
    GET_ACCUMULATE,
    FETCH,
    SWAP,
    ADD_HOT,
    RPUT,
    RGET,
    RACCUMULATE,
    RGET_ACCUMULATE
};

static struct window {
    bool used;
    enum kind kind;
    MPI_Win win;
    MPI_Comm comm; /* MPI_COMM_NULL on other ranks */
    int size, rank, unit[RANKS];
    uint32_t *memory, *made;
    MPI_Aint start[RANKS]; /* of a dynamic window */
    uint32_t cells[RANKS][CELLS];
} windows[WINDOWS];

static struct operation {
    enum way way;
    int origin, target, at, stride, n;
    uint64_t id;
    struct area got; /* at the origin */
    uint32_t *given;
    MPI_Request request;
} operations[OPERATIONS];

static void window_open(struct window *w)
{
    struct comm *c = plan_comm(false);
    bool one_host = comm_on_one_host(c);
    MPI_Aint bytes = CELLS * sizeof(uint32_t);
    w->used = true;
    w->kind = plan_below(KINDS);
    if (w->kind == SHARED && !one_host)
        w->kind = ALLOCATE;
    w->size = c->sizes[0];
    w->rank = c->rank;
    w->comm = MPI_COMM_NULL;
    for (int r = 0; r < w->size; r++) {
        w->unit[r] = plan_below(2) ? 4 : 1;
        for (int i = 0; i < CELLS; i++)
            w->cells[r][i] = (uint32_t)(r * 100000 + i);
    }
    if (c->comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_dup(c->comm, &w->comm));
    int unit = w->unit[w->rank];
    w->made = NULL;
    if (w->kind >= CREATE)
        w->made = w->memory = malloc((size_t)bytes);
    if (w->kind == ALLOCATE)
        OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, c->comm, &w->memory, &w->win));
    else if (w->kind == SHARED)
        OK(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, c->comm, &w->memory, &w->win));
    else if (w->kind == CREATE)
        OK(MPI_Win_create(w->memory, bytes, unit, MPI_INFO_NULL, c->comm, &w->win));
    else
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, c->comm, &w->win));
    if (w->kind == DYNAMIC) {
        MPI_Aint start;
        OK(MPI_Win_attach(w->win, w->memory, bytes));
        OK(MPI_Get_address(w->memory, &start));
        OK(MPI_Allgather(&start, 1, MPI_AINT, w->start, 1, MPI_AINT, c->comm));
    }
    OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memcpy(w->memory, w->cells[w->rank], (size_t)bytes);
    OK(MPI_Win_unlock(w->rank, w->win));
    OK(MPI_Barrier(w->comm));
}

static void window_close(struct window *w)
{
    w->used = false;
    if (w->comm == MPI_COMM_NULL)
        return;
    if (w->kind == DYNAMIC) {
        OK(MPI_Barrier(w->comm));
        OK(MPI_Win_detach(w->win, w->memory));
    }
    OK(MPI_Win_free(&w->win));
    OK(MPI_Comm_free(&w->comm));
    free(w->made);
}

static uint32_t given(const struct operation *o, int element)
{
    return (uint32_t)mix_hash(o->id + (uint64_t)element);
}

/* Draws an operation on cells that no other one of this epoch uses, from next[target] on, and enters what it does. */
static void operation_plan(struct window *w, struct operation *o, enum epoch epoch, int *next)
{
    *o = (struct operation){ .request = MPI_REQUEST_NULL };
    o->way = plan_below(epoch == LOCK || epoch == LOCK_ALL ? RGET_ACCUMULATE + 1 : ADD_HOT + 1);
    o->origin = (int)plan_below((unsigned)w->size);
    o->target = (int)plan_below((unsigned)w->size);
    o->stride = 1 + (int)plan_below(2);
    o->n = 1 + (int)(plan_below(3) ? plan_below(20) : plan_below(500));
    if (o->way == FETCH || o->way == SWAP)
        o->n = 1;
    if (o->way == ADD_HOT)
        o->n = 1 + (int)plan_below(HOT), o->stride = 1;
    o->at = o->way == ADD_HOT ? 0 : next[o->target];
    while (o->n > 0 && o->at + o->n * o->stride > CELLS)
        o->n--;
    if (o->way != ADD_HOT)
        next[o->target] += o->n * o->stride + (int)plan_below(3);
    o->id = mix_hash(mix.plan);
    bool mine = o->origin == w->rank && w->comm != MPI_COMM_NULL;
    if (mine) {
        area_make(&o->got, (size_t)o->n * 4);
        o->given = malloc((size_t)o->n * 4 + 4);
    }
    for (int e = 0; e < o->n; e++) {
        uint32_t *cell = &w->cells[o->target][o->at + e * o->stride], value = given(o, e);
        bool fetches = o->way == GET || o->way == RGET || o->way == GET_ACCUMULATE || o->way == FETCH ||
                       o->way == SWAP || o->way == RGET_ACCUMULATE;
        if (mine && fetches)
            area_put(&o->got, (size_t)e * 4, 4, cell, false, true);
        if (mine)
            o->given[e] = value;
        if (o->way == PUT || o->way == RPUT || o->way == REPLACE || o->way == SWAP)
            *cell = value;
        else if (o->way != GET && o->way != RGET)
            *cell += value;
    }
}

static void operation_run(const struct window *w, struct operation *o)
{
    MPI_Aint at = w->kind == DYNAMIC ? w->start[o->target] + 4 * o->at : o->at * (4 / w->unit[o->target]);
    MPI_Datatype type;
    void *got = area_at(&o->got, 0);
    int n = o->n, target = o->target;
    uint32_t before;
    if (n == 0)
        return;
    OK(MPI_Type_vector(n, 1, o->stride, MPI_UINT32_T, &type));
    OK(MPI_Type_commit(&type));
#define FROM  o->given, n, MPI_UINT32_T
#define INTO  got, n, MPI_UINT32_T
#define THERE target, at, 1, type
    switch (o->way) {
    case PUT: OK(MPI_Put(FROM, THERE, w->win)); break;
    case GET: OK(MPI_Get(INTO, THERE, w->win)); break;
    case ADD_HOT:
    case ACCUMULATE: OK(MPI_Accumulate(FROM, THERE, MPI_SUM, w->win)); break;
    case REPLACE: OK(MPI_Accumulate(FROM, THERE, MPI_REPLACE, w->win)); break;
    case GET_ACCUMULATE: OK(MPI_Get_accumulate(FROM, INTO, THERE, MPI_SUM, w->win)); break;
    case FETCH: OK(MPI_Fetch_and_op(o->given, got, MPI_UINT32_T, target, at, MPI_SUM, w->win)); break;
    case SWAP:
        memcpy(&before, o->got.expected + GUARD, 4);
        o->given[1] = before;
        OK(MPI_Compare_and_swap(&o->given[0], &o->given[1], got, MPI_UINT32_T, target, at, w->win));
        break;
    case RPUT: OK(MPI_Rput(FROM, THERE, w->win, &o->request)); break;
    case RGET: OK(MPI_Rget(INTO, THERE, w->win, &o->request)); break;
    case RACCUMULATE: OK(MPI_Raccumulate(FROM, THERE, MPI_SUM, w->win, &o->request)); break;
    case RGET_ACCUMULATE: OK(MPI_Rget_accumulate(FROM, INTO, THERE, MPI_SUM, w->win, &o->request)); break;
    }
    OK(MPI_Type_free(&type));
}

static void operation_check(struct operation *o)
{
    OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
    area_check(&o->got, "what a window gave", mix.step);
    for (int e = 0; e < o->n; e++)
        if (o->given[e] != given(o, e))
            fail("what a window was given has changed");
    area_free(&o->got);
    free(o->given);
}

static void epoch_begin(const struct window *w, enum epoch epoch)
{
    MPI_Group group;
    if (epoch == FENCE)
        OK(MPI_Win_fence(0, w->win));
    if (epoch == LOCK_ALL)
        OK(MPI_Win_lock_all(0, w->win));
    if (epoch != POSTED)
        return;
    OK(MPI_Win_get_group(w->win, &group));
    OK(MPI_Win_post(group, 0, w->win));
    OK(MPI_Win_start(group, 0, w->win));
    OK(MPI_Group_free(&group));
}

static void epoch_end(const struct window *w, enum epoch epoch)
{
    int flag;
    if (epoch == FENCE)
        OK(MPI_Win_fence(0, w->win));
    if (epoch == LOCK_ALL)
        OK(MPI_Win_unlock_all(w->win));
    if (epoch == POSTED) {
        OK(MPI_Win_complete(w->win));
        OK(MPI_Win_test(w->win, &flag));
        if (!flag)
            OK(MPI_Win_wait(w->win));
    }
}

static void flush_some(const struct window *w, int target)
{
    switch (own_below(6)) {
    case 0: OK(MPI_Win_flush(target, w->win)); break;
    case 1: OK(MPI_Win_flush_local(target, w->win)); break;
    case 2: OK(MPI_Win_flush_all(w->win)); break;
    case 3: OK(MPI_Win_flush_local_all(w->win)); break;
    case 4: OK(MPI_Win_sync(w->win)); break;
    }
}

static void window_epoch(struct window *w)
{
    enum epoch epoch = plan_below(EPOCHS);
    int n = (int)plan_below(OPERATIONS + 1), next[RANKS], shared = (int)plan_below(2);
    bool mine = w->comm != MPI_COMM_NULL;
    for (int r = 0; r < RANKS; r++)
        next[r] = HOT + (int)plan_below(50);
    for (int o = 0; o < n; o++)
        operation_plan(w, &operations[o], epoch, next);
    if (mine)
        epoch_begin(w, epoch);
    for (int o = 0; o < n; o++) {
        bool runs = mine && operations[o].origin == w->rank;
        int target = operations[o].target;
        if (runs && epoch == LOCK)
            OK(MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        if (runs)
            operation_run(w, &operations[o]);
        if (runs && (epoch == LOCK || epoch == LOCK_ALL))
            flush_some(w, target);
        if (plan_below(4) == 0)
            message_step(true);
        if (runs && own_below(2))
            OK(MPI_Wait(&operations[o].request, MPI_STATUS_IGNORE));
        if (runs && epoch == LOCK)
            OK(MPI_Win_unlock(target, w->win));
    }
    if (!mine)
        return;
    char byte = 0;
    if (own_below(4) == 0 && epoch == LOCK_ALL)
        RAISES(MPI_ERR_RANK, MPI_Put(&byte, 1, MPI_BYTE, w->size, 0, 1, MPI_BYTE, w->win));
    if (own_below(4) == 0 && epoch == LOCK_ALL)
        RAISES(MPI_ERR_COUNT, MPI_Get(&byte, -1, MPI_BYTE, 0, 0, 1, MPI_BYTE, w->win));
    epoch_end(w, epoch);
    for (int o = 0; o < n; o++)
        if (operations[o].origin == w->rank)
            operation_check(&operations[o]);
    OK(MPI_Barrier(w->comm));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    for (int i = 0; i < CELLS; i++)
        if (w->memory[i] != w->cells[w->rank][i])
            fail("window of kind %d after epoch %d: cell %d is %u, not %u", w->kind, epoch, i, w->memory[i],
                 w->cells[w->rank][i]);
    OK(MPI_Win_unlock(w->rank, w->win));
    OK(MPI_Barrier(w->comm));
}

void window_step(void)
{
    struct window *w = &windows[plan_below(WINDOWS)];
    if (!w->used)
        window_open(w);
    else if (plan_below(6) == 0)
        window_close(w);
    else
        window_epoch(w);
}

void windows_close(void)
{
    for (int i = 0; i < WINDOWS; i++)
        if (windows[i].used)
            window_close(&windows[i]);
}
