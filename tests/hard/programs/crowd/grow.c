/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grow SEED STEPS DIRECTORY [apart|near [verbose]]: a random program whose processes come and go (crowd.h). Each
 * process prints "whole" when it leaves. DIRECTORY is also the name of the run. "apart": processes may be on several
 * hosts, so none joins another through a socket.
 */
#include "grow.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { JOBS = 24, LIVING = 9 };

struct crowd crowd;
struct comm comms[COMMS];
static struct job {
    int first, size;
    bool lives;
} jobs[JOBS];
static int job_count, living, born, spawned_in = -1,
                                    serials; /* spawned_in: the step in which this process is spawned, or -1 */
static const char *directory, *where;
static char **arguments;
static bool leaves;

/* --- the model ---------------------------------------------------------------------------------------------------- */

static int place(const struct comm *c, int side, int process)
{
    for (int r = 0; r < c->sizes[side]; r++)
        if (c->who[side][r] == process)
            return r;
    return -1;
}

static bool disjoint(const struct comm *a, const struct comm *b)
{
    for (int r = 0; r < a->sizes[0]; r++)
        if (place(b, 0, a->who[0][r]) >= 0)
            return false;
    return true;
}

static int empty_places(void)
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

/* Enters a communicator, and compares the model with it where this process is a member. */
static void enter(struct comm model, MPI_Comm comm)
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

static struct comm *plan_comm(bool inter_too)
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

/* Frees it, or disconnects, with messages under way or without. */
static void drop(struct comm *c, bool disconnects)
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

static void drop_step(void)
{
    struct comm *c = plan_comm(true);
    if (!c->kept)
        drop(c, plan_below(2));
}

/* The world of a job, which the processes know that are in it. */
static void enter_job(int size)
{
    struct comm model = { .kept = true, .sizes = { size } };
    jobs[job_count++] = (struct job){ .first = born, .size = size, .lives = true };
    for (int r = 0; r < size; r++)
        model.who[0][r] = born + r;
    born += size;
    living += size;
    enter(model, place(&model, 0, crowd.me) >= 0 ? MPI_COMM_WORLD : MPI_COMM_NULL);
}

/* --- processes that come ------------------------------------------------------------------------------------------ */

static void spawn(struct comm *c, MPI_Comm *inter, int first, int second, int root)
{
    char step[12], ranks[12];
    char *argv[] = { arguments[1], arguments[2], arguments[3], (char *)where, crowd.verbose ? "verbose" : "quiet",
                     step,         ranks,        NULL };
    int codes[8];
    snprintf(step, sizeof step, "%d", crowd.step);
    snprintf(ranks, sizeof ranks, "%d", jobs[0].size);
    memset(codes, -1, sizeof codes);
    if (second > 0)
        OK(MPI_Comm_spawn_multiple(2, (char *[]){ arguments[0], arguments[0] }, (char **[]){ argv, argv },
                                   (int[]){ first, second }, (MPI_Info[]){ MPI_INFO_NULL, MPI_INFO_NULL }, root,
                                   c->comm, inter, codes));
    else
        OK(MPI_Comm_spawn(arguments[0], argv, first, MPI_INFO_NULL, root, c->comm, inter, codes));
    for (int i = 0; i < first + second; i++)
        EXPECT(codes[i] == MPI_SUCCESS);
}

