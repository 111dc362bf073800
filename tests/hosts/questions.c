/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: questions names|serve|call|watch|spawn|multiple|tree|refused|forever|child WORD...
 *
 * What ranks on several hosts ask their launcher for: published names, process sets, more processes. All data are
 * checked; rank 0 prints one line. "child" is what the others spawn.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 50000 };

static int rank, size, bad;
static char *program;

static void check(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
    bad |= !good;
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code)
        MPI_Error_class(code, &class);
    return class;
}

/* The call has failed with this class, and its message has the words. */
static void check_refused(int code, int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int length;
    if (code)
        MPI_Error_string(code, text, &length);
    if (class_of(code) == class && strstr(text, words))
        return;
    fprintf(stderr, "rank %d: \"%s\" instead of an error of class %d with \"%s\"\n", rank, text, class, words);
    bad = 1;
}

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* --- data between two groups ------------------------------------------------------------------------------------- */

static int element(int of, int i)
{
    return of * 1000003 + i * 7;
}

/* Every rank exchanges a long message with every one of the others, and all add up. */
static void exchange(MPI_Comm other, int remote, int high)
{
    int *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in), mine = 1, sum;
    MPI_Comm all;
    for (int i = 0; i < COUNT; i++)
        out[i] = element(rank, i);
    for (int peer = 0; peer < remote; peer++) {
        int good = 1;
        memset(in, 0, COUNT * sizeof *in);
        MPI_Sendrecv(out, COUNT, MPI_INT, peer, 3, in, COUNT, MPI_INT, peer, 3, other, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            good &= in[i] == element(peer, i);
        check(good, "a message");
    }
    MPI_Intercomm_merge(other, high, &all);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    check(sum == size + remote, "the sum of all");
    MPI_Comm_disconnect(&all);
    free(out);
    free(in);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static void meet(const char *port, int accepts)
{
    MPI_Comm link;
    int word = accepts ? 17 : 4, got = 0;
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &link);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &link);
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, link, MPI_STATUS_IGNORE);
    check(got == (accepts ? 4 : 17), "what came through the port");
    MPI_Comm_disconnect(&link);
}

/* Rank 0 publishes, the last rank, which is on another host, connects. All see the name, none can take it. */
static void names(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", own[64];
    MPI_Info network = info_of("plenum_scope", "network"), timeout = info_of("timeout", "60");
    int last = size - 1;
    snprintf(own, sizeof own, "port of rank %d", rank);
    if (rank == 0) {
        MPI_Open_port(network, port);
        usleep(50000); /* the others wait for it */
        check(MPI_Publish_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "publishing");
    }
    check(MPI_Lookup_name("ocean", timeout, found) == MPI_SUCCESS, "the lookup that waits");
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    check(strcmp(port, found) == 0, "the port's name");
    check_refused(MPI_Publish_name("ocean", MPI_INFO_NULL, port), MPI_ERR_SERVICE, "is published already");
    check_refused(MPI_Lookup_name("sea", MPI_INFO_NULL, found), MPI_ERR_NAME, "not published");
    if (rank > 0)
        check_refused(MPI_Unpublish_name("ocean", MPI_INFO_NULL, port), MPI_ERR_SERVICE, "not published by this");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 || rank == last)
        meet(port, rank == 0);
    for (int round = 0; round < 20; round++) { /* one of all gets the name */
        int won = MPI_Publish_name("lake", MPI_INFO_NULL, port) == MPI_SUCCESS, all;
        MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(all == 1, "the number of those that published a name at once");
        check(MPI_Lookup_name("lake", MPI_INFO_NULL, found) == MPI_SUCCESS, "the lookup of a name that all wanted");
        MPI_Barrier(MPI_COMM_WORLD);
        if (won)
            check(MPI_Unpublish_name("lake", MPI_INFO_NULL, port) == MPI_SUCCESS, "withdrawing");
        MPI_Barrier(MPI_COMM_WORLD);
        check_refused(MPI_Lookup_name("lake", MPI_INFO_NULL, found), MPI_ERR_NAME, "not published");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        check(MPI_Unpublish_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "withdrawing");
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused(MPI_Lookup_name("ocean", MPI_INFO_NULL, found), MPI_ERR_NAME, "not published");
    MPI_Info_free(&network);
    MPI_Info_free(&timeout);
}

/* One job serves under a name, another one calls it. */
static void serve(int serves)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int remote;
    MPI_Comm other;
    MPI_Info network = info_of("plenum_scope", "network"), timeout = info_of("timeout", "60");
    if (rank == 0 && serves) {
        MPI_Open_port(network, port);
        check(MPI_Publish_name("meeting", MPI_INFO_NULL, port) == MPI_SUCCESS, "publishing");
    } else if (rank == 0) {
        check(MPI_Lookup_name("meeting", timeout, port) == MPI_SUCCESS, "the lookup in another job");
    }
    (serves ? MPI_Comm_accept : MPI_Comm_connect)(port, timeout, 0, MPI_COMM_WORLD, &other);
    MPI_Comm_remote_size(other, &remote);
    exchange(other, remote, serves);
    MPI_Comm_disconnect(&other);
    MPI_Info_free(&network);
    MPI_Info_free(&timeout);
    /* The name is not withdrawn: it goes with the process. */
}

