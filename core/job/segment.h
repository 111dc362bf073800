/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job segment: what a launched process inherits instead of asking a server.
 *
 * The runtime (world/runtime) creates two anonymous memory files (memfd) per job and node, and lets every process of
 * the job inherit their descriptors. They have no name, so nothing can be left behind. On each of several hosts there
 * is a segment for all ranks of the job; the agent of that host keeps the slots of the ranks of other hosts up to date.
 *
 *     struct pl_job_segment   the description: only the runtime writes it
 *     struct pl_job_shared    slots of the ranks, abort record, published process sets, record pages: all write it;
 *                             one for each tenant, `tenant_bytes` apart
 *
 * A tenant is a copy of this library in the processes of the job (core/job/tenant.h): that of the program, which is the
 * first, and those of libraries that bring their own. The ranks of a tenant meet in its part of the shared memory as if
 * it were the only one. The first part has what concerns the process as a whole: the holders of ranks, the list of
 * tenants, the abort record, the published process sets. Parts that are never written take no memory.
 *
 * The environment names the first, PLENUM_JOB=<fd>:<cookie as 16 hex digits>:<rank>, which says where the second is.
 * Processes map the description for reading, and the kernel lets none map it for writing (F_SEAL_FUTURE_WRITE). So
 * what bounds the shared part, or leads into it, cannot be damaged by a stray store of a rank, and a runtime that
 * follows it is safe.
 *
 * A reader of the shared part trusts nothing: it reads each word once, or copies the whole (core/base/shared.h), bounds
 * the copy, and uses only that. pl_job_segment_check() decides whether a description is whole.
 *
 * A pool (core/job/attach_file.h) has both parts in one file.
 */
#ifndef PLENUM_CORE_JOB_SEGMENT_H
#define PLENUM_CORE_JOB_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

#define PL_JOB_ENV   "PLENUM_JOB"
#define PL_JOB_MAGIC 0x31424f4a4e454c50ull /* "PLENJOB1" */
#ifndef PL_JOB_VERSION                     /* a build for tests may have another one */
#define PL_JOB_VERSION 19u
#endif
#define PL_CARD_MAX 472u /* bytes of one address card */

enum { PL_JOB_TENANTS = 64 };

enum pl_card_slot { PL_CARD_LISTENER, PL_CARD_WORLD, PL_CARD_SLOTS };

/* An address card (MPICH's business card): how to reach an engine of a process. core/job/card.h writes and reads it.
 * `generation` 0 means that there is no card, not yet or no more. */
struct pl_job_card {
    /* Of a World the number of the owner's claim (struct pl_job_rank) in the lower bits, PL_CARD_CLAIM; else any new
     * number. */
    _Atomic uint32_t generation;
    uint32_t length; /* bytes used of data */
    unsigned char data[PL_CARD_MAX];
};

/* What tells the cards of one World apart is in the upper bits. */
enum { PL_CARD_CLAIM_BITS = 24, PL_CARD_CLAIM = (1 << PL_CARD_CLAIM_BITS) - 1 };

/* What does not know a process by its pid. Bits. */
enum pl_apart {
    PL_APART_PROCESSES = 1, /* the other processes: it is in other namespaces than the first (home, below) */
    PL_APART_RUNTIME = 2,   /* the runtime, or the agent of the host: it is in another pid namespace */
};

/* One rank's slot. A rank has one owner at a time: the process that changed `owner` from 0, or from the pid of a
 * process that is gone, to its own pid. An owner that releases the rank leaves its pid negated, and may take the rank
 * again. */
struct pl_job_rank {
    _Atomic int32_t owner;     /* pid, in the owner's pid namespace; negated: released; 0: none */
    _Atomic uint32_t claims;   /* number of claims so far: 1 while its first program runs */
    _Atomic uint32_t state;    /* enum pl_process_state */
    _Atomic uint32_t deaths;   /* of a pool: processes of this rank that died and were replaced */
    _Atomic int32_t fd;        /* of a pool: the owner's descriptor of the pool's file */
    _Atomic uint32_t must_end; /* 1: a process of its communicator aborts it */
    _Atomic int32_t process;   /* of the first tenant: pid of the process that holds the rank while it lives; 0: none */
    _Atomic uint64_t copy;     /* the owner's copy of the library (core/job/tenant.h); 0: none yet */
    _Atomic uint32_t cards;    /* number of cards that were written so far */
    _Atomic uint32_t apart;    /* of the first tenant: enum pl_apart */
    _Atomic int32_t dead;      /* the owner whose process another rank found to have ended while it had the rank */
    _Atomic uint32_t child; /* of the first tenant: how far a World has come with the processes that spawned the job */
    struct pl_job_card card[PL_CARD_SLOTS];
};

