/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process itself: its identity, and how it finds other processes. Open while at least one instance is.
 *
 * The identity comes from the first bootstrap that applies: `attached` (a pool that it has joined,
 * core/job/attach.h), `inherited` (the job segment of the embedded launcher), `pmix` and `pmi` (another launcher's PMIx
 * or PMI-1 server). The last is `singleton`, a job of one; it fails where a launcher is seen. PLENUM_ALONE=1, or the
 * info key plenum_alone of a session, chooses it at once.
 */
#ifndef PLENUM_CORE_JOB_PROCESS_H
#define PLENUM_CORE_JOB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/job/segment.h"
#include "core/object/group.h"
#include "core/object/object.h"

/* A process's identity. The bootstrap's open() fills it in. */
struct pl_identity {
    char nspace[256];
    uint64_t key;                     /* with nspace, distinguishes the job from all others anywhere; 0: nspace does */
    int rank, size;                   /* in the job */
    int local_size;                   /* processes of the job on this node */
    int appnum;                       /* -1: unknown */
    int universe;                     /* 0: unknown */
    int slots;                        /* cores for the job on this node; 0: unknown */
    uint32_t generation;              /* number of this claim of the rank: the processes of one World have the same */
    const char *local_ranks;          /* of this node, "0,1,4", unless they are all of the job; NULL: unknown */
    const struct pl_job_segment *job; /* the job segment when inherited, the pool's when attached, else NULL */
    struct pl_job_shared *shared;     /* its shared part: this copy's own (core/job/tenant.h) */
    struct pl_job_shared *common;     /* ... and the first, which all copies use */
    bool attached;                    /* to a pool */
    bool apart;                       /* in other namespaces than the job's first process: struct pl_job_shared.home */
    bool hidden;                      /* in another pid namespace than the runtime that started the job, */
    bool confined;                    /* ... in another user namespace */
    /* No launcher ends this process when another of the job dies: engines check (core/engine/peer_failure.h). */
    bool watched;
};

/* What the library offers to a bootstrap in a shared object. */
struct pl_bootstrap_host {
    int (*fail)(int class, const char *format, ...); /* pl_fail() */
    void (*log)(const char *subsystem, int level, const char *format, ...);
    void (*tenant)(uint32_t number, char *name); /* pl_tenant_name() */
};

/* How a process is absent from the World. */
enum pl_absence {
    PL_STAYS,
    PL_DEPARTED, /* it has finalized, or ended in good order */
    PL_DIED,
    PL_UNABLE, /* it has never been there: its MPI_Init has failed */
};

/*
 * A bootstrap. Any thread may call its functions, one at a time, and none may block for another process, unless stated
 * otherwise. Errors: MPI error class, recorded.
 */
