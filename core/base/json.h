/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's JSON files: configuration, process sets, policies of error handlers, tables of collectives. They are read
 * with Jansson. Every mistake is reported as one line that begins with its location, "FILE:LINE: ...".
 */
#ifndef PLENUM_CORE_BASE_JSON_H
#define PLENUM_CORE_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/compiler.h"

struct pl_json {
    const char *path; /* as the user wrote it */
    char *text;       /* the whole file */
    json_t *root;
};

/* Reads a file whose top-level value is an object. MPI_ERR_ARG, recorded: it cannot be read, is larger than 16 MiB, is
 * not JSON, or has a duplicate key. `path` is borrowed until pl_json_close(). */
int pl_json_open(const char *path, struct pl_json *json);

/* Frees everything, including the values. */
void pl_json_close(struct pl_json *json);

/* Records a mistake in a value and returns `class`. `where` is the path to the value: the keys and indices from the
 * top, separated by '/' ("psets/app:~1~1ocean/ranks/2"; '/' in a key is "~1", '~' is "~0"). It also gives the line. */
PL_PRINTF(4, 5) int pl_json_fail(const struct pl_json *json, int class, const char *where, const char *format, ...);

/* The line of the value at `where`, counted from 1. */
int pl_json_line(const struct pl_json *json, const char *where);

/* Appends "/key" to the path `where` of `size` bytes, truncated to fit. */
void pl_json_enter(char *where, size_t size, const char *key);

/* Checks that all keys of `object` are in the NULL-terminated `allowed`: MPI_ERR_ARG with the list. */
int pl_json_keys(const struct pl_json *json, const char *where, const json_t *object, const char *const allowed[]);

#endif
