/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory allocation kinds (MPI-5.0 section 11.4.3): the kinds of memory that buffers may have, as text. Any thread. */
#ifndef PLENUM_CORE_OBJECT_ALLOC_KINDS_H
#define PLENUM_CORE_OBJECT_ALLOC_KINDS_H

#include <stdbool.h>
#include <stddef.h>

struct pl_info;

#define PL_ALLOC_KINDS_KEY        "mpi_memory_alloc_kinds"
#define PL_ALLOC_KINDS_ASSERT_KEY "mpi_assert_memory_alloc_kinds"

/* Sets PL_ALLOC_KINDS_KEY of `info` to the kinds that are granted: always "mpi,system", and the restricted forms of mpi
 * in `wanted` (NULL: none). MPI_ERR_NO_MEM. */
int pl_alloc_kinds_grant(struct pl_info *info, const char *wanted);

/* For a communicator, window or file: sets the kinds of its instance, which are in `granted`, in `used`. If the user
 * has asserted some of them for the object in `asked` (NULL: none), sets only those. */
int pl_alloc_kinds_use(struct pl_info *granted, struct pl_info *asked, struct pl_info *used);

/* Is every kind of the list `part` in the list `whole`? "mpi:alloc_mem" is in "mpi". */
bool pl_alloc_kinds_within(const char *part, const char *whole);

#endif