struct pl_bootstrap_ops {
    uint32_t abi; /* PL_BOOTSTRAP_ABI */
    const char *name;
    /* PL_UNREACHABLE: not launched this way, the next bootstrap is tried. Any other error is reported to the user. */
    int (*open)(struct pl_identity *identity);
    void (*close)(void);
    /* Publishes a card of this process; withdraws it if length is 0. */
    int (*publish)(enum pl_card_slot slot, const void *card, size_t length);
    /* Copies the card of a rank of this job into PL_CARD_MAX bytes. PL_AGAIN: it is not there yet. MPI_ERR_PROC_ABORTED
     * or another class: it will never be. */
    int (*lookup)(int rank, enum pl_card_slot slot, void *card, size_t *length);
    /* Tells the launcher why the job ends. If it returns, the caller exits with `code`. */
    void (*abort)(int code, const char *object, const char *message);
    /* The World was initialized (PL_PROCESS_INITIALIZED) or finalized: launchers report a process that ends between. */
    void (*state)(enum pl_process_state state);
    /* Adds a rank to those that the following abort() ends with this process: then these and no others, if the launcher
     * can do that. NULL: it cannot. */
    void (*abort_also)(int rank);
    /* Called before every other function, by the same thread: the call is for this copy of the library. NULL: it is
     * built in and calls the library by name. */
    void (*attach)(const struct pl_bootstrap_host *host);
    /* Is a rank's process alive? MPI_ERR_PROC_ABORTED: it has ended and will not return. PL_AGAIN: unknown. NULL:
     * always unknown. */
    int (*alive)(int rank);
    /* Calls `found` for each process set of the launcher, with the ranks of its members; the names may be any text. A
     * result other than 0 ends the iteration and is returned. Asks the local server only. Any thread, no lock. NULL:
     * there are none. */
    int (*psets)(int (*found)(void *to, const char *name, const int *ranks, int count), void *to);
    /* Has a rank's process ended while it used MPI? Unless it `asks` the system, the answer is what is known already,
     * and takes no system call. NULL: alive() decides. */
    bool (*died)(int rank, bool asks);
    /* A number that changes after what is known of the deaths of any ranks has changed. NULL: nothing is known unless
     * the system is asked. */
    uint32_t (*known_deaths)(void);
    /* The number of processes of this rank, since the job began, that died and were replaced. NULL: always 0. */
    uint32_t (*deaths)(int rank);
    /* The launcher's name service, for core/job/services.h. May ask a server, without the process lock. PL_UNREACHABLE:
     * there is none. All three may be NULL together. */
    int (*publish_name)(const char *name, const char *value); /* MPI_ERR_SERVICE: it is published already */
    int (*withdraw_name)(const char *name);
    int (*find_name)(const char *name, char *value, size_t capacity); /* MPI_ERR_NAME */
    /* For a process that fails before it has an identity, while no bootstrap is open: tells the launcher why, if this
     * process has such a launcher. False: it has not. Asked of built-in bootstraps only. NULL: it never has. */
    bool (*abort_early)(int code, const char *object, const char *message);
    /* Why does a rank take no part in this World any more, as words behind "rank 3 of MPI_COMM_WORLD"? PL_STAYS, and no
     * words: it does, as far as is known. NULL: unknown. */
    enum pl_absence (*absence)(int rank, char words[PL_DETAIL_MAX]);
    /* MPI_Init has failed in this process with this class, or is called again (MPI_SUCCESS), which is refused if others
     * have acted on the failure. Also while the bootstrap is not open. Asked of built-in bootstraps only. NULL: the
     * others do not learn of it. */
    int (*unable)(int class, const char *why);
    /* Do others see a card that replaces one of this process? It is so as long as this is unknown. NULL: they do. */
    bool (*replaces)(void);
};

enum { PL_BOOTSTRAP_ABI = 13 };
#define PL_BOOTSTRAP_SYMBOL "plenum_bootstrap"

/* What a room above keeps for as long as the process is open. A slot may be NULL. */
struct pl_process_part {
    /* The process opens. An MPI error class, recorded, keeps it closed. Process lock held. */
    int (*open)(void);
    /* The process has closed, or failed to open. Process lock held. */
    void (*close)(void);
    /* Moves communication on while a thread waits for something else; returns the number of events. No lock held. */
    int (*progress)(void);
};
enum { PL_PROCESS_PARTS = 3 };
extern const struct pl_process_part pl_process_parts[PL_PROCESS_PARTS]; /* core/kinds.c */

/* How far the World Model has come. */
enum pl_world_state { PL_WORLD_BEFORE, PL_WORLD_INITIALIZED, PL_WORLD_FINALIZED };
extern _Atomic int pl_world_state;

/* What must close before the bootstrap does, and may have to wait for other processes: the listener. */
struct pl_process_closing {
    bool (*close)(void); /* process lock held, must not wait. False: flush() must be called before; still in use then */
    void (*flush)(void); /* waits until other processes have taken what was sent to them. No lock held */
};

struct pl_process {
    struct pl_lock lock; /* PL_RANK_WORLD */
    int instances;       /* that hold it open */
    pid_t pid;           /* of the process that opened it: a forked child inherits all of this, and owns none of it */
    uint64_t id;         /* random, for communicator ids: unique for every process and every opening */
    _Atomic uint64_t comms; /* communicator ids given out so far */
    struct pl_identity identity;
    bool chosen_alone; /* by a session's info key */
    const struct pl_bootstrap_ops *bootstrap;
    const struct pl_process_closing *closing; /* NULL: the listener is not open */
};
extern struct pl_process pl_process;

