/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of grow: their model, and the steps that make some from others. */
#include "grow.h"

struct comm comms[COMMS];
static int serials;

/* --- the model ---------------------------------------------------------------------------------------------------- */

int place(const struct comm *c, int side, int process)
{
    for (int r = 0; r < c->sizes[side]; r++)
        if (c->who[side][r] == process)
            return r;
    return -1;
}

bool disjoint(const struct comm *a, const struct comm *b)
{
    for (int r = 0; r < a->sizes[0]; r++)
        if (place(b, 0, a->who[0][r]) >= 0)
            return false;
    return true;
}

int empty_places(void)
{
    int empty = 0;
    for (int i = 0; i < COMMS; i++)
        empty += comms[i].serial == 0;
    return empty;
}

/* Processes are the same in all groups: the ranks in another communicator of this process. */
static void compare_with(const struct comm *c, const struct comm *other)
{
    MPI_Group group[2];
    int ranks[MOST], found[MOST];
    OK(MPI_Comm_group(c->comm, &group[0]));
    OK(MPI_Comm_group(other->comm, &group[1]));
    for (int r = 0; r < c->sizes[c->side]; r++)
        ranks[r] = r;
    OK(MPI_Group_translate_ranks(group[0], c->sizes[c->side], ranks, group[1], found));
    for (int r = 0; r < c->sizes[c->side]; r++) {
        int at = place(other, other->side, c->who[c->side][r]);
        EXPECT(found[r] == (at < 0 ? MPI_UNDEFINED : at));
    }
    OK(MPI_Group_free(&group[0]));
    OK(MPI_Group_free(&group[1]));
}

void enter(struct comm model, MPI_Comm comm)
{
    struct comm *c = comms;
    while (c->serial)
        c++;
    model.serial = ++serials;
    model.comm = comm;
    model.side = model.rank = -1;
    for (int side = 1; side >= 0; side--)
        if (place(&model, side, crowd.me) >= 0) {
            model.side = side;
            model.rank = place(&model, side, crowd.me);
        }
    EXPECT((comm != MPI_COMM_NULL) == (model.side >= 0));
    *c = model;
    if (comm == MPI_COMM_NULL)
        return;
    int rank, size, inter;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_test_inter(comm, &inter));
    EXPECT(rank == c->rank && size == c->sizes[c->side] && inter == c->inter);
    if (inter)
        OK(MPI_Comm_remote_size(comm, &size));
    EXPECT(!inter || size == c->sizes[!c->side]);
    struct comm *other = &comms[own_below(COMMS)];
    if (other->serial && other->comm != MPI_COMM_NULL)
        compare_with(c, other);
}

static struct comm self_of(int process)
{
    struct comm self = { .serial = -1, .kept = true, .sizes = { 1 }, .who = { { process } } };
    self.comm = process == crowd.me ? MPI_COMM_SELF : MPI_COMM_NULL;
    self.side = self.rank = process == crowd.me ? 0 : -1;
    return self;
}

struct comm *plan_comm(bool inter_too)
{
    static struct comm self;
    int kind = plan_below(5);
    if (kind == 0) {
        struct job *job;
        do
            job = &jobs[plan_below(job_count)];
        while (!job->lives);
        self = self_of(job->first + plan_below(job->size));
        return &self;
    }
    for (;;) {
        struct comm *c = &comms[plan_below(COMMS)];
        if (c->serial && (inter_too || !c->inter) && (kind == 1 || !c->kept || plan_below(4) == 0))
            return c;
    }
}

void drop(struct comm *c, bool disconnects)
{
    bool pending_too = plan_below(2);
    if (c->comm != MPI_COMM_NULL) {
        int serial = c->serial;
        if (!pending_too)
            talk_end(serial);
        OK(disconnects ? MPI_Comm_disconnect(&c->comm) : MPI_Comm_free(&c->comm));
        EXPECT(c->comm == MPI_COMM_NULL);
        if (own_below(2))
            talk_end(serial);
    }
    c->serial = 0;
}

void drop_step(void)
{
    struct comm *c = plan_comm(true);
    if (!c->kept)
        drop(c, plan_below(2));
}

/* --- communicators from communicators ----------------------------------------------------------------------------- */

static void merge_step(struct comm *c)
{
    struct comm model = { 0 };
    MPI_Comm made = MPI_COMM_NULL;
    int first = plan_below(2);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < c->sizes[s ^ first]; r++)
            model.who[0][model.sizes[0]++] = c->who[s ^ first][r];
    if (c->comm != MPI_COMM_NULL)
        OK(MPI_Intercomm_merge(c->comm, c->side != first, &made));
    enter(model, made);
}

