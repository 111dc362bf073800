/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of deaths: each ends the test if it succeeds with wrong data, and returns at its first error. */
#include "deaths.h"

enum { LONGEST = 300000, WINDOW = 2000 };
static unsigned char out[LONGEST], in[LONGEST];
static long numbers[2][MOST * 400];

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (!WELL(call))                                                                                               \
            return;                                                                                                    \
    } while (0)
#define DATA(memory, length, from, to)                                                                                 \
    do {                                                                                                               \
        if (!data_is(memory, length, data_id(crowd.step, from, to)))                                                   \
            FAIL("wrong data from process %d to %d (this is %d)", from, to, crowd.me);                                 \
    } while (0)

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Waits in one of many ways. */
static bool one_ends(MPI_Request *request)
{
    int flag = 0, index;
    switch (own_below(4)) {
    case 0:
        while (!flag)
            if (!WELL(MPI_Test(request, &flag, MPI_STATUS_IGNORE)))
                break;
        break;
    case 1: WELL(MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE)); break;
    case 2: requests_end(1, request); break;
    default: WELL(MPI_Wait(request, MPI_STATUS_IGNORE));
    }
    if (deaths.trouble && *request != MPI_REQUEST_NULL) /* an active one ends, as all is revoked */
        requests_end(1, request);
    return !deaths.trouble;
}

struct pair {
    MPI_Comm comm;
    int to, from, length;
};

static void pair_start(const struct pair *p, bool synchronous)
{
    MPI_Request request[2];
    TRY(MPI_Irecv(in, p->length, MPI_BYTE, p->from, crowd.step, p->comm, &request[0]));
    if (!WELL(synchronous ? MPI_Issend(out, p->length, MPI_BYTE, p->to, crowd.step, p->comm, &request[1])
                          : MPI_Isend(out, p->length, MPI_BYTE, p->to, crowd.step, p->comm, &request[1])))
        request[1] = MPI_REQUEST_NULL;
    requests_end(2, request);
}

static void pair_send(const struct pair *p)
{
    MPI_Request request;
    TRY(MPI_Irecv(in, p->length, MPI_BYTE, p->from, crowd.step, p->comm, &request));
    WELL(MPI_Send(out, p->length, MPI_BYTE, p->to, crowd.step, p->comm));
    one_ends(&request);
}

/* `parts`: partitions; 0: none. */
static bool pair_init(const struct pair *p, int parts, MPI_Request request[2])
{
    int n = p->length, tag = crowd.step;
    if (!parts)
        return WELL(MPI_Recv_init(in, n, MPI_BYTE, p->from, tag, p->comm, &request[0])) &&
               WELL(MPI_Send_init(out, n, MPI_BYTE, p->to, tag, p->comm, &request[1]));
    n /= parts;
    return WELL(MPI_Precv_init(in, parts, n, MPI_BYTE, p->from, tag, p->comm, MPI_INFO_NULL, &request[0])) &&
           WELL(MPI_Psend_init(out, parts, n, MPI_BYTE, p->to, tag, p->comm, MPI_INFO_NULL, &request[1]));
}

