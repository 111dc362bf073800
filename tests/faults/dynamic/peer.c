/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of two or three jobs that find each other by name: peer PART NAME. Each rank prints "good" when all checks
 * have passed; failed ones go to standard error.
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, bad;
static const char *name;

#define CHECK(condition)                                                                                               \
    ((condition) ? (void)0 : (void)(bad++, fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition)))

/* The port is opened and published by rank 0. */
static MPI_Comm serve(MPI_Comm comm)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    int me;
    MPI_Comm_rank(comm, &me);
    if (me == 0) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter) == MPI_SUCCESS);
    if (me == 0) {
        CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    }
    return inter;
}

static void look_up(char *port)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "60");
    CHECK(MPI_Lookup_name(name, info, port) == MPI_SUCCESS);
    MPI_Info_free(&info);
}

static MPI_Comm ask(MPI_Comm comm)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    if (rank == size - 1)
        look_up(port);
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, size - 1, comm, &inter) == MPI_SUCCESS);
    return inter;
}

/* All with all, and the ranks that the groups give to the processes. */
static void check_merged(MPI_Comm merged)
{
    MPI_Group group, world;
    MPI_Comm half;
    static int out[50000], in[50000];
    int me, all, sum, result;
    MPI_Comm_rank(merged, &me);
    MPI_Comm_size(merged, &all);
    for (int round = 0; round < 30; round++) {
        int word = me * me + round;
        CHECK(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, merged) == MPI_SUCCESS);
        CHECK(sum == (all - 1) * all * (2 * all - 1) / 6 + all * round);
    }
    for (int i = 0; i < 50000; i++)
        out[i] = me + i;
    int next = (me + 1) % all, before = (me + all - 1) % all;
    for (int count = 1; count <= 50000; count += 49999) {
        CHECK(MPI_Sendrecv(out, count, MPI_INT, next, 1, in, count, MPI_INT, before, 1, merged, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            if (in[i] != before + i)
                CHECK(!"data");
    }
    MPI_Comm_split(merged, me % 2, 0, &half);
    MPI_Comm_size(half, &result);
    int members = 0;
    MPI_Allreduce(&(int){ 1 }, &members, 1, MPI_INT, MPI_SUM, half);
    CHECK(members == result && result == (all + !(me % 2)) / 2);
    MPI_Comm_disconnect(&half);

    MPI_Comm_group(merged, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int mine = -1, known = 0;
    MPI_Group_translate_ranks(world, 1, &rank, group, &mine);
    CHECK(mine == me);
    for (int i = 0; i < all; i++) {
        MPI_Group_translate_ranks(group, 1, &i, world, &result);
        known += result != MPI_UNDEFINED;
    }
    CHECK(known == size); /* no process of another job is mistaken for one of this job */
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void part_two(int serves)
{
    MPI_Comm inter = serves ? serve(MPI_COMM_WORLD) : ask(MPI_COMM_WORLD), merged;
    MPI_Group from_inter, from_merged;
    int remote, result, ranks[64];
    MPI_Comm_remote_size(inter, &remote);
    MPI_Intercomm_merge(inter, !serves, &merged);
    check_merged(merged);

    /* The remote group by two ways. */
    for (int i = 0; i < remote; i++)
        ranks[i] = serves ? size + i : i;
    MPI_Group all;
    MPI_Comm_group(merged, &all);
    MPI_Group_incl(all, remote, ranks, &from_merged);
    MPI_Comm_remote_group(inter, &from_inter);
    MPI_Group_compare(from_inter, from_merged, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&all);
    MPI_Group_free(&from_inter);
    MPI_Group_free(&from_merged);
    MPI_Comm_disconnect(&merged);
    MPI_Comm_disconnect(&inter);
}

/* Two jobs in one communicator accept a third together; then the first and the third create one without the second. */
static void part_three(const char *who)
{
    MPI_Comm inter, two = MPI_COMM_NULL, three;
    char second[256];
    if (*who != 'c') {
        inter = *who == 'a' ? serve(MPI_COMM_WORLD) : ask(MPI_COMM_WORLD);
        MPI_Intercomm_merge(inter, *who != 'a', &two);
        MPI_Comm_disconnect(&inter);
    }
    snprintf(second, sizeof second, "%s, the second", name);
    name = second;
    inter = *who == 'c' ? ask(MPI_COMM_WORLD) : serve(two);
    MPI_Intercomm_merge(inter, *who == 'c', &three);
    MPI_Comm_disconnect(&inter);
    check_merged(three);
    if (two != MPI_COMM_NULL)
        MPI_Comm_disconnect(&two);

    int word = *who, all, seen = 0, remote;
    MPI_Comm_size(three, &all);
    if (*who != 'b') {
        MPI_Intercomm_create(MPI_COMM_WORLD, *who == 'a' ? 0 : size - 1, three, *who == 'a' ? all - 1 : 0, 5, &inter);
        MPI_Comm_remote_size(inter, &remote);
        MPI_Allreduce(&word, &seen, 1, MPI_INT, MPI_SUM, inter);
        CHECK(seen == remote * ('a' + 'c' - *who));
        MPI_Intercomm_merge(inter, 0, &two);
        check_merged(two);
        MPI_Comm_disconnect(&two);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_disconnect(&three);
}

/* The jobs of each runtime share the name; all four publish and look up at the same time. */
static void part_near(int serves)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Info info;
    int runtime = getppid(), theirs = 0; /* the keeper of the runtime starts its processes */
    MPI_Info_create(&info);
    MPI_Info_set(info, "plenum_scope", "runtime");
    MPI_Info_set(info, "timeout", "60");
    if (serves) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(MPI_Publish_name(name, info, port) == MPI_SUCCESS);
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Lookup_name(name, info, port) == MPI_SUCCESS);
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    }
    MPI_Sendrecv(&runtime, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    CHECK(theirs == runtime);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&info);
}

static void expect(int code, int want)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != want)
        bad++;
    fprintf(stderr, "%s\n", text);
}