static void spawn_step(void)
{
    struct comm *c = plan_comm(false), model = *c;
    int root = plan_below(c->sizes[0]), first = 1 + plan_below(2), second = plan_below(3) == 0;
    bool bad = plan_below(6) == 0;
    MPI_Comm inter = MPI_COMM_NULL;
    if (bad && c->comm != MPI_COMM_NULL) {
        RAISES(MPI_ERR_SPAWN, MPI_Comm_spawn("/no such program", MPI_ARGV_NULL, first, MPI_INFO_NULL, root, c->comm,
                                             &inter, MPI_ERRCODES_IGNORE));
        EXPECT(inter == MPI_COMM_NULL);
    }
    if (bad || living + first + second > LIVING || job_count == JOBS || empty_places() < 3 || born > MOST - 3)
        return;
    model.inter = true;
    model.kept = false;
    model.sizes[1] = first + second;
    for (int r = 0; r < model.sizes[1]; r++)
        model.who[1][r] = born + r;
    if (crowd.step == spawned_in) {
        int rank;
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
        crowd.me = born + rank;
        crowd.own = mix(crowd.seed + (uint64_t)crowd.me + 1);
        OK(MPI_Comm_get_parent(&inter));
    } else if (c->comm != MPI_COMM_NULL) {
        spawn(c, &inter, first, second, root);
    }
    enter_job(first + second);
    enter(model, inter);
}

/* A pause that lets MPI make progress. */
static void wait_a_little(void)
{
    int flag;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    usleep(300);
}

/* The name of the port is in the end the same everywhere. */
static void look_up(const char *service, char *port)
{
    MPI_Info info = MPI_INFO_NULL;
    int code;
    if (own_below(2)) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "timeout", "20"));
    }
    while ((code = MPI_Lookup_name(service, info, port)) != MPI_SUCCESS) {
        RAISES(MPI_ERR_NAME, code);
        wait_a_little();
    }
    if (info != MPI_INFO_NULL)
        OK(MPI_Info_free(&info));
}

static void connect_step(void)
{
    struct comm *c = plan_comm(false), first = *c, model = *c;
    int root[2] = { plan_below(c->sizes[0]) };
    bool early = plan_below(2);
    char service[600], port[MPI_MAX_PORT_NAME] = "";
    for (int tries = 0; tries < 20 && (c->inter || !disjoint(&first, c)); tries++)
        c = plan_comm(false);
    if (!disjoint(&first, c) || empty_places() == 0)
        return;
    root[1] = plan_below(c->sizes[0]);
    snprintf(service, sizeof service, "%s/%d", directory, crowd.step);
    model.inter = true;
    model.kept = false;
    model.sizes[1] = c->sizes[0];
    memcpy(model.who[1], c->who[0], sizeof model.who[1]);
    MPI_Comm inter = MPI_COMM_NULL;
    if (first.comm != MPI_COMM_NULL) {
        if (first.rank == root[0]) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
            RAISES(MPI_ERR_SERVICE, MPI_Publish_name(service, MPI_INFO_NULL, port));
        }
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, root[0], first.comm, &inter));
        if (first.rank == root[0] && early)
            OK(MPI_Close_port(port));
        if (first.rank == root[0])
            OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
        if (first.rank == root[0] && !early)
            OK(MPI_Close_port(port));
    } else if (c->comm != MPI_COMM_NULL) {
        if (c->rank == root[1])
            look_up(service, port);
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, root[1], c->comm, &inter));
    }
    enter(model, inter);
}

/* One end of a socket without a file. */
static int socket_to(bool listens)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    uint64_t name = (uint64_t)crowd.step;
    for (const char *at = directory; *at; at++)
        name = mix(name + (unsigned char)*at);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "plenum crowd %llx", (unsigned long long)name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), made = -1;
    if (!listens) {
        while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            wait_a_little();
        return fd;
    }
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((made = accept(fd, NULL, NULL)) < 0)
        wait_a_little();
    close(fd);
    return made;
}

static void join_step(void)
{
    struct comm *c = plan_comm(true);
    int one = c->who[0][plan_below(c->sizes[0])];
    c = plan_comm(true);
    int other = c->who[0][plan_below(c->sizes[0])];
    struct comm model = { .inter = true, .sizes = { 1, 1 }, .who = { { one }, { other } } };
    MPI_Comm inter = MPI_COMM_NULL;
    if (one == other || empty_places() == 0 || strcmp(where, "apart") == 0)
        return;
    if (crowd.me == one || crowd.me == other) {
        int fd = socket_to(crowd.me == one);
        OK(MPI_Comm_join(fd, &inter));
        close(fd);
    }
    enter(model, inter);
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
static void session_step(void)
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
        uint64_t plan = crowd.plan;
        talk_ring(&model);
        talk_collective(&model);
        talk_window(&model);
        crowd.plan = plan; /* others did not draw */
        talk_end(model.serial);
        if (own_order)
            OK(MPI_Comm_free(&model.comm));
        OK(MPI_Session_finalize(&session));
    }