static void pair_persist(const struct pair *p, int parts)
{
    MPI_Request request[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    bool started = pair_init(p, parts, request) && WELL(MPI_Startall(2, request));
    for (int i = 0; started && i < parts; i++)
        WELL(MPI_Pready((i + 1) % parts, request[1]));
    for (int i = 0; i < 2; i++)
        if (request[i] != MPI_REQUEST_NULL) {
            WELL(MPI_Wait(&request[i], MPI_STATUS_IGNORE));
            OK(MPI_Request_free(&request[i]));
        }
}

static void exchange(struct circle *c)
{
    int by = plan_below(c->size), length = plan_length(), way = plan_below(6), parts = 4;
    struct pair p = { c->comm, (c->rank + by) % c->size, (c->rank - by + c->size) % c->size, length };
    if (way == 5)
        p.length -= length % parts;
    data_fill(out, length, data_id(crowd.step, crowd.me, c->who[p.to]));
    memset(in, 0, (size_t)length);
    switch (way) {
    case 0:
        TRY(MPI_Sendrecv(out, length, MPI_BYTE, p.to, crowd.step, in, length, MPI_BYTE, p.from, crowd.step, c->comm,
                         MPI_STATUS_IGNORE));
        break;
    case 1: pair_start(&p, false); break;
    case 2: pair_start(&p, true); break;
    case 3: pair_send(&p); break;
    case 4: pair_persist(&p, 0); break;
    default: pair_persist(&p, parts);
    }
    if (!deaths.trouble)
        DATA(in, p.length, c->who[p.from], crowd.me);
}

/* One receives from all others, from any source, with or without a probe. */
static void gather_wild(struct circle *c)
{
    int target = plan_below(c->size), length = plan_length(), way = plan_below(5), flag = 0, count;
    bool heard[MOST] = { false };
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    if (c->rank != target) {
        data_fill(out, length, data_id(crowd.step, crowd.me, c->who[target]));
        TRY(MPI_Send(out, length, MPI_BYTE, target, crowd.step, c->comm));
        return;
    }
    for (int i = 1; i < c->size; i++) {
        if (way == 0) {
            TRY(MPI_Recv(in, length, MPI_BYTE, MPI_ANY_SOURCE, crowd.step, c->comm, &status));
        } else if (way == 1) {
            TRY(MPI_Irecv(in, length, MPI_BYTE, MPI_ANY_SOURCE, crowd.step, c->comm, &request));
            int code = MPI_Wait(&request, &status);
            EXPECT(class_of(code) != MPIX_ERR_PROC_FAILED_PENDING || request != MPI_REQUEST_NULL);
            if (!WELL(code)) {
                if (request != MPI_REQUEST_NULL)
                    requests_end(1, &request);
                return;
            }
        } else if (way == 2) {
            TRY(MPI_Probe(MPI_ANY_SOURCE, crowd.step, c->comm, &status));
            TRY(MPI_Recv(in, length, MPI_BYTE, status.MPI_SOURCE, crowd.step, c->comm, &status));
        } else if (way == 3) {
            for (flag = 0; !flag;)
                TRY(MPI_Iprobe(MPI_ANY_SOURCE, crowd.step, c->comm, &flag, &status));
            TRY(MPI_Recv(in, length, MPI_BYTE, status.MPI_SOURCE, crowd.step, c->comm, &status));
        } else {
            int from = (target + i) % c->size;
            TRY(MPI_Mprobe(from, crowd.step, c->comm, &message, &status));
            TRY(MPI_Mrecv(in, length, MPI_BYTE, &message, &status));
        }
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        EXPECT(count == length && !heard[status.MPI_SOURCE]);
        heard[status.MPI_SOURCE] = true;
        DATA(in, length, c->who[status.MPI_SOURCE], crowd.me);
    }
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

static bool runs(int form, MPI_Request *request)
{
    if (form == 0)
        return true;
    bool ended = (form == 1 || WELL(MPI_Start(request))) && one_ends(request);
    if (form == 2)
        OK(MPI_Request_free(request));
    return ended;
}

#define COLLECTIVE(name, small, ...)                                                                                   \
    do {                                                                                                               \
        TRY(form == 0   ? MPI_##name(__VA_ARGS__)                                                                      \
            : form == 1 ? MPI_I##small(__VA_ARGS__, &request)                                                          \
                        : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request));                                    \
        if (!runs(form, &request))                                                                                     \
            return;                                                                                                    \
    } while (0)

static void collective_bytes(struct circle *c, int way, int form)
{
    MPI_Request request;
    int root = plan_below(c->size), length = plan_length(), part = length % 8000, n = c->size;
    bool is_root = c->rank == root;
    memset(in, 0, sizeof in);
    data_fill(out, length, data_id(crowd.step, crowd.me, -1));
    switch (way) {
    case 0: COLLECTIVE(Barrier, barrier, c->comm); break;
    case 1:
        COLLECTIVE(Bcast, bcast, is_root ? out : in, length, MPI_BYTE, root, c->comm);
        if (!is_root)
            DATA(in, length, c->who[root], -1);
        break;
    case 2:
        COLLECTIVE(Allgather, allgather, out, part, MPI_BYTE, in, part, MPI_BYTE, c->comm);
        for (int r = 0; r < n; r++)
            DATA(in + r * part, part, c->who[r], -1);
        break;
    case 3:
        COLLECTIVE(Gather, gather, out, part, MPI_BYTE, in, part, MPI_BYTE, root, c->comm);
        for (int r = 0; is_root && r < n; r++)
            DATA(in + r * part, part, c->who[r], -1);
        break;
    default:
        for (int r = 0; r < n; r++)
            data_fill(out + r * part, part, data_id(crowd.step, crowd.me, c->who[r]));
        if (way == 4) {
            COLLECTIVE(Scatter, scatter, out, part, MPI_BYTE, in, part, MPI_BYTE, root, c->comm);
            DATA(in, part, c->who[root], crowd.me);
        } else {
            COLLECTIVE(Alltoall, alltoall, out, part, MPI_BYTE, in, part, MPI_BYTE, c->comm);
            for (int r = 0; r < n; r++)
                DATA(in + r * part, part, c->who[r], crowd.me);
        }
    }
}

static void collective_sums(struct circle *c, int way, int form)
{
    MPI_Request request;
    int root = plan_below(c->size), count = plan_below(2) ? 1 : plan_below(400), upto = c->size;
    int items = way == 3 ? count * c->size : count;
    long sum = 0, *mine = numbers[0], *sums = numbers[1];
    for (int i = 0; i < items; i++)
        mine[i] = (crowd.me + 1) * (long)(i + 1);
    memset(sums, 0, sizeof numbers[1]);
    if (way == 0)
        COLLECTIVE(Allreduce, allreduce, mine, sums, count, MPI_LONG, MPI_SUM, c->comm);
    else if (way == 1)
        COLLECTIVE(Reduce, reduce, mine, sums, count, MPI_LONG, MPI_SUM, root, c->comm);
    else if (way == 2)
        COLLECTIVE(Scan, scan, mine, sums, count, MPI_LONG, MPI_SUM, c->comm);
    else
        COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, mine, sums, count, MPI_LONG, MPI_SUM, c->comm);
    if (way == 1 && c->rank != root)
        return;
    if (way == 2)
        upto = c->rank + 1;
    for (int r = 0; r < upto; r++)
        sum += c->who[r] + 1;
    for (int i = 0, from = way == 3 ? count * c->rank : 0; i < count; i++)
        if (sums[i] != sum * (from + i + 1))
            FAIL("wrong sum %ld, not %ld, in reduction %d", sums[i], sum * (from + i + 1), way);
}

