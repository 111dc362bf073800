/* SPDX-License-Identifier: BSD-3-Clause */
/* What the attack gives to its calls, and their table. */
#ifndef PLENUM_TESTS_CALL_H
#define PLENUM_TESTS_CALL_H

#include <mpi-ext.h>
#include <stdbool.h>
#include <stddef.h>

#define DATA_FILE "together.data" /* of the calls for files */

/* Makes the call number `what` of its function once, frees what it has made, and returns its error. */
struct call {
    const char *name;
    int (*run)(MPI_Comm comm, int what);
    int what;
};
extern const struct call calls[];
extern const size_t call_count;

extern int rank, size;
extern const char *program; /* this one */

/* Between these one rank may lack memory. disarm() returns `code`. */
void arm(void);
int disarm(int code);
/* A spawned process: uses its parents' communicator once. */
int be_child(void);
/* All ranks have the result of the call. */
bool all_have(int code);
void expect(bool condition, const char *what);

#endif
