/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of all kinds. Each rank knows the members of all, in world ranks. */
#include "mix.h"

#include <stdio.h>
#include <string.h>

struct comm comms[COMMS];
static int serials, keyval, host_of[RANKS]; /* a host is a rank that is there */
static int copies, deletes;                 /* how often the attribute was copied and deleted */
#if MPI_VERSION >= 4
static MPI_Session session;
#endif

static int attribute_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)copy = (char *)value + 1;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int attribute_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra, (void)value;
    deletes++;
    return MPI_SUCCESS;
}

static int member_at(const struct comm *c, int side, int world)
{
    for (int r = 0; r < c->sizes[side]; r++)
        if (c->world[side][r] == world)
            return r;
    return -1;
}

/* Enters the model of a communicator, and compares it with MPI's where this rank is a member. */
static void comm_enter(struct comm model, MPI_Comm comm)
{
    struct comm *c = NULL;
    for (int i = 0; i < COMMS && !c; i++)
        if (comms[i].serial == 0)
            c = &comms[i];
    model.serial = ++serials;
    model.comm = comm;
    model.side = model.rank = -1;
    for (int side = 0; side < 1 + model.inter; side++)
        if (member_at(&model, side, mix.rank) >= 0) {
            model.side = side;
            model.rank = member_at(&model, side, mix.rank);
        }
    if ((comm != MPI_COMM_NULL) != (model.side >= 0))
        fail("communicator %d: a member, or not one, against the plan", model.serial);
    if (comm != MPI_COMM_NULL) {
        int size, rank, inter, remote = 0;
        OK(MPI_Comm_size(comm, &size));
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_test_inter(comm, &inter));
        if (inter)
            OK(MPI_Comm_remote_size(comm, &remote));
        if (rank != model.rank || size != model.sizes[model.side] || inter != model.inter ||
            (inter && remote != model.sizes[!model.side]))
            fail("communicator %d: rank %d of %d and %d, not %d of %d", model.serial, rank, size, remote, model.rank,
                 model.sizes[model.side]);
        OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    if (!c)
        fail("no place for a communicator");
    *c = model;
}

/* The copy of an attribute must be one more than the original. */
static void duplicated(MPI_Comm from, MPI_Comm to)
{
    char *value[2];
    int found[2];
    OK(MPI_Comm_get_attr(from, keyval, &value[0], &found[0]));
    OK(MPI_Comm_get_attr(to, keyval, &value[1], &found[1]));
    if (found[0] != found[1] || (found[0] && value[1] != value[0] + 1))
        fail("the attribute was not copied");
}

static void comm_duplicate(const struct comm *c)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Info info = MPI_INFO_NULL;
    unsigned way = plan_below(4);
    if (c->comm != MPI_COMM_NULL) {
        if (way >= 2)
            OK(MPI_Info_create(&info));
        if (way == 0)
            OK(MPI_Comm_dup(c->comm, &made));
        else if (way == 1)
            OK(MPI_Comm_idup(c->comm, &made, &request));
        else if (way == 2)
            OK(MPI_Comm_dup_with_info(c->comm, info, &made));
        else
#if MPI_VERSION >= 4
            OK(MPI_Comm_idup_with_info(c->comm, info, &made, &request));
#else
            OK(MPI_Comm_dup_with_info(c->comm, info, &made));
#endif
        if (info != MPI_INFO_NULL)
            OK(MPI_Info_free(&info));
    }
    for (unsigned n = plan_below(3); n > 0; n--)
        message_step(true);
    if (c->comm != MPI_COMM_NULL) {
        if (own_below(2))
            ops_some();
        if (way % 2)
            OK(MPI_Barrier(c->comm)); /* a collective beside the copy */
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        duplicated(c->comm, made);
    }
    struct comm model = *c;
    comm_enter(model, made);
}

bool comm_on_one_host(const struct comm *c)
{
    for (int r = 1; r < c->sizes[0]; r++)
        if (host_of[c->world[0][r]] != host_of[c->world[0][0]])
            return false;
    return true;
}

