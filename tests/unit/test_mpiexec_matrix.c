/* SPDX-License-Identifier: BSD-3-Clause */
/* Every option of mpiexec with every kind of value: right, empty, missing, huge, negative, or with garbage behind it.
 * Also given twice, behind the program, by one dash or two, with an equals sign or without. Each use has the effect of
 * the manual, or one line names the option, the value and what is allowed. */
#include "api/mpiexec/allocation.c"
#include "api/mpiexec/apply.c"
#include "api/mpiexec/apply_output.c"
#include "api/mpiexec/apply_place.c"
#include "api/mpiexec/configfile.c"
#include "api/mpiexec/machine.c"
#include "api/mpiexec/options.c"
#include "api/mpiexec/others.c"
#include "api/mpiexec/parse.c"
#include "api/mpiexec/rankfile.c"
#include "api/mpiexec/suggest.c"

#include "core/base/memory_libc.h"
#include "unit.h" /* later: check.h has a macro named fail */

enum { WORDS = 16, TWO = 2 };

/* What values an option has, by its words in the help. */
static const struct kind_of_value {
    const char *usage;
    const char *good[TWO]; /* "@1" and "@2": files; "=1" and "=2": rank files; "+1" and "+2": files of hosts */
    bool adds;             /* given twice, both count */
    bool number;           /* refuses all but numbers in its range */
    const char *bad[5];    /* refused, besides what is empty */
    const char *also;      /* an empty value, or any text, means something */
} values[] = {
    { .usage = "N", .good = { "2", "3" }, .number = true },
    { .usage = "SECONDS", .good = { "2.5", "3" }, .number = true, .bad = { "nan", "-1e9" } },
    { .usage = "RANK", .good = { "2", "all" }, .number = true, .bad = { "every" } },
    { .usage = "DIR", .good = { "/a", "b" } },
    { .usage = "DIRS", .good = { "/a:b", "c" } },
    { .usage = "FILE", .good = { "@1", "@2" } },
    { .usage = "RANKFILE", .good = { "=1", "=2" } },
    { .usage = "NAME=RANKS", .good = { "a=0-3,7", "b=1" }, .adds = true, .bad = { "a", "=1", "a=2-1" } },
    { .usage = "HOSTS", .good = { "localhost:2", "b,c:3" }, .adds = true, .bad = { "a,,b", "a:0", ":2" } },
    { .usage = "WHICH", .good = { "ssh", "embedded" }, .bad = { "rsh", "ssh2" } },
    { .usage = "COMMAND", .good = { "docker exec -i %h", "env" } },
    { .usage = "TRIPLETS", .good = { "2:8:2,16", "4" }, .bad = { "x", "2x", "-1" } },
    { .usage = "NAME[=VALUE]", .good = { "A=b", "B=" }, .adds = true, .bad = { "=b", "UNIT_NOT_SET" } },
    { .usage = "NAME VALUE", .good = { "A=b", "B=c" }, .adds = true, .bad = { "=b" } },
    { .usage = "NAMES", .good = { "PATH", "HOME,PATH" }, .adds = true, .also = "" },
    { .usage = "NAME", .good = { "mpi_errors_return", "plenum://log" }, .bad = { "fatal" } },
    { .usage = "KIND", .good = { "ulfm", "mpi" }, .bad = { "both", "ulfm,mpi" } },
    { .usage = "KINDS", .good = { "system", "mpi,system" } },
    { .usage = "LIST", .good = { "0", "0-1" }, .bad = { "x", "0-", "-1", "1,,2", "0x" } },
    { .usage = "MODE", .good = { "on", "off" }, .bad = { "maybe", "on:x" } },
    { .usage = "TEXT", .good = { "%r ", "x" }, .also = "" },
};

/* Options whose values the help names by the same word as those of others. */
static const struct {
    const char *name;
    struct kind_of_value values;
} named[] = {
    { "bind-to", { .good = { "core", "l3cache" }, .bad = { "rack", "core:x", "2" } } },
    { "map-by", { .good = { "l3cache", "numa" }, .bad = { "rack", "ppr:0:node", "slot:PE=2x" } } },
    { "rank-by", { .good = { "fill", "node" }, .bad = { "rack", "fill:x", "2" } } },
    { "display", { .good = { "map", "bindings" }, .adds = true, .bad = { "x", "map,x", "map,,bind" } } },
    { "hostfile", { .good = { "+1", "+2" }, .adds = true } },
    { "machinefile", { .good = { "+1", "+2" }, .adds = true } },
    { "f", { .good = { "+1", "+2" }, .adds = true } },
    { "output", { .good = { "tag", "dir=x" }, .adds = true, .bad = { "x", "dir=", "tag,,rank" } } },
};

