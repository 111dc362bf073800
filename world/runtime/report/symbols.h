/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for addresses, from the symbol tables of the files that they are in. A file is read when it is first asked for,
 * as anybody's: nothing in it is believed. One thread at a time.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H
#define PLENUM_WORLD_RUNTIME_REPORT_SYMBOLS_H

#include <stdint.h>

struct pl_symbol_file;

struct pl_symbols {
    struct pl_symbol_file *files;
};

/* The function at an address as the file has it, and how far into it that is; NULL: not known. Where a function has
 * several names, one that begins with MPI_ is taken. Borrowed until they are freed. */
const char *pl_symbols_find(struct pl_symbols *symbols, const char *file, uint64_t address, uint64_t *into);

void pl_symbols_fini(struct pl_symbols *symbols);

#endif
