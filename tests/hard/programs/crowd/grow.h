/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of grow share: the model of communicators, and what works in them. */
#ifndef PLENUM_TESTS_GROW_H
#define PLENUM_TESTS_GROW_H

#include "crowd.h"

enum { MOST = 64, COMMS = 16 };

/* A communicator; comm is MPI_COMM_NULL in processes that are not in it. serial is 0 if the place is empty. */
struct comm {
    MPI_Comm comm;
    int serial;
    bool inter, kept; /* kept: MPI's own or a session's, not to be freed */
    int sizes[2], who[2][MOST];
    int side, rank; /* of this process, or -1 */
};
extern struct comm comms[COMMS];

/* --- talk.c: data in a communicator --- */
void talk_ring(struct comm *c);
void talk_collective(struct comm *c);
void talk_window(struct comm *c);
void talk_file(struct comm *c, const char *directory);
void talk_error(struct comm *c);
/* Ends some of the messages that are under way; all of one communicator; all (0). */
void talk_some(void);
void talk_end(int serial);

#endif