static struct options parsed;
static char error[512], files[TWO][192], rank_files[TWO][192], host_files[TWO][192];

static const struct kind_of_value *values_of(const char *name, const char *usage)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].name, name) == 0)
            return &named[i].values;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].usage, usage) == 0)
            return &values[i];
    ck_abort_msg("--%s: the test knows no values for \"%s\"", name, usage);
    return NULL;
}

/* Files of each kind: one for --configfile and names of files alike. */
static void make_files(void)
{
    for (int i = 0; i < TWO; i++) {
        snprintf(files[i], sizeof files[i], "%s/file%d", unit_directory(), i);
        FILE *file = fopen(files[i], "w");
        fputs("# nothing\n", file);
        fclose(file);
        snprintf(rank_files[i], sizeof rank_files[i], "%s/ranks%d", unit_directory(), i);
        file = fopen(rank_files[i], "w");
        fprintf(file, "rank 0=localhost slot=%d\n", i);
        fclose(file);
        snprintf(host_files[i], sizeof host_files[i], "%s/hosts%d", unit_directory(), i);
        file = fopen(host_files[i], "w");
        fprintf(file, "localhost slots=%d\n", i + 1);
        fclose(file);
    }
    unsetenv("UNIT_NOT_SET");
    unsetenv("MPIEXEC_TIMEOUT");
}

static const char *good_value(const struct kind_of_value *of, int i)
{
    char kind = of->good[i][0];
    return kind == '@' ? files[i] : kind == '=' ? rank_files[i] : kind == '+' ? host_files[i] : of->good[i];
}

/* Parses the words, up to a NULL. */
static bool parse_all(const char *const words[])
{
    static char text[WORDS][256];
    char *argv[WORDS + 1] = { (char *)"mpiexec" };
    int argc = 1;
    for (; words[argc - 1]; argc++) {
        ck_assert_int_lt(argc, WORDS);
        snprintf(text[argc], sizeof text[argc], "%s", words[argc - 1]);
        argv[argc] = text[argc];
    }
    options_free(&parsed);
    memset(&parsed, 0, sizeof parsed);
    memset(error, 0, sizeof error);
    return options_parse(&parsed, argc, argv, error, sizeof error);
}

#define parse_words(...) parse_all((const char *const[]){ __VA_ARGS__, NULL })

static void digest_variables(FILE *out, const struct settings *env)
{
    for (int i = 0; i < env->count; i++)
        fprintf(out, " %s=%s", env->item[i].name, env->item[i].value);
}

/* All that the options ask for, as text. */
static char *digest(void)
{
    static const struct options none;
    const struct options *o = &parsed;
    char *text = NULL;
    FILE *out = pl_text_open(&text);
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        fprintf(out, "%d %d %d %d %d %d wdir %s path %s:", s->ranks, s->counted, s->per_node, s->per_place,
                (int)s->place, s->env_clear, s->wdir ? s->wdir : "-", s->path ? s->path : "-");
        digest_variables(out, &s->env);
        for (int a = 0; a < s->argc; a++)
            fprintf(out, " [%s]", s->argv[a]);
    }
    digest_variables(out, &o->env);
    for (int i = 0; i < o->psets; i++)
        fprintf(out, " set %s %d %d", o->pset[i].name, o->pset[i].count, o->pset[i].ranges[0][0]);
    for (int i = 0; i < o->host_words; i++)
        fprintf(out, " word %s", o->host_word[i]);
    for (int i = 0; i < o->host_count; i++)
        fprintf(out, " host %s %d", o->host[i].name, o->host[i].slots);
    const char *const texts[] = { o->job,         o->prefix,      o->cpus,          o->output,
                                  o->out_pattern, o->err_pattern, o->launcher_exec, o->hostfile,
                                  o->elsewhere,   o->json_events, o->rankfile,      o->cpu_list };
    for (int i = 0; i < o->places; i++)
        fprintf(out, " rank %d on %s", o->place[i].rank, o->place[i].cores);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fprintf(out, " <%s>", texts[i] ? texts[i] : "-");
    struct options plain = *o; /* without what was written above, and without addresses */
    plain.job = plain.prefix = plain.cpus = plain.output = plain.out_pattern = plain.err_pattern = NULL;
    plain.launcher_exec = plain.hostfile = plain.elsewhere = NULL;
    plain.json_events = plain.rankfile = plain.cpu_list = NULL;
    plain.place = none.place;
    plain.section = none.section, plain.env = none.env, plain.pset = none.pset, plain.note = none.note;
    plain.host = none.host, plain.host_word = none.host_word, plain.host_by_name = none.host_by_name;
    plain.kept = none.kept, plain.kept_count = 0;
    for (size_t i = 0; i < sizeof plain; i++)
        fprintf(out, "%02x", ((const unsigned char *)&plain)[i]);
    fclose(out);
    return text;
}

