/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on other machines: mpiexec executes a launcher that can reach them, and translates its options for it. */
#ifndef PLENUM_MPIEXEC_HANDOVER_H
#define PLENUM_MPIEXEC_HANDOVER_H

#include "api/mpiexec/options.h"

/* The command line of the other launcher. Its strings are borrowed from the options or owned by `kept`. */
struct handover {
    enum launcher launcher;
    const char **word; /* [count], and a NULL at the end */
    int count;
    const struct options *options;
    char error[512];
    char not_passed[256]; /* options that are dropped with a note, "--grace, --pmix"; empty: none */
    void **kept;
    int kept_count;
};

/* Chooses the launcher by the options and the environment and makes its command line. LAUNCHER_EMBEDDED and
 * LAUNCHER_SSH: mpiexec runs the job itself. False: `error` says why not. The caller frees it in both cases. */
bool handover_make(struct handover *h, const struct options *options);
void handover_free(struct handover *h);

/* Executes the command line, or prints it (--dry-run). Returns mpiexec's exit code. */
int handover_run(struct handover *h);

#endif