enum pl_child_state { PL_CHILD_NONE, PL_CHILD_CONNECTS, PL_CHILD_CONNECTED };

enum pl_process_state {
    PL_PROCESS_STARTED,
    PL_PROCESS_INITIALIZED,
    PL_PROCESS_FINALIZED,
    PL_PROCESS_ABORTED,  /* it ends itself: for the reason in `abort`, or its own if another rank was first */
    PL_PROCESS_UNABLE,   /* its MPI_Init has failed (core/job/unable.h), which it may try again */
    PL_PROCESS_GIVEN_UP, /* ... and another process has acted on that */
};

/* A process that aborts stores PL_PROCESS_ABORTED as its state. The first one wins `claimed`, fills in the rest, then
 * stores `set`. The runtime reads it once a process of that state has ended. */
struct pl_job_abort {
    _Atomic uint32_t claimed;
    _Atomic uint32_t set;
    uint32_t partial; /* not 0: only the ranks whose `must_end` is set are to end, where the job goes on without them */
    int32_t rank;
    int32_t code;       /* MPI_Abort's errorcode, or the error code of a fatal error handler */
    char object[128];   /* the name of the communicator, window, file or session; empty: none */
    char message[1024]; /* one line, no newline */
};

/* What all processes of the job write: the part of one tenant. */
struct pl_job_shared {
    struct pl_job_abort abort;
    /* Of the first tenant: the namespaces of the first process. Those in others are apart: they share no memory with
     * it, and no pids. */
    _Atomic uint64_t home;
    _Atomic uint32_t found_dead; /* how often a rank found another one's process to have ended (pl_job_rank.dead) */
    _Atomic uint32_t lacking;    /* of the first tenant: not 0: a process lacks shared memory, so all need a network */
    /* Of the first tenant, by the numbers of the others: their keys, 0 if there is none, and when each was last opened,
     * by the count of all openings. `seating`: the pid that changes these, or 0 (core/job/tenant.h). */
    _Atomic uint64_t tenant[PL_JOB_TENANTS];
    _Atomic uint64_t tenant_opened[PL_JOB_TENANTS];
    _Atomic uint64_t openings;
    _Atomic int32_t seating;
    PL_CACHE_ALIGNED struct pl_job_rank ranks[];
};

/* Process sets and other texts lie behind the header: offsets are in bytes from its start, unless they are said to be
 * in the shared part. */
struct pl_job_pset {
    uint32_t name;   /* offset of a NUL-terminated URI */
    uint32_t ranges; /* offset of `count` pairs of uint32_t: first rank, last rank */
    uint32_t count;
};

enum pl_gone { PL_GONE_NOT, PL_GONE_ENDED, PL_GONE_FAILED };

/* What the runtime tells of a rank. */
struct pl_job_told {
    _Atomic uint32_t gone; /* enum pl_gone: has the process that was started ended, perhaps by a signal or an error? */
    _Atomic uint32_t unread; /* questions (core/job/question.h) that the runtime could not read */
};

