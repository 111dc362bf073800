/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other functions of the C library that allocate, as allocations that a test can make fail (memory.h). Each is the
 * function of its name without the pl_, and sets errno to ENOMEM. The memory is freed with free().
 *
 * Product code calls these and those of memory.h, and no others that return memory (tests/house/check_allocations).
 * Functions whose memory stays inside the C library (fopen, opendir, getaddrinfo, setenv) are called directly: for
 * their callers a lack of memory is one failure among many.
 */
#ifndef PLENUM_CORE_BASE_MEMORY_LIBC_H
#define PLENUM_CORE_BASE_MEMORY_LIBC_H

#include <stdarg.h>
#include <stdio.h>

#include "core/base/compiler.h"
#include "core/base/memory.h"

/* `alignment` is a power of two and at least sizeof(void *); `bytes` need not be a multiple of it. */
void *pl_aligned_alloc(size_t alignment, size_t bytes);

char *pl_strndup(const char *text, size_t max);

/* A copy of the bytes; never NULL for 0 bytes, unless memory runs out. */
void *pl_memdup(const void *data, size_t bytes);

/* -1 when they fail, and `*text` is NULL then. */
PL_PRINTF(2, 3) int pl_asprintf(char **text, const char *format, ...);
PL_PRINTF(2, 0) int pl_vasprintf(char **text, const char *format, va_list arguments);

ssize_t pl_getline(char **line, size_t *capacity, FILE *file);
ssize_t pl_getdelim(char **line, size_t *capacity, int delimiter, FILE *file);

/* The working directory, in memory of its own. */
char *pl_getcwd(void);

/*
 * A stream that collects a text, as open_memstream() gives; NULL: out of memory. fclose() sets `*text`, which is NULL
 * until then: to the whole text, or to NULL if memory ran out in between. In that case fclose() returns EOF, whatever
 * fprintf() has returned.
 */
FILE *pl_text_open(char **text);

#endif
