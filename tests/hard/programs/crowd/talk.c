/* SPDX-License-Identifier: BSD-3-Clause */
#include "grow.h"

enum { PENDING = 24 };

/* Messages of this process under way: those to and from each partner. */
static struct pending {
    int serial, step, requests, n[2], bytes[2][MOST];
    uint64_t id[2][MOST];
    char *memory[2][MOST];
    MPI_Request request[2 * MOST];
} pendings[PENDING];

static void pending_check(struct pending *p)
{
    for (int way = 0; way < 2; way++)
        for (int i = 0; i < p->n[way]; i++) {
            if (!data_is(p->memory[way][i], p->bytes[way][i], p->id[way][i]))
                FAIL("wrong data %s in step %d", way ? "received" : "sent", p->step);
            free(p->memory[way][i]);
        }
    p->serial = 0;
}

static void pending_end(struct pending *p)
{
    int flag = 0, index;
    switch (own_below(3)) {
    case 0: OK(MPI_Waitall(p->requests, p->request, MPI_STATUSES_IGNORE)); break;
    case 1:
        while (!flag)
            OK(MPI_Testall(p->requests, p->request, &flag, MPI_STATUSES_IGNORE));
        break;
    default:
        for (int i = 0; i < p->requests; i++)
            OK(MPI_Waitany(p->requests, p->request, &index, MPI_STATUS_IGNORE));
    }
    pending_check(p);
}

void talk_end(int serial)
{
    for (int i = 0; i < PENDING; i++)
        if (pendings[i].serial && (!serial || pendings[i].serial == serial))
            pending_end(&pendings[i]);
}

void talk_some(void)
{
    struct pending *p = &pendings[own_below(PENDING)];
    if (p->serial)
        pending_end(p);
}

static struct pending *pending_new(int serial)
{
    struct pending *p = &pendings[own_below(PENDING)];
    if (p->serial)
        pending_end(p);
    memset(p, 0, sizeof *p);
    p->serial = serial;
    p->step = crowd.step;
    return p;
}

static void pending_add(struct pending *p, const struct comm *c, bool receives, int partner, int length,
                        bool synchronous)
{
    int there = c->who[c->inter ? !c->side : 0][partner], way = receives, at = p->n[way]++;
    uint64_t id = receives ? data_id(crowd.step, there, crowd.me) : data_id(crowd.step, crowd.me, there);
    p->bytes[way][at] = length;
    p->id[way][at] = id;
    p->memory[way][at] = calloc(1, (size_t)length + 1);
    if (!receives)
        data_fill(p->memory[way][at], length, id);
    MPI_Request *request = &p->request[p->requests++];
    if (receives)
        OK(MPI_Irecv(p->memory[way][at], length, MPI_BYTE, partner, crowd.step, c->comm, request));
    else if (synchronous)
        OK(MPI_Issend(p->memory[way][at], length, MPI_BYTE, partner, crowd.step, c->comm, request));
    else
        OK(MPI_Isend(p->memory[way][at], length, MPI_BYTE, partner, crowd.step, c->comm, request));
}

/* A ring, or all of one side with all of the other. */
void talk_ring(struct comm *c)
{
    int by = plan_below(c->sizes[0]), length = plan_length(), size = c->sizes[0];
    bool at_once = plan_below(3) == 0, synchronous = plan_below(3) == 0;
    if (c->comm == MPI_COMM_NULL)
        return;
    struct pending *p = pending_new(c->serial);
    for (int other = 0; c->inter && other < c->sizes[!c->side]; other++) {
        pending_add(p, c, true, other, length, false);
        pending_add(p, c, false, other, length, synchronous);
    }
    if (!c->inter) {
        pending_add(p, c, true, (c->rank - by + size) % size, length, false);
        pending_add(p, c, false, (c->rank + by) % size, length, synchronous);
    }
    if (at_once)
        pending_end(p);
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/* Waits for a nonblocking operation, or makes a persistent one run. */
static void finish(int form, MPI_Request *request)
{
    if (form == 0)
        return;
    if (form == 2)
        OK(MPI_Start(request));
    if (own_below(2))
        talk_some();
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == 2)
        OK(MPI_Request_free(request));
}

