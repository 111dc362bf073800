/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line. Every option is a row of one table: its name, its arguments, the function that applies it
 * (apply.c), and its line of help. Single and double dashes mean the same, and so do `--name value` and `--name=value`.
 */
#include "api/mpiexec/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mpiexec/allocation.h"
#include "api/mpiexec/apply.h"
#include "api/mpiexec/others.h"
#include "api/mpiexec/parse.h"
#include "api/mpiexec/rankfile.h"
#include "api/mpiexec/suggest.h"
#include "core/base/memory_libc.h"

/* --- the table --------------------------------------------------------------------------------------------- */

enum kind {
    HEADING, /* not an option: a title in the help */
    FLAG,    /* sets a bool of struct options */
    TEXT,    /* stores its argument as a text of struct options */
    SECTION, /* stores its argument as a text of the section */
    CALL,    /* calls a function with one argument */
    ANY,     /* the same, and the argument may be empty */
    CALL2,   /* calls a function with two arguments */
    CALL0,   /* calls a function without arguments */
    MAYBE,   /* calls a function with the text after an equals sign, or with NULL */
    ACCEPT   /* takes no argument and has no effect */
};

struct option {
    const char *name;
    enum kind kind;
    size_t field; /* FLAG, TEXT, SECTION: its offset in the struct */
    apply_fn *apply;
    const char *usage; /* its arguments in the help; NULL: another name of the option above */
    const char *help;
};

#define TITLE(text)                                                                                                    \
    {                                                                                                                  \
        NULL, HEADING, 0, NULL, NULL, text                                                                             \
    }
#define IN_OPTIONS(name) offsetof(struct options, name), NULL
#define IN_SECTION(name) offsetof(struct section, name), NULL

