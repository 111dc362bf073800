/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of grow share: the model of communicators, and what works in them. */
#ifndef PLENUM_TESTS_GROW_H
#define PLENUM_TESTS_GROW_H

#include "crowd.h"

enum { MOST = 64, COMMS = 16, JOBS = 24 };

/* A communicator; comm is MPI_COMM_NULL in processes that are not in it. serial is 0 if the place is empty. */
struct comm {
    MPI_Comm comm;
    int serial;
    bool inter, kept; /* kept: MPI's own or a session's, not to be freed */
    int sizes[2], who[2][MOST];
    int side, rank; /* of this process, or -1 */
};
extern struct comm comms[COMMS];

/* What was spawned together, with the numbers of its processes. */
extern struct job {
    int first, size;
    bool lives;
} jobs[JOBS];
extern int job_count;

/* --- comms.c: the communicators --- */
/* The rank of a process on one side, or -1. */
int place(const struct comm *c, int side, int process);
bool disjoint(const struct comm *a, const struct comm *b);
int empty_places(void);
/* Enters a communicator, and compares the model with it where this process is a member. */
void enter(struct comm model, MPI_Comm comm);
/* One that the plan draws; one of a single process is forgotten at the next call. */
struct comm *plan_comm(bool inter_too);
/* Frees it, or disconnects, with messages under way or without. */
void drop(struct comm *c, bool disconnects);
void drop_step(void);
void make_step(void);
void session_step(void);

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
