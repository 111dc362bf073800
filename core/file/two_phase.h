/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective buffering: many processes whose small runs interleave access the file through a few of them, the
 * aggregators. It takes two phases: processes exchange the data as messages, and aggregators access the file in large
 * chunks.
 */
#ifndef PLENUM_CORE_FILE_TWO_PHASE_H
#define PLENUM_CORE_FILE_TWO_PHASE_H

#include "core/file/access.h"

/* Performs the access together with all other processes of the file, or alone where that is cheaper. Collective. With
 * an `error`, found by the caller, this process only learns what the others do. `moved`: bytes of the file. */
int pl_access_together(struct pl_file *file, const struct pl_access *access, int error, size_t *moved);

#endif
