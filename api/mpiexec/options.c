/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line. Every option is a row of one table: its name, how many arguments it takes, the function that
 * applies it, and its line of help. Single and double dashes mean the same, and so do `--name value` and `--name=value`.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/options.h"

struct parse {
    struct options *o;
    struct section *s; /* the one being filled */
    const char *name;  /* of the option being applied, as it was typed */
    char *error;
    size_t size;
    int depth; /* of configuration files */
};

static bool fail(struct parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parse *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, p->size, format, args);
    va_end(args);
    return false;
}

/* One more element, zeroed. mpiexec gives up when memory is short while it reads its own command line. */
static void *append(void *array, int *count, size_t each)
{
    char *grown = realloc(array, (size_t)(*count + 1) * each);
    if (!grown) {
        perror("mpiexec");
        exit(1);
    }
    memset(grown + (size_t)*count * each, 0, each);
    ++*count;
    return grown;
}

/* Memory that is freed with the options. */
static void *keep(struct parse *p, void *memory)
{
    p->o->kept = append(p->o->kept, &p->o->kept_count, sizeof(*p->o->kept));
    return p->o->kept[p->o->kept_count - 1] = memory;
}

static bool parse_arguments(struct parse *p, int argc, char *const argv[]);

/* --- values ------------------------------------------------------------------------------------------------ */

static bool number(struct parse *p, const char *text, long least, long most, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (end == text || *end || errno || *value < least || *value > most)
        return fail(p, "%s wants a number from %ld to %ld, not \"%s\"", p->name, least, most, text);
    return true;
}

static void set_variable(struct settings *to, const char *name, const char *value)
{
    to->item = append(to->item, &to->count, sizeof(*to->item));
    to->item[to->count - 1] = (struct setting){ name, value };
}

/* "0-3,7" */
static bool rank_ranges(const char *text, struct pset_option *pset)
{
    while (*text) {
        int used = 0, first, last;
        if (sscanf(text, "%d-%d%n", &first, &last, &used) != 2 || used == 0) {
            if (sscanf(text, "%d%n", &first, &used) != 1)
                return false;
            last = first;
        }
        if (first < 0 || last < first || (text[used] && text[used] != ','))
            return false;
        pset->ranges = append(pset->ranges, &pset->count, sizeof(*pset->ranges));
        pset->ranges[pset->count - 1][0] = first;
        pset->ranges[pset->count - 1][1] = last;
        text += used + (text[used] == ',');
    }
    return pset->count > 0;
}

static bool is_this_host(const char *name, size_t length)
{
    static const char *const own[] = { "localhost", "127.0.0.1", "::1" };
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strlen(own[i]) == length && memcmp(own[i], name, length) == 0)
            return true;
    size_t brief = strcspn(host, ".");
    return (strlen(host) == length || brief == length) && length > 0 && memcmp(host, name, length) == 0;
}

/* --- what the options do ----------------------------------------------------------------------------------- */

static bool do_n(struct parse *p, char *const *arg)
{
    long ranks;
    if (!number(p, arg[0], 1, 65536, &ranks))
        return false;
    p->s->ranks = (int)ranks;
    return true;
}

static bool do_genv(struct parse *p, char *const *arg)
{
    set_variable(&p->o->env, arg[0], arg[1]);
    return true;
}

static bool do_env(struct parse *p, char *const *arg)
{
    set_variable(&p->s->env, arg[0], arg[1]);
    return true;
}

static bool do_errhandler(struct parse *p, char *const *arg)
{
    set_variable(&p->o->env, "PLENUM_INITIAL_ERRHANDLER", arg[0]);
    return true;
}

static bool do_export(struct parse *p, char *const *arg)
{
    char *equal = strchr(arg[0], '=');
    if (equal == arg[0])
        return fail(p, "%s wants NAME or NAME=VALUE, not \"%s\"", p->name, arg[0]);
    if (!equal) {
        if (!getenv(arg[0]))
            return fail(p, "%s %s: there is no such variable in the environment", p->name, arg[0]);
        return true; /* the ranks inherit the environment */
    }
    set_variable(&p->o->env, keep(p, strndup(arg[0], (size_t)(equal - arg[0]))), equal + 1);
    return true;
}

