/* SPDX-License-Identifier: BSD-3-Clause */
/* Between create.c (one group) and intercomm.c (two). */
#ifndef PLENUM_SESSIONS_CREATE_PARTS_H
#define PLENUM_SESSIONS_CREATE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/object/info.h"
#include "sessions/create/exchange.h"

/* What a key is for: different kinds of meetings never mix. */
enum pl_exchange_key_kind { PL_EXCHANGE_KEY_GROUP, PL_EXCHANGE_KEY_SIDE, PL_EXCHANGE_KEY_LEADERS };

/* The beginning of a key; then the tag, then the ranks in the job of the groups that are no sequences (core/object/group.h). */
struct pl_exchange_key {
    uint32_t kind, tag_length;
    struct pl_exchange_key_group {
        int32_t size, leader, first, stride; /* stride 0: no sequence */
    } groups[2];
};

/* Makes a key, malloc'ed. `b` may be NULL. */
int pl_exchange_key_create(enum pl_exchange_key_kind kind, const char *tag, const struct pl_group *a, int a_leader,
                           const struct pl_group *b, int b_leader, void **key, uint32_t *length);

/* The instance of a group of which this process is a member; NULL, and recorded: there is none any more, or it is no
 * member. */
struct pl_instance *pl_group_instance(const struct pl_group *group, const char *name);

/* Milliseconds to wait for others; 0: for ever. */
int pl_create_timeout(struct pl_info *info, long *milliseconds);

/* Puts the gifts that a host has collected, which are cards, into the book. */
int pl_av_collect(struct pl_av *av, const struct pl_exchange *exchange);

/* What the user wants of a new communicator. MPI_ERR_NO_MEM: it is freed, and NULL. */
int pl_comm_configure(struct pl_comm **comm, struct pl_info *info, struct pl_errhandler *errhandler);

#endif