static const struct option table[] = {
    TITLE("Programs"),
    { "n", CALL, 0, apply_n, "N", "start N processes of the program that follows (default 1)" },
    { "np", CALL, 0, apply_n, NULL, NULL },
    { "c", CALL, 0, apply_n, NULL, NULL },
    { "N", CALL, 0, apply_per_node, "N", "start N processes on each machine" },
    { "npernode", CALL, 0, apply_per_node, NULL, NULL },
    { "ppn", CALL, 0, apply_per_node, NULL, NULL },
    { "perhost", CALL, 0, apply_per_node, NULL, NULL },
    { "pernode", CALL0, 0, apply_one_per_node, "", "start one process on each machine" },
    { "npersocket", CALL, 0, apply_per_socket, "N", "start N processes on each socket, and bind them to it" },
    { "wdir", SECTION, IN_SECTION(wdir), "DIR", "start the processes in DIR" },
    { "wd", SECTION, IN_SECTION(wdir), NULL, NULL },
    { "path", SECTION, IN_SECTION(path), "DIRS", "search for the program in DIRS (a:b:c) before PATH" },
    { "configfile", CALL, 0, apply_configfile, "FILE", "read programs and options from FILE, one program per line" },
    { "file", CALL, 0, apply_configfile, NULL, NULL },
    { "app", CALL, 0, apply_configfile, NULL, NULL },
    { "job", TEXT, IN_OPTIONS(job), "FILE", "run the job that FILE describes, in JSON" },
    { "pset", CALL, 0, apply_pset, "NAME=RANKS", "define a process set, such as app://io=0-3,7" },
    { "host", CALL, 0, apply_host, "HOSTS", "run on these hosts; for hosts other than this one see --launcher" },
    { "H", CALL, 0, apply_host, NULL, NULL },
    { "hosts", CALL, 0, apply_host, NULL, NULL },
    { "hostfile", CALL, 0, apply_hostfile, "FILE", "read the hosts from FILE, one host per line" },
    { "machinefile", CALL, 0, apply_hostfile, NULL, NULL },
    { "f", CALL, 0, apply_hostfile, NULL, NULL },
    { "launcher", CALL, 0, apply_launcher, "WHICH",
      "auto (default), embedded, ssh, or, to hand over to, slurm, prte, openmpi" },
    { "bootstrap", CALL, 0, apply_launcher, NULL, NULL },
    { "launcher-exec", TEXT, IN_OPTIONS(launcher_exec), "COMMAND",
      "with --launcher ssh, what reaches a host: words, with %h for its name" },
    { "heartbeat", CALL, 0, apply_heartbeat, "SECONDS",
      "with --launcher ssh, after what time a silent host is lost (default 30; 0: never)" },
    { "usize", CALL, 0, apply_universe, "N", "the value of MPI_UNIVERSE_SIZE" },
    { "soft", CALL, 0, apply_soft, "TRIPLETS", "accept fewer processes (mpiexec always starts all)" },

    TITLE("Environment (inherited from mpiexec)"),
    { "x", CALL, 0, apply_export, "NAME[=VALUE]", "set a variable, or pass one that must exist" },
    { "genv", CALL2, 0, apply_genv, "NAME VALUE", "set a variable for all programs; also NAME=VALUE" },
    { "env", CALL2, 0, apply_env, "NAME VALUE", "set a variable for the program that follows; also NAME=VALUE" },
    { "genvlist", ANY, 0, apply_genvlist, "NAMES", "pass only these variables (A,B,C)" },
    { "genvnone", CALL0, 0, apply_genvnone, "", "pass no variables except those of -x, --env and --genv" },
    { "genvall", ACCEPT, 0, NULL, "", "pass all variables (default)" },
    { "envall", ACCEPT, 0, NULL, NULL, NULL },
    { "envlist", ANY, 0, apply_envlist, "NAMES", "the same as --genvlist, for a single program" },
    { "envnone", CALL0, 0, apply_envnone, "", "the same as --genvnone, for a single program" },
    { "initial-errhandler", CALL, 0, apply_errhandler, "NAME",
      "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return" },
    { "initial_errhandler", CALL, 0, apply_errhandler, NULL, NULL },
    { "memory-alloc-kinds", CALL, 0, apply_alloc_kinds, "KINDS",
      "the kinds of memory that the program asks MPI to support" },

    TITLE("Placement and execution"),
    { "bind-to", CALL, 0, apply_bind, "WHAT",
      "bind each process to a core, hwthread, l3cache, socket or numa; none (default)" },
    { "map-by", CALL, 0, apply_map, "WHAT",
      "the order of binding: slot (default), or socket, numa or l3cache in turn" },
    { "rankfile", CALL, 0, apply_rankfile, "RANKFILE",
      "bind the ranks as a file of lines such as rank 0=localhost slot=0-2 says" },
    { "rf", CALL, 0, apply_rankfile, NULL, NULL },
    { "bynode", CALL0, 0, apply_bynode, "", "the same as --map-by node: each machine in turn" },
    { "byslot", CALL0, 0, apply_byslot, "", "the same as --map-by slot" },
    { "rank-by", CALL, 0, apply_rank, "WHAT", "the order of ranks: slot, node, fill or span" },
    { "cpus-per-proc", CALL, 0, apply_cores, "N", "bind each process to N cores; also --map-by slot:PE=N" },
    { "cpus-per-rank", CALL, 0, apply_cores, NULL, NULL },
    { "gpus-per-task", CALL, 0, apply_gpus, "N", "give each process N GPUs of its own" },
    { "cpu-set", CALL, 0, apply_cpus, "LIST", "use these processors only, such as 0-3,8" },
    { "cpu-list", CALL, 0, apply_cpu_list, "LIST", "bind the processes to these cores, such as 0,1" },
    { "slot-list", CALL, 0, apply_cpu_list, NULL, NULL },
    { "display-map", FLAG, IN_OPTIONS(display_map), "", "print what is started, as --dry-run does, and start it" },
    { "display", CALL, 0, apply_display, "KEYS", "map, bindings, separated by commas" },
    { "report-bindings", FLAG, IN_OPTIONS(report_bindings), "", "print the processors of each bound rank" },
    { "oversubscribe", ACCEPT, 0, NULL, "", "accepted: more processes than cores are always allowed" },
    { "allow-run-as-root", ACCEPT, 0, NULL, "", "accepted: root needs no permission" },
    { "timeout", CALL, 0, apply_timeout, "SECONDS", "end the job after this time, with exit code 124" },
    { "grace", CALL, 0, apply_grace, "SECONDS", "the time from SIGTERM to SIGKILL when a job is ended (default 2)" },
    { "keep-going", FLAG, IN_OPTIONS(keep_going), "", "let the other processes continue when one fails" },
    { "with-ft", CALL, 0, apply_ft, "KIND", "ulfm: the others go on, and communicate" },
    { "enable-recovery", CALL0, 0, apply_recovery, NULL, NULL },
    { "disable-auto-cleanup", CALL0, 0, apply_recovery, NULL, NULL },
    { "stop-on-exec", FLAG, IN_OPTIONS(stop_on_exec), "", "stop each process before its program runs, for a debugger" },
    { "stdin", CALL, 0, apply_stdin, "RANK", "the rank that gets standard input (default 0), or all, or none" },
    { "s", CALL, 0, apply_stdin, NULL, NULL },
    { "pmix", CALL, 0, apply_pmix, "MODE", "a PMIx server for programs that need one: auto, on or off" },

    TITLE("Output"),
    { "tag-output", FLAG, IN_OPTIONS(tag), "", "print [rank] before every line" },
    { "l", FLAG, IN_OPTIONS(tag), NULL, NULL },
    { "prepend-rank", FLAG, IN_OPTIONS(tag), NULL, NULL },
    { "prepend-pattern", ANY, 0, apply_prefix, "TEXT", "print TEXT before every line; %r is the rank, %h the machine" },
    { "timestamp-output", FLAG, IN_OPTIONS(timestamp), "", "print the time before every line" },
    { "output", CALL, 0, apply_output_keys, "KEYS", "tag, timestamp, directory=DIR, file=FILE, separated by commas" },
    { "buffered", FLAG, IN_OPTIONS(buffered), "", "standard output is a pipe, for gigabytes of lines, not a terminal" },
    { "output-filename", CALL, 0, apply_output, "DIR", "write to DIR/rank.N.out and DIR/rank.N.err instead" },
    { "outfile-pattern", CALL, 0, apply_out_pattern, "FILE",
      "write standard output to FILE; %r stands for the rank, %h for the machine" },
    { "outfile", CALL, 0, apply_out_pattern, NULL, NULL },
    { "errfile-pattern", CALL, 0, apply_err_pattern, "FILE",
      "write standard error to FILE; %r stands for the rank, %h for the machine" },
    { "errfile", CALL, 0, apply_err_pattern, NULL, NULL },
    { "json-events", TEXT, IN_OPTIONS(json_events), "FILE", "log events to FILE, one JSON object per line" },
    { "dry-run", MAYBE, 0, apply_dry_run, "[=json]", "print what would be started, and start nothing" },
    { "verbose", FLAG, IN_OPTIONS(verbose), "", "print all events, and what this machine does not allow" },
    { "v", FLAG, IN_OPTIONS(verbose), NULL, NULL },
    { "quiet", FLAG, IN_OPTIONS(quiet), "", "print no messages; only the exit code reports errors" },
    { "q", FLAG, IN_OPTIONS(quiet), NULL, NULL },
    { "help", FLAG, IN_OPTIONS(help), "", "show this help" },
    { "h", FLAG, IN_OPTIONS(help), NULL, NULL },
    { "version", FLAG, IN_OPTIONS(version), "", "show the version" },
    { "V", FLAG, IN_OPTIONS(version), NULL, NULL },
};

