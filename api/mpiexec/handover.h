/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on other machines: mpiexec becomes the launcher that can reach them, with its own options in that one's words.
 * */
#ifndef PLENUM_MPIEXEC_HANDOVER_H
#define PLENUM_MPIEXEC_HANDOVER_H

#include "api/mpiexec/options.h"

/* A command line, and what mpiexec says before it runs it. The strings are borrowed from the options or kept by
 * `kept`. */
struct handover {
    enum launcher launcher;
    const char **word; /* [count], and a NULL behind */
    int count;
    const struct options *options;
    char error[512];
    char not_passed[256]; /* options without which it goes on, "--grace, --pmix"; empty: all are passed on */
    void **kept;
    int kept_count;
};

/* Which launcher the options and the surroundings ask for, and its command line. LAUNCHER_EMBEDDED: none but this one.
 * False: `error` says why not. To be freed either way. */
bool handover_make(struct handover *h, const struct options *options);
void handover_free(struct handover *h);

/* Says it (--dry-run), or becomes it. Returns mpiexec's exit code. */
int handover_run(struct handover *h);

/* Is this a name of this machine? */
bool is_this_host(const char *name, size_t length);

#endif