#endif
}

static void make_step(void)
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

/* --- processes that go -------------------------------------------------------------------------------------------- */

/* A job leaves: the communicators end that it shares with others. */
static void leave_step(void)
{
    int which = plan_below(job_count), others = 0;
    struct job *job = &jobs[which];
    for (int j = 0; j < job_count; j++)
        others += j != which && jobs[j].lives;
    if (!job->lives || others == 0)
        return;
    for (int i = 0, from = plan_below(COMMS); i < COMMS; i++) {
        struct comm *c = &comms[(from + i) % COMMS];
        int inside = 0, all = c->sizes[0] + (c->inter ? c->sizes[1] : 0);
        for (int r = 0; c->serial && r < all; r++) {
            int process = r < c->sizes[0] ? c->who[0][r] : c->who[1][r - c->sizes[0]];
            inside += process >= job->first && process < job->first + job->size;
        }
        if (inside && inside < all)
            drop(c, true);
        else if (inside && c->comm == MPI_COMM_NULL)
            c->serial = 0; /* its members end with it, or it is the world of theirs */
        else if (inside)
            leaves = true;
    }
    job->lives = false;
    living -= job->size;
}

static void one_step(void)
{
    static const struct {
        const char *name;
        int weight;
    } kinds[] = {
        { "spawn", 8 }, { "connect", 7 }, { "join", 4 }, { "make", 16 },       { "session", 4 }, { "leave", 3 },
        { "drop", 7 },  { "window", 6 },  { "file", 4 }, { "collective", 18 }, { "ring", 18 },   { "error", 4 },
    };
    int at = plan_below(99), kind = 0;
    while (at >= kinds[kind].weight)
        at -= kinds[kind++].weight;
    if (crowd.verbose && crowd.me >= 0)
        fprintf(stderr, "%d: step %d: %s\n", crowd.me, crowd.step, kinds[kind].name);
    uint64_t plan = crowd.plan;
    switch (kind) {
    case 0: spawn_step(); break;
    case 1: connect_step(); break;
    case 2: join_step(); break;
    case 3: make_step(); break;
    case 4: session_step(); break;
    case 5: leave_step(); break;
    case 6: drop_step(); break;
    case 7: talk_window(plan_comm(false)); break;
    case 8: talk_file(plan_comm(false), directory); break;
    case 9: talk_collective(plan_comm(true)); break;
    case 10: talk_ring(plan_comm(true)); break;
    default: talk_error(plan_comm(true));
    }
    crowd.plan = plan + 100000; /* whatever some have drawn */
    if (own_below(3) == 0 && crowd.me >= 0)
        talk_some();
    if (own_below(50) == 0 && crowd.me >= 0)
        usleep((useconds_t)own_below(3000));
}

int main(int argc, char **argv)
{
    int size;
    if (argc < 4)
        return 2;
    arguments = argv;
    crowd.seed = strtoull(argv[1], NULL, 10);
    crowd.plan = mix(crowd.seed);
    directory = argv[3];
    where = argc > 4 ? argv[4] : "near";
    crowd.verbose = argc > 5 && strcmp(argv[5], "verbose") == 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &crowd.me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (argc > 6) {
        spawned_in = atoi(argv[6]);
        crowd.me = -1;
        size = atoi(argv[7]);
    }
    enter_job(size);
    for (crowd.step = 0; crowd.step < atoi(argv[2]) && !leaves; crowd.step++)
        one_step();
    talk_end(0);
    OK(MPI_Finalize());
    puts("whole");
    return 0;
}