/* Members of color 0 or 1, in the order of keys; others get none. Returns how many communicators it entered. */
static void comm_split(const struct comm *c)
{
    int color[RANKS], key[RANKS], by_host = plan_below(4) == 0 && comm_on_one_host(c);
    MPI_Comm made = MPI_COMM_NULL;
    for (int r = 0; r < c->sizes[0]; r++) {
        color[r] = by_host ? 0 : (int)plan_below(3);
        key[r] = (int)plan_below(8) - 4;
    }
    if (c->comm != MPI_COMM_NULL && by_host)
        OK(MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, key[c->rank], MPI_INFO_NULL, &made));
    else if (c->comm != MPI_COMM_NULL)
        OK(MPI_Comm_split(c->comm, color[c->rank] == 2 ? MPI_UNDEFINED : color[c->rank], key[c->rank], &made));
    for (int which = 0; which < 2; which++) {
        struct comm model = { 0 };
        for (int k = -4; k < 4; k++)
            for (int r = 0; r < c->sizes[0]; r++)
                if (color[r] == which && key[r] == k)
                    model.world[0][model.sizes[0]++] = c->world[0][r];
        if (model.sizes[0] > 0)
            comm_enter(model, member_at(&model, 0, mix.rank) >= 0 ? made : MPI_COMM_NULL);
    }
}

/* A part of the members in another order. */
static struct comm plan_part(const struct comm *c, int *ranks)
{
    struct comm part = { 0 };
    int n = 1 + (int)plan_below((unsigned)c->sizes[0]), all[RANKS];
    for (int r = 0; r < c->sizes[0]; r++)
        all[r] = r;
    for (int r = 0; r < n; r++) {
        int other = r + (int)plan_below((unsigned)(c->sizes[0] - r));
        ranks[r] = all[other];
        all[other] = all[r];
        part.world[0][r] = c->world[0][ranks[r]];
    }
    part.sizes[0] = n;
    return part;
}

static void comm_from_group(const struct comm *c)
{
    int ranks[RANKS];
    struct comm model = plan_part(c, ranks);
    bool member = member_at(&model, 0, mix.rank) >= 0;
    MPI_Group all, group;
    MPI_Comm made = MPI_COMM_NULL;
    unsigned way = plan_below(3);
#if MPI_VERSION >= 4
    if (way == 2 && member) {
        char tag[32];
        snprintf(tag, sizeof tag, "mix %d", mix.step);
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
        OK(MPI_Group_incl(all, model.sizes[0], model.world[0], &group));
        OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        OK(MPI_Group_free(&group));
        OK(MPI_Group_free(&all));
    }
    if (way == 2) {
        comm_enter(model, made);
        return;
    }
#endif
    if (c->comm != MPI_COMM_NULL) {
        OK(MPI_Comm_group(c->comm, &all));
        OK(MPI_Group_incl(all, model.sizes[0], ranks, &group));
        if (way == 0)
            OK(MPI_Comm_create(c->comm, group, &made));
        else if (member)
            OK(MPI_Comm_create_group(c->comm, group, mix.step, &made));
        OK(MPI_Group_free(&group));
        OK(MPI_Group_free(&all));
    }
    comm_enter(model, made);
}

static void comm_bridge(const struct comm *c)
{
    struct comm model = { .inter = true };
    int half[RANKS], leader[2], size = c->sizes[0];
    if (size < 2)
        return;
    int first = (int)plan_below((unsigned)size), step = 1 + (int)plan_below((unsigned)size - 1);
    for (int r = 0; r < size; r++)
        half[r] = r == first ? 0 : r == (first + step) % size ? 1 : (int)plan_below(2);
    for (int r = size - 1; r >= 0; r--)
        leader[half[r]] = r;
    for (int r = 0; r < size; r++)
        model.world[half[r]][model.sizes[half[r]]++] = c->world[0][r];
    MPI_Comm made = MPI_COMM_NULL, local;
    if (c->comm != MPI_COMM_NULL) {
        int mine = half[c->rank];
        OK(MPI_Comm_split(c->comm, mine, 0, &local));
        OK(MPI_Intercomm_create(local, 0, c->comm, leader[!mine], 32000, &made));
        OK(MPI_Comm_free(&local));
    }
    comm_enter(model, made);
}