enum { TABLE = sizeof table / sizeof *table };

const char *options_name(int number)
{
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && number-- == 0)
            return table[i].name;
    return NULL;
}

/* Prints the other names of an option at the end of its line. */
static void options_print_other_names(int row)
{
    const char *before = "  (also ";
    for (int i = row + 1; i < TABLE && table[i].name && !table[i].usage; i++) {
        printf("%s%s%s", before, strlen(table[i].name) > 1 ? "--" : "-", table[i].name);
        before = ", ";
    }
    puts(before[0] == ',' ? ")" : "");
}

void options_help(void)
{
    puts("Usage: mpiexec [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM [ARGUMENT]...]...\n"
         "       mpiexec [OPTION]... --job FILE\n"
         "Runs MPI programs as one job. One or two dashes before an option mean the same, and so do\n"
         "--name=value and --name value.");
    for (int i = 0; i < TABLE; i++) {
        char left[64];
        if (table[i].kind == HEADING)
            printf("\n%s:\n", table[i].help);
        if (!table[i].usage)
            continue;
        snprintf(left, sizeof left, "%s%s%s%s", strlen(table[i].name) > 1 ? "--" : "-", table[i].name,
                 table[i].usage[0] == '[' ? "" : " ", table[i].usage);
        printf("  %-26s %s", left, table[i].help);
        options_print_other_names(i);
    }
    puts("\nExamples:\n"
         "  mpiexec -n 4 ./ocean --days 30\n"
         "  mpiexec -n 1 ./master : -n 3 ./worker\n"
         "  mpiexec --bind-to core --timeout 600 --output-filename log -n 8 ./ocean\n"
         "\nStandard input goes to rank 0. SIGINT and SIGTERM end the job; a second one kills it.\n"
         "The exit code is that of an abort, else the first exit code of a process that is not 0, or 128 + N for a\n"
         "process killed by signal N; 124 after a timeout, 127 if a program does not exist, 126 if it cannot be\n"
         "executed, 2 for an invalid command line.");
}

