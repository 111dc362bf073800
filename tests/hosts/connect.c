/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: connect open|all-accept|all-connect|leaders-accept|leaders-connect|join-accept|join-connect WHERE
 *
 * Jobs that find each other by a port's name in the file WHERE, or for joining by the TCP address WHERE:PORT, and
 * become one. All ranks of both jobs connect; with "leaders" their first ranks alone do, and then bring their jobs
 * together. Every byte is checked; rank 0 prints one line. "open" only opens a port, of the default scope, until its file
 * is gone.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network.h"

enum { COUNT = 100000, JOIN_PORT = 7707 };

static int rank, size, bad;

static void check(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
    bad |= !good;
}

/* --- finding each other ----------------------------------------------------------------------------------------- */

static void tell(const char *file, const char *port)
{
    char aside[4096];
    snprintf(aside, sizeof aside, "%s.new", file);
    FILE *out = fopen(aside, "w");
    check(out && fputs(port, out) >= 0 && fclose(out) == 0 && rename(aside, file) == 0, "the port's file");
}

static void hear(const char *file, char *port)
{
    FILE *in;
    while (!(in = fopen(file, "r")))
        usleep(10000);
    check(fgets(port, MPI_MAX_PORT_NAME, in) != NULL, "the port's file");
    fclose(in);
}

/* A port of the network. */
static void open_far(char *port)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "plenum_scope", "network");
    MPI_Open_port(info, port);
    MPI_Info_free(&info);
}

static void open_port(const char *file)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    tell(file, port);
    while (access(file, F_OK) == 0)
        usleep(10000);
    MPI_Close_port(port);
}

static MPI_Comm meet(const char *file, int accepts, MPI_Comm own)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 0 && accepts) {
        open_far(port);
        tell(file, port);
    } else if (rank == 0) {
        hear(file, port);
    }
    (accepts ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, own, &other);
    if (rank == 0 && accepts)
        MPI_Close_port(port);
    return other;
}

static MPI_Comm meet_by_leaders(const char *file, int accepts)
{
    MPI_Comm link = MPI_COMM_NULL, other;
    if (rank == 0)
        link = meet(file, accepts, MPI_COMM_SELF);
    MPI_Intercomm_create(MPI_COMM_WORLD, 0, link, 0, 7, &other);
    if (rank == 0)
        MPI_Comm_disconnect(&link);
    return other;
}

static int socket_to(const char *address, int accepts)
{
    struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(JOIN_PORT) };
    inet_pton(AF_INET, address, &where.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), made;
    if (!accepts) {
        while (connect(fd, (struct sockaddr *)&where, sizeof where) != 0)
            usleep(10000);
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    check(bind(fd, (struct sockaddr *)&where, sizeof where) == 0 && listen(fd, 1) == 0, "the socket");
    made = accept(fd, NULL, NULL);
    close(fd);
    return made;
}

static MPI_Comm join(const char *address, int accepts)
{
    MPI_Comm other;
    int fd = socket_to(address, accepts);
    MPI_Comm_join(fd, &other);
    close(fd);
    return other;
}

/* --- what they do ----------------------------------------------------------------------------------------------- */

static int element(int of, int i)
{
    return of * 1000003 + i * 7;
}

/* Every rank gets a long message from every one of the others. */
static void exchange(MPI_Comm other, int remote)
{
    int *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in);
    for (int i = 0; i < COUNT; i++)
        out[i] = element(rank, i);
    for (int peer = 0; peer < remote; peer++) {
        int good = 1;
        MPI_Sendrecv(out, COUNT, MPI_INT, peer, 3, in, COUNT, MPI_INT, peer, 3, other, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            good &= in[i] == element(peer, i);
        check(good, "a message");
    }
    free(out);
    free(in);
}

static void merge(MPI_Comm other, int remote, int high)
{
    MPI_Comm all;
    int sum, mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
    check(sum == remote * (remote + 1) / 2, "the others' sum");
    MPI_Intercomm_merge(other, high, &all);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    check(sum == remote * (remote + 1) / 2 + size * (size + 1) / 2, "the sum of all");
    MPI_Comm_disconnect(&all);
}

int main(int argc, char **argv)
{
    int remote, any, network;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc == 3 ? argv[1] : "";
    if (strcmp(what, "open") == 0) {
        if (rank == 0)
            open_port(argv[2]);
    } else if (argc == 3) {
        int accepts = strstr(what, "accept") != NULL;
        MPI_Comm other = strstr(what, "join")      ? join(argv[2], accepts)
                         : strstr(what, "leaders") ? meet_by_leaders(argv[2], accepts)
                                                   : meet(argv[2], accepts, MPI_COMM_WORLD);
        MPI_Comm_remote_size(other, &remote);
        exchange(other, remote);
        merge(other, remote, accepts);
        MPI_Comm_disconnect(&other);
        network = rank > 0 && uses_network();
        MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &network, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && !any)
            printf("%s: %d ranks, %d others, those that opened no port %s the network: all data intact\n", what, size,
                   remote, network ? "with" : "without");
    }
    MPI_Finalize();
    return bad;
}