static void comm_merge(const struct comm *c)
{
    struct comm model = { 0 };
    MPI_Comm made = MPI_COMM_NULL;
    int first = (int)plan_below(2);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < c->sizes[s ^ first]; r++)
            model.world[0][model.sizes[0]++] = c->world[s ^ first][r];
    if (c->comm != MPI_COMM_NULL)
        OK(MPI_Intercomm_merge(c->comm, c->side != first, &made));
    comm_enter(model, made);
}

/* --- topologies --------------------------------------------------------------------------------------------------- */

static int grid_rank(int dims, const int *sizes, const int *periods, const int *at, int dim, int by)
{
    int rank = 0;
    for (int d = 0; d < dims; d++) {
        int x = at[d] + (d == dim ? by : 0);
        if (x < 0 || x >= sizes[d]) {
            if (!periods[d])
                return MPI_PROC_NULL;
            x = (x + sizes[d]) % sizes[d];
        }
        rank = rank * sizes[d] + x;
    }
    return rank;
}

static void comm_grid(const struct comm *c)
{
    int dims = 1 + (int)plan_below(3), size = 1 + (int)plan_below((unsigned)c->sizes[0]);
    int sizes[3] = { 0 }, periods[3], at[3];
    struct comm model = { .topology = true, .sizes = { size } };
    MPI_Comm made = MPI_COMM_NULL;
    memcpy(model.world[0], c->world[0], sizeof model.world[0]);
    OK(MPI_Dims_create(size, dims, sizes));
    for (int d = 0; d < dims; d++)
        periods[d] = (int)plan_below(2);
#ifdef OPEN_MPI
    for (int d = 0; d < dims; d++) /* its data in cycles of one and two come from the other side */
        if (sizes[d] < 3)
            periods[d] = 0;
#endif
    if (c->comm != MPI_COMM_NULL)
        OK(MPI_Cart_create(c->comm, dims, sizes, periods, 0, &made));
    if (made != MPI_COMM_NULL) {
        OK(MPI_Cart_coords(made, c->rank, dims, at));
        for (int e = 0; e < 2 * dims; e++) {
            model.in[e] = model.out[e] = grid_rank(dims, sizes, periods, at, e / 2, e % 2 ? 1 : -1);
            model.in_edge[e] = e ^ 1; /* what went the other way */
        }
        model.ins = model.outs = 2 * dims;
    }
    comm_enter(model, made);
}