#if MPI_VERSION >= 4
#define FORMS 3
#define COLLECTIVE(name, small, ...)                                                                                   \
    (form == 0   ? MPI_##name(__VA_ARGS__)                                                                             \
     : form == 1 ? MPI_I##small(__VA_ARGS__, &request)                                                                 \
                 : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request))
#else
#define FORMS                        2
#define COLLECTIVE(name, small, ...) (form == 0 ? MPI_##name(__VA_ARGS__) : MPI_I##small(__VA_ARGS__, &request))
#endif

static void talk_bcast(struct comm *c, int form, int length, int side, int root)
{
    MPI_Request request;
    bool is_root = c->side == side && c->rank == root, receives = c->inter ? c->side != side : !is_root;
    char *memory = calloc(1, (size_t)length + 1);
    uint64_t id = data_id(crowd.step, c->who[side][root], -1);
    if (is_root)
        data_fill(memory, length, id);
    int argument = !c->inter || c->side != side ? root : is_root ? MPI_ROOT : MPI_PROC_NULL;
    OK(COLLECTIVE(Bcast, bcast, memory, length, MPI_BYTE, argument, c->comm));
    finish(form, &request);
    if ((receives || is_root) && !data_is(memory, length, id))
        FAIL("wrong data in a broadcast");
    free(memory);
}

/* Each gets from each: the same part (an allgather) or one of its own. */
static void talk_all(struct comm *c, int form, int length, bool same)
{
    MPI_Request request;
    int from = c->inter ? !c->side : 0, n = c->sizes[from];
    char *out = calloc(1, (size_t)length * (size_t)n + 1), *in = calloc(1, (size_t)length * (size_t)n + 1);
    for (int r = 0; r < (same ? 1 : n); r++)
        data_fill(out + (size_t)length * (size_t)r, length, data_id(crowd.step, crowd.me, same ? -1 : c->who[from][r]));
    if (same)
        OK(COLLECTIVE(Allgather, allgather, out, length, MPI_BYTE, in, length, MPI_BYTE, c->comm));
    else
        OK(COLLECTIVE(Alltoall, alltoall, out, length, MPI_BYTE, in, length, MPI_BYTE, c->comm));
    finish(form, &request);
    for (int r = 0; r < n; r++)
        if (!data_is(in + (size_t)length * (size_t)r, length,
                     data_id(crowd.step, c->who[from][r], same ? -1 : crowd.me)))
            FAIL("wrong data from rank %d in %s", r, same ? "an allgather" : "an alltoall");
    free(out);
    free(in);
}

static void talk_sum(struct comm *c, int form, int count)
{
    MPI_Request request;
    int from = c->inter ? !c->side : 0;
    long *out = calloc((size_t)count + 1, sizeof *out), *in = calloc((size_t)count + 1, sizeof *in), sum = 0;
    for (int r = 0; r < c->sizes[from]; r++)
        sum += c->who[from][r] + 1;
    for (int i = 0; i < count; i++)
        out[i] = (crowd.me + 1) * (long)(i + 1);
    OK(COLLECTIVE(Allreduce, allreduce, out, in, count, MPI_LONG, MPI_SUM, c->comm));
    finish(form, &request);
    for (int i = 0; i < count; i++)
        if (in[i] != sum * (i + 1))
            FAIL("wrong sum: %ld, not %ld", in[i], sum * (i + 1));
    free(out);
    free(in);
}

void talk_collective(struct comm *c)
{
    int way = plan_below(5), form = plan_below(FORMS), length = plan_length(), side = plan_below(c->inter ? 2 : 1);
    int root = plan_below(c->sizes[side]);
    MPI_Request request;
    if (c->comm == MPI_COMM_NULL)
        return;
    if (way == 0) {
        OK(COLLECTIVE(Barrier, barrier, c->comm));
        finish(form, &request);
    } else if (way == 1) {
        talk_bcast(c, form, length, side, root);
    } else if (way < 4) {
        talk_all(c, form, length % 20000, way == 2);
    } else {
        talk_sum(c, form, length % 10000);
    }
}

/* --- windows and files -------------------------------------------------------------------------------------------- */

enum { WINDOW = 3000 };

