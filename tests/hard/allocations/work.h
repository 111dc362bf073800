/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that does a bit of everything while one of its allocations fails. Each chapter tries calls in turn, leaves
 * at the first error, and frees what it has made. Data is checked where all calls have succeeded.
 */
#ifndef PLENUM_TESTS_ALLOCATIONS_WORK_H
#define PLENUM_TESTS_ALLOCATIONS_WORK_H

#include <mpi.h>
#include <stdbool.h>

/* Makes a call; at an error, remembers it and goes to `done`. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (work_failed(call))                                                                                         \
            goto done;                                                                                                 \
    } while (0)

/* True at an error; the first one is printed. */
bool work_failed(int code);

/* Has no call failed so far? After an error a chapter ends, and no further collective call is made: the processes may
 * no longer agree on what comes next. */
bool work_is_well(void);

/* Data must be right whenever no call has failed. */
void work_expect(bool condition, const char *what);

/* The path of the program. */
extern const char *work_program;

/* A communicator of all processes, of a session; and MPI_COMM_WORLD. */
typedef void work_chapter(MPI_Comm comm);
work_chapter work_messages, work_collectives, work_neighbors, work_windows, work_files, work_spawn;

#endif
