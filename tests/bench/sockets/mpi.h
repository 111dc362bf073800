/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network without an MPI: what pair.c and collective.c call, over bare sockets. Messages have no headers. They are
 * received in the order and with the lengths in which they were sent. Each rank has a host of its own, with an address
 * of tests/hosts/lab, and their number is a power of two. There is one algorithm for short data and one for long.
 *
 * PLENUM_RANK and PLENUM_SIZE tell the rank and the number of ranks: Plenum's mpiexec starts these programs, too.
 */
#ifndef SOCKETS_MPI_H
#define SOCKETS_MPI_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS_MOST = 16, SOCKETS_PORT = 7700, SOCKETS_ADDRESS = 10 << 24 | 77 << 16, SOCKETS_LONG = 32 << 10 };
enum { SOCKETS_MEMORY = 16 << 20 };

typedef int MPI_Comm;
typedef int MPI_Op;
typedef int MPI_Datatype; /* its size */
typedef int MPI_Status;
enum { MPI_COMM_WORLD, MPI_SUM, MPI_MAX };
enum { MPI_BYTE = 1, MPI_INT = 4, MPI_DOUBLE = 8 };
#define MPI_STATUS_IGNORE   NULL
#define MPI_STATUSES_IGNORE NULL
#define MPI_IN_PLACE        NULL

/* Data on its way to or from a rank. */
typedef struct {
    char *data;
    size_t left;
    int peer;
    bool out;
} MPI_Request;

static int sockets_rank, sockets_size, sockets_fd[SOCKETS_MOST];
static bool sockets_shares; /* ranks share cores */
static double *sockets_space;

static inline void MPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    exit(code);
}

static inline void sockets_check(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static inline double MPI_Wtime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Moves what can be moved at once. */
static inline bool sockets_advance(MPI_Request *request)
{
    int fd = sockets_fd[request->peer];
    while (request->left > 0) {
        ssize_t bytes = request->out ? send(fd, request->data, request->left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                     : recv(fd, request->data, request->left, MSG_DONTWAIT);
        if (bytes <= 0) {
            sockets_check(bytes < 0 && errno == EAGAIN, "a message");
            return false;
        }
        request->data += bytes;
        request->left -= (size_t)bytes;
    }
    return true;
}

/* Those to one rank, and those from one rank, are done in their order. */
static inline void MPI_Waitall(int count, MPI_Request *request, MPI_Status *statuses)
{
    (void)statuses;
    for (int first = 0, turn = 0; first < count; turn++) {
        bool waits[2][SOCKETS_MOST] = { 0 };
        for (int i = first; i < count; i++)
            if (request[i].left > 0 && !waits[request[i].out][request[i].peer])
                waits[request[i].out][request[i].peer] = !sockets_advance(&request[i]);
        while (first < count && request[first].left == 0)
            first++;
        if (first < count && (sockets_shares || turn % 8 == 7))
            sched_yield();
    }
}

static inline MPI_Request sockets_out(const void *data, size_t bytes, int peer)
{
    return (MPI_Request){ (char *)data, bytes, peer, true };
}

static inline MPI_Request sockets_in(void *data, size_t bytes, int peer)
{
    return (MPI_Request){ data, bytes, peer, false };
}

static inline void sockets_do(MPI_Request request)
{
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static inline void sockets_exchange(const void *out, size_t out_bytes, void *in, size_t in_bytes, int dest, int source)
{
    MPI_Request request[] = { sockets_out(out, out_bytes, dest), sockets_in(in, in_bytes, source) };
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* A message of no bytes is one of one byte here. */
static inline void MPI_Send(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    (void)tag, (void)comm;
    sockets_do(count > 0 ? sockets_out(data, (size_t)count * (size_t)type, dest) : sockets_out("", 1, dest));
}

static inline void MPI_Recv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Status *status)
{
    char none;
    (void)tag, (void)comm, (void)status;
    sockets_do(count > 0 ? sockets_in(data, (size_t)count * (size_t)type, source) : sockets_in(&none, 1, source));
}

static inline void MPI_Isend(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                             MPI_Request *request)
{
    (void)tag, (void)comm;
    *request = sockets_out(data, (size_t)count * (size_t)type, dest);
    sockets_advance(request);
}

static inline void MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                             MPI_Request *request)
{
    (void)tag, (void)comm;
    *request = sockets_in(data, (size_t)count * (size_t)type, source);
}

static inline void MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
}

static inline void MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                                int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                                MPI_Status *status)
{
    (void)out_tag, (void)in_tag, (void)comm, (void)status;
    sockets_exchange(out, (size_t)out_count * (size_t)out_type, in, (size_t)in_count * (size_t)in_type, dest, source);
}

/* --- start -------------------------------------------------------------------------------------------------------- */

static inline struct sockaddr_in sockets_address(int rank)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)(SOCKETS_PORT + rank)),
                                 .sin_addr.s_addr = htonl((uint32_t)(SOCKETS_ADDRESS + rank + 1)) };
}