struct pl_job_segment {
    uint64_t magic;
    uint32_t version;
    uint32_t size; /* ranks in the job */
    uint64_t cookie;
    uint64_t bytes;        /* of the description */
    uint64_t shared_bytes; /* of the shared part */
    uint64_t tenant_bytes; /* from a tenant's part to the next one's: all of it in a pool, which has one tenant */
    uint32_t tenants;      /* parts that there are */
    int32_t shared_fd;     /* the descriptor of the shared part; -1: it follows the description in its file */
    int32_t runtime_pid;
    uint32_t universe; /* MPI_UNIVERSE_SIZE; 0: not set */
    uint32_t slots;    /* cores that the job may use on this node, for the waiting policy */
    uint32_t psets;    /* offset and number of struct pl_job_pset */
    uint32_t pset_count;
    uint32_t appnum; /* offset of int32_t[size]: MPI_APPNUM by rank */
    uint32_t apps;   /* offset and number of struct pl_job_app, for MPI_INFO_ENV */
    uint32_t app_count;
    uint32_t cpus;            /* offset of uint64_t[size][cpu_words], a bit for each processor that a rank was given */
    uint32_t cpu_words;       /* 0: unknown */
    uint32_t told;            /* offset of struct pl_job_told[size]; 0: a pool, which has no runtime */
    uint64_t table;           /* offset in the shared part of the sets that are published (core/job/sets.h); 0: none */
    uint32_t table_capacity;  /* bytes of each of its buffers */
    int32_t note_pipe_fd;     /* the runtime's pipe for notes (core/job/note.h), by its descriptor there, */
    uint64_t note_pipe_inode; /* ... and by its inode; 0: there is none */
    int32_t notes_fd; /* the same pipe, by the descriptor that a process inherits in a job of several hosts; 0: none */
    uint64_t runtime_pids;      /* inodes of the runtime's pid namespace, */
    uint64_t runtime_users;     /* ... and of its user namespace; 0: unknown */
    uint32_t survives_failures; /* 1: the other processes continue when one fails */
    uint32_t parent;            /* of spawned processes: offset of the name of the parents' port; 0: none */
    uint32_t hosts;             /* that the job is on, where an agent starts its processes; 0: there is no agent */
    uint32_t host;              /* the number of this one */
    uint32_t host_of;           /* offset of uint32_t[size], the host of each rank; 0: there is one host */
    uint64_t records;           /* offset in the shared part of the ranks' pages (core/job/report.h); 0: none */
    _Atomic uint32_t ended;     /* how often the runtime has told that a rank's process has ended */
    _Atomic uint32_t report;    /* number of job reports that the runtime has asked for */
    char nspace[256];           /* name of the job, NUL-terminated, unique on this machine */
};

/* One program of an MPMD job, for MPI_INFO_ENV: offsets of NUL-terminated texts; 0: not given. */
struct pl_job_app {
    uint32_t command;
    uint32_t argv; /* the arguments behind argv[0], joined by one space */
    uint32_t wdir;
    uint32_t first; /* first rank */
    uint32_t count; /* ranks */
};

/* The part of a tenant. `shared`: that of the first one, with all others mapped behind it. */
static inline struct pl_job_shared *pl_job_part(const struct pl_job_segment *job, struct pl_job_shared *shared,
                                                uint32_t tenant)
{
    return (struct pl_job_shared *)((char *)shared + tenant * job->tenant_bytes);
}

/* Does the job have a tenant of this number? */
static inline bool pl_job_has_tenant(const struct pl_job_shared *shared, uint32_t tenant)
{
    return tenant == 0 || atomic_load(&shared->tenant[tenant]) != 0;
}

/* The place of the tenant with this key. If no place has the key, a vacant one gets it. -1: there is none, of `limit`.
 * Takes no lock: copies and an agent may enter the same key at the same time. */
int pl_job_enter_tenant(struct pl_job_shared *first, uint32_t limit, uint64_t key);

/* NULL: a pool. */
static inline struct pl_job_told *pl_job_told(const struct pl_job_segment *job, int rank)
{
    return job->told ? (struct pl_job_told *)((char *)job + job->told) + rank : NULL;
}

/* The runtime, which can write the description, tells that a rank's process has ended. */
static inline void pl_job_tell_gone(const struct pl_job_segment *job, int rank, enum pl_gone how)
{
    atomic_store(&pl_job_told(job, rank)->gone, (uint32_t)how);
    atomic_fetch_add(&((struct pl_job_segment *)job)->ended, 1);
}

/* The number of a rank's host. */
static inline uint32_t pl_job_host_of(const struct pl_job_segment *job, uint32_t rank)
{
    return job->host_of ? ((const uint32_t *)((const char *)job + job->host_of))[rank] : job->host;
}

/* The pid in an owner word; 0: there is none. */
static inline int32_t pl_job_owner_pid(int32_t owner)
{
    return owner == INT32_MIN ? 0 : owner < 0 ? -owner : owner;
}

/* The pid of a rank's process, as the runtime knows it; 0: there is none, or it is in another namespace. */
static inline int32_t pl_job_known_pid(const struct pl_job_rank *rank)
{
    return atomic_load(&rank->apart) & PL_APART_RUNTIME ? 0 : atomic_load(&rank->process);
}

/* Is the mapping of `bytes` bytes a whole description with this cookie and rank? Then all offsets are inside, those in
 * the shared part if that has `shared_bytes`, and all texts end. Returns NULL, or what is wrong, as one line, valid
 * until the thread's next check. */
const char *pl_job_segment_check(const struct pl_job_segment *job, size_t bytes, uint64_t cookie, long rank);

#endif