/* The other job dies while this one waits for it. */
static void part_orphaned(void)
{
    MPI_Comm inter = ask(MPI_COMM_WORLD), merged;
    int word = rank;
    MPI_Intercomm_merge(inter, 1, &merged);
    MPI_Barrier(merged);
    expect(rank % 2 ? MPI_Recv(&word, 1, MPI_INT, 0, 1, merged, MPI_STATUS_IGNORE)
                    : MPI_Recv(&word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE),
           MPI_ERR_PROC_ABORTED);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The other job finalizes while this one waits for it in all ways. A cancelled request is not an error. Over UCX a
 * process notices it of the processes that it has communicated with. */
static void part_left(int leaves)
{
    MPI_Comm inter = leaves ? serve(MPI_COMM_WORLD) : ask(MPI_COMM_WORLD), merged;
    MPI_Request requests[2];
    MPI_Status status;
    const char *transport = getenv("PLENUM_TRANSPORT");
    int word = 1, in[16], cancelled = 0, theirs = leaves ? 0 : 1, index;
    MPI_Intercomm_merge(inter, leaves, &merged);
    if (transport && strcmp(transport, "ucx") == 0)
        MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, merged);
    if (leaves)
        return;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i, 1, inter, &requests[i]);
    if (rank == 0) {
        expect(MPI_Barrier(merged), MPI_ERR_PROC_ABORTED);
    } else if (rank == 1) {
        expect(MPI_Recv(&word, 1, MPI_INT, theirs, 2, inter, &status), MPI_ERR_PROC_ABORTED);
    } else {
        expect(MPI_Probe(theirs, 2, inter, &status), MPI_ERR_PROC_ABORTED);
    }
    MPI_Cancel(&requests[1]);
    CHECK(MPI_Wait(&requests[1], &status) == MPI_SUCCESS);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    MPI_Irecv(&in[1], 1, MPI_INT, theirs, 1, inter, &requests[1]);
    expect(MPI_Waitany(2, requests, &index, &status), MPI_ERR_PROC_ABORTED);
    expect(MPI_Wait(&requests[!index], &status), MPI_ERR_PROC_ABORTED);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The port is there, and its process ends while this one waits. */
static void part_nobody(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    if (rank == 0) {
        look_up(port);
        puts("connecting");
        fflush(stdout);
    }
    expect(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    if (rank == 0)
        CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    const char *part = argv[1];
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter, merged;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    name = argv[2];
    if (strcmp(part, "serve") == 0 || strcmp(part, "ask") == 0) {
        part_two(*part == 's');
    } else if (strcmp(part, "a") == 0 || strcmp(part, "b") == 0 || strcmp(part, "c") == 0) {
        part_three(part);
    } else if (strcmp(part, "near") == 0 || strcmp(part, "ask-near") == 0) {
        part_near(*part == 'n');
    } else if (strcmp(part, "orphaned") == 0) {
        part_orphaned();
    } else if (strcmp(part, "dies") == 0) {
        inter = serve(MPI_COMM_WORLD);
        MPI_Intercomm_merge(inter, 0, &merged);
        MPI_Barrier(merged);
        kill(getpid(), SIGKILL);
    } else if (strcmp(part, "leaves") == 0 || strcmp(part, "left") == 0) {
        part_left(strcmp(part, "leaves") == 0);
    } else if (strcmp(part, "nobody") == 0) {
        part_nobody();
    } else if (strcmp(part, "never") == 0) { /* accepts, until it is killed or told to end */
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
        puts("published");
        fflush(stdout);
        CHECK(getchar() == EOF);
    } else if (strcmp(part, "leave-serve") == 0 || strcmp(part, "leave-ask") == 0) { /* without a word */
        inter = part[6] == 's' ? serve(MPI_COMM_WORLD) : ask(MPI_COMM_WORLD);
        MPI_Intercomm_merge(inter, part[6] == 'a', &merged);
        int word = 1, sum;
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK(sum > size);
    } else if (strcmp(part, "find") == 0) {
        CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
    } else if (strcmp(part, "hang") == 0) { /* for a report */
        inter = ask(MPI_COMM_WORLD);
        MPI_Comm_set_name(inter, "bridge");
        MPI_Recv(&bad, 1, MPI_INT, 1, 8, inter, MPI_STATUS_IGNORE);
    } else if (strcmp(part, "hang-serve") == 0) {
        inter = serve(MPI_COMM_WORLD);
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else {
        bad++;
    }
    if (!bad)
        puts("good");
    MPI_Finalize();
    return bad != 0;
}
