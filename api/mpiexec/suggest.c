/* SPDX-License-Identifier: BSD-3-Clause */
/* See suggest.h. */
#include "api/mpiexec/suggest.h"

#include <stdio.h>
#include <string.h>

#include "api/mpiexec/options.h"
#include "core/base/nearest.h"

/* Options of Open MPI, MPICH and Slurm that have another name here. */
static const struct {
    const char *theirs, *ours;
} foreign[] = {
    { "ntasks", "-n" },
    { "ntasks-per-node", "-N" },
    { "cpus-per-task", "--cpus-per-proc" },
    { "nodes", "--host" },
    { "nodelist", "--host" },
    { "w", "--host" },
    { "nodefile", "--hostfile" },
    { "chdir", "--wdir" },
    { "D", "--wdir" },
    { "export", "-x" },
    { "label", "--tag-output" },
    { "input", "--stdin" },
    { "i", "--stdin" },
    { "error", "--errfile-pattern" },
    { "e", "--errfile-pattern" },
    { "o", "--outfile-pattern" },
    { "time", "--timeout" },
    { "t", "--timeout" },
    { "cpu-bind", "--bind-to" },
    { "distribution", "--map-by" },
    { "m", "--map-by" },
    { "multi-prog", "--configfile" },
    { "no-kill", "--keep-going" },
    { "k", "--keep-going" },
    { "kill-on-bad-exit", "--keep-going" },
    { "overcommit", "--oversubscribe" },
    { "O", "--oversubscribe" },
    { "mpi", "--pmix" },
};

static const char *suggest_dashes(const char *name)
{
    return strlen(name) > 1 ? "--" : "-";
}

/* An option and its number without a blank: -n4. */
static bool suggest_glued(const char *name, char *text, size_t size)
{
    size_t letters = strcspn(name, "0123456789");
    const char *known;
    for (int i = 0; name[letters] && (known = options_name(i)); i++)
        if (strlen(known) == letters && memcmp(known, name, letters) == 0) {
            snprintf(text, size, "%s%s %s", suggest_dashes(known), known, name + letters);
            return true;
        }
    return false;
}

static const char *suggest_nearest(const char *name)
{
    const char *known, *best = NULL, *longer = NULL;
    int least = pl_nearest_limit(name);
    for (int i = 0; (known = options_name(i)); i++) {
        int d = pl_nearest_distance(name, known);
        if (d < least && strlen(known) > 1) {
            least = d;
            best = known;
        }
        if (!longer && strlen(name) >= 3 && strncmp(known, name, strlen(name)) == 0)
            longer = known;
    }
    return best ? best : longer;
}

bool suggest_option(const char *name, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(name, foreign[i].theirs) == 0) {
            snprintf(text, size, "%s", foreign[i].ours);
            return true;
        }
    if (suggest_glued(name, text, size))
        return true;
    const char *near = suggest_nearest(name);
    if (near)
        snprintf(text, size, "%s%s", suggest_dashes(near), near);
    return near != NULL;
}