/* A window from its creation to its end: puts along a ring, then sums at one rank. */
void talk_window(struct comm *c)
{
    int by = plan_below(c->sizes[0]), length = plan_below(WINDOW), size = c->sizes[0], way = plan_below(2);
    int target = plan_below(size), lock = plan_below(2);
    if (c->comm == MPI_COMM_NULL)
        return;
    char *memory, *own = NULL, out[WINDOW], in[WINDOW] = { 0 };
    MPI_Win win;
    long one = 1, before = -1;
    if (way == 0)
        OK(MPI_Win_allocate(WINDOW + 8, 1, MPI_INFO_NULL, c->comm, &memory, &win));
    else
        OK(MPI_Win_create(memory = own = malloc(WINDOW + 8), WINDOW + 8, 1, MPI_INFO_NULL, c->comm, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memset(memory, 0, WINDOW + 8);
    OK(MPI_Win_fence(0, win));
    int to = (c->rank + by) % size, from = (c->rank - by + size) % size;
    data_fill(out, length, data_id(crowd.step, crowd.me, c->who[0][to]));
    OK(MPI_Put(out, length, MPI_BYTE, to, 0, length, MPI_BYTE, win));
    OK(MPI_Win_fence(0, win));
    if (!data_is(memory, length, data_id(crowd.step, c->who[0][from], crowd.me)))
        FAIL("wrong data in a window");
    OK(MPI_Get(in, length, MPI_BYTE, to, 0, length, MPI_BYTE, win));
    OK(MPI_Win_fence(0, win));
    if (!data_is(in, length, data_id(crowd.step, crowd.me, c->who[0][to])))
        FAIL("wrong data got from a window");
    OK(MPI_Win_lock(lock ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win));
    OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, target, WINDOW, MPI_SUM, win));
    OK(MPI_Win_unlock(target, win));
    EXPECT(before >= 0 && before < size);
    OK(MPI_Barrier(c->comm));
    if (c->rank == target) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        memcpy(&one, memory + WINDOW, sizeof one);
        OK(MPI_Win_unlock(target, win));
        EXPECT(one == size);
    }
    OK(MPI_Win_free(&win));
    free(own);
}

void talk_file(struct comm *c, const char *directory)
{
    int by = plan_below(c->sizes[0]), length = plan_below(5000), size = c->sizes[0], ordered = plan_below(2);
    if (c->comm == MPI_COMM_NULL)
        return;
    char name[600], *out = calloc(1, (size_t)length + 1), *in = calloc(1, (size_t)length + 1);
    MPI_File file;
    snprintf(name, sizeof name, "%s/%d", directory, crowd.step);
    OK(MPI_File_open(c->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    data_fill(out, length, data_id(crowd.step, crowd.me, -1));
    if (ordered)
        OK(MPI_File_write_ordered(file, out, length, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at_all(file, (MPI_Offset)length * c->rank, out, length, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(c->comm));
    OK(MPI_File_sync(file));
    int other = (c->rank + by) % size;
    OK(MPI_File_read_at_all(file, (MPI_Offset)length * other, in, length, MPI_BYTE, MPI_STATUS_IGNORE));
    if (!data_is(in, length, data_id(crowd.step, c->who[0][other], -1)))
        FAIL("wrong data in a file");
    OK(MPI_File_close(&file));
    free(out);
    free(in);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* What is wrong raises its error in a handler, and harms nothing. */
void talk_error(struct comm *c)
{
    if (c->comm == MPI_COMM_NULL)
        return;
    MPI_Errhandler handler;
    MPI_Comm made = MPI_COMM_NULL;
    int before = handled, ranks = c->sizes[c->inter ? !c->side : 0];
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(c->comm, handler));
    OK(MPI_Errhandler_free(&handler));
    RAISES(MPI_ERR_RANK, MPI_Send(&before, 1, MPI_INT, ranks, 0, c->comm));
    if (!c->inter)
        RAISES(MPI_ERR_PORT, MPI_Comm_connect("no port", MPI_INFO_NULL, 0, c->comm, &made));
    EXPECT(made == MPI_COMM_NULL && handled == before + (c->inter ? 1 : 2));
    OK(MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN));
}
