/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statements: what a rank says of the collective that it is in, to be compared with what another says of the same one
 * (agree.h), and as the words of job reports. Statements travel between processes of one build; a job of several
 * architectures does not exist.
 */
#ifndef PLENUM_CORE_COLL_STATEMENT_H
#define PLENUM_CORE_COLL_STATEMENT_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/coll/agree.h"
#include "core/job/report.h"

/* Some elements. */
struct pl_amount {
    int64_t count, bytes; /* count -1: nothing is said of them */
    uint64_t signature;   /* of the kinds of elements, in order; 0: of MPI_PACKED, which fits all */
    char type[40];        /* for messages */
};

struct pl_statement {
    uint32_t kind, form; /* enum pl_coll_kind, enum pl_coll_form */
    int32_t rank;        /* of the rank that says it */
    int32_t process;     /* the same in its job */
    int32_t root;        /* PL_NO_ROOT: it has none */
    uint64_t counts;     /* sum of those that all ranks of the group have alike */
    char function[40], op[48];
    struct pl_amount same;           /* what all ranks have alike */
    struct pl_amount sends, expects; /* what goes to and comes from the rank that is told */
};

/* A block without a type is an amount of which nothing is said. */
struct pl_amount pl_amount_of(struct pl_block block);

/* What this rank tells `to`, a rank of the remote group of an intercommunicator. */
void pl_statement_make(struct pl_statement *statement, const struct pl_coll *coll, enum pl_coll_form form,
                       const char *function, int to);

/* Ends the texts of what has arrived. */
void pl_statement_tidy(struct pl_statement *statement);
void pl_amount_tidy(struct pl_amount *amount);

/* For job reports: what this rank called, of a struct pl_coll. If it is a part of another collective, that one is what
 * its communicator names (pl_comm_coll.named). */
void pl_coll_describe(const void *coll, struct pl_job_item *item);

/* The same for a request's schedule, as far as that knows it. */
void pl_coll_describe_started(const struct pl_schedule *schedule, bool persistent, struct pl_job_item *item);

/* Both in a few words: "MPI_Bcast with root 1". */
void pl_coll_words(const struct pl_coll *coll, char *text, size_t size);
void pl_coll_words_started(const struct pl_schedule *schedule, char *text, size_t size);

/* MPI_SUCCESS, or an error class and the mistake in words. What this rank told and what it heard from a rank; what it
 * heard from two ranks of the remote group; what comes along an edge of a topology and what is expected there. */
int pl_statements_compare(const struct pl_statement *told, const struct pl_statement *heard, bool inter,
                          char text[PL_DETAIL_MAX]);
int pl_statements_compare_group(const struct pl_statement *one, const struct pl_statement *other,
                                char text[PL_DETAIL_MAX]);
int pl_amounts_compare_edge(const struct pl_amount *sent, int source, const struct pl_amount *expected, int rank,
                            const char *function, char text[PL_DETAIL_MAX]);

#endif