static void split_step(struct comm *c)
{
    struct comm model = { 0 };
    MPI_Comm made = MPI_COMM_NULL;
    int color[MOST], descending = plan_below(2);
    for (int r = 0; r < c->sizes[0]; r++)
        color[r] = plan_below(3) > 0;
    for (int i = 0; i < c->sizes[0]; i++) {
        int r = descending ? c->sizes[0] - 1 - i : i;
        if (color[r])
            model.who[0][model.sizes[0]++] = c->who[0][r];
    }
    if (c->comm != MPI_COMM_NULL)
        OK(MPI_Comm_split(c->comm, color[c->rank] ? 1 : MPI_UNDEFINED, descending ? -c->rank : 0, &made));
    if (model.sizes[0])
        enter(model, made);
}

/* A part of the members, by the group of all: also through a session, if they are of one job. */
static void group_step(struct comm *c)
{
    struct comm model = { 0 };
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group all, group;
    int ranks[MOST], way = plan_below(2), skip = plan_below(c->sizes[0]);
    for (int r = c->sizes[0] - 1; r >= 0; r--)
        if (c->sizes[0] == 1 || r != skip) {
            ranks[model.sizes[0]] = r;
            model.who[0][model.sizes[0]++] = c->who[0][r];
        }
    if (c->comm != MPI_COMM_NULL) {
        OK(MPI_Comm_group(c->comm, &all));
        OK(MPI_Group_incl(all, model.sizes[0], ranks, &group));
        if (way == 0)
            OK(MPI_Comm_create(c->comm, group, &made));
        else if (place(&model, 0, crowd.me) >= 0)
            OK(MPI_Comm_create_group(c->comm, group, crowd.step, &made));
        OK(MPI_Group_free(&all));
        OK(MPI_Group_free(&group));
    }
    enter(model, made);
}

static void duplicate_step(struct comm *c)
{
    struct comm model = *c;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    int way = plan_below(2);
    model.kept = false;
    if (c->comm != MPI_COMM_NULL) {
        if (way == 0) {
            OK(MPI_Comm_dup(c->comm, &made));
        } else {
            OK(MPI_Comm_idup(c->comm, &made, &request));
            talk_some();
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    enter(model, made);
}

/* Two groups that have nothing in common but a member each in a third communicator. */
static void bridge_step(void)
{
    for (int tries = 0; tries < 40; tries++) {
        struct comm one = *plan_comm(false), two = *plan_comm(false), *peers = plan_comm(false), model = one;
        int leader[2] = { -1, -1 };
        for (int r = 0; r < peers->sizes[0]; r++) {
            leader[0] = place(&one, 0, peers->who[0][r]) >= 0 ? r : leader[0];
            leader[1] = place(&two, 0, peers->who[0][r]) >= 0 ? r : leader[1];
        }
        if (!disjoint(&one, &two) || leader[0] < 0 || leader[1] < 0)
            continue;
        model.inter = true;
        model.kept = false;
        model.sizes[1] = two.sizes[0];
        memcpy(model.who[1], two.who[0], sizeof model.who[1]);
        MPI_Comm made = MPI_COMM_NULL;
        for (int side = 0; side < 2; side++) {
            struct comm *c = side ? &two : &one;
            if (c->comm != MPI_COMM_NULL)
                OK(MPI_Intercomm_create(c->comm, place(c, 0, peers->who[0][leader[side]]), peers->comm, leader[!side],
                                        crowd.step, &made));
        }
        enter(model, made);
        return;
    }
}

/* Of processes of one job, without a parent; the session goes at once, later than its communicator or before. */
void session_step(void)
{
#if MPI_VERSION >= 4
    struct job *job = &jobs[plan_below(job_count)];
    int skip = plan_below(job->size), own_order = own_below(2);
    struct comm model = { .serial = 1 << 29 };
    for (int r = job->size - 1; r >= 0; r--)
        if (job->size == 1 || r != skip)
            model.who[0][model.sizes[0]++] = job->first + r;
    model.rank = place(&model, 0, crowd.me);
    if (!job->lives)
        return;
    if (model.rank >= 0) {
        MPI_Session session;
        MPI_Group all, group;
        int ranks[MOST];
        char tag[32];
        snprintf(tag, sizeof tag, "%d", crowd.step);
        for (int r = 0; r < model.sizes[0]; r++)
            ranks[r] = model.who[0][r] - job->first;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
        OK(MPI_Group_incl(all, model.sizes[0], ranks, &group));
        OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &model.comm));
        OK(MPI_Group_free(&all));
        OK(MPI_Group_free(&group));
        talk_ring(&model);
        talk_collective(&model);
        talk_window(&model);
        talk_end(model.serial);
        if (own_order)
            OK(MPI_Comm_free(&model.comm));
        OK(MPI_Session_finalize(&session));
    }
#endif
}

void make_step(void)
{
    struct comm *c = plan_comm(true);
    int way = plan_below(6);
    if (empty_places() < 2) {
        drop_step();
        return;
    }
    if (way == 0)
        duplicate_step(c);
    else if (c->inter)
        merge_step(c);
    else if (way < 3)
        split_step(c);
    else if (way < 5)
        group_step(c);
    else
        bridge_step();
}
