/* SPDX-License-Identifier: BSD-3-Clause */
/* See handover.h. */
#include "api/mpiexec/handover.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/handover_prte.h"
#include "api/mpiexec/handover_words.h"
#include "api/mpiexec/machine.h"
#include "api/mpiexec/word.h"

#include "core/base/compiler.h"

PL_PRINTF(2, 3) static bool handover_fail(struct handover *h, const char *format, ...);
static bool handover_fail(struct handover *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(h->error, sizeof h->error, format, args);
    va_end(args);
    return false;
}

/* --- available launchers ----------------------------------------------------------------------------------- */

enum { PATH_SIZE = 4096 };

/* The next file of this name in PATH, from *at on; *at is NULL at first. False: there is none. */
static bool handover_next_in_path(const char *program, const char **at, char file[PATH_SIZE])
{
    if (!*at)
        *at = getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin";
    while (**at) {
        size_t length = strcspn(*at, ":");
        snprintf(file, PATH_SIZE, "%.*s/%s", (int)length, *at, program);
        *at += length + ((*at)[length] == ':');
        if (length > 0 && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* Is the program in PATH? */
static bool handover_in_path(const char *program)
{
    char file[PATH_SIZE];
    const char *at = NULL;
    return handover_next_in_path(program, &at, file);
}

static bool handover_is_open_mpi(const char *mpirun)
{
    char command[PATH_SIZE + 64], line[256] = "";
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", mpirun);
    FILE *version = strchr(mpirun, '\'') ? NULL : popen(command, "re");
    bool matches =
        version && fgets(line, sizeof line, version) && (strstr(line, "Open MPI") || strstr(line, "OpenRTE"));
    if (version)
        pclose(version);
    return matches;
}

/* The name of Open MPI's launcher: an mpirun may belong to any MPI library, also to this one. NULL: there is none. */
static const char *handover_open_mpi(void)
{
    static char file[PATH_SIZE];
    const char *at = NULL;
    if (handover_in_path("mpirun.openmpi"))
        return "mpirun.openmpi";
    for (bool first = true; handover_next_in_path("mpirun", &at, file); first = false)
        if (handover_is_open_mpi(file))
            return first ? "mpirun" : file;
    return NULL;
}

/* Does this process run in a Slurm allocation with other machines? */
static bool handover_in_slurm(void)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *list = getenv("SLURM_JOB_NODELIST");
    if (!getenv("SLURM_JOB_ID") || !list || !handover_in_path("srun"))
        return false;
    return (nodes && strtol(nodes, NULL, 10) > 1) || !machine_is_this(list, strlen(list));
}

static bool handover_check_embedded(struct handover *h)
{
    const struct options *o = h->options;
    if (o->elsewhere)
        return handover_fail(h, "%s: only this machine can be used %s", o->elsewhere,
                             o->launcher == LAUNCHER_EMBEDDED
                                 ? "with --launcher embedded"
                                 : "where neither prterun nor Open MPI's mpirun nor ssh is in PATH");
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        if (s->per_node && s->counted && s->ranks > s->per_node)
            return handover_fail(h, "%d processes with %d on each machine need %d machines; there is one", s->ranks,
                                 s->per_node, (s->ranks + s->per_node - 1) / s->per_node);
    }
    return true;
}

/* Without --launcher. */
static enum launcher handover_default(const struct options *o)
{
    if (o->launcher_exec)
        return LAUNCHER_SSH;
    if (getenv("PLENUM_JOB")) /* already part of a job: it starts processes on this machine only */
        return LAUNCHER_EMBEDDED;
    if (handover_in_slurm())
        return LAUNCHER_SLURM;
    if (!o->elsewhere)
        return LAUNCHER_EMBEDDED;
    if (o->allocation && handover_in_path("ssh"))
        return LAUNCHER_SSH;
    if (handover_in_path("prterun"))
        return LAUNCHER_PRTE;
    if (handover_open_mpi())
        return LAUNCHER_OPENMPI;
    return handover_in_path("ssh") ? LAUNCHER_SSH : LAUNCHER_EMBEDDED;
}

static bool handover_choose(struct handover *h)
{
    const struct options *o = h->options;
    h->launcher = o->launcher == LAUNCHER_AUTO ? handover_default(o) : o->launcher;
    return h->launcher != LAUNCHER_EMBEDDED || handover_check_embedded(h);
}

/* The launcher's program; NULL: it is not in PATH. */
static const char *handover_program_of(struct handover *h)
{
    switch (h->launcher) {
    case LAUNCHER_SLURM:
        return handover_in_path("srun") ? "srun"
                                        : (handover_fail(h, "--launcher slurm: there is no srun in PATH"), NULL);
    case LAUNCHER_PRTE:
        return handover_in_path("prterun") ? "prterun"
                                           : (handover_fail(h, "--launcher prte: there is no prterun in PATH"), NULL);
    case LAUNCHER_OPENMPI: {
        const char *mpirun = handover_open_mpi();
        return mpirun ? mpirun : (handover_fail(h, "--launcher openmpi: there is no mpirun of Open MPI in PATH"), NULL);
    }
    case LAUNCHER_AUTO:
    case LAUNCHER_SSH:
    case LAUNCHER_EMBEDDED: break;
    }
    return NULL;
}

/* --- the command line -------------------------------------------------------------------------------------- */

bool handover_make(struct handover *h, const struct options *options)
{
    *h = (struct handover){ .options = options };
    if (!handover_choose(h))
        return false;
    if (h->launcher == LAUNCHER_EMBEDDED || h->launcher == LAUNCHER_SSH)
        return true;
    const char *program = handover_program_of(h);
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

static void handover_print_words(const struct handover *h, FILE *out)
{
    if (h->launcher == LAUNCHER_SLURM) { /* mpiexec sets them, and srun passes them on */
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

/* The other launcher prints a long message about an unknown host, which does not name the cause. */
static void handover_note_unresolvable(const struct handover *h)
{
    struct addrinfo *found = NULL;
    const char *host = h->options->elsewhere;
    if (h->launcher == LAUNCHER_SLURM || !host || h->options->quiet)
        return;
    if (getaddrinfo(host, NULL, NULL, &found) == 0)
        freeaddrinfo(found);
    else
        print_message("note: cannot resolve the host \"%s\" here; trying %s anyway", host, h->word[0]);
}

int handover_run(struct handover *h)
{
    const struct options *o = h->options;
    if (h->not_passed[0] && !o->quiet)
        print_message("%s: not passed on to %s, which has no such option", h->not_passed, h->word[0]);
    if (o->dry_run) {
        handover_print_words(h, stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (o->verbose) {
        fputs("mpiexec: handing over to ", stderr);
        handover_print_words(h, stderr);
    }
    handover_note_unresolvable(h);
    execvp(h->word[0], (char *const *)h->word);
    int why = errno;
    print_message("cannot execute \"%s\": %s", h->word[0], strerror(why));
    return why == ENOENT ? 127 : 126;
}
