/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec, parsed. */
#ifndef PLENUM_MPIEXEC_OPTIONS_H
#define PLENUM_MPIEXEC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/plenum.h"

enum { EXIT_USAGE = 2 };

/* A variable to be set. Strings are borrowed from the command line, or kept by the options. */
struct setting {
    const char *name, *value;
};

struct settings {
    struct setting *item;
    int count;
};

/* One program of the job: what stands between two colons. */
struct section {
    int ranks;
    bool counted;      /* by -n */
    int per_node;      /* by -N; 0: not given */
    const char **argv; /* NULL-terminated */
    int argc;
    const char *wdir, *path;
    struct settings env;
};

struct pset_option {
    const char *name;
    int (*ranges)[2];
    int count;
};

enum launcher { LAUNCHER_AUTO, LAUNCHER_EMBEDDED, LAUNCHER_SLURM, LAUNCHER_PRTE, LAUNCHER_OPENMPI };

enum dry_run { DRY_RUN_NO, DRY_RUN_TEXT, DRY_RUN_JSON };

struct options {
    const char *job; /* a file that describes the job; NULL: the sections do */
    struct section *section;
    int sections;
    struct settings env; /* for all programs */
    bool env_clear;
    struct pset_option *pset;
    int psets;
    long timeout, grace;   /* milliseconds; timeout 0: none */
    enum plenum_pmix pmix; /* PLENUM_PMIX_AUTO unless given */
    enum plenum_bind bind;
    enum plenum_map map;
    bool bind_given, map_given, pmix_given, grace_given, stdin_given;
    int stdin_rank; /* -1: nobody gets it */
    enum dry_run dry_run;
    bool tag, keep_going, report_bindings, verbose, quiet, help, version;
    const char *output;                    /* a directory or a file with %r; NULL: mpiexec's own output */
    const char *out_pattern, *err_pattern; /* the same for one of the streams */
    enum launcher launcher;
    const char *hosts, *hosts_with_slots; /* of --host and the host file: "a,b", "a:2,b"; NULL: none */
    const char *hostfile;                 /* NULL: none */
    const char *elsewhere;                /* the first that is not this machine; NULL: none is */
    const char *json_events;              /* NULL: none */
    void **kept;                          /* memory that strings of the above lie in */
    int kept_count;
};

/* Parses the command line into zeroed options. False: `error` holds one line that says why. To be freed either way. */
bool options_parse(struct options *options, int argc, char *const argv[], char *error, size_t size);
void options_free(struct options *options);

/* The help text, on standard output. */
void options_help(void);

/* The names that an option can have, by number; NULL behind the last. */
const char *options_name(int number);

/* What to type instead of an unknown option (without dashes), if it can be guessed. */
bool options_suggest(const char *name, char *text, size_t size);

/* Splits the text of a configuration file into the arguments of a command line with a colon between its lines; `text`
 * is changed. NULL: an open quote, or out of memory. */
char **config_split(char *text, int *count);

#endif
