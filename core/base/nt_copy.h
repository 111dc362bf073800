/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying more data than fits the caches. */
#ifndef PLENUM_CORE_BASE_NT_COPY_H
#define PLENUM_CORE_BASE_NT_COPY_H

#include <stddef.h>

/* A memcpy() that does not fetch the target into the caches first, where the machine can do that. It halves the memory
 * traffic if no processor reads the target soon. */
void pl_nt_copy(void *restrict to, const void *restrict from, size_t bytes);

#endif