/* --- process sets ------------------------------------------------------------------------------------------------ */

static void changed(MPI_Session session, const char *name, MPI_Count version, void *context)
{
    int *calls = context;
    (void)session;
    if (strcmp(name, "app://told") == 0)
        calls[version == 0]++;
}

/* Until the set is there, or gone. */
static void await_told(MPI_Session session, const int *calls, int gone)
{
    int count;
    while (!calls[gone]) {
        MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
        usleep(1000);
    }
}

/* Each rank says so by a set of its own, NAME/rank. */
static void say(MPI_Session session, const char *name, MPI_Group self)
{
    char own[64];
    snprintf(own, sizeof own, "%s/%d", name, rank);
    MPIX_Session_pset_publish(session, own, self);
}

/* All ranks but the first, then the first. */
static void check_told(MPI_Session session, MPI_Group world)
{
    int count = -1, *ranks = calloc((size_t)size, sizeof *ranks), *all = calloc((size_t)size, sizeof *all);
    MPI_Group group;
    MPI_Group_from_session_pset(session, "app://told", &group);
    MPI_Group_size(group, &count);
    check(count == size, "the size of the set");
    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Group_translate_ranks(group, size, all, world, ranks);
    for (int i = 0; i < size; i++)
        check(ranks[i] == (i < size - 1 ? i + 1 : 0), "a member of the set");
    MPI_Group_free(&group);
    free(ranks);
    free(all);
}

/* The embedding program publishes app://told when all ranks are ready, and withdraws it when all have seen it. */
static void watch(void)
{
    MPI_Session session;
    MPI_Group world, self;
    int calls[2] = { 0, 0 };
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_incl(world, 1, &rank, &self);
    MPIX_Session_pset_watch(session, changed, calls);
    say(session, "app://ready", self);
    await_told(session, calls, 0);
    check_told(session, world);
    say(session, "app://seen", self);
    await_told(session, calls, 1);
    MPI_Group_free(&self);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
}

/* --- spawning ---------------------------------------------------------------------------------------------------- */