/* This process as a member of groups. */
static inline uint64_t pl_process_self(void)
{
    return PL_PROC(0, pl_process.identity.rank);
}

/* The user's decision that this process joins no launcher's job. Process lock held. */
bool pl_process_wants_alone(void);

/* MPI_ERR_OTHER: this is a child that was forked while the process was open and has not called exec() since. */
int pl_process_check_forked(void);

/* MPI_ERR_OTHER: no instance is open, MPI is not initialized and there is no session. */
int pl_process_check_open(void);

/* Counted: the first opens, the last closes. */
int pl_process_open(void);

/* The same for a session that is to be alone by its info key: the process joins no launcher's job, and must not have
 * joined one. */
int pl_process_open_alone(void);

/* MPI_ERR_OTHER: a session has made this process a job of its own, and there is a launcher whose job it could join. */
int pl_process_check_joined(void);

/* The last one may wait for other processes, without the process lock: instances may open and close meanwhile. */
void pl_process_close(void);

/* The same, of the last instance. False: there are others, and this one stays open. */
bool pl_process_close_last(void);

/* The card of a group's member (pl_group_proc()). */
int pl_process_lookup(uint64_t proc, enum pl_card_slot slot, void *card, size_t *length);
int pl_process_publish(enum pl_card_slot slot, const void *card, size_t length);

/* Is it alive? MPI_ERR_PROC_ABORTED (not recorded): it has ended. PL_AGAIN: unknown. */
int pl_process_alive(uint64_t proc);

/* A process of the job has no shared memory, so all of the job need a network: this process notes it, or asks. The
 * answer may be old unless it asks `now`, which takes system calls under another launcher. */
void pl_process_mark_lacking(void);
bool pl_process_sees_lacking(bool now);

/* Why does it take no part in the World any more, as words behind its name? PL_STAYS also if that is unknown. */
enum pl_absence pl_process_absence(uint64_t proc, char words[PL_DETAIL_MAX]);

/* MPI_Init fails in this process: tells the others of its job, and the processes that have spawned it. Nothing happens
 * where they do not wait for this process, or no launcher can tell them. */
void pl_process_tell_unable(int class, const char *why);

/* MPI_Init begins, perhaps again. MPI_ERR_OTHER: others have acted on an earlier failure of this process. */
int pl_process_check_unable(void);

/* Has it ended while it used MPI, and was it not replaced? False also if unknown. `asks`: the system, a few calls. Else
 * the answer is what is known already. */
bool pl_process_died(uint64_t proc, bool asks);

/* Reads a number that changes after what is known of the deaths of any processes of the job has changed. False: nothing
 * is known unless the system is asked. */
bool pl_process_known_deaths(uint32_t *number);

/* The number of processes of this rank that died and were replaced. */
uint32_t pl_process_deaths(uint64_t proc);

/* Moves on what the rooms above have under way; returns the number of events. No lock held. */
int pl_process_progress(void);

/* Errors of no object (core/object/object.h): they end the job. */
extern const struct pl_kind_errors pl_process_errors;

/* This process's rank in the job, for reports of errors, if the World is initialized or `open`; else -1. */
int pl_process_rank(bool open);

/* Adds a process to those that the following pl_process_abort() ends. Then it ends this process and those, and no
 * others, as far as the launcher can. */
void pl_process_abort_also(uint64_t proc);

/* Ends this process, and as much of the job as the launcher can, for a reason of one line. Does not return. */
_Noreturn void pl_process_abort(int code, const char *object, const char *message);

/* For abort() of a bootstrap whose launcher tells no deaths. If this process aborts because another one has died, the
 * launcher should end the job for that death, not for its consequence: it has a second for it. */
static inline void pl_process_wait_for_launcher(int code)
{
    enum { WAIT_MS = 1000, STEP_MS = 20 };
    for (int64_t end = pl_clock_ms() + WAIT_MS; code == MPI_ERR_PROC_ABORTED && pl_clock_ms() < end;)
        pl_clock_sleep_ns(STEP_MS * PL_NS_PER_MS);
}

#endif
