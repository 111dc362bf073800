/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a target keeps of a message, and the orders among them: read, checked, done (target_check.c), in the turn that
 * their stream gives them (target.c). Engine lock held in all functions.
 */
#ifndef PLENUM_CORE_RMA_ENTRY_H
#define PLENUM_CORE_RMA_ENTRY_H

#include "core/rma/rma.h"

struct pl_rma_entry {
    struct pl_list link;       /* in its stream */
    struct pl_list queue;      /* of a lock: in win->lock_queue */
    struct pl_request request; /* fetches the message, or its data */
    struct pl_win *win;
    int rank, sync_id;
    enum pl_rma_part part;
    bool kept; /* allocated; else the message is still the transport's */
    bool fetching;
    bool has_data;        /* of an order: the message with its data has come */
    struct pl_rndv *rndv; /* the data that waits at the origin; NULL: none, or it is in `data` */
    uint64_t data_bytes;
    struct pl_type *type; /* one reference, once the order is read */
    struct pl_rma_wire_op wire_op;
    const unsigned char *data; /* the order's */
    void *own_data;            /* the same, to be freed; NULL: it is part of the message */
    const unsigned char *message;
    size_t bytes;
    unsigned char copy[];
};

static inline struct pl_win_target *pl_rma_origin_of(const struct pl_rma_entry *entry)
{
    return &entry->win->targets[entry->rank];
}

static inline struct pl_win_ctl *pl_rma_own_ctl(const struct pl_win *win)
{
    return win->targets[win->comm->rank].ctl;
}

/* Takes the order apart. MPI_ERR_INTERN for one that no Plenum writes. */
int pl_rma_read_wire_op(struct pl_rma_entry *entry);

/* May it be done, as far as its data is known? `op`: of accumulates. */
int pl_rma_check_wire_op(const struct pl_rma_entry *entry, const struct pl_op **op);

/* The memory that it is about. */
char *pl_rma_memory_of(const struct pl_rma_entry *entry);

/* Does it, all data being here; or refuses. */
void pl_rma_do_wire_op(struct pl_rma_entry *entry);

/* Tells the origin: at once if it waits for a reply, else when it asks. */
void pl_rma_refuse(struct pl_rma_entry *entry, int class);

#endif
