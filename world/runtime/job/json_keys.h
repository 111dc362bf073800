/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a job described by JSON (docs/RUNTIME.md): json_keys.c says what each means, json_read.c reads a
 * description and json_write.c writes one. The caller does not hold the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JSON_KEYS_H
#define PLENUM_WORLD_RUNTIME_JOB_JSON_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/compiler.h"

struct plenum_job;

/* The reader's position in the description. */
struct pl_job_cursor {
    struct plenum_job *job;
    int program; /* PLENUM_ALL: at the top */
    char path[256];
};

enum { PL_JOB_REFUSED = -1 };

struct pl_job_key {
    const char *name;    /* NULL: the end of a table */
    const char *allowed; /* in words */
    /* PLENUM_OK; PL_JOB_REFUSED: not an allowed value; another error: plenum_error() says why.
     * NULL: json_read.c handles the key itself */
    int (*apply)(struct pl_job_cursor *at, json_t *value);
    long option; /* of plenum_job_set(); 0: the key is not an option */
};

extern const struct pl_job_key pl_job_keys[], pl_program_keys[];

/* NULL: the table has no such key. */
const struct pl_job_key *pl_job_key_find(const struct pl_job_key *keys, const char *name);

/* Adds to the path, cut off when it is full. */
PL_PRINTF(2, 3) void pl_job_cursor_enter(struct pl_job_cursor *at, const char *format, ...);

/* The kind of an option's value: one of these words by number (NULL: it has no words), seconds, or true and false. */
const char *const *pl_job_option_words(long option);
bool pl_job_option_is_seconds(long option);
bool pl_job_option_is_flag(long option);

#endif
