/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keeper: one small process for each runtime that is the parent of all ranks.
 *
 * It starts them (so that a host with many threads forks only once), hears of their ends at once, adopts what they
 * leave behind, and kills everything when its host is gone. The host talks to it over a SOCK_SEQPACKET socket pair,
 * in the messages below; descriptors travel with them.
 *
 * The keeper is forked from the host and never executes another program. Everything in keeper*.c therefore uses only
 * system calls and async-signal-safe functions, no allocation but mmap(), no stdio, and no state of the host.
 */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_H
#define PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "world/runtime/keeper/plan.h"

enum { PL_KEEPER_BATCH = 16 }; /* ranks in one PL_KEEPER_RANKS: three descriptors each, so that low limits suffice */
enum { PL_KEEPER_FDS = 3 * PL_KEEPER_BATCH };

enum pl_keeper_op {
    PL_KEEPER_JOB = 1,   /* a new job; descriptors: plan, job segment */
    PL_KEEPER_RANKS,     /* start ranks [first, first + count); descriptors: 0, 1 and 2 of each */
    PL_KEEPER_FORGO,     /* start no further ranks; the job is over when those that run have ended */
    PL_KEEPER_SIGNAL,    /* `signal` to the process group of rank `first`, or of all that run when it is -1 */
    PL_KEEPER_SYMBOLIZER /* start it (symbols.h); descriptors: the program, its standard input and output */
};

struct pl_keeper_request {
    uint32_t op;
    uint32_t job;
    int32_t first;
    uint32_t count;
    int32_t signal;
};

enum pl_keeper_notice_kind {
    PL_KEEPER_STARTED = 1, /* `rank` runs as `pid` */
    PL_KEEPER_FAILED,      /* `rank` could not be started: `status` is the errno, `stage` what failed */
    PL_KEEPER_ENDED,       /* the process of `rank` has ended with wait status `status`, and its group was killed */
    PL_KEEPER_GONE /* nothing of the job is left; `status` is an errno when the keeper could not take it at all */
};

enum pl_keeper_stage { PL_STAGE_FORK = 1, PL_STAGE_WDIR, PL_STAGE_SETUP, PL_STAGE_EXEC };

struct pl_keeper_notice {
    uint32_t news;
    uint32_t job;
    uint32_t rank;
    int32_t pid;
    int32_t status;
    uint32_t stage;
};

/* --- the parts of the keeper ------------------------------------------------------------------------------- */

enum pl_kept_phase { PL_KEPT_WAITING, PL_KEPT_RUNNING, PL_KEPT_ENDED };

struct pl_kept_rank {
    pid_t pid;
    uint8_t phase;      /* enum pl_kept_phase */
    uint8_t unreported; /* bits 1 << PL_KEEPER_STARTED ..., in the order of their values */
    uint8_t stage;
    int32_t status; /* wait status, or errno when it could not be started */
};

struct pl_kept_job {
    struct pl_kept_job *next;
    size_t mapped; /* bytes of this mapping */
    const struct pl_plan *plan;
    size_t plan_bytes;
    int segment; /* descriptor; closed when all ranks have been started */
    uint32_t id;
    uint32_t size;
    uint32_t waiting; /* ranks still to be started */
    uint32_t running;
    bool gone;      /* to be reported as such, then freed */
    int32_t status; /* an errno when it could not be taken at all: then there are no ranks and no plan */
    struct pl_kept_rank rank[];
};

/* Starts a rank; its result is in `*rank`. `fd` are its standard streams, which stay open.
 * `shared` is a page in MAP_SHARED memory, where the child says what failed. */
void pl_keeper_spawn(const struct pl_kept_job *job, uint32_t number, const int fd[3], int *shared,
                     struct pl_kept_rank *rank);

/* Starts the symbolizer, with an empty environment. If that fails its end of the socket is closed, no more. */
void pl_keeper_spawn_symbolizer(int program, int socket);

/* Kills the adopted children whose environment holds `cookie`, or all children when `all`. Returns how many signals
 * were sent: 0 means that nothing is left. */
int pl_keeper_sweep(struct pl_kept_job *jobs, uint64_t cookie, bool all);

/* The keeper itself, in the child of the fork. */
_Noreturn void pl_keeper_run(int socket, pid_t host);

#endif
