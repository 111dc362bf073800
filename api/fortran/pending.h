/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of sections that a request still uses, and handles that it will set. */
#ifndef PLENUM_FORTRAN_PENDING_H
#define PLENUM_FORTRAN_PENDING_H

#include <stdbool.h>

#include "api/mpi.h"

#pragma GCC visibility push(hidden)

struct plf_section;
struct plf_pending;

extern int plf_pending_total; /* read without the lock: a thread that completes a request has seen it made */

/* A record for a section, made before the operation starts: nothing can fail while it runs. NULL if memory is short. */
struct plf_pending *plf_pending_make(void);
/* The request uses the section's copy. The copy and the section's record are stolen. */
void plf_pending_add(MPI_Request request, struct plf_section *section, bool persistent);
/* The same for a communicator that the operation makes: its handle in C, which is converted to `number` when the
 * request is complete. A record that was not added is freed with free(). */
struct plf_pending *plf_pending_make_comm(MPI_Fint *number, MPI_Comm **handle);
void plf_pending_add_comm(MPI_Request request, struct plf_pending *made);
/*
 * The records of requests, before a call that may complete them: they leave the table, because another thread can get
 * the number of a request as soon as that is complete. NULL if there are none.
 */
struct plf_pending *plf_pending_claim(const MPI_Fint *requests, int count);
/* After that call: copies back what is complete; records of requests that go on return to the table. The handles stand
 * where their numbers did; NULL: there was no call. */
void plf_pending_unclaim(struct plf_pending *claimed, const MPI_Request *now);
void plf_pending_settle_slow(MPI_Fint number, MPI_Request request);
void plf_pending_start_slow(const MPI_Fint *requests, int count);
void plf_pending_free_slow(MPI_Fint request);

static inline bool plf_pending_any(void)
{
    return __atomic_load_n(&plf_pending_total, __ATOMIC_RELAXED) != 0;
}

/* After a call that has asked for the state of a request. */
static inline void plf_pending_settle(MPI_Fint number, MPI_Request request)
{
    if (plf_pending_any())
        plf_pending_settle_slow(number, request);
}

/* Before a persistent request is started. */
static inline void plf_pending_startall(int count, const MPI_Fint *requests)
{
    if (plf_pending_any())
        plf_pending_start_slow(requests, count);
}

static inline void plf_pending_start(MPI_Fint request)
{
    plf_pending_startall(1, &request);
}

/* Before a request is freed. */
static inline void plf_pending_request_free(MPI_Fint request)
{
    if (plf_pending_any())
        plf_pending_free_slow(request);
}

#pragma GCC visibility pop

#endif