static void collective(struct circle *c)
{
    int way = plan_below(10), form = plan_below(3);
    if (way < 6)
        collective_bytes(c, way, form);
    else
        collective_sums(c, way - 6, form);
}

/* --- windows and files: of all, as they cannot be revoked --------------------------------------------------------- */

static void window_work(struct circle *c, MPI_Win win, char *memory)
{
    int by = plan_below(c->size), length = plan_below(WINDOW), way = plan_below(3), target = plan_below(c->size);
    int to = (c->rank + by) % c->size, from = (c->rank - by + c->size) % c->size;
    long one = 1, before = -1;
    data_fill(out, length, data_id(crowd.step, crowd.me, c->who[to]));
    if (way == 0) {
        TRY(MPI_Win_fence(0, win));
        TRY(MPI_Put(out, length, MPI_BYTE, to, 0, length, MPI_BYTE, win));
        TRY(MPI_Win_fence(0, win));
        DATA(memory, length, c->who[from], crowd.me);
    } else if (way == 1) {
        MPI_Group all, group[2];
        OK(MPI_Comm_group(c->comm, &all));
        OK(MPI_Group_incl(all, 1, &from, &group[0]));
        OK(MPI_Group_incl(all, 1, &to, &group[1]));
        bool well = WELL(MPI_Win_post(group[0], 0, win)) && WELL(MPI_Win_start(group[1], 0, win)) &&
                    WELL(MPI_Put(out, length, MPI_BYTE, to, 0, length, MPI_BYTE, win)) && WELL(MPI_Win_complete(win)) &&
                    WELL(MPI_Win_wait(win));
        OK(MPI_Group_free(&all));
        OK(MPI_Group_free(&group[0]));
        OK(MPI_Group_free(&group[1]));
        if (well)
            DATA(memory, length, c->who[from], crowd.me);
    } else {
        TRY(MPI_Win_lock(plan_below(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win));
        bool well = WELL(MPI_Fetch_and_op(&one, &before, MPI_LONG, target, WINDOW, MPI_SUM, win));
        well = WELL(MPI_Win_unlock(target, win)) && well;
        EXPECT(!well || (before >= 0 && before < c->size));
    }
}

static void window(struct circle *c)
{
    MPI_Win win = MPI_WIN_NULL;
    char *memory, *own = NULL;
    if (plan_below(2))
        WELL(MPI_Win_allocate(WINDOW + 8, 1, MPI_INFO_NULL, c->comm, &memory, &win));
    else
        WELL(MPI_Win_create(memory = own = calloc(1, WINDOW + 8), WINDOW + 8, 1, MPI_INFO_NULL, c->comm, &win));
    if (!deaths.trouble) {
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        if (!own)
            memset(memory, 0, WINDOW + 8);
        if (WELL(MPI_Barrier(c->comm)))
            window_work(c, win, memory);
        if (!deaths.trouble || own_below(4)) /* some are never freed */
            WELL(MPI_Win_free(&win));
    }
    if (win == MPI_WIN_NULL)
        free(own);
}

static void file(struct circle *c, const char *directory)
{
    int by = plan_below(c->size), length = plan_below(5000), ordered = plan_below(2);
    char name[600];
    MPI_File handle;
    MPI_Offset base = ordered ? 0 : (MPI_Offset)length * c->rank;
    snprintf(name, sizeof name, "%s/%d.%d", directory, crowd.step, c->who[0]);
    TRY(MPI_File_open(c->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &handle));
    int other = (c->rank + by) % c->size;
    data_fill(out, length, data_id(crowd.step, crowd.me, -1));
    bool well = WELL(ordered ? MPI_File_write_ordered(handle, out, length, MPI_BYTE, MPI_STATUS_IGNORE)
                             : MPI_File_write_at_all(handle, base, out, length, MPI_BYTE, MPI_STATUS_IGNORE)) &&
                WELL(MPI_File_sync(handle)) && WELL(MPI_Barrier(c->comm)) &&
                WELL(MPI_File_read_at_all(handle, (MPI_Offset)length * other, in, length, MPI_BYTE, MPI_STATUS_IGNORE));
    if (well)
        DATA(in, length, c->who[other], -1);
    WELL(MPI_File_close(&handle));
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

/* Of all, or of a part of all; members know in the end whether it was made everywhere. */
static void make(struct circle *c)
{
    MPI_Comm made = MPI_COMM_NULL, inter = MPI_COMM_NULL, half = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Group all, group;
    int way = plan_below(6), skip = plan_below(c->size), ranks[MOST], n = 0, side = c->rank % 2, sum = 0, remote = 0;
    for (int r = 0; r < c->size; r++)
        if (r != skip || c->size == 1)
            ranks[n++] = r;
    if (way == 0) {
        WELL(MPI_Comm_dup(c->comm, &made));
    } else if (way == 1) {
        if (WELL(MPI_Comm_idup(c->comm, &made, &request)) && !one_ends(&request))
            made = MPI_COMM_NULL;
    } else if (way == 2) {
        WELL(MPI_Comm_split(c->comm, c->rank % 3 ? 1 : MPI_UNDEFINED, -c->rank, &made));
    } else if (way == 3) {
        OK(MPI_Comm_group(c->comm, &all));
        OK(MPI_Group_incl(all, n, ranks, &group));
        if (c->rank != skip || c->size == 1)
            WELL(MPI_Comm_create_group(c->comm, group, crowd.step, &made));
        OK(MPI_Group_free(&all));
        OK(MPI_Group_free(&group));
    } else if (c->size > 1 && WELL(MPI_Comm_split(c->comm, side, 0, &half))) {
        OK(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
        if (WELL(MPI_Intercomm_create(half, 0, c->comm, !side, crowd.step, &inter))) {
            OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
            if (way == 4 && WELL(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, inter))) {
                OK(MPI_Comm_remote_size(inter, &remote));
                EXPECT(sum == remote);
            }
            if (!deaths.trouble)
                WELL(MPI_Intercomm_merge(inter, side, &made));
            if (deaths.trouble)
                OK(MPIX_Comm_revoke(inter));
        }
        if (deaths.trouble)
            OK(MPIX_Comm_revoke(half));
    }
    bool well = all_went_well();
    if (inter != MPI_COMM_NULL)
        OK(MPI_Comm_free(&inter));
    if (half != MPI_COMM_NULL)
        OK(MPI_Comm_free(&half));
    if (well && deaths.subs < SUBS)
        sub_add(made);
    else if (made != MPI_COMM_NULL)
        OK(MPI_Comm_free(&made));
}

/* A session of its own among all that have the same World. */
static void session(struct circle *c)
{
    MPI_Session session;
    MPI_Group all, group;
    MPI_Comm comm;
    int n, mine, sum = 0;
    char tag[32];
    snprintf(tag, sizeof tag, "%d", crowd.step);
    for (int r = 0; r < c->size; r++)
        if (c->who[r] >= deaths.first)
            return; /* it has processes of other jobs */
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    OK(MPI_Group_incl(all, c->size, c->who, &group));
    OK(MPI_Group_size(group, &n));
    EXPECT(n == c->size);
    if (WELL(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))) {
        OK(MPI_Comm_rank(comm, &mine));
        EXPECT(mine == c->rank);
        if (WELL(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm)))
            EXPECT(sum == n * (n - 1) / 2);
        else
            OK(MPIX_Comm_revoke(comm));
        if (own_below(2)) /* else the session ends it */
            OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    OK(MPI_Session_finalize(&session));
}

void one_operation(const char *directory)
{
    int way = plan_below(100);
    struct circle *all = &deaths.all, *c = all;
    if (deaths.subs > 0 && plan_below(2))
        c = &deaths.sub[deaths.subs - 1];
    if (way < 70 && c->comm == MPI_COMM_NULL)
        return;
    if (way < 30)
        exchange(c);
    else if (way < 40)
        gather_wild(c);
    else if (way < 70)
        collective(c);
    else if (way < 80)
        window(all);
    else if (way < 85)
        file(all, directory);
    else if (way < 95)
        make(all);
    else
        session(all);
}
