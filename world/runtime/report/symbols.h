/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions and source lines at addresses in files, from the symbolizer (plugins/symbolizer). That is a separate
 * process, because nothing in a rank's file may harm this one. It starts at the first question and ends with the
 * report; the answers stay. A file at which it fails is not tried again, and a report spends at most 5 seconds on all
 * files.
 *
 * A zeroed struct is empty. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H
#define PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct pl_link;

struct pl_symbol {
    const char *function; /* NULL: not known */
    uint64_t into;        /* bytes from its beginning */
    const char *source;   /* path; NULL: not known, or not requested */
    int line;
};

enum { PL_SYMBOL_BUCKETS = 256 };

struct pl_symbols {
    struct pl_link *link; /* to the keeper, which starts the symbolizer; NULL: none */
    bool running;
    int fd;          /* the symbolizer's standard input and output; it ends when this is closed */
    int64_t used[2]; /* milliseconds in this report, for names and for lines */
    bool missing;    /* it could not be started for this report */
    struct pl_symbol_file *files;
    struct pl_symbol_answer *answers[PL_SYMBOL_BUCKETS];
    int count;
    const char *program; /* for tests; NULL: plenum/symbolizer beside this library */
};

/* The symbol at an address of the file, with its source line if `line`. Of several names of a function it prefers one
 * that begins with MPI_. The texts have no control characters and are borrowed until pl_symbols_rest(). */
struct pl_symbol pl_symbols_find(struct pl_symbols *symbols, const char *file, uint64_t address, bool line);

/* What the symbolizer of another host has said. The texts, "" if not known, are copied. */
void pl_symbols_learn(struct pl_symbols *symbols, const char *file, uint64_t address, const struct pl_symbol *symbol);

/* Ends the symbolizer at the end of a report, and keeps the answers unless there are very many. */
void pl_symbols_rest(struct pl_symbols *symbols);

void pl_symbols_fini(struct pl_symbols *symbols);

#endif