static bool do_timeout(struct parse *p, char *const *arg)
{
    char *end;
    double seconds = strtod(arg[0], &end);
    if (end == arg[0] || *end || !(seconds > 0) || seconds > 2000000)
        return fail(p, "%s wants a number of seconds, not \"%s\"", p->name, arg[0]);
    p->o->timeout = seconds < 0.001 ? 1 : (long)(seconds * 1000);
    return true;
}

static bool do_host(struct parse *p, char *const *arg)
{
    for (const char *at = arg[0]; *at;) {
        size_t length = strcspn(at, ","), name = length;
        const char *colon = memrchr(at, ':', length);
        if (colon && colon[1 + strspn(colon + 1, "0123456789")] == at[length] && !is_this_host(at, length))
            name = (size_t)(colon - at); /* host:slots */
        if (!is_this_host(at, name))
            return fail(p,
                        "%s %.*s: only this machine can be used; start the job on others with srun, prterun or "
                        "Open MPI's mpirun",
                        p->name, (int)name, at);
        at += length + (at[length] == ',');
    }
    return true;
}

/* Fewer processes than -n would do: we always start all. The list is checked, nothing else. */
static bool do_soft(struct parse *p, char *const *arg)
{
    if (!arg[0][0] || arg[0][strspn(arg[0], "0123456789:,")])
        return fail(p, "%s wants triplets such as 2:8:2,16, not \"%s\"", p->name, arg[0]);
    return true;
}

static bool do_bind(struct parse *p, char *const *arg)
{
    p->o->bind = strcmp(arg[0], "core") == 0;
    return p->o->bind || strcmp(arg[0], "none") == 0 || fail(p, "%s wants none or core, not \"%s\"", p->name, arg[0]);
}

static bool do_pmix(struct parse *p, char *const *arg)
{
    static const char *const mode[] = { "auto", "on", "off" };
    for (int i = 0; i < 3; i++)
        if (strcmp(arg[0], mode[i]) == 0) {
            p->o->pmix = (enum pmix_mode)i;
            return true;
        }
    return fail(p, "%s wants auto, on or off, not \"%s\"", p->name, arg[0]);
}

static bool do_pset(struct parse *p, char *const *arg)
{
    char *equal = strrchr(arg[0], '=');
    p->o->pset = append(p->o->pset, &p->o->psets, sizeof(*p->o->pset));
    struct pset_option *pset = &p->o->pset[p->o->psets - 1];
    if (!equal || equal == arg[0] || !rank_ranges(equal + 1, pset))
        return fail(p, "%s wants NAME=RANKS with ranks such as 0-3,7, not \"%s\"", p->name, arg[0]);
    pset->name = keep(p, strndup(arg[0], (size_t)(equal - arg[0])));
    return true;
}

static bool do_configfile(struct parse *p, char *const *arg)
{
    char *text = NULL;
    size_t size = 0;
    int count = 0;
    FILE *file = fopen(arg[0], "r");
    if (!file)
        return fail(p, "cannot read \"%s\": %s", arg[0], strerror(errno));
    ssize_t got = getdelim(&text, &size, '\0', file);
    bool failed = got < 0 && ferror(file);
    int why = errno;
    fclose(file);
    keep(p, text);
    if (failed)
        return fail(p, "cannot read \"%s\": %s", arg[0], strerror(why));
    if (p->depth >= 8)
        return fail(p, "\"%s\": configuration files include each other too deeply", arg[0]);
    char **word = config_split(text, &count);
    if (!word)
        return fail(p, "\"%s\": a quote is not closed", arg[0]);
    keep(p, word);
    p->depth++;
    bool good = parse_arguments(p, count, word);
    p->depth--;
    return good;
}

/* --- the table --------------------------------------------------------------------------------------------- */

enum kind {
    FLAG,    /* sets a bool of struct options */
    TEXT,    /* one argument, to a text of struct options */
    SECTION, /* one argument, to a text of the section */
    CALL,    /* one argument, to a function */
    CALL2,   /* two */
    ACCEPT   /* no argument, no effect */
};

struct option {
    const char *name;
    enum kind kind;
    size_t field; /* FLAG, TEXT, SECTION: its offset */
    bool (*apply)(struct parse *p, char *const *arg);
    const char *usage; /* its arguments; NULL: another name of the row above */
    const char *help;
};