/* Each rank connects to all lower ones. */
static inline void MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct sockaddr_in address;
    const int yes = 1;
    sockets_rank = atoi(getenv("PLENUM_RANK"));
    sockets_size = atoi(getenv("PLENUM_SIZE"));
    sockets_shares = sockets_size > sysconf(_SC_NPROCESSORS_ONLN);
    sockets_space = calloc(1, SOCKETS_MEMORY);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    address = sockets_address(sockets_rank);
    sockets_check(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    sockets_check(listen(listener, SOCKETS_MOST) == 0, "listen");
    for (int peer = 0; peer < sockets_rank; peer++) {
        sockets_fd[peer] = socket(AF_INET, SOCK_STREAM, 0);
        address = sockets_address(peer);
        while (connect(sockets_fd[peer], (struct sockaddr *)&address, sizeof address) != 0) {
            sockets_check(errno == ECONNREFUSED, "connect");
            usleep(1000);
        }
        sockets_do(sockets_out(&sockets_rank, sizeof sockets_rank, peer));
    }
    for (int i = sockets_rank + 1; i < sockets_size; i++) {
        int peer, fd = accept(listener, NULL, NULL);
        sockets_check(recv(fd, &peer, sizeof peer, MSG_WAITALL) == sizeof peer, "accept");
        sockets_fd[peer] = fd;
    }
    for (int peer = 0; peer < sockets_size; peer++)
        if (peer != sockets_rank)
            setsockopt(sockets_fd[peer], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
}

static inline void MPI_Finalize(void)
{
    free(sockets_space);
    for (int peer = 0; peer < sockets_size; peer++)
        if (peer != sockets_rank)
            close(sockets_fd[peer]);
}

static inline void MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = sockets_rank;
}

static inline void MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = sockets_size;
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

static inline void sockets_combine(double *into, const double *other, size_t count, MPI_Op op)
{
    for (size_t i = 0; i < count; i++)
        into[i] = op == MPI_SUM ? into[i] + other[i] : into[i] > other[i] ? into[i] : other[i];
}

static inline void MPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    char out = 0, in;
    for (int far = 1; far < sockets_size; far *= 2)
        sockets_exchange(&out, 1, &in, 1, (sockets_rank + far) % sockets_size,
                         (sockets_rank - far + sockets_size) % sockets_size);
}

/* A tree: each rank gets the data, then sends it on. */
static inline void MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)root, (void)comm; /* 0 */
    size_t bytes = (size_t)count * (size_t)type;
    int far = 1;
    while (far < sockets_size && !(sockets_rank & far))
        far *= 2;
    if (sockets_rank != 0)
        sockets_do(sockets_in(data, bytes, sockets_rank - far));
    MPI_Request request[SOCKETS_MOST];
    int requests = 0;
    while ((far /= 2) > 0)
        request[requests++] = sockets_out(data, bytes, sockets_rank + far);
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
}

/* Halves the vector in each round; afterwards each rank has the sum of its part, at its place in `data`. */
static inline void sockets_halve(double *data, size_t count, MPI_Op op)
{
    size_t first = 0;
    for (int far = sockets_size / 2; far > 0; far /= 2) {
        count /= 2;
        bool upper = sockets_rank & far;
        double *mine = data + first + (upper ? count : 0), *its = data + first + (upper ? 0 : count);
        sockets_exchange(its, 8 * count, sockets_space, 8 * count, sockets_rank ^ far, sockets_rank ^ far);
        sockets_combine(mine, sockets_space, count, op);
        first += upper ? count : 0;
    }
}

/* Each rank has a part at its place; afterwards all have all. */
static inline void sockets_collect(char *data, size_t bytes)
{
    for (int far = 1; far < sockets_size; far *= 2) {
        size_t mine = (size_t)(sockets_rank & ~(far - 1)) * bytes,
               its = (size_t)((sockets_rank & ~(far - 1)) ^ far) * bytes;
        sockets_exchange(data + mine, (size_t)far * bytes, data + its, (size_t)far * bytes, sockets_rank ^ far,
                         sockets_rank ^ far);
    }
}

static inline void MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)comm;
    size_t bytes = (size_t)count * (size_t)type;
    if (from != MPI_IN_PLACE)
        memcpy(to, from, bytes);
    if (bytes >= SOCKETS_LONG) {
        sockets_halve(to, (size_t)count, op);
        sockets_collect(to, bytes / (size_t)sockets_size);
        return;
    }
    for (int far = 1; far < sockets_size; far *= 2) {
        sockets_exchange(to, bytes, sockets_space, bytes, sockets_rank ^ far, sockets_rank ^ far);
        sockets_combine(to, sockets_space, (size_t)count, op);
    }
}

/* The root has a block of each rank, and gathers the blocks or scatters them; `own` is that of this rank. */
static inline void sockets_move_blocks(char *blocks, char *own, size_t bytes, bool gathers)
{
    if (sockets_rank != 0) {
        sockets_do((MPI_Request){ own, bytes, 0, gathers });
        return;
    }
    MPI_Request request[SOCKETS_MOST];
    for (int peer = 1; peer < sockets_size; peer++)
        request[peer - 1] = (MPI_Request){ blocks + (size_t)peer * bytes, bytes, peer, !gathers };
    memcpy(gathers ? blocks : own, gathers ? own : blocks, bytes);
    MPI_Waitall(sockets_size - 1, request, MPI_STATUSES_IGNORE);
}