/* Each rank sends along the steps of a plan around the ring; as a graph also back along them. */
static void comm_graph(const struct comm *c)
{
    int size = c->sizes[0], steps[RANKS], n = 0, graph = plan_below(3) == 0, index[RANKS], edges[RANKS * RANKS];
    struct comm model = *c;
    MPI_Comm made = MPI_COMM_NULL;
    model.topology = true;
    for (int s = 0; s < size && n < RANKS; s++)
        if (plan_below(2))
            steps[n++] = s;
    if (graph) {
        n = 0;
        for (int s = 1; s < size && size > 2 && n < 2; s += size - 2)
            steps[n++] = s;
    }
    for (int e = 0; e < n; e++) {
        model.out[e] = (c->rank + steps[e]) % size;
        model.in[e] = graph ? model.out[e] : (c->rank - steps[e] + size) % size;
        model.in_edge[e] = graph && n == 2 ? !e : e;
    }
    model.ins = model.outs = n;
    if (c->comm != MPI_COMM_NULL && graph) {
        for (int r = 0; r < size; r++) {
            index[r] = (r + 1) * n;
            for (int e = 0; e < n; e++)
                edges[r * n + e] = (r + steps[e]) % size;
        }
        OK(MPI_Graph_create(c->comm, size, index, edges, 0, &made));
    } else if (c->comm != MPI_COMM_NULL) {
        OK(MPI_Dist_graph_create_adjacent(c->comm, n, model.in, MPI_UNWEIGHTED, n, model.out, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &made));
    }
    comm_enter(model, made);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

struct comm *plan_comm(bool inter_too)
{
    for (;;) {
        struct comm *c = &comms[plan_below(COMMS)];
        if (c->serial && (inter_too || !c->inter))
            return c;
    }
}

static void comm_drop(struct comm *c, bool pending_too)
{
    if (!pending_too)
        ops_of(c->serial);
    if (c->comm != MPI_COMM_NULL) {
        int found, before = deletes;
        void *value;
        OK(MPI_Comm_get_attr(c->comm, keyval, &value, &found));
        if (!pending_too && mix.step % 2)
            OK(MPI_Comm_disconnect(&c->comm));
        else
            OK(MPI_Comm_free(&c->comm));
        if (deletes != before + found && COMPLETE)
            fail("an attribute was deleted %d times, not %d", deletes - before, found);
    }
    channel_retire(c->serial);
    c->serial = 0;
}

void comm_free_step(void)
{
    struct comm *c = &comms[1 + plan_below(COMMS - 1)];
    bool pending_too = plan_below(2);
    if (c->serial)
        comm_drop(c, pending_too);
}

void comm_step(void)
{
    int empty = 0;
    for (int i = 0; i < COMMS; i++)
        empty += comms[i].serial == 0;
    if (empty < 2) {
        comm_free_step();
        return;
    }
    struct comm *c = plan_comm(true);
    unsigned way = plan_below(9);
    if (c->inter && way < 5)
        comm_merge(c);
    else if (c->inter || way < 2)
        comm_duplicate(c);
    else if (way < 4)
        comm_split(c);
    else if (way < 6)
        comm_from_group(c);
    else if (way == 6)
        comm_bridge(c);
    else if (way == 7)
        comm_grid(c);
    else
        comm_graph(c);
}

/* A session of its own, from beginning to end, while all else is pending. */
void session_step(void)
{
#if MPI_VERSION >= 4
    struct comm *c = plan_comm(false);
    int ranks[RANKS], rank, length = (int)plan_length(300000);
    struct comm part = plan_part(c, ranks);
    bool windows = plan_below(2);
    uint64_t id = mix_hash(mix.plan);
    if (member_at(&part, 0, mix.rank) < 0)
        return;
    MPI_Session session;
    MPI_Group all, group;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Request requests[2];
    struct area sent, received;
    char tag[32];
    snprintf(tag, sizeof tag, "session %d", mix.step);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    OK(MPI_Group_incl(all, part.sizes[0], part.world[0], &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_rank(comm, &rank));
    int to = (rank + 1) % part.sizes[0], from = (rank + part.sizes[0] - 1) % part.sizes[0];
    area_make(&sent, (size_t)length);
    area_make(&received, (size_t)length);
    area_fill(&sent, 0, (size_t)length, id + (uint64_t)rank, 0, true, true);
    area_fill(&received, 0, (size_t)length, id + (uint64_t)from, 0, false, true);
    if (windows) {
        OK(MPI_Win_create(area_at(&received, 0), length, 1, MPI_INFO_NULL, comm, &win));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put(area_at(&sent, 0), length, MPI_BYTE, to, 0, length, MPI_BYTE, win));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Win_free(&win));
    } else {
        OK(MPI_Irecv(area_at(&received, 0), length, MPI_BYTE, from, 0, comm, &requests[0]));
        OK(MPI_Isend(area_at(&sent, 0), length, MPI_BYTE, to, 0, comm, &requests[1]));
        ops_some();
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    area_check(&sent, "sent in a session", mix.step);
    area_check(&received, "received in a session", mix.step);
    area_free(&sent);
    area_free(&received);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
#endif
}

void comms_open(void)
{
    struct comm world = { .sizes = { mix.size } };
    MPI_Comm host;
    int mine = mix.rank;
    for (int r = 0; r < mix.size; r++)
        world.world[0][r] = r;
    OK(MPI_Comm_create_keyval(attribute_copy, attribute_delete, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL));
    comm_enter(world, MPI_COMM_WORLD);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* of calls that name no communicator */
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    OK(MPI_Bcast(&mine, 1, MPI_INT, 0, host));
    OK(MPI_Allgather(&mine, 1, MPI_INT, host_of, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Comm_free(&host));
#if MPI_VERSION >= 4
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
#endif
}

void comms_close(void)
{
    for (int i = 1; i < COMMS; i++)
        if (comms[i].serial)
            comm_drop(&comms[i], false);
#if MPI_VERSION >= 4
    OK(MPI_Session_finalize(&session));
#endif
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    if (deletes != copies + 1)
        fail("%d attributes were copied, and %d deleted", copies, deletes - 1);
    OK(MPI_Comm_free_keyval(&keyval));
}
