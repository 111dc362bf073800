/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal as the standard input of rank 0. Files and pipes are given to rank 0 directly, but a terminal is read by
 * the foreground process group alone, which is mpiexec's; so mpiexec reads it and passes it on through a pipe.
 */
#ifndef PLENUM_MPIEXEC_TERMINAL_H
#define PLENUM_MPIEXEC_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal {
    int pipe; /* write end, non-blocking; -1: not needed, or at its end */
    char data[4096];
    size_t first, used; /* data[first, used) was read and not yet passed on */
};

/* If standard input is a terminal: makes the pipe. Returns the descriptor for rank 0, which the caller closes if it is
 * greater than 0; -1: /dev/null is to be used. */
int terminal_open(struct terminal *terminal);

/* Does it want to read the terminal now, or to write to the pipe? */
bool terminal_reads(const struct terminal *terminal);
bool terminal_writes(const struct terminal *terminal);

/* Moves what can be moved without waiting, when poll() says so. */
void terminal_move(struct terminal *terminal, bool readable);

void terminal_close(struct terminal *terminal);

#endif
