/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs described by JSON (docs/RUNTIME.md), as json.c (reading), json_keys.c (what the keys mean) and json_write.c
 * share them. The caller of all functions has no lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JSON_H
#define PLENUM_WORLD_RUNTIME_JOB_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "world/runtime/runtime.h"

/* Where we are in the text. */
struct pl_job_place {
    struct plenum_job *job;
    int program; /* PLENUM_ALL: at the top */
    char path[256];
};

enum { PL_JOB_REFUSED = -1 };

struct pl_job_key {
    const char *name;   /* NULL: the end of a table */
    const char *wanted; /* what is allowed, in words */
    /* PLENUM_OK; PL_JOB_REFUSED: not what is wanted; another error: plenum_error() says why.
     * NULL: json.c does it itself */
    int (*apply)(struct pl_job_place *at, json_t *value);
    long option; /* of plenum_job_set(); 0: it is none */
};

extern const struct pl_job_key pl_job_keys[], pl_program_keys[];

const struct pl_job_key *pl_job_key_find(const struct pl_job_key *keys, const char *name);

/* Adds to the path, cut off when it is full. */
void pl_job_place_enter(struct pl_job_place *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What kind of value an option has: one of these words by number (NULL: it has none), seconds, or true and false. */
const char *const *pl_job_option_words(long option);
bool pl_job_option_is_seconds(long option);
bool pl_job_option_is_flag(long option);

#endif
