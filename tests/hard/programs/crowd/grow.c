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

enum { LIVING = 9 };

struct crowd crowd;
struct job jobs[JOBS];
int job_count;
static int living, born;
static int spawned_in = -1; /* the step in which this process is spawned, or -1 */
static const char *directory, *where;
static char **arguments;
static bool leaves;

/* --- processes that come ------------------------------------------------------------------------------------------ */

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
    for (int tries = 0; tries < 20 && !disjoint(&first, c); tries++)
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
    EXPECT(crowd.me >= 0); /* a spawned one has found its step */
    talk_end(0);
    OK(MPI_Finalize());
    puts("whole");
    return 0;
}
