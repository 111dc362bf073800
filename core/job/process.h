/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process as such: who it is, and how it finds the others. Open while at least one instance is.
 *
 * Its place comes from a bootstrap, the first of these that fits: `attached` (a pool that it has joined,
 * core/job/attach.h), `inherited` (the job segment of the embedded launcher), `pmix` (another launcher's PMIx server),
 * `singleton` (nobody launched it).
 */
#ifndef PLENUM_CORE_JOB_PROCESS_H
#define PLENUM_CORE_JOB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/lock.h"
#include "core/job/segment.h"
#include "core/object/group.h"

/* What a bootstrap tells about the process. Filled in by open(). */
struct pl_identity {
    char nspace[256];
    uint64_t key;            /* with nspace, tells the job from all others, wherever they run; 0: nspace does */
    int rank, size;          /* in the job */
    int local_size;          /* processes of the job on this node */
    int appnum;              /* -1: not known */
    int universe;            /* 0: not known */
    int slots;               /* cores for the job on this node; 0: not known */
    uint32_t generation;     /* how often this rank was claimed: peers of one World have the same */
    const char *local_ranks; /* of this node, "0,1,4", when they are not all of the job; NULL: not known */
    const struct pl_job_segment *job; /* the job segment when inherited, the pool's when attached, else NULL */
    bool attached;                    /* to a pool */
    bool
        watched; /* nobody ends this process when another of the job dies: the engines look (core/engine/peer_failure.h) */
};

/* What the library offers to a bootstrap that lives in a shared object. */
struct pl_bootstrap_host {
    int (*fail)(int class, const char *format, ...); /* pl_fail() */
    void (*log)(const char *subsystem, int level, const char *format, ...);
};

/*
 * A bootstrap. All functions may be called by any thread, one at a time (the process lock is held), and must not
 * block for another process. Errors: MPI error class, recorded.
 */
struct pl_bootstrap_ops {
    uint32_t abi; /* PL_BOOTSTRAP_ABI */
    const char *name;
    /* PL_UNREACHABLE: not launched this way, try the next. Any other error is the user's to see. */
    int (*open)(struct pl_identity *place);
    void (*close)(void);
    /* Makes this process's card known; withdraws it (length 0). */
    int (*publish)(enum pl_card_slot slot, const void *card, size_t length);
    /* The card of a rank of the own job, into PL_CARD_MAX bytes. PL_AGAIN: not there yet. MPI_ERR_PROC_ABORTED or
     * another class: it never will be. */
    int (*lookup)(int rank, enum pl_card_slot slot, void *card, size_t *length);
    /* Tells the launcher why the job ends; returns, if at all, to a caller that then exits with `code`. */
    void (*abort)(int code, const char *object, const char *message);
    /* The World was initialized (PL_PROCESS_INITIALIZED) or finalized: launchers report a process that ends in between. */
    void (*state)(enum pl_process_state state);
    /* Names a rank that is to end with this process in the abort() that follows: then it and no other, if the launcher
     * can do that. NULL: it cannot. */
    void (*abort_also)(int rank);
    /* Called once after loading, before anything else; NULL: it is built in and calls the library by name. */
    void (*attach)(const struct pl_bootstrap_host *host);
    /* Does a rank's process live? MPI_ERR_PROC_ABORTED: it has ended and will not come. PL_AGAIN: that is not known.
     * NULL: it never is. */
    int (*alive)(int rank);
    /* Says the process sets that the launcher defines, each with the ranks of its members; the names may be any text. A
     * result of `found` other than 0 ends it and is returned. Asks the own server only. Any thread, no lock. NULL:
     * there are none. */
    int (*psets)(int (*found)(void *to, const char *name, const int *ranks, int count), void *to);
    /* Has a rank's process ended while MPI was in use there? NULL: alive() tells. */
    bool (*died)(int rank);
    /* How many processes have died as this rank and had their place taken by another since the job began. NULL: none
     * has. */
    uint32_t (*deaths)(int rank);
    /* A name service of the launcher's, for core/job/services.h. May ask a server, without the process lock.
     * PL_UNREACHABLE: it has none. All three may be NULL together. */
    int (*publish_name)(const char *name, const char *value); /* MPI_ERR_SERVICE: it is published already */
    int (*withdraw_name)(const char *name);
    int (*find_name)(const char *name, char *value, size_t room); /* MPI_ERR_NAME */
};

/* For a process that fails before its place is found: tells the launcher that left a job segment, if there is one and
 * no bootstrap is open. False: nobody was told. */
bool pl_inherited_abort_early(int code, const char *object, const char *message);

enum { PL_BOOTSTRAP_ABI = 6 };
#define PL_BOOTSTRAP_SYMBOL "plenum_bootstrap"

struct pl_process {
    struct pl_lock lock;     /* PL_RANK_WORLD */
    int instances;           /* how many hold it open */
    pid_t pid;               /* who opened it: a forked child has all of this too, and none of it is its own */
    uint64_t id;             /* random, for communicator ids: different for every process and every opening */
    _Atomic uint32_t serial; /* communicator ids made so far */
    struct pl_identity place;
    const struct pl_bootstrap_ops *bootstrap;
    void (*closing)(void); /* called before the bootstrap closes: the front door, when it is open */
};
extern struct pl_process pl_process;

/* This process as a member of groups. */
static inline uint64_t pl_process_self(void)
{
    return PL_PROC(0, pl_process.place.rank);
}

/* Is this a child that was forked while the process was open, and has executed no program since? MPI_ERR_OTHER. */
int pl_process_check_forked(void);

/* MPI_ERR_OTHER: no instance is open, MPI is not initialized and there is no session. */
int pl_process_check_open(void);

/* Counted. */
int pl_process_open(void);
void pl_process_close(void);

/* The card of a process of group members (pl_group_proc()). */
int pl_process_lookup(uint64_t proc, enum pl_card_slot slot, void *card, size_t *length);
int pl_process_publish(enum pl_card_slot slot, const void *card, size_t length);

/* Does it live? MPI_ERR_PROC_ABORTED (not recorded): it has ended. PL_AGAIN: that is not known. */
int pl_process_alive(uint64_t proc);

/* Has it ended while MPI was in use there, and was not replaced? False as well when that is not known. */
bool pl_process_died(uint64_t proc);

/* How many have died as this process and were replaced. */
uint32_t pl_process_deaths(uint64_t proc);

/* Names a process that is to end in the pl_process_abort() that follows, and no other but this one and those named too,
 * as far as the launcher can. */
void pl_process_abort_also(uint64_t proc);

/* Ends this process, and as much of the job as the launcher can, with one line of reason. Does not return. */
_Noreturn void pl_process_abort(int code, const char *object, const char *message);

#endif