#define IN_OPTIONS(name) offsetof(struct options, name), NULL
#define IN_SECTION(name) offsetof(struct section, name), NULL

static const struct option table[] = {
    { "n", CALL, 0, do_n, "N", "N processes of the program that follows (default 1)" },
    { "np", CALL, 0, do_n, NULL, NULL },
    { "c", CALL, 0, do_n, NULL, NULL },
    { "wdir", SECTION, IN_SECTION(wdir), "DIR", "start them in DIR" },
    { "wd", SECTION, IN_SECTION(wdir), NULL, NULL },
    { "path", SECTION, IN_SECTION(path), "DIRS", "look for the program in DIRS (a:b:c) before PATH" },
    { "env", CALL2, 0, do_env, "NAME VALUE", "set a variable for this program" },
    { "genv", CALL2, 0, do_genv, "NAME VALUE", "set a variable for all programs" },
    { "x", CALL, 0, do_export, "NAME[=VALUE]", "the same; without a value the one that mpiexec itself has" },
    { "host", CALL, 0, do_host, "HOSTS", "this machine, by name; others need another launcher" },
    { "H", CALL, 0, do_host, NULL, NULL },
    { "hosts", CALL, 0, do_host, NULL, NULL },
    { "soft", CALL, 0, do_soft, "TRIPLETS", "fewer processes would do (all are always started)" },
    { "configfile", CALL, 0, do_configfile, "FILE", "read programs from FILE, one to a line" },
    { "file", CALL, 0, do_configfile, NULL, NULL },
    { "initial-errhandler", CALL, 0, do_errhandler, "NAME",
      "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return" },
    { "initial_errhandler", CALL, 0, do_errhandler, NULL, NULL },
    { "bind-to", CALL, 0, do_bind, "WHAT", "none (default) or core: one core for each process, in turn" },
    { "oversubscribe", ACCEPT, 0, NULL, "", "accepted: more processes than cores are always allowed" },
    { "allow-run-as-root", ACCEPT, 0, NULL, "", "accepted: root needs no permission" },
    { "pset", CALL, 0, do_pset, "NAME=RANKS", "define a process set, such as app://io=0-3,7" },
    { "timeout", CALL, 0, do_timeout, "SECONDS", "end the job after this time, with exit code 124" },
    { "keep-going", FLAG, IN_OPTIONS(keep_going), "", "let the others go on when a process fails" },
    { "pmix", CALL, 0, do_pmix, "MODE", "a PMIx server for programs that want one: auto, on or off" },
    { "tag-output", FLAG, IN_OPTIONS(tag), "", "put [rank] before every line" },
    { "l", FLAG, IN_OPTIONS(tag), NULL, NULL },
    { "output-filename", TEXT, IN_OPTIONS(output_prefix), "PREFIX",
      "write to PREFIX.<rank>.out and PREFIX.<rank>.err instead" },
    { "json-events", TEXT, IN_OPTIONS(json_events), "FILE", "write what happens to FILE, one JSON object to a line" },
    { "dry-run", FLAG, IN_OPTIONS(dry_run), "", "say what would be started, and start nothing" },
    { "verbose", FLAG, IN_OPTIONS(verbose), "", "say what happens" },
    { "v", FLAG, IN_OPTIONS(verbose), NULL, NULL },
    { "help", FLAG, IN_OPTIONS(help), "", "show this" },
    { "h", FLAG, IN_OPTIONS(help), NULL, NULL },
    { "version", FLAG, IN_OPTIONS(version), "", "show the version" },
    { "V", FLAG, IN_OPTIONS(version), NULL, NULL },
};

enum { TABLE = sizeof(table) / sizeof(*table) };

const char *options_name(int number)
{
    return number < TABLE ? table[number].name : NULL;
}

void options_help(void)
{
    puts("Usage: mpiexec [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM [ARGUMENT]...]...\n"
         "Runs MPI programs, as one job, on this machine. One or two dashes before an option mean the same.\n");
    for (int i = 0; i < TABLE; i++) {
        char left[64];
        if (!table[i].usage)
            continue;
        snprintf(left, sizeof(left), "%s%s %s", strlen(table[i].name) > 1 ? "--" : "-", table[i].name, table[i].usage);
        printf("  %-28s %s\n", left, table[i].help);
    }
    puts("\nStandard input goes to rank 0. SIGINT and SIGTERM end the job; a second one kills it.\n"
         "The exit code is that of an abort, else the first one that is not 0, 128 + N for a process killed by\n"
         "signal N, 124 when the time was over, 127 when there was no such program, 126 when it cannot be executed,\n"
         "2 when this command line was wrong.");
}

