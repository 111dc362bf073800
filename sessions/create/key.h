/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of exchanges that create communicators: kind, tag, and the groups, each with its size, leader and ranks. */
#ifndef PLENUM_SESSIONS_CREATE_KEY_H
#define PLENUM_SESSIONS_CREATE_KEY_H

#include <stddef.h>

struct pl_group;

/* Exchanges of different kinds never mix. */
enum pl_exchange_key_kind { PL_EXCHANGE_KEY_GROUP, PL_EXCHANGE_KEY_SIDE, PL_EXCHANGE_KEY_LEADERS };

/* Makes a key, for free(). `b` may be NULL. MPI_ERR_UNSUPPORTED_OPERATION: a group has members of another job, whose
 * listeners cannot be derived from their ranks. */
int pl_exchange_key_create(enum pl_exchange_key_kind kind, const char *tag, const struct pl_group *a, int a_leader,
                           const struct pl_group *b, int b_leader, void **key, size_t *length);

#endif
