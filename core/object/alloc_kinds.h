/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory allocation kinds (MPI-5.0 section 11.4.3): which kinds of memory a buffer may be of. Pure text; any thread. */
#ifndef PLENUM_CORE_OBJECT_ALLOC_KINDS_H
#define PLENUM_CORE_OBJECT_ALLOC_KINDS_H

#include <stdbool.h>
#include <stddef.h>

struct pl_info;

#define PL_ALLOC_KINDS_KEY        "mpi_memory_alloc_kinds"
#define PL_ALLOC_KINDS_ASSERT_KEY "mpi_assert_memory_alloc_kinds"

/* What is supported of `wanted` (NULL: nothing in particular), and what always is: "mpi,system" and the restricted
 * forms of mpi that were asked for. MPI_ERR_NO_MEM. The value goes into `info`. */
int pl_alloc_kinds_grant(struct pl_info *info, const char *wanted);

/* For a communicator, window or file: puts the kinds of its instance (`granted`, an info with PL_ALLOC_KINDS_KEY) into
 * `used`, narrowed to what the user asserted for the object in `asked` (NULL: nothing), if that is a part of them. */
int pl_alloc_kinds_use(struct pl_info *granted, struct pl_info *asked, struct pl_info *used);

/* Is every kind of the list `part` in the list `whole`? "mpi:alloc_mem" is in "mpi". */
bool pl_alloc_kinds_within(const char *part, const char *whole);

#endif