/* --- the command line -------------------------------------------------------------------------------------- */

static const struct option *options_find(const char *name, size_t length)
{
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static bool options_fail_unknown(struct parse *p, const char *name, size_t length)
{
    char brief[64], meant[80];
    snprintf(brief, sizeof brief, "%.*s", (int)length, name);
    if (suggest_option(brief, meant, sizeof meant))
        return parse_fail(p, "unknown option %s; did you mean %s?", p->name, meant);
    return parse_fail(p, "unknown option %s; mpiexec --help lists the options", p->name);
}

static int options_arguments_of(const struct option *option)
{
    switch (option->kind) {
    case TEXT:
    case SECTION:
    case ANY:
    case CALL: return 1;
    case CALL2: return 2;
    default: return 0;
    }
}

static bool options_fail_empty(struct parse *p, const struct option *option)
{
    while (!option->usage) /* another name of the option above */
        option--;
    return parse_fail(p, "%s expects %s, not \"\": %s", p->name, option->usage, option->help);
}

static bool options_apply(struct parse *p, const struct option *option, char *const *arg)
{
    if (options_arguments_of(option) > 0 && option->kind != ANY && !arg[0][0])
        return options_fail_empty(p, option);
    p->value = arg[0];
    switch (option->kind) {
    case FLAG: *(bool *)((char *)p->o + option->field) = true; break;
    case TEXT: *(const char **)((char *)p->o + option->field) = arg[0]; break;
    case SECTION: *(const char **)((char *)p->s + option->field) = arg[0]; break;
    case HEADING:
    case ACCEPT: break;
    case ANY:
    case CALL:
    case CALL0:
    case CALL2:
    case MAYBE: return option->apply(p, arg);
    }
    return true;
}

/* An option of another launcher. Moves *at over its arguments. */
static bool options_take_other(struct parse *p, const char *name, size_t length, int argc, int *at)
{
    const struct other *other = others_find(name, length);
    int wanted = other && !name[length] ? other->arguments : 0;
    char *note;
    if (!other)
        return options_fail_unknown(p, name, length);
    if (other->refused)
        return parse_fail(p, "%.*s is not an option here: %s", (int)(name + length - p->name), p->name, other->text);
    if (name[length] && other->arguments != 1)
        return parse_fail(p, "%.*s takes %s", (int)(name + length - p->name), p->name,
                          other->arguments ? "two arguments" : "no argument");
    if (*at + wanted >= argc)
        return parse_fail(p, "%s needs %s", p->name, wanted == 2 ? "two arguments" : "an argument");
    *at += wanted;
    if (pl_asprintf(&note, "%.*s has no effect: %s", (int)(name + length - p->name), p->name, other->text) < 0)
        return parse_fail(p, "out of memory");
    parse_note(p, note);
    return true;
}

/* NAME=VALUE for an option that takes a name and a value. */
static bool options_apply_assignment(struct parse *p, const struct option *option, char *text)
{
    char *name = parse_keep(p, pl_strndup(text, strcspn(text, "=")));
    if (!name || !name[0])
        return parse_fail(p, "%s expects a name and a value, or NAME=VALUE, not \"%s\"", p->name, text);
    return option->apply(p, (char *const[]){ name, strchr(text, '=') + 1 });
}

/* Applies the option at argv[*at] and moves *at to its last argument. */
static bool options_parse_option(struct parse *p, int argc, char *const argv[], int *at)
{
    const char *name = argv[*at] + 1 + (argv[*at][1] == '-');
    size_t length = strcspn(name, "=");
    const struct option *option = options_find(name, length);
    p->name = argv[*at];
    p->taken = NULL;
    if (!option)
        return options_take_other(p, name, length, argc, at);
    int wanted = options_arguments_of(option);
    if (name[length]) {
        char *value = (char *)name + length + 1;
        if (wanted == 2 && strchr(value, '='))
            return options_apply_assignment(p, option, value);
        if (wanted != 1 && option->kind != MAYBE)
            return parse_fail(p, "--%s takes %s", option->name, wanted ? "two arguments" : "no argument");
        p->name = parse_keep(p, pl_strndup(argv[*at], (size_t)(value - 1 - argv[*at])));
        return options_apply(p, option, &value);
    }
    if (wanted == 2 && *at + 1 < argc && strchr(argv[*at + 1], '=')) {
        p->taken = argv[++*at];
        return options_apply_assignment(p, option, argv[*at]);
    }
    if (*at + wanted >= argc)
        return parse_fail(p, "%s needs %s", p->name, wanted == 2 ? "two arguments" : "an argument");
    static char *const nothing[] = { NULL };
    char *const *arg = wanted > 0 ? argv + *at + 1 : nothing;
    *at += wanted;
    p->taken = wanted > 0 ? argv[*at] : NULL;
    return options_apply(p, option, arg);
}

static void options_new_section(struct parse *p)
{
    p->o->section = parse_append(p->o->section, &p->o->sections, sizeof *p->o->section);
    p->s = &p->o->section[p->o->sections - 1];
    p->s->ranks = 1;
}

/* All options of a program are known. */
static bool options_end_section(struct parse *p)
{
    struct section *s = p->s;
    if (s->per_node && !s->counted)
        s->ranks = s->per_node;
    return true;
}

/* All options are known. A single program without a number gets a process for each slot of the hosts. */
static bool options_end(struct parse *p)
{
    if (p->o->bind_count > 0 && !p->o->bind_given) {
        p->o->bind = PLENUM_BIND_CORE;
        p->o->bind_given = true;
    }
    struct section *s = p->s;
    if (s->env_clear || p->o->section[0].env_clear) {
        if (p->o->sections > 1)
            return parse_fail(p,
                              "--envlist and --envnone are for a single program; use --genvlist or --genvnone, which "
                              "are for all");
        p->o->env_clear = true;
    }
    for (int i = 0; i < p->o->sections; i++) {
        if (p->o->section[i].per_place && p->o->rank_by == PLENUM_RANK_MAPPED)
            p->o->rank_by = PLENUM_RANK_FILL; /* as Open MPI does */
    }
    char *limit = getenv("MPIEXEC_TIMEOUT");
    if (!rankfile_end(p) || !allocation_take(p) || !rankfile_add_hosts(p))
        return false;
    if (!p->o->job && p->o->sections == 1 && !s->counted && !s->per_node && !s->per_place && p->o->slots)
        s->ranks = p->o->slots;
    p->name = "MPIEXEC_TIMEOUT in the environment";
    return !limit || !*limit || p->o->timeout || apply_timeout(p, &limit);
}

static void options_add_argument(struct section *s, const char *argument)
{
    if (!s->argv)
        s->argv = parse_append(NULL, &(int){ 0 }, sizeof *s->argv);
    int count = s->argc + 1; /* with the NULL */
    s->argv = parse_append(s->argv, &count, sizeof *s->argv);
    s->argv[s->argc++] = argument;
}

bool options_parse_words(struct parse *p, int argc, char *const argv[])
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], ":") == 0) {
            if (p->s->argc == 0)
                return parse_fail(p, "no program before \":\"");
            if (!options_end_section(p))
                return false;
            options_new_section(p);
        } else if (p->s->argc == 0 && strcmp(argv[i], "--") == 0) { /* the next word is not an option */
            if (i + 1 < argc)
                options_add_argument(p->s, argv[++i]);
        } else if (p->s->argc == 0 && argv[i][0] == '-' && argv[i][1]) {
            if (!options_parse_option(p, argc, argv, &i))
                return false;
        } else {
            options_add_argument(p->s, argv[i]);
        }
    }
    return true;
}

