/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of deaths share. */
#ifndef PLENUM_TESTS_DEATHS_H
#define PLENUM_TESTS_DEATHS_H

#include "crowd.h"

#include <mpi-ext.h>

enum { MOST = 8, SUBS = 8 }; /* MOST: processes at a time */

struct circle {
    MPI_Comm comm;
    int size, rank, who[MOST];
};
extern struct deaths {
    int epochs, epoch, subs, born, first; /* first: how many processes were there in the beginning */
    struct circle all, sub[SUBS];         /* of all that are left, and what was made in this epoch */
    bool trouble, agreed_on_trouble;      /* this process got an error; all know that one did */
} deaths;

/* Is a member dead, or may it die by now? */
bool may_fail(void);
/* False, and all is revoked, if it failed since a member died; any other error ends the test. */
bool went_well(int code, const char *call, int line);
#define WELL(call) went_well(call, #call, __LINE__)
/* Ends them all; they are on the communicators above. */
bool requests_end(int n, MPI_Request *requests);
/* An agreement; if it says no, the epoch has ended for all. */
bool all_went_well(void);

/* What was made from the communicator of all, or MPI_COMM_NULL, is freed at the end of the epoch. */
void sub_add(MPI_Comm comm);

/* --- acts.c --- */
void one_operation(const char *directory);

#endif
