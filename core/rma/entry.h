/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry: one message at its target, from arrival to execution. target.c decides when it is its turn; this part reads
 * an operation, checks it and executes it. Nothing that an origin sends is trusted: an operation is checked against the
 * window before memory is touched. Engine lock held in all functions.
 */
#ifndef PLENUM_CORE_RMA_ENTRY_H
#define PLENUM_CORE_RMA_ENTRY_H

#include "core/engine/request.h"
#include "core/rma/message_wire.h"
#include "core/rma/window.h"

struct pl_op;

struct pl_rma_entry {
    struct pl_list link;       /* in the origin's operation queue */
    struct pl_list queue;      /* of a lock: in win->msg.lock_queue */
    struct pl_request request; /* fetches the message, or its data */
    struct pl_win *win;
    int rank, sync_id; /* of the origin; header.tag */
    enum pl_rma_part part;
    bool kept; /* allocated; else the message is still the transport's */
    bool fetching;
    bool has_data;        /* of an operation with separate data: that message has come */
    struct pl_rndv *rndv; /* data that waits at the origin; NULL: none, or it is in `data` */
    uint64_t data_bytes;  /* of separate data, as announced */
    struct pl_type *type; /* one reference, once the operation is read */
    struct pl_rma_wire_op wire_op;
    const unsigned char *data; /* the operation's; NULL: not here, or none */
    void *own_data;            /* the same, to be freed; NULL: part of the message */
    const unsigned char *message;
    size_t bytes;         /* of the message */
    unsigned char copy[]; /* the message, if it is kept */
};

static inline struct pl_win_origin *pl_rma_entry_origin(const struct pl_rma_entry *entry)
{
    return &entry->win->targets[entry->rank].origin;
}

/* Reads the operation and its datatype. MPI_ERR_INTERN: no Plenum sends this. */
int pl_rma_entry_read(struct pl_rma_entry *entry);

/* May the operation be executed, as far as its data is known? *op: of accumulates, else NULL. Errors are not
 * recorded. */
int pl_rma_entry_check(const struct pl_rma_entry *entry, const struct pl_op **op);

/* The memory that a checked operation accesses. */
char *pl_rma_entry_memory(const struct pl_rma_entry *entry);

/* Checks and executes the operation, or refuses it. All its data must be here. The data of a get is sent from the
 * window's memory; `left` is called when it has left: at once, or when the origin has fetched it. */
void pl_rma_entry_execute(struct pl_rma_entry *entry, void (*left)(struct pl_win *win, int rank));

/* Reports an error to the origin: at once if it waits for a response, else with its next sync request. */
void pl_rma_entry_refuse(struct pl_rma_entry *entry, int class);

#endif
