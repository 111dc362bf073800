/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection to a launcher's PMI-1 server: lines of "key=value" words, a request and its answer in turn.
 *
 * The launcher leaves an open socket (PMI_FD), or says where to connect (PMI_PORT and PMI_ID). Servers answer by
 * themselves; none lets a request wait for another process, except for the barrier, whose answer comes when it comes.
 * An error is recorded, and says what the launcher did.
 *
 * Locking: the caller's, as core/job/process.h says.
 */
#ifndef PLENUM_PLUGINS_PMI_PMI_WIRE_H
#define PLENUM_PLUGINS_PMI_PMI_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/compiler.h"

enum { PL_PMI_LINE = 4096 };

/* Connects and learns the rank and the size. PL_UNREACHABLE: no PMI launcher has started this process, or the rank
 * belongs to another process, which started this one. */
int pl_pmi_wire_open(int *rank, int *size);

/* Sends a line "cmd=..." and reads the answer "cmd=EXPECTED ...". MPI_ERR_OTHER: there is none. */
PL_PRINTF(3, 4)
int pl_pmi_wire_ask(const char *expected, char answer[PL_PMI_LINE], const char *format, ...);

/* Tells the server to end the job, and waits for that, for 5 s at most. If this process ended at once, other ranks
 * would notice that first and abort with a code of their own, and hydra would show that one. */
void pl_pmi_wire_abort(int code);

/* Tells the server that this process has finished, and gives the rank back, if this copy of the library took it. */
void pl_pmi_wire_close(void);

/* After an error at the beginning: ends the connection, and gives the rank back for the next try. */
void pl_pmi_wire_forget(void);

/* The number that a key of an answer has. False: there is none. */
bool pl_pmi_wire_number(const char *answer, const char *key, long *number);

/* Does an answer say that its request has failed? */
bool pl_pmi_wire_refused(const char *answer);

/* Enters the barrier, without waiting. Entered again before the others have entered, it is entered once more then. */
int pl_pmi_wire_barrier(void);

/* The number of barriers that all processes have entered, as far as the server has said. */
int pl_pmi_wire_barriers(void);

#endif
