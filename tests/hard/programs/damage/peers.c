/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that damages the memory of the node transport, of collective areas and of windows while it communicates: no
 * other rank crashes.
 *
 *     peers own SEED    the last rank damages memory of its own: what it writes for others to read. The others go on
 *                       with each other, and their data is right
 *     peers all SEED    it damages all memory that it can write, that of others too, while all are in every kind of
 *                       operation. They may get errors, or wait until the time limit
 *     peers pool SEED   the processes are attached to a pool, and the last one damages its memory
 */
#include <mpi.h>
#include <signal.h>
#include <time.h>

#include "damage.h"
#include "mpi-ext.h"

enum { LONG = 40000, ROUNDS = 30 };

static struct damage damage;
static int rank, size;

static void pause_us(long us)
{
    nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void strike(int times)
{
    for (int i = 0; damage.areas > 0 && i < times; i++)
        damage_strike(&damage);
}

/* --- operations whose result does not matter ---------------------------------------------------------------------- */

static int buffer[2][8 * LONG];

static void point_to_point(int bytes)
{
    MPI_Request requests[16];
    int n = 0;
    for (int i = 0; i < size && n < 15; i++)
        if (i != rank) {
            MPI_Irecv((char *)buffer[0] + i * 1000, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[n++]);
            MPI_Isend(buffer[1], bytes, MPI_BYTE, i, i, MPI_COMM_WORLD, &requests[n++]);
        }
    for (int tries = 0, done = 0; tries < 300 && !done; tries++) {
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (rank == size - 1 && tries % 8 == 0)
            strike(1);
        pause_us(10);
    }
}

static void collectives(uint64_t chance, int count)
{
    int counts[64], places[64];
    for (int i = 0; i < size; i++) {
        counts[i] = count / size + i % 3;
        places[i] = i * (count / size + 3);
    }
    switch (chance % 9) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(buffer[0], count, MPI_INT, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Allreduce(buffer[0], buffer[1], count, MPI_INT, MPI_MAX, MPI_COMM_WORLD); break;
    case 3:
        MPI_Alltoallv(buffer[0], counts, places, MPI_INT, buffer[1], counts, places, MPI_INT, MPI_COMM_WORLD);
        break;
    case 4: MPI_Gatherv(buffer[0], counts[rank], MPI_INT, buffer[1], counts, places, MPI_INT, 0, MPI_COMM_WORLD); break;
    case 5: MPI_Scan(buffer[0], buffer[1], count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 6: MPI_Allgather(buffer[0], count / size, MPI_INT, buffer[1], count / size, MPI_INT, MPI_COMM_WORLD); break;
    case 7:
        MPI_Scatterv(buffer[0], counts, places, MPI_INT, buffer[1], counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
        break;
    default: MPI_Reduce_scatter_block(buffer[0], buffer[1], count / size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void window_operations(MPI_Win win, uint64_t chance)
{
    int target = (int)(chance >> 8) % size, count = (int)(chance >> 16) % 100 + 1;
    MPI_Win_lock(chance & 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
    switch (chance >> 4 & 3) {
    case 0: MPI_Put(buffer[0], count, MPI_INT, target, 0, count, MPI_INT, win); break;
    case 1: MPI_Get(buffer[0], count, MPI_INT, target, 0, count, MPI_INT, win); break;
    case 2: MPI_Accumulate(buffer[0], count, MPI_INT, target, 0, count, MPI_INT, MPI_SUM, win); break;
    default:
        MPI_Get_accumulate(buffer[0], count, MPI_INT, buffer[1], count, MPI_INT, target, 0, count, MPI_INT, MPI_MAX,
                           win);
    }
    MPI_Win_unlock(target, win);
}

/* What one run does: not all of it, so that a damaged collective does not keep it from the rest. */
static void all(void)
{
    static int memory[LONG];
    int *own;
    MPI_Win win = MPI_WIN_NULL;
    struct damage plan = { .state = damage.state }; /* the same numbers on all ranks */
    int kind = (int)damage_below(&plan, 4);
    damage.state += 1000003 * (uint64_t)rank;
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD); /* after some of them there is an area */
    if (kind == 2)
        MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (kind == 3)
        MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    if (win != MPI_WIN_NULL)
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    point_to_point(100);
    if (rank == size - 1)
        damage_add_mappings(&damage, "plenum");
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t chance = damage_random(&plan);
        if (rank == size - 1)
            strike(1 + (int)damage_below(&damage, 4));
        if (kind == 0)
            point_to_point(chance % 2 ? 8 : 4 * LONG);
        else if (kind == 1)
            collectives(chance, (int)(chance >> 32) % 3 ? 4 * size : LONG);
        else
            window_operations(win, damage_random(&damage));
    }
    _exit(0);
}

/* --- others go on ------------------------------------------------------------------------------------------------- */

/* The ranks but the last exchange data with each other. The last one sends them messages from damaged memory. */
static int own(void)
{
    int wrong = 0, others = size - 1, data[3000], got[3000], *end = &data[3000];
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &comm);
    if (rank != size - 1)
        MPI_Send(NULL, 0, MPI_INT, size - 1, 2, MPI_COMM_WORLD);
    if (rank == size - 1) {
        for (int i = 0; i < others; i++)
            MPI_Recv(NULL, 0, MPI_INT, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        damage_add_files(&damage, "plenum");
        for (int i = 0; i < 40; i++) {
            MPI_Request request;
            MPI_Isend(buffer[0], i % 2 ? 100 : 4 * LONG, MPI_BYTE, i % others, 1000, MPI_COMM_WORLD, &request);
            strike(2);
            pause_us(200);
        }
        pause_us(30000);
        _exit(0);
    }
    for (int round = 0; round < 200; round++) {
        MPI_Request junk;
        int to = (rank + 1) % others, from = (rank + others - 1) % others, length = round % 5 ? 10 : 3000;
        for (int *at = data; at < end; at++)
            *at = rank * 100000 + round * 10 + (int)(at - data) % 10;
        MPI_Irecv(buffer[0], 8 * LONG, MPI_BYTE, size - 1, 1000, MPI_COMM_WORLD, &junk);
        MPI_Sendrecv(data, length, MPI_INT, to, 1, got, length, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < length; i++)
            wrong += got[i] != from * 100000 + round * 10 + i % 10;
        pause_us(50);
    }
    MPI_Reduce(rank ? &wrong : MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0)
        printf("%d wrong\n", wrong);
    fflush(stdout);
    _exit(wrong ? 9 : 0);
}

/* --- a pool: processes that no launcher started ------------------------------------------------------------------ */

static void pool_round(MPI_Session session, int round)
{
    char name[MPI_MAX_PSET_NAME_LEN], tag[20];
    int sets = 0;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(name, sizeof name, "app://set-%d", round % 5);
    snprintf(tag, sizeof tag, "round-%d", round);
    if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS)
        return;
    MPIX_Session_pset_publish(session, name, group);
    if (round % 3 == 0)
        MPIX_Session_pset_withdraw(session, name);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets && i < 20; i++) {
        int length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    }
    if (round % 4 == 0 &&
        MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS)
        MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static int pool(void)
{
    const char *place = strchr(getenv("PLENUM_ATTACH"), ':');
    if (sscanf(place, ":%d:%d", &rank, &size) != 2)
        return 2;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Session session;
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
            continue;
        if (rank == size - 1 && damage.areas == 0)
            damage_add_mappings(&damage, "plenum-pool");
        if (rank == size - 1)
            strike(4);
        pool_round(session, round);
        MPI_Session_finalize(&session);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    damage.state = strtoull(argv[2], NULL, 10) * 64;
    if (strcmp(argv[1], "pool") == 0)
        return pool();
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "all") == 0)
        all();
    return own();
}
