/* SPDX-License-Identifier: BSD-3-Clause */
/* Which launcher takes the job over, if any, and becoming it. */
#include "api/mpiexec/handover.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/handover_words.h"
#include "api/mpiexec/word.h"

static bool handover_fail(struct handover *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool handover_fail(struct handover *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(h->error, sizeof h->error, format, args);
    va_end(args);
    return false;
}

/* --- what is at hand -----------------------------------------------------------------------------------------------
 * */

/* Is there such a program in PATH? */
static bool at_hand(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
        if (length > 0 && access(file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Open MPI's launcher by the name that it has here: an mpirun may be of any MPI. NULL: there is none. */
static const char *open_mpi(void)
{
    char line[256] = "";
    if (at_hand("mpirun.openmpi"))
        return "mpirun.openmpi";
    FILE *said = at_hand("mpirun") ? popen("mpirun --version 2>/dev/null", "re") : NULL;
    bool ours = said && fgets(line, sizeof line, said) && (strstr(line, "Open MPI") || strstr(line, "OpenRTE"));
    if (said)
        pclose(said);
    return ours ? "mpirun" : NULL;
}

/* An allocation of Slurm that has more than this machine. */
static bool in_wide_allocation(void)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *list = getenv("SLURM_JOB_NODELIST");
    if (!getenv("SLURM_JOB_ID") || !list || !at_hand("srun"))
        return false;
    return (nodes && strtol(nodes, NULL, 10) > 1) || !is_this_host(list, strlen(list));
}

static bool check_embedded(struct handover *h)
{
    const struct options *o = h->options;
    if (o->elsewhere)
        return handover_fail(h, "%s: only this machine can be used %s", o->elsewhere,
                             o->launcher == LAUNCHER_EMBEDDED
                                 ? "with --launcher embedded"
                                 : "where neither prterun nor Open MPI's mpirun is at hand");
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        if (s->per_node && s->counted && s->ranks > s->per_node)
            return handover_fail(h, "%d processes with %d on each machine need %d machines; there is one", s->ranks,
                                 s->per_node, (s->ranks + s->per_node - 1) / s->per_node);
    }
    return true;
}

static bool handover_choose(struct handover *h)
{
    const struct options *o = h->options;
    const char *mpirun;
    h->launcher = o->launcher;
    if (o->launcher == LAUNCHER_AUTO && getenv("PLENUM_JOB"))
        h->launcher = LAUNCHER_EMBEDDED; /* part of a job already: what it starts is a matter of this machine */
    else if (o->launcher == LAUNCHER_AUTO && in_wide_allocation())
        h->launcher = LAUNCHER_SLURM;
    else if (o->launcher == LAUNCHER_AUTO)
        h->launcher = !o->elsewhere           ? LAUNCHER_EMBEDDED
                      : at_hand("prterun")    ? LAUNCHER_PRTE
                      : (mpirun = open_mpi()) ? LAUNCHER_OPENMPI
                                              : LAUNCHER_EMBEDDED;
    return h->launcher != LAUNCHER_EMBEDDED || check_embedded(h);
}

/* The program's name, once it is known to be there. */
static const char *program_of(struct handover *h)
{
    switch (h->launcher) {
    case LAUNCHER_SLURM:
        return at_hand("srun") ? "srun" : (handover_fail(h, "--launcher slurm: there is no srun in PATH"), NULL);
    case LAUNCHER_PRTE:
        return at_hand("prterun") ? "prterun"
                                  : (handover_fail(h, "--launcher prte: there is no prterun in PATH"), NULL);
    case LAUNCHER_OPENMPI: {
        const char *mpirun = open_mpi();
        return mpirun ? mpirun : (handover_fail(h, "--launcher openmpi: there is no mpirun of Open MPI in PATH"), NULL);
    }
    case LAUNCHER_AUTO:
    case LAUNCHER_EMBEDDED: break;
    }
    return NULL;
}

/* --- the command line
 * ------------------------------------------------------------------------------------------------ */

bool handover_make(struct handover *h, const struct options *options)
{
    *h = (struct handover){ .options = options };
    if (!handover_choose(h))
        return false;
    if (h->launcher == LAUNCHER_EMBEDDED)
        return true;
    const char *program = program_of(h);
    if (!program)
        return false;
    handover_add(h, program);
    const char *refused = h->launcher == LAUNCHER_SLURM ? handover_words_slurm(h) : handover_words_prte(h);
    if (refused)
        return handover_fail(
            h, "%s cannot be passed on to %s; leave it out, or run on this machine with --launcher embedded", refused,
            program);
    return true;
}

void handover_free(struct handover *h)
{
    for (int i = 0; i < h->kept_count; i++)
        free(h->kept[i]);
    free(h->kept);
    free(h->word);
}

static void handover_print_variables(const struct settings *env, FILE *out)
{
    for (int i = 0; i < env->count; i++) {
        fprintf(out, "%s=", env->item[i].name);
        print_word(env->item[i].value, out);
        putc(' ', out);
    }
}

static void print_words(const struct handover *h, FILE *out)
{
    if (h->launcher == LAUNCHER_SLURM) { /* set here, for srun to hand on */
        handover_print_variables(&h->options->env, out);
        handover_print_variables(&h->options->section[0].env, out);
    }
    for (int i = 0; i < h->count; i++) {
        if (i > 0)
            putc(' ', out);
        print_word(h->word[i], out);
    }
    putc('\n', out);
}

/* The launcher that was found has much to say about a machine that is not there, and not that. */
static void note_unresolvable(const struct handover *h)
{
    struct addrinfo *found = NULL;
    const char *host = h->options->elsewhere;
    if (h->launcher == LAUNCHER_SLURM || !host || h->options->quiet)
        return;
    if (getaddrinfo(host, NULL, NULL, &found) == 0)
        freeaddrinfo(found);
    else
        fprintf(stderr, "mpiexec: note: the host \"%s\" cannot be resolved here; %s is tried with it\n", host,
                h->word[0]);
}

int handover_run(struct handover *h)
{
    const struct options *o = h->options;
    if (h->not_passed[0] && !o->quiet)
        fprintf(stderr, "mpiexec: %s: not passed on to %s, which has nothing of the kind\n", h->not_passed, h->word[0]);
    if (o->dry_run) {
        print_words(h, stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (o->verbose) {
        fputs("mpiexec: handing over to ", stderr);
        print_words(h, stderr);
    }
    note_unresolvable(h);
    execvp(h->word[0], (char *const *)h->word);
    fprintf(stderr, "mpiexec: cannot execute \"%s\": %s\n", h->word[0], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
