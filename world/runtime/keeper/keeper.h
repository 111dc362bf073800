/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keeper: a launch daemon. Each runtime has one small process that is the parent of all its ranks.
 *
 * The keeper starts the ranks, so an embedding program with many threads forks only once. It learns of their ends at
 * once, adopts the processes that they leave behind, and kills everything when the embedding program is gone. The two
 * talk over a SOCK_SEQPACKET socket pair in the messages below, which carry descriptors.
 *
 * The keeper is forked from the embedding program and never executes another one. So everything in keeper.c,
 * keeper_spawn.c, orphans.c and sweep.c (except pl_sweep_machine()) uses only system calls and async-signal-safe
 * functions, no allocation except mmap(), no stdio, and no state of the embedding program.
 */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_H
#define PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "world/runtime/keeper/plan.h"

enum { PL_KEEPER_BATCH = 12 }; /* ranks in one PL_KEEPER_RANKS: few, so that low limits suffice */
enum { PL_KEEPER_EACH = 4 };   /* descriptors of each */
enum { PL_KEEPER_FDS = PL_KEEPER_EACH * PL_KEEPER_BATCH };

enum pl_keeper_op {
    PL_KEEPER_JOB = 1,   /* a new job; descriptors: plan, both parts of the job segment, the pipe for notes */
    PL_KEEPER_RANKS,     /* start ranks [first, first + count); descriptors: 0, 1, 2 and the one for PMI of each */
    PL_KEEPER_FORGO,     /* start no further ranks; the job is over when the running ones have ended */
    PL_KEEPER_SIGNAL,    /* `signal` to the process group of rank `first`, or of all running ranks when it is -1 */
    PL_KEEPER_SYMBOLIZER /* start the symbolizer (report/symbols.h); descriptors: the program, a socket */
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
    PL_KEEPER_FAILED,      /* `rank` could not be started: `status` is the errno, `stage` the step that failed */
    PL_KEEPER_ENDED,       /* the process of `rank` has ended with wait status `status`, and its group was killed */
    PL_KEEPER_GONE         /* no process of the job is left; `status` is an errno when the keeper rejected the job */
};

enum pl_keeper_stage { PL_STAGE_FORK = 1, PL_STAGE_WDIR, PL_STAGE_SETUP, PL_STAGE_STOP, PL_STAGE_EXEC };

/* What a process has used, by wait4(): with the children that it has waited for. */
struct pl_usage {
    int64_t user_us, system_us;
    int64_t peak; /* bytes of memory */
};

struct pl_keeper_notice {
    uint32_t kind;
    uint32_t job;
    uint32_t rank;
    int32_t pid;
    int32_t status;
    uint32_t stage;
    int64_t time_us;       /* STARTED, ENDED: when, in microseconds since 1970 */
    int64_t run_us;        /* ENDED: microseconds between start and end */
    struct pl_usage usage; /* ENDED */
};

/* --- the keeper's own records ------------------------------------------------------------------------------ */

enum pl_kept_phase { PL_KEPT_WAITING, PL_KEPT_RUNNING, PL_KEPT_ENDED };

struct pl_kept_rank {
    pid_t pid;
    uint8_t phase;  /* enum pl_kept_phase */
    uint8_t unsent; /* notices to send: bits 1 << PL_KEEPER_STARTED ..., in the order of their values */
    uint8_t stage;
    int32_t status; /* wait status, or errno when it could not be started */
    int64_t started_us, ended_us;
    int64_t run_us; /* before its end: CLOCK_MONOTONIC at its start */
    struct pl_usage usage;
};

struct pl_kept_job {
    struct pl_kept_job *next;
    size_t mapped; /* bytes of this mapping */
    const struct pl_plan *plan;
    size_t plan_bytes;
    int segment, shared, notes; /* descriptors; closed when all ranks have been started. The last may be -1 */
    uint32_t id;
    uint32_t size;
    uint32_t waiting; /* ranks still to be started */
    uint32_t running;
    bool gone;      /* send PL_KEEPER_GONE, then free the record */
    int32_t status; /* an errno when the job was rejected: it then has neither ranks nor plan */
    struct pl_kept_rank rank[];
};

/* Runs the keeper in the child of the fork. */
_Noreturn void pl_keeper_run(int socket, pid_t embedder);

#endif
