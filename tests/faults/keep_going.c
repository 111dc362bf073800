/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under mpiexec --keep-going the last rank dies as requested ("kill", "exit"), or finalizes before the others
 * ("early"). Every rank that waits for the dead one gets an error; the others go on in a communicator without it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    printf("%s\n", what);
    failed = 1;
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void die(const char *how)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exit") == 0)
        _exit(5);
}

/*
 * Partitioned messages that will never be complete: one that the dead rank had begun, one that a living rank never
 * announces, and one that is never received.
 */
enum { PARTS = 4, LONG = 1 << 20 };
static char parts[3][PARTS * LONG];
static MPI_Request partitioned[3];

static void begin_parts(int rank, int size)
{
    if (rank == size - 1) {
        MPI_Psend_init(parts[0], PARTS, 10, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned[0]);
        MPI_Start(&partitioned[0]);
        MPI_Pready(1, partitioned[0]);
    }
    if (rank > 0)
        return;
    MPI_Precv_init(parts[0], PARTS, 10, MPI_CHAR, size - 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned[0]);
    MPI_Precv_init(parts[1], PARTS, 10, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned[1]);
    MPI_Psend_init(parts[2], PARTS, LONG, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned[2]);
    MPI_Startall(3, partitioned);
    MPI_Pready_range(0, PARTS - 1, partitioned[2]);
}

static void end_parts(void)
{
    for (int time = 0; time < 2; time++) {
        for (int i = 0; i < 3; i++)
            expect(class_of(MPI_Wait(&partitioned[i], MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED,
                   "a wait for partitions returns MPI_ERR_PROC_ABORTED");
        MPI_Startall(3, partitioned);
        MPI_Pready_range(0, PARTS - 1, partitioned[2]);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Wait(&partitioned[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&partitioned[i]);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "kill";
    int rank, size, value = 0, sum = 0, ranks[64];
    MPI_Comm living;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1 ? 0 : MPI_UNDEFINED, 0, &living);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size * (size - 1) / 2, "the sum of all before");
    /* no rank dies before all have their sum: the last messages of the dead may not arrive */
    MPI_Gather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    int dies = strcmp(how, "early") != 0;
    if (dies)
        begin_parts(rank, size);
    if (rank == size - 1) {
        die(how);
        MPI_Finalize();
        return 0;
    }
    if (dies) { /* one waits for the dead rank, one for a living rank, the others for all */
        int rc = rank == 0   ? MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                 : rank == 1 ? MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                             : MPI_Barrier(MPI_COMM_WORLD);
        expect(class_of(rc) == MPI_ERR_PROC_ABORTED, "a wait returns MPI_ERR_PROC_ABORTED");
        if (rank == 0)
            end_parts();
    } else { /* finalizing is not a failure: communication among the others continues */
        usleep(100000);
        int other = rank ^ 1;
        if (other < size - 1)
            expect(MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &value, 1, MPI_INT, other, 1, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE) == MPI_SUCCESS &&
                       value == other,
                   "the living ranks go on");
    }
    for (int i = 0; i < 100; i++) {
        value = rank + i;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, living);
        expect(sum == (size - 1) * (size - 2) / 2 + i * (size - 1), "the sum of the living");
    }
    MPI_Comm_free(&living);
    MPI_Finalize();
    if (rank == 0 && !failed)
        printf("went on\n");
    return failed;
}
