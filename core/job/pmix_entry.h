/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx plugin as a bootstrap of this copy of the library. Other copies in the process have the same plugin, so each
 * call says first which copy it is for. */
#ifndef PLENUM_CORE_JOB_PMIX_ENTRY_H
#define PLENUM_CORE_JOB_PMIX_ENTRY_H

#include "core/job/process.h"

/* Loads the plugin; NULL: an error, recorded. */
const struct pl_bootstrap_ops *pl_pmix_entry_load(void);

#endif