/* --- the command line -------------------------------------------------------------------------------------- */

static const struct option *find_option(const char *name, size_t length)
{
    for (int i = 0; i < TABLE; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static bool fail_unknown(struct parse *p, const char *name, size_t length)
{
    char brief[64];
    snprintf(brief, sizeof(brief), "%.*s", (int)length, name);
    const char *near = options_suggest(brief);
    if (near)
        return fail(p, "unknown option %s; did you mean --%s?", p->name, near);
    return fail(p, "unknown option %s; mpiexec --help lists them", p->name);
}

static int arguments_of(const struct option *option)
{
    return option->kind == FLAG || option->kind == ACCEPT ? 0 : option->kind == CALL2 ? 2 : 1;
}

static bool apply(struct parse *p, const struct option *option, char *const *arg)
{
    switch (option->kind) {
    case FLAG: *(bool *)((char *)p->o + option->field) = true; break;
    case TEXT: *(const char **)((char *)p->o + option->field) = arg[0]; break;
    case SECTION: *(const char **)((char *)p->s + option->field) = arg[0]; break;
    case ACCEPT: break;
    case CALL:
    case CALL2: return option->apply(p, arg);
    }
    return true;
}

/* Applies the option at argv[*at] and moves *at to its last argument. */
static bool parse_option(struct parse *p, int argc, char *const argv[], int *at)
{
    const char *name = argv[*at] + 1 + (argv[*at][1] == '-');
    size_t length = strcspn(name, "=");
    const struct option *option = find_option(name, length);
    p->name = argv[*at];
    if (!option)
        return fail_unknown(p, name, length);
    int wanted = arguments_of(option);
    if (name[length]) {
        char *value = (char *)name + length + 1;
        if (wanted != 1)
            return fail(p, "--%s takes %s", option->name, wanted ? "two arguments" : "no argument");
        p->name = option->name;
        return apply(p, option, &value);
    }
    if (*at + wanted >= argc)
        return fail(p, "%s wants %s", p->name, wanted == 2 ? "two arguments" : "an argument");
    char *const *arg = argv + *at + 1;
    *at += wanted;
    return apply(p, option, arg);
}

static void new_section(struct parse *p)
{
    p->o->section = append(p->o->section, &p->o->sections, sizeof(*p->o->section));
    p->s = &p->o->section[p->o->sections - 1];
    p->s->ranks = 1;
}

static void add_argument(struct section *s, const char *argument)
{
    if (!s->argv)
        s->argv = append(NULL, &(int){ 0 }, sizeof(*s->argv));
    int room = s->argc + 1;
    s->argv = append(s->argv, &room, sizeof(*s->argv));
    s->argv[s->argc++] = argument;
}

static bool parse_arguments(struct parse *p, int argc, char *const argv[])
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], ":") == 0) {
            if (p->s->argc == 0)
                return fail(p, "there is no program before \":\"");
            new_section(p);
        } else if (p->s->argc == 0 && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(p, argc, argv, &i))
                return false;
        } else {
            add_argument(p->s, argv[i]);
        }
    }
    return true;
}

bool options_parse(struct options *o, int argc, char *const argv[], char *error, size_t size)
{
    struct parse p = { .o = o, .error = error, .size = size };
    new_section(&p);
    if (!parse_arguments(&p, argc - 1, argv + 1))
        return false;
    if (o->help || o->version)
        return true;
    if (p.s->argc == 0)
        return fail(&p, o->sections > 1 ? "there is no program after \":\""
                                        : "there is no program to run; see mpiexec "
                                          "--help");
    return true;
}

void options_free(struct options *o)
{
    for (int i = 0; i < o->sections; i++) {
        free(o->section[i].argv);
        free(o->section[i].env.item);
    }
    for (int i = 0; i < o->psets; i++)
        free(o->pset[i].ranges);
    for (int i = 0; i < o->kept_count; i++)
        free(o->kept[i]);
    free(o->section);
    free(o->env.item);
    free(o->pset);
    free(o->kept);
}
