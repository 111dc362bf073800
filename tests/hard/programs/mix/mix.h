/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random MPI program whose every result is known. All ranks draw the same plan from one seed, so each knows what the
 * others do, also in communicators of others. What does not matter to other ranks, such as layouts of
 * buffers, orders of completion and pauses, each rank draws by itself. It needs nothing but MPI and C, so that other
 * MPIs can judge the program.
 *
 * It cannot deadlock: a step only waits for what other ranks do in the same step or in earlier ones.
 */
#ifndef PLENUM_TESTS_MIX_H
#define PLENUM_TESTS_MIX_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What MPICH 4.0 and Open MPI 4.1 do not have, or not right. */
#if MPI_VERSION >= 4 && !defined MPICH
#define COMPLETE 1
#else
#define COMPLETE 0 /* no persistent collectives, no partitions, no MPI_Isendrecv */
#endif

enum { RANKS = 16, GUARD = 64 };

/* --- mix.c --- */
extern struct mix {
    uint64_t seed, plan, own; /* plan: the state of what all draw */
    int step, rank, size;
    bool verbose;
} mix;

uint64_t mix_hash(uint64_t x);
unsigned plan_below(unsigned n);
unsigned own_below(unsigned n);
/* A length in bytes, often near one at which libraries change their ways. */
size_t plan_length(size_t most);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void ok(int err, const char *call);
/* The call must raise this class. */
void raised(int err, int class, const char *call);
#define OK(call)            ok(call, #call)
#define RAISES(class, call) raised(call, class, #call)

/* --- buffers.c --- */
/* Memory for MPI with guards around it, as it was first, and as it must be in the end. */
struct area {
    unsigned char *memory, *first, *expected;
    size_t size;
};
struct base {
    MPI_Datatype type;
    size_t size;
};
/* `n` elements in memory: count times an instance of blocks. */
struct layout {
    MPI_Datatype type;
    bool made; /* the type is ours to free */
    int count, blocks;
    struct {
        size_t offset, bytes;
    } block[40];
    size_t extent, span;
};

void bases_make(void);
void bases_free(void);
const struct base *plan_base(void);
void area_make(struct area *area, size_t span);
void *area_at(const struct area *area, size_t offset);
/* Puts data number `id` into what is there first, and what is expected. */
void area_fill(struct area *area, size_t offset, size_t bytes, uint64_t id, size_t from, bool first, bool expected);
void area_put(struct area *area, size_t offset, size_t bytes, const void *data, bool first, bool expected);
void area_reset(struct area *area);
void area_check(const struct area *area, const char *what, int step);
void area_free(struct area *area);
/* A random layout of n elements, each rank another one. */
void layout_make(struct layout *layout, const struct base *base, size_t n);
void layout_fill(const struct layout *layout, struct area *area, size_t bytes, uint64_t id, bool first, bool expected);
void layout_free(struct layout *layout);
/* The base, with gaps between elements: *stride bytes each. */
MPI_Datatype strided_make(const struct base *base, size_t *stride);
void strided_free(const struct base *base, MPI_Datatype *type);

/* --- ops.c --- */
/* An operation of this rank, from its start until its buffers have been checked. */
struct op {
    MPI_Request request;
    char what[64];
    int step, serial; /* of its communicator */
    bool active, persistent;
    struct op *twin; /* the send of a persistent receive from this rank itself */
    int partitions;  /* of a partitioned send, else 0 */
    struct area sent, received;
    int source, tag; /* source: MPI_UNDEFINED if the status is not checked */
    MPI_Datatype type;
    size_t elements;
    size_t loose, loose_end; /* this part of what is received may be anything */
    void *arrays;            /* counts and displacements, while MPI may read them */
};

struct op *op_new(int serial, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* It is complete: checks all and forgets it, unless it is persistent. */
void op_end(struct op *op, const MPI_Status *status);
/* It was started, and some later step completes it. */
void op_keep(struct op *op);
void op_free(struct op *op);
/* Its request is freed; its buffers are checked when all ranks have ended. */
void op_orphan(struct op *op);
void orphans_end(void);
/* All ranks of a communicator register their persistent operations, or NULL, in the same order. */
void channel_add(struct op *op, int serial);
void channel_step(void);
void channel_retire(int serial);
/* Completes some of the operations by a random function; all of them; all of one communicator. */
void ops_some(void);
void ops_all(void);
void ops_of(int serial);

/* --- comms.c --- */
struct comm {
    MPI_Comm comm; /* MPI_COMM_NULL on other ranks */
    int serial;    /* 0: the slot is empty */
    bool inter, topology;
    int sizes[2], world[2][RANKS]; /* without `inter` only the first of two */
    int side, rank;                /* of this rank, or -1 */
    /* Of this rank, in a topology: where from (and which of its edges that is), and where to. */
    int ins, in[RANKS], in_edge[RANKS], outs, out[RANKS];
};
enum { COMMS = 10 };
extern struct comm comms[COMMS];

void comms_open(void);
void comms_close(void);
struct comm *plan_comm(bool inter_too);
bool comm_on_one_host(const struct comm *c);
void comm_step(void);
void comm_free_step(void);
void session_step(void);

/* --- messages.c --- */
void messages_open(void);
void messages_close(void);
void message_step(bool started_only);
void exchange_step(void);
void wild_step(void);
void error_step(void);

/* --- collectives.c --- */
void collectives_open(void);
void collectives_close(void);
void collective_step(void);
void reduction_step(void);
void neighbor_step(void);

/* --- windows.c, files.c --- */
void window_step(void);
void windows_close(void);
void file_step(void);
void files_close(void);

#endif