static bool options_fail_without_program(struct parse *p)
{
    const char *where = p->o->sections > 1 ? " after \":\"" : " to run";
    if (p->taken)
        return parse_fail(p, "no program%s: \"%s\" is the argument of %s; see mpiexec --help", where, p->taken,
                          p->name);
    return parse_fail(p, "no program%s; see mpiexec --help", where);
}

/* With --job, the file describes the programs. */
static bool options_check_job(struct parse *p)
{
    const struct section *s = &p->o->section[0];
    const char *what = p->o->sections > 1 || s->argc > 0    ? "others"
                       : s->counted || s->per_node          ? "-n and -N"
                       : s->per_place                       ? "--map-by ppr and --npersocket"
                       : s->wdir || s->path || s->env.count ? "--wdir, --path and --env"
                                                            : NULL;
    return !what ||
           parse_fail(p, "--job \"%s\" describes the programs, so %s cannot be given with it", p->o->job, what);
}

bool options_parse(struct options *o, int argc, char *const argv[], char *error, size_t size)
{
    struct parse p = { .o = o, .error = error, .size = size };
    o->pmix = PLENUM_PMIX_AUTO;
    o->heartbeat = 30000;
    options_new_section(&p);
    if (!options_parse_words(&p, argc - 1, argv + 1))
        return false;
    if (o->help || o->version)
        return true;
    if (o->job)
        return options_check_job(&p) && options_end(&p);
    if (p.s->argc == 0)
        return options_fail_without_program(&p);
    return options_end_section(&p) && options_end(&p);
}

void options_free(struct options *o)
{
    for (int i = 0; i < o->sections; i++) {
        free(o->section[i].argv);
        free(o->section[i].env.item);
    }
    free(o->note);
    for (int i = 0; i < o->psets; i++)
        free(o->pset[i].ranges);
    for (int i = 0; i < o->kept_count; i++)
        free(o->kept[i]);
    free(o->section);
    free(o->env.item);
    pl_table_fini(&o->host_by_name);
    free(o->host);
    free(o->host_word);
    free(o->place);
    free(o->pset);
    free(o->kept);
}
