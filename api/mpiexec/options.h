/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec, parsed. Strings are borrowed from the command line, or kept by the options. */
#ifndef PLENUM_MPIEXEC_OPTIONS_H
#define PLENUM_MPIEXEC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/plenum.h"
#include "core/base/table.h"

enum { EXIT_USAGE = 2 };

/* An environment variable to set. */
struct setting {
    const char *name, *value;
};

struct settings {
    struct setting *item;
    int count;
};

/* One program of the job: the words between two colons. */
struct section {
    int ranks;
    bool counted;  /* by -n */
    int per_node;  /* by -N; 0: not given */
    int per_place; /* by --map-by ppr:N:socket and the like; 0: not given */
    enum plenum_bind place;
    bool env_clear;    /* by -envnone or -envlist */
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

enum launcher { LAUNCHER_AUTO, LAUNCHER_EMBEDDED, LAUNCHER_SLURM, LAUNCHER_PRTE, LAUNCHER_OPENMPI, LAUNCHER_SSH };

/* The cores and the host of a rank, as a rank file says. */
struct place_option {
    int rank;
    const char *cores;
    const char *host; /* a name, or +nN: of the hosts the one with number N; NULL: any */
};

/* A machine of --host or of a host file; one that is named twice is one. */
struct host_option {
    const char *name;
    int slots;
    int places[8]; /* by enum plenum_bind, once hosts_count() has asked */
};

enum { STDIN_ALL = -2 };

enum dry_run { DRY_RUN_NO, DRY_RUN_TEXT, DRY_RUN_JSON };

enum allocation { ALLOCATION_NONE /* the command line */, ALLOCATION_SLURM, ALLOCATION_OTHER };

struct options {
    const char *job; /* a file that describes the job; NULL: the sections describe it */
    struct section *section;
    int sections;
    struct settings env; /* for all programs */
    bool env_clear;
    struct pset_option *pset;
    int psets;
    long timeout, grace;   /* milliseconds; timeout 0: no limit */
    long heartbeat;        /* milliseconds until a silent host is lost; 0: never */
    enum plenum_pmix pmix; /* PLENUM_PMIX_AUTO unless given */
    enum plenum_bind bind;
    enum plenum_map map;
    enum plenum_rank rank_by; /* PLENUM_RANK_MAPPED unless given */
    bool bind_given, map_given, pmix_given, grace_given, stdin_given;
    int gpus;        /* for each process; 0: not given */
    long bind_count; /* cores for each process; 0: not given */
    int stdin_rank;  /* -1: no rank gets standard input; or STDIN_ALL */
    enum dry_run dry_run;
    bool tag, timestamp, display_map, buffered, keep_going, stop_on_exec, report_bindings, verbose, quiet, help,
        version;
    const char *prefix; /* of every line, with %r; NULL: that of `tag` */
    struct place_option *place;
    int places;
    const char *rankfile; /* that has said the places; NULL: not given */
    const char *cpu_list; /* cores to which all ranks are bound; NULL: not given */
    bool cpu_wanted;      /* --bind-to cpulist is given */
    bool cpu_ordered;     /* the first rank to the first of these, and so on */
    bool cpu_numbers;     /* these are processors, not cores */
    const char *cpus;     /* that mpiexec and the processes may use, "0-3,8"; NULL: not given */
    int universe;         /* MPI_UNIVERSE_SIZE; 0: not given */
    int slots;            /* of the hosts; 0: no hosts were given */
    const char **note;    /* about options without effect */
    int notes;
    const char *output;                    /* a directory or a file with %r; NULL: mpiexec's own output */
    const char *out_pattern, *err_pattern; /* files with %r, for standard output and standard error; NULL: not given */
    enum launcher launcher;
    struct host_option *host;
    int host_count;
    enum allocation allocation;   /* where the hosts come from */
    const char *launcher_exec;    /* the command that reaches a host, with %h; NULL: ssh */
    bool machine_named;           /* an option has the name of this machine, by %h */
    struct pl_table host_by_name; /* of `host` */
    const char **host_word;       /* of --host and the host file, such as "a:2" */
    int host_words;
    const char *hostfile;    /* NULL: not given */
    const char *elsewhere;   /* the first host that is not this machine; NULL: all are */
    const char *json_events; /* NULL: not given */
    void **kept;             /* memory of strings above */
    int kept_count;
};

/* Parses the command line into zeroed options. False: `error` holds one line that says why. The caller frees the
 * options in both cases. */
bool options_parse(struct options *options, int argc, char *const argv[], char *error, size_t size);
void options_free(struct options *options);

/* Reads words into the sections, starting with the one that is being filled. */
struct parse;
bool options_parse_words(struct parse *p, int argc, char *const argv[]);

/* Prints the help text on standard output. */
void options_help(void);

/* All names of options, by number; NULL: there is no such number. */
const char *options_name(int number);

#endif
