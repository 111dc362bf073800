/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of the user in JSON: configuration, process sets, policies of error handlers, tables of collectives. Read with
 * Jansson; every mistake becomes one line that begins with the place: "FILE:LINE: ...".
 */
#ifndef PLENUM_CORE_BASE_JSON_H
#define PLENUM_CORE_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>

struct pl_json {
    const char *path; /* as the user wrote it */
    char *text;       /* the whole file */
    json_t *root;
};

/* Reads a file whose top is an object. MPI_ERR_ARG, recorded: it cannot be read, is larger than 16 MiB, is not JSON, or
 * has a key twice. `path` is borrowed until pl_json_close(). */
int pl_json_open(const char *path, struct pl_json *json);

/* Gives everything back, the values too. */
void pl_json_close(struct pl_json *json);

/* Records a mistake in a value and returns `class`. `where` is the way to it, the keys and indices from the top with
 * '/' between them ("psets/app:~1~1ocean/ranks/2", '/' in a key as "~1", '~' as "~0"); the line is found from it. */
int pl_json_fail(const struct pl_json *json, int class, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The line of the value at `where`, counted from 1. */
int pl_json_line(const struct pl_json *json, const char *where);

/* Appends "/key" to the way `where` of `size` bytes, cut off when it is full. */
void pl_json_enter(char *where, size_t size, const char *key);

/* Refuses keys of `object` that are not in the NULL-terminated `allowed`: MPI_ERR_ARG with the list. */
int pl_json_keys(const struct pl_json *json, const char *where, const json_t *object, const char *const allowed[]);

#endif