static inline void MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int its_count,
                              MPI_Datatype its_type, int root, MPI_Comm comm)
{
    (void)its_count, (void)its_type, (void)root, (void)comm;
    sockets_move_blocks(to, (char *)from, (size_t)count * (size_t)type, true);
}

static inline void MPI_Scatter(const void *from, int count, MPI_Datatype type, void *to, int its_count,
                               MPI_Datatype its_type, int root, MPI_Comm comm)
{
    (void)its_count, (void)its_type, (void)root, (void)comm;
    sockets_move_blocks((char *)from, to, (size_t)count * (size_t)type, false);
}

/* Short: a tree. Long: each sums a part, and the root collects the parts. */
static inline void MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
                              MPI_Comm comm)
{
    size_t bytes = (size_t)count * (size_t)type, part = bytes / (size_t)sockets_size;
    memcpy(to, from, bytes);
    if (bytes >= SOCKETS_LONG) {
        sockets_halve(to, (size_t)count, op);
        char *mine = (char *)to + (size_t)sockets_rank * part;
        MPI_Gather(mine, (int)part, MPI_BYTE, to, (int)part, MPI_BYTE, root, comm);
        return;
    }
    for (int far = 1; far < sockets_size; far *= 2) {
        if (sockets_rank & far) {
            sockets_do(sockets_out(to, bytes, sockets_rank - far));
            return;
        }
        sockets_do(sockets_in(sockets_space, bytes, sockets_rank + far));
        sockets_combine(to, sockets_space, (size_t)count, op);
    }
}

static inline void MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int its_count,
                                 MPI_Datatype its_type, MPI_Comm comm)
{
    (void)its_count, (void)its_type, (void)comm;
    size_t bytes = (size_t)count * (size_t)type;
    memcpy((char *)to + (size_t)sockets_rank * bytes, from, bytes);
    sockets_collect(to, bytes);
}

static inline void MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int its_count,
                                MPI_Datatype its_type, MPI_Comm comm)
{
    (void)its_count, (void)its_type, (void)comm;
    size_t bytes = (size_t)count * (size_t)type;
    MPI_Request request[2 * SOCKETS_MOST];
    int requests = 0;
    for (int i = 1; i < sockets_size; i++) {
        int peer = sockets_rank ^ i;
        request[requests++] = sockets_out((const char *)from + (size_t)peer * bytes, bytes, peer);
        request[requests++] = sockets_in((char *)to + (size_t)peer * bytes, bytes, peer);
    }
    memcpy((char *)to + (size_t)sockets_rank * bytes, (const char *)from + (size_t)sockets_rank * bytes, bytes);
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
}

/* Equal blocks, one behind the other, as the bench has them. */
static inline void MPI_Alltoallv(const void *from, const int *counts, const int *places, MPI_Datatype type, void *to,
                                 const int *its_counts, const int *its_places, MPI_Datatype its_type, MPI_Comm comm)
{
    (void)places, (void)its_places;
    MPI_Alltoall(from, counts[0], type, to, its_counts[0], its_type, comm);
}

static inline void MPI_Ialltoallv(const void *from, const int *counts, const int *places, MPI_Datatype type, void *to,
                                  const int *its_counts, const int *its_places, MPI_Datatype its_type, MPI_Comm comm,
                                  MPI_Request *request)
{
    MPI_Alltoallv(from, counts, places, type, to, its_counts, its_places, its_type, comm);
    request->left = 0;
}

/* Equal parts. */
static inline void MPI_Reduce_scatter(const void *from, void *to, const int *counts, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm)
{
    (void)type, (void)comm;
    size_t count = (size_t)counts[0];
    double *whole = sockets_space + SOCKETS_MEMORY / 16;
    memcpy(whole, from, 8 * count * (size_t)sockets_size);
    sockets_halve(whole, count * (size_t)sockets_size, op);
    memcpy(to, whole + (size_t)sockets_rank * count, 8 * count);
}

static inline void MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)comm;
    size_t bytes = (size_t)count * (size_t)type;
    memcpy(to, from, bytes);
    if (sockets_rank > 0) {
        sockets_do(sockets_in(sockets_space, bytes, sockets_rank - 1));
        sockets_combine(to, sockets_space, (size_t)count, op);
    }
    if (sockets_rank + 1 < sockets_size)
        sockets_do(sockets_out(to, bytes, sockets_rank + 1));
}

static inline void MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                  MPI_Request *request)
{
    MPI_Allreduce(from, to, count, type, op, comm);
    request->left = 0;
}

static inline void MPI_Ialltoall(const void *from, int count, MPI_Datatype type, void *to, int its_count,
                                 MPI_Datatype its_type, MPI_Comm comm, MPI_Request *request)
{
    MPI_Alltoall(from, count, type, to, its_count, its_type, comm);
    request->left = 0;
}

#endif
