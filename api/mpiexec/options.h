/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec, parsed. */
#ifndef PLENUM_MPIEXEC_OPTIONS_H
#define PLENUM_MPIEXEC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

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

enum pmix_mode { PMIX_AUTO, PMIX_ON, PMIX_OFF };

struct options {
    struct section *section;
    int sections;
    struct settings env; /* for all programs */
    struct pset_option *pset;
    int psets;
    long timeout; /* milliseconds, 0: none */
    enum pmix_mode pmix;
    bool bind, tag, keep_going, dry_run, verbose, help, version;
    const char *output_prefix; /* NULL: to mpiexec's own output */
    const char *json_events;   /* NULL: none */
    void **kept;               /* memory that strings of the above lie in */
    int kept_count;
};

/* Parses the command line into zeroed options. False: `error` holds one line that says why. To be freed either way. */
bool options_parse(struct options *options, int argc, char *const argv[], char *error, size_t size);
void options_free(struct options *options);

/* The help text, on standard output. */
void options_help(void);

/* The names that an option can have, by number; NULL behind the last. */
const char *options_name(int number);

/* The known option nearest to a mistyped one (without dashes), NULL when none is near. */
const char *options_suggest(const char *name);

/* Splits the text of a configuration file into the arguments of a command line with a colon between its lines; `text`
 * is changed. NULL: an open quote, or out of memory. */
char **config_split(char *text, int *count);

#endif