/* The words were taken, and ask for the same as what has the digest, which is released. */
static void same_as(bool taken, char *wanted, const char *what, const char *value)
{
    ck_assert_msg(taken, "%s %s: %s", what, value, error);
    char *got = digest();
    ck_assert_msg(strcmp(got, wanted) == 0, "%s %s:\n%s\n%s", what, value, got, wanted);
    free(got);
    free(wanted);
}

/* Does the error have the value in quotes, or the part of it between two commas? */
static bool names_value(const char *value)
{
    char quoted[256];
    snprintf(quoted, sizeof quoted, "\"%s\"", value);
    bool found = strstr(error, quoted) != NULL;
    for (const char *at = value; !found && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        snprintf(quoted, sizeof quoted, "\"%.*s\"", (int)strcspn(at, ","), at);
        found = strstr(error, quoted) != NULL;
    }
    return found;
}

/* One line that names the option and the value. */
static void refused(bool taken, const char *option, const char *value)
{
    ck_assert_msg(!taken, "%s \"%s\" was taken", option, value);
    ck_assert_msg(strstr(error, option) == error, "%s \"%s\": the option is not named: %s", option, value, error);
    ck_assert_msg(names_value(value), "%s \"%s\": the value is not named: %s", option, value, error);
    ck_assert_msg(strpbrk(error, "\n") == NULL, "%s \"%s\": more than one line: %s", option, value, error);
    ck_assert_msg(strstr(error, " expects ") || strstr(error, "the environment has no such variable") ||
                      strstr(error, "cannot read"),
                  "%s \"%s\": not what is allowed: %s", option, value, error);
}

/* All ways to write an option with a right value mean the same. */
static void check_good(const char *name, const char *value, bool file_is_program)
{
    char one[64], two[64], one_equal[256], two_equal[256];
    snprintf(one, sizeof one, "-%s", name);
    snprintf(two, sizeof two, "--%s", name);
    snprintf(one_equal, sizeof one_equal, "%s=%s", one, value);
    snprintf(two_equal, sizeof two_equal, "%s=%s", two, value);
    const char *program = file_is_program ? NULL : "p";
    ck_assert_msg(parse_words(one, value, program), "%s %s: %s", one, value, error);
    same_as(parse_words(two, value, program), digest(), two, value);
    same_as(parse_words(one_equal, program), digest(), one_equal, "");
    same_as(parse_words(two_equal, program), digest(), two_equal, "");
    ck_assert(parse_words("p", two, value)); /* it belongs to the program */
    ck_assert_int_eq(parsed.section[0].argc, 3);
    parsed.section[0].argc = 1;
    char *plain = digest();
    same_as(parse_words("p"), plain, "p", "");
    ck_assert_msg(!parse_words(two) && strstr(error, two) == error && strstr(error, " needs "), "%s: %s", two, error);
    if (!file_is_program)
        ck_assert_msg(!parse_words(two, value) && strstr(error, two) && strstr(error, "no program to run"), "%s: %s",
                      two, error);
}

/* Of two values the second one counts, or both do. */
static void check_twice(const char *option, const struct kind_of_value *of, bool file_is_program)
{
    const char *first = good_value(of, 0), *second = good_value(of, 1);
    const char *program = file_is_program ? NULL : "p";
    bool ranks = strcmp(option, "--n") == 0 || strcmp(option, "--np") == 0 || strcmp(option, "--c") == 0;
    if (ranks) {
        ck_assert(!parse_words(option, first, option, second, "p") && strstr(error, "were already requested"));
        ck_assert(parse_words(option, first, option, first, "p"));
        return;
    }
    ck_assert(parse_words(option, second, program));
    char *alone = digest();
    ck_assert_msg(parse_words(option, first, option, second, program), "%s: %s", option, error);
    char *both = digest();
    ck_assert_msg(of->adds || strcmp(alone, both) == 0, "%s: the first of two values counts:\n%s\n%s", option, both,
                  alone);
    ck_assert_msg(!of->adds || strcmp(alone, both) != 0, "%s: the first of two values does not count", option);
    free(alone);
    free(both);
}

