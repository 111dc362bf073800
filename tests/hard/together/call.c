/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: call NAME RANK FIRST LAST STEP
 * The collective call NAME, or each of `all`, is made again and again. In one rank the n-th allocation fails, n from
 * FIRST to LAST by STEP, as far as the call makes as many. Then all ranks have the result, or those that do not return
 * an error; no rank waits. Exit code 0: this holds, and what all have is right.
 */
#include "call.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory.h"

int rank, size;
static int wrong, chosen, verbose;
static long nth, failed_calls, calls_made;
static bool happened;
static long calls_begun;
static const char *name;
const char *program;

/* Shared by all ranks, so that they meet without messages. */
struct counters {
    _Atomic long begun; /* calls, on each rank */
    _Atomic long ended; /* on the rank that lacks memory */
};
static struct counters *shared;

void expect(bool condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s, rank %d, allocation %ld of rank %d: %s\n", name, rank, nth, chosen, what);
    fflush(stdout);
    wrong = 1;
}

/* Waits for the other ranks, and makes progress for those that may still need this one. */
static void await(const _Atomic long *counter, long value)
{
    int found;
    while (atomic_load(counter) < value) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        usleep(100);
    }
}

/* From here to disarm() this rank may lack memory. All others have come here, and their calls before are complete. */
void arm(void)
{
    calls_begun++;
    atomic_fetch_add(&shared->begun, 1);
    await(&shared->begun, calls_begun * size);
    if (rank == chosen)
        pl_memory_fail_at(nth);
}

/* The others wait until it does not lack memory any more: the next message of theirs is not part of the call. */
int disarm(int code)
{
    if (rank == chosen) {
        happened = pl_memory_failed();
        pl_memory_fail_at(0);
        atomic_fetch_add(&shared->ended, 1);
    }
    await(&shared->ended, calls_begun);
    return code;
}

/* All ranks map the same memory. */
static void meet(void)
{
    static const char file[] = "together.meet";
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(file);
}

bool all_have(int code)
{
    int any = code != MPI_SUCCESS, every = any;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (verbose && any != every && rank == 0)
        printf("mixed: %s, allocation %ld of rank %d\n", name, nth, chosen);
    return !any;
}

static void check_error(int code)
{
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (verbose)
        printf("%s %ld: rank %d: %s\n", name, nth, rank, text);
    bool told = class == MPI_ERR_PORT || class == MPI_ERR_SPAWN || class == MPIX_ERR_TIMEOUT; /* by another process */
    expect(told || class == MPI_ERR_NO_MEM || class == MPI_ERR_RMA_SHARED, text);
}

/* Did the allocation fail? */
static bool try_once(const struct call *call)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    happened = false;
    int code = call->run(comm, call->what), any = happened;
    calls_made++;
    failed_calls += code != MPI_SUCCESS;
    if (code)
        check_error(code);
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

int main(int argc, char **argv)
{
    program = argv[0];
    MPI_Init(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return be_child();
    if (argc != 6)
        return 2;
    verbose = getenv("VERBOSE") != NULL;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    chosen = atoi(argv[2]) % size;
    meet();
    for (size_t i = 0; i < call_count; i++) {
        name = calls[i].name;
        if (strcmp(argv[1], "all") != 0 && strcmp(name, argv[1]) != 0)
            continue;
        for (nth = atol(argv[3]); nth <= atol(argv[4]); nth += atol(argv[5])) {
            if (verbose && rank == 0)
                fprintf(stderr, "%s %ld\n", name, nth);
            if (!try_once(&calls[i]))
                break;
        }
        if (rank == 0)
            unlink(DATA_FILE);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("%ld calls, %ld failed\n", calls_made, failed_calls);
    return wrong;
}
