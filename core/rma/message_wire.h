/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a window (PL_MSG_RMA): header.part says which one it is, and header.tag identifies what expects a
 * response, which repeats the number; 0: none is expected.
 *
 * An operation message is a struct pl_rma_wire_op, the target's datatype (core/datatype/wire.h), and the data. Long
 * data follows in a message of its own, straight from the origin's buffer; that of a put goes straight to the window.
 */
#ifndef PLENUM_CORE_RMA_MESSAGE_WIRE_H
#define PLENUM_CORE_RMA_MESSAGE_WIRE_H

#include <stdint.h>

enum pl_rma_part {
    PL_PART_OP,       /* an operation; in the operation queue */
    PL_PART_DATA,     /* the data of the last operation; in the queue */
    PL_PART_LOCK,     /* a sync request: uint32_t, MPI_LOCK_*; in the queue */
    PL_PART_UNLOCK,   /* a sync request; in the queue */
    PL_PART_FLUSH,    /* a sync request; in the queue */
    PL_PART_COMPLETE, /* of MPI_Win_complete(); in the queue */
    PL_PART_POST,     /* of MPI_Win_post() */
    PL_PART_SYNCED,   /* the response to a sync request: struct pl_win_fault */
    PL_PART_RESPONSE, /* the data that an operation asked for */
    PL_PART_REFUSED,  /* instead of it: struct pl_win_fault */
};

/* An error at a target, which the origin's next synchronizing call reports. */
struct pl_win_fault {
    int class; /* MPI_SUCCESS: none */
    int64_t at;
    uint64_t bytes;
};

struct pl_rma_wire_op {
    uint8_t kind;     /* enum pl_rma_kind */
    uint8_t op;       /* the MPI_Op's ABI constant */
    uint8_t separate; /* the data follows in a message of its own */
    uint8_t reserved;
    uint32_t layout; /* bytes of the datatype */
    int64_t at;      /* bytes from the start of the window; in a dynamic window, the address */
    uint64_t count;  /* elements of the datatype */
    uint64_t bytes;  /* of data, also if it is separate */
};

#endif
