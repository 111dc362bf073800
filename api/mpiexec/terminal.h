/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal as the standard input of rank 0. Rank 0 reads files and pipes directly. But only the foreground process
 * group, which is mpiexec's, may read a terminal; so mpiexec reads it and forwards the input through a pipe.
 */
#ifndef PLENUM_MPIEXEC_TERMINAL_H
#define PLENUM_MPIEXEC_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal {
    int pipe; /* write end, non-blocking; -1: not needed, or closed */
    char data[4096];
    size_t first, used; /* data[first, used) was read and not yet forwarded */
};

/* Makes the pipe if standard input is a terminal. Returns the descriptor for rank 0, which the caller closes if it is
 * greater than 0; -1: use /dev/null. */
int terminal_open(struct terminal *terminal);

/* Is it waiting to read the terminal, or to write to the pipe? */
bool terminal_reads(const struct terminal *terminal);
bool terminal_writes(const struct terminal *terminal);

/* Forwards as much as is possible without blocking. `readable`: poll() says that the terminal has input. */
void terminal_move(struct terminal *terminal, bool readable);

void terminal_close(struct terminal *terminal);

#endif
