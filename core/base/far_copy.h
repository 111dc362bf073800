/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying into memory that another processor has in its cache. */
#ifndef PLENUM_CORE_BASE_FAR_COPY_H
#define PLENUM_CORE_BASE_FAR_COPY_H

#include <stddef.h>

/* From this length on it is worth a call; shorter copies are memcpy()'s. */
enum { PL_FAR_COPY_FROM = 2048 };

/* A memcpy() that overwrites the lines of the target without fetching them from there first, where the machine can do
 * that. Some C libraries do so by themselves, and others do not on some processors (docs/notes/shm.md). */
void pl_far_copy(void *restrict to, const void *restrict from, size_t bytes);

#endif
