/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that harms its launcher as well as it can: it writes garbage over all memory that it shares with the runtime,
 * before, while and after it does what the runtime reads: waits, aborts, crashes, publishes sets, spawns, exits.
 *
 *     rank SEED     damages the memory; ends in one of many ways, or waits to be ended
 *     rank whole    a job without fault, whose result is printed: it must not notice anything
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "damage.h"
#include "mpi-ext.h"

static struct damage damage;
static int rank, size;

static void pause_us(long us)
{
    nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* --- a job without fault ---------------------------------------------------------------------------------------- */

static int whole(void)
{
    int sum, own, got = -1, wrong = 0;
    int data[3000];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 40; round++) {
        own = rank + round;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != size * round + size * (size - 1) / 2;
        MPI_Sendrecv(&own, 1, MPI_INT, (rank + 1) % size, round, &got, 1, MPI_INT, (rank + size - 1) % size, round,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += got != (rank + size - 1) % size + round;
        for (int i = 0; i < 3000; i++)
            data[i] = rank == round % size ? i * round : -1;
        MPI_Bcast(data, 3000, MPI_INT, round % size, MPI_COMM_WORLD);
        for (int i = 0; i < 3000; i++)
            wrong += data[i] != i * round;
    }
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%d wrong of %d ranks\n", sum, size);
    return 0;
}

/* --- damage ------------------------------------------------------------------------------------------------------ */

static void strike(int times)
{
    for (int i = 0; damage.areas > 0 && i < times; i++)
        damage_strike(&damage);
}

/* Until the process ends. */
static void *strike_always(void *arg)
{
    struct damage own = damage;
    own.state ^= 0x5555;
    for (;;) {
        for (int i = 0; own.areas > 0 && i < 20; i++)
            damage_strike(&own);
        pause_us(200);
    }
    return arg;
}

static void strike_at_exit(void)
{
    strike(30);
}

static void publish(void)
{
    char name[40];
    MPI_Session session;
    MPI_Group group;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))
        return;
    snprintf(name, sizeof name, "app://set-%d", (int)damage_below(&damage, 5));
    if (MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS) {
        MPIX_Session_pset_publish(session, name, group);
        MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
}

static void spawn(char *program)
{
    static char mark[] = "whole";
    char *argv[] = { mark, NULL };
    MPI_Comm children;
    int codes[1];
    MPI_Comm_spawn(program, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, codes);
}

static void receive(void)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What the runtime will read. */
static void act(char *program)
{
    switch (damage_below(&damage, 10)) {
    case 0: publish(); break;
    case 1: MPI_Abort(MPI_COMM_WORLD, 7); break;
    case 2: raise(SIGSEGV); break;
    case 3: _exit(3);
    case 4: spawn(program); break;
    case 5: exit(0);
    case 6: MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER); break;
    case 7: break;
    default: receive();
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "whole") == 0)
        return whole();
    setvbuf(stdout, NULL, _IONBF, 0);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    damage.state = strtoull(argv[1], NULL, 10) * 64 + (unsigned)rank;
    damage_add_files(&damage, "plenum-job"); /* for reading only */
    damage_add_files(&damage, "plenum-job-shared");
    damage_add_mappings(&damage, "plenum-job-shared");
    if (damage.areas == 0)
        return 3;
    bool strikes = rank == 0 || damage_below(&damage, 2) == 0;
    int how = (int)damage_below(&damage, 4);
    pthread_t thread;
    if (strikes && how == 0)
        pthread_create(&thread, NULL, strike_always, NULL);
    if (strikes && how == 1)
        atexit(strike_at_exit);
    for (int i = 0; i < 3; i++) {
        if (strikes && how != 1)
            strike(1 + (int)damage_below(&damage, 12));
        act(argv[0]);
    }
    if (damage_below(&damage, 2))
        MPI_Finalize();
    if (strikes)
        strike(20);
    return 0;
}