static void check_bad(const char *option, const struct kind_of_value *of, bool pair)
{
    static const char *const no_number[] = { "99999999999999999999", "-1", "2x", "x", "1e99", " ", "0x10000000000" };
    char with[128];
    snprintf(with, sizeof with, "%s=", option);
    if (of->also) {
        ck_assert(parse_words(option, "", "p"));
        same_as(parse_words(with, "p"), digest(), with, "");
    } else {
        refused(parse_words(option, "", "p"), option, "");
        if (pair)
            ck_assert(!parse_words(with, "p") && strstr(error, option) == error &&
                      strstr(error, "takes two arguments"));
        else
            refused(parse_words(with, "p"), option, "");
    }
    for (size_t i = 0; of->number && i < sizeof no_number / sizeof *no_number; i++)
        refused(parse_words(option, no_number[i], "p"), option, no_number[i]);
    for (size_t i = 0; i < sizeof of->bad / sizeof *of->bad && of->bad[i]; i++)
        refused(parse_words(option, of->bad[i], "p"), option, of->bad[i]);
}

START_TEST(options_with_values)
{
    const char *usage = "";
    int checked = 0;
    make_files();
    for (int i = 0; i < TABLE; i++) {
        const struct option *each = &table[i];
        if (each->usage)
            usage = each->usage;
        if (options_arguments_of(each) == 0)
            continue;
        char option[64];
        snprintf(option, sizeof option, "--%s", each->name);
        const struct kind_of_value *of = values_of(each->name, usage);
        bool job = strcmp(each->name, "job") == 0;
        for (int v = 0; v < TWO; v++)
            check_good(each->name, good_value(of, v), job);
        check_twice(option, of, job);
        check_bad(option, of, each->kind == CALL2);
        checked++;
    }
    ck_assert_int_gt(checked, 40);
}
END_TEST

START_TEST(options_without_values)
{
    int checked = 0;
    make_files();
    for (int i = 0; i < TABLE; i++) {
        const struct option *each = &table[i];
        if (!each->name || options_arguments_of(each) > 0 || each->kind == MAYBE)
            continue;
        char one[64], two[64], with[80];
        snprintf(one, sizeof one, "-%s", each->name);
        snprintf(two, sizeof two, "--%s", each->name);
        ck_assert_msg(parse_words(one, "p"), "%s: %s", one, error);
        same_as(parse_words(two, "p"), digest(), two, "");
        same_as(parse_words(two, one, "p"), digest(), two, one);
        for (int v = 0; v < 2; v++) {
            snprintf(with, sizeof with, "%s=%s", two, v ? "1" : "");
            ck_assert_msg(!parse_words(with, "p") && strstr(error, two) == error && strstr(error, "takes no argument"),
                          "%s: %s", with, error);
        }
        checked++;
    }
    ck_assert_int_gt(checked, 20);
}
END_TEST

/* Those of other launchers. */
START_TEST(options_of_others)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct other *each = &others[i];
        char two[64], with[64];
        snprintf(two, sizeof two, "--%s", each->name);
        snprintf(with, sizeof with, "--%s=1", each->name);
        const char *const words[] = { two, each->arguments > 0 ? "1" : "p", each->arguments > 1 ? "2" : "p", "p",
                                      NULL };
        if (each->refused) {
            ck_assert_msg(!parse_all(words) && strstr(error, two) == error && strstr(error, each->text), "%s", error);
            continue;
        }
        ck_assert_msg(parse_all(words), "%s: %s", two, error);
        ck_assert_int_eq(parsed.notes, 1);
        ck_assert_str_eq(parsed.section[0].argv[0], "p");
        if (each->arguments > 0)
            ck_assert_msg(!parse_words(two) && strstr(error, two) == error && strstr(error, " needs "), "%s", error);
        if (each->arguments == 1)
            ck_assert_msg(parse_words(with, "p") && parsed.notes == 1, "%s: %s", with, error);
        else
            ck_assert_msg(!parse_words(with, "p") && strstr(error, two) == error, "%s: %s", with, error);
    }
}
END_TEST

UNIT_MAIN("mpiexec's matrix", options_with_values, options_without_values, options_of_others)