/* The parents' side: the hosts of the children, in their order, are these. */
static void talk(MPI_Comm children, const char *expected)
{
    int remote, here = 0;
    char hosts[4096] = "", name[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_remote_size(children, &remote);
    for (int child = 0; rank == 0 && child < remote; child++) {
        MPI_Recv(name, sizeof name, MPI_CHAR, child, 5, children, MPI_STATUS_IGNORE);
        here += snprintf(hosts + here, sizeof hosts - (size_t)here, "%s%s", child ? " " : "", name);
    }
    if (rank == 0 && expected && strcmp(hosts, expected) != 0) {
        fprintf(stderr, "the hosts of the children are \"%s\" instead of \"%s\"\n", hosts, expected);
        bad = 1;
    }
    exchange(children, remote, 0);
    MPI_Comm_disconnect(&children);
}

/* What a child does at its end. */
static void end_child(const char *word)
{
    if (strcmp(word, "says") == 0)
        puts("a child says so");
    if (strcmp(word, "aborts") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(word, "dies") == 0 && rank == 1)
        kill(getpid(), SIGKILL);
    if (strcmp(word, "aborts") == 0 || strcmp(word, "dies") == 0)
        pause();
}

static void child(int argc, char **argv)
{
    MPI_Comm parent, inter;
    char name[MPI_MAX_PROCESSOR_NAME];
    int length, remote;
    MPI_Comm_get_parent(&parent);
    check(parent != MPI_COMM_NULL, "the parent");
    MPI_Comm_remote_size(parent, &remote);
    MPI_Get_processor_name(name, &length);
    MPI_Send(name, length + 1, MPI_CHAR, 0, 5, parent);
    exchange(parent, remote, 1);
    MPI_Comm_disconnect(&parent);
    end_child(argv[2]);
    if (argc > 3) { /* a generation more, on these hosts */
        MPI_Info info = info_of("host", argv[3]);
        char *arguments[] = { "child", "last", NULL };
        MPI_Comm_spawn(program, arguments, 2, info, size - 1, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        talk(inter, NULL);
        MPI_Info_free(&info);
    }
}

/* spawn NUMBER KEY VALUE HOSTS [WORD] */
static void spawn(char **argv)
{
    MPI_Comm inter;
    MPI_Info info = info_of(argv[3], argv[4]);
    char *arguments[] = { "child", argv[6] ? argv[6] : "one", NULL };
    int number = atoi(argv[2]), *codes = calloc((size_t)number, sizeof *codes);
    for (int i = 0; i < number; i++)
        codes[i] = -1;
    check(MPI_Comm_spawn(program, arguments, number, info, 0, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS, "a spawn");
    for (int i = 0; i < number; i++)
        check(codes[i] == MPI_SUCCESS, "an error code");
    if (inter != MPI_COMM_NULL)
        talk(inter, argv[5]);
    MPI_Info_free(&info);
    free(codes);
}

/* multiple HOSTS1 HOSTS2 EXPECTED: two programs, two processes each. */
static void multiple(char **argv)
{
    MPI_Comm inter;
    MPI_Info infos[] = { info_of("host", argv[2]), info_of("host", argv[3]) };
    char *commands[] = { program, program };
    char *first[] = { "child", "one", NULL }, *second[] = { "child", "two", NULL }, **argvs[] = { first, second };
    int codes[4] = { -1, -1, -1, -1 }, root = size - 1;
    check(MPI_Comm_spawn_multiple(2, commands, argvs, (int[]){ 2, 2 }, infos, root, MPI_COMM_WORLD, &inter, codes) ==
              MPI_SUCCESS,
          "a spawn of two programs");
    for (int i = 0; i < 4; i++)
        check(codes[i] == MPI_SUCCESS, "an error code");
    if (inter != MPI_COMM_NULL)
        talk(inter, argv[4]);
    MPI_Info_free(&infos[0]);
    MPI_Info_free(&infos[1]);
}

/* tree HOSTS1 HOSTS2: each rank spawns by itself, and the children spawn once more. */
static void tree(char **argv)
{
    MPI_Comm inter;
    MPI_Info info = info_of("host", argv[2]);
    char *arguments[] = { "child", "one", argv[3], NULL };
    int whole = rank, parents = size;
    check(MPI_Comm_spawn(program, arguments, 2, info, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE) == MPI_SUCCESS,
          "a spawn of each rank");
    rank = 0; /* of the group of one that talks */
    size = 1;
    if (inter != MPI_COMM_NULL)
        talk(inter, NULL);
    rank = whole;
    size = parents;
    MPI_Info_free(&info);
}

/* One error at all members, and none waits. */
static void refused_with(const char *command, const char *key, const char *value, int class, const char *words)
{
    MPI_Comm inter = MPI_COMM_SELF;
    MPI_Info info = info_of(key, value);
    int codes[2] = { -1, -1 }, root = size - 1;
    int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, 2, info, root, MPI_COMM_WORLD, &inter, codes);
    check_refused(code, class, words);
    check(inter == MPI_COMM_NULL && codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN,
          "what a failed spawn leaves");
    MPI_Info_free(&info);
}

static void refused(void)
{
    refused_with("./there is no such program", "path", "/", MPI_ERR_SPAWN, "cannot run the program");
    refused_with("/dev/null", "path", "/", MPI_ERR_SPAWN, "/dev/null");
    refused_with("/bin/true", "host", "nowhere", MPI_ERR_SPAWN, "\"nowhere\": it is not one of the runtime");
    refused_with("/bin/true", "host", "alpha:0", MPI_ERR_INFO_VALUE, "the number of slots of \"alpha\"");
    refused_with("/bin/true", "hosts", "alpha,,beta", MPI_ERR_INFO_VALUE, "the name of a host is empty");
    refused_with("/bin/true", "hostfile", "/no/such/file", MPI_ERR_SPAWN, "cannot be read");
    refused_with("/bin/true", "wdir", "/no/such/directory", MPI_ERR_SPAWN, "/no/such/directory");
    refused_with("/bin/true", "host", "alpha,beta", MPI_ERR_SPAWN,
                 "exited with code 0 without having completed MPI_Init");
}

/* Children that spawn without end, until something is killed. */
static void forever(void)
{
    for (;;) {
        MPI_Comm inter;
        char *arguments[] = { "child", "one", NULL };
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        talk(inter, NULL);
    }
}

int main(int argc, char **argv)
{
    int any;
    const char *what = argc > 1 ? argv[1] : "";
    program = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "forever") != 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(what, "child") == 0)
        child(argc, argv);
    else if (strcmp(what, "names") == 0)
        names();
    else if (strcmp(what, "serve") == 0 || strcmp(what, "call") == 0)
        serve(strcmp(what, "serve") == 0);
    else if (strcmp(what, "watch") == 0)
        watch();
    else if (strcmp(what, "spawn") == 0)
        spawn(argv);
    else if (strcmp(what, "multiple") == 0)
        multiple(argv);
    else if (strcmp(what, "tree") == 0)
        tree(argv);
    else if (strcmp(what, "refused") == 0)
        refused();
    else if (strcmp(what, "forever") == 0)
        forever();
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !any && strcmp(what, "child") != 0)
        printf("%s: %d ranks, all as it should be\n", what, size);
    MPI_Finalize();
    return bad;
}
