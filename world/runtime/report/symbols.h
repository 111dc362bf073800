/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions and source lines at addresses in files, from the symbolizer (plugins/symbolizer). That is a process of its
 * own, because nothing in a rank's file may harm this one. It starts at the first question and ends with the report;
 * the answers stay. A file at which it fails is not tried again, and a report spends at most 5 seconds on all of them.
 *
 * Zeroed is empty. One thread at a time.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H
#define PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct pl_link;

struct pl_symbol {
    const char *function; /* NULL: not known */
    uint64_t into;        /* bytes from its beginning */
    const char *source;   /* path; NULL: not known, or the line was not wanted */
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

/* What is at an address as the file has it. Where a function has several names, one that begins with MPI_ is taken.
 * The texts have no control characters and are borrowed until pl_symbols_rest(). */
struct pl_symbol pl_symbols_find(struct pl_symbols *symbols, const char *file, uint64_t address, bool line);

/* The end of a report. */
void pl_symbols_rest(struct pl_symbols *symbols);

void pl_symbols_fini(struct pl_symbols *symbols);

#endif
