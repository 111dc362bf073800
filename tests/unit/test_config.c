/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration from the environment and from a file, its error messages, its documentation, and the log. */
#include "unit.h"
#include "wrong_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/object/errhandler.h"

/* Every test starts in a process of its own; the environment of the test runner is not part of it. */
static void clean(void)
{
    for (char **entry = environ; *entry;) {
        char name[64];
        if (strncmp(*entry, "PLENUM_", 7) == 0 && strcspn(*entry, "=") < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
            unsetenv(name);
            entry = environ;
        } else {
            entry++;
        }
    }
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_CONFIG_HOME");
}

static void expect_error(const char *name, const char *value, const char *message)
{
    setenv(name, value, 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    ck_assert_str_eq(pl_error_detail(NULL), message);
    unsetenv(name);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
}

/* Set while the process runs: goes before the environment, now and when that is read again. */
START_TEST(set_at_run_time)
{
    const struct pl_config *timeout = NULL;
    for (size_t i = 0; i < pl_config_count; i++)
        if (strcmp(pl_config_table[i].name, "meet_timeout") == 0)
            timeout = &pl_config_table[i];
    ck_assert_ptr_nonnull(timeout);
    clean();
    setenv("PLENUM_MEET_TIMEOUT", "5", 1);
    setenv("PLENUM_STRICT", "yes", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    unsigned before = pl_config_loads();
    ck_assert_int_eq(pl_config_set(timeout, "seven"), MPI_ERR_ARG);
    ck_assert_str_eq(pl_error_detail(NULL), "meet_timeout is \"seven\": it must be a number from 0 to 1073741824");
    ck_assert_int_eq(pl_config_long("meet_timeout"), 5);
    ck_assert_int_eq(pl_config_set(timeout, "7"), MPI_SUCCESS);
    ck_assert_uint_ne(pl_config_loads(), before);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(pl_config_long("meet_timeout"), 7);
        ck_assert_str_eq(pl_config_text("meet_timeout"), "7");
        ck_assert_str_eq(pl_config_origin("meet_timeout"), "MPI_T");
        ck_assert(pl_config_bool("strict"));
        ck_assert_str_eq(pl_config_origin("strict"), "environment");
        ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    }
}
END_TEST

START_TEST(table)
{
    for (size_t i = 0; i < pl_config_count; i++) {
        const struct pl_config *v = &pl_config_table[i];
        ck_assert(*v->name && *v->help && v->standard);
        ck_assert_uint_le(strlen(v->name), 40);
        ck_assert_uint_eq(strspn(v->name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(v->name));
        if (i > 0)
            ck_assert_msg(strcmp(pl_config_table[i - 1].name, v->name) < 0, "%s is not in order", v->name);
    }
    clean();
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    for (size_t i = 0; i < pl_config_count; i++) {
        ck_assert_str_eq(pl_config_text(pl_config_table[i].name), pl_config_table[i].standard);
        ck_assert_str_eq(pl_config_origin(pl_config_table[i].name), "default");
    }
}
END_TEST

START_TEST(from_environment)
{
    clean();
    ck_assert_str_eq(pl_config_text("transport"), "auto"); /* read at first use */
    setenv("PLENUM_TRANSPORT", "self,shm", 1);
    ck_assert_str_eq(pl_config_text("transport"), "auto"); /* and then when it is loaded */
    const char *before = pl_config_text("transport");
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "self,shm");
    ck_assert_str_eq(pl_config_origin("transport"), "environment");
    ck_assert_str_eq(before, "auto");
    unsetenv("PLENUM_TRANSPORT");
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "auto");
    ck_assert_str_eq(pl_config_origin("transport"), "default");
}
END_TEST

/* The warning about a name in the environment begins like this; "": there is none. */
static void expect_warning(const char *name, const char *beginning)
{
    char text[512];
    setenv(name, "x", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    unsetenv(name);
    pl_config_warning(text, sizeof text);
    ck_assert_msg(beginning[0] ? strncmp(text, beginning, strlen(beginning)) == 0 : !text[0], "%s: %s", name, text);
}

START_TEST(unknown_names)
{
    static const char *const ignored[] = { "ROOT", "HOME",   "DIR",   "VERSION", "LIB",
                                           "BIN",  "PREFIX", "ALONE", "NODE",    "RESOURCE_GPU" };
    char name[300], text[512];
    clean();
    expect_warning("PLENUM_TRANSPRT", "PLENUM_TRANSPRT (did you mean PLENUM_TRANSPORT?) in the environment: not of");
    expect_warning("PLENUM_Transport", "PLENUM_Transport (did you mean PLENUM_TRANSPORT?) in the environment");
    expect_warning("PLENUM_LOGG", "PLENUM_LOGG (did you mean PLENUM_LOG?) in the environment");
    expect_warning("PLENUM_OF_WATER", "PLENUM_OF_WATER in the environment: not of Plenum, and without effect");
    expect_warning("PLENUM_", "PLENUM_ in the environment");
    strcpy(name, "PLENUM_");
    memset(name + 7, 'A', 280);
    name[287] = '\0';
    expect_warning(name, "PLENUM_AAAA");
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        snprintf(name, sizeof name, "PLENUM_%s", ignored[i]);
        expect_warning(name, "");
    }
    setenv("PLENUM_SHMRING", "1", 1);
    expect_warning("PLENUM_OF_WATER", "PLENUM_SHMRING (did you mean PLENUM_SHM_RING?), PLENUM_OF_WATER in the");
    unsetenv("PLENUM_SHMRING");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "PLENUM_NUMBER_%d", i);
        setenv(name, "1", 1);
    }
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    pl_config_warning(text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "in the environment"));
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "PLENUM_NUMBER_%d", i);
        unsetenv(name);
    }
    setenv("PLENUM_JOB", "3:0:0", 1);
    setenv("PLENUM_RANK", "0", 1);
    setenv("PLENUM_SIZE", "1", 1);
    setenv("PLENUMX", "1", 1);
    expect_warning("XPLENUM_TRANSPORT", "");
}
END_TEST

START_TEST(bad_values)
{
    clean();
    expect_error("PLENUM_INITIAL_ERRHANDLER", "mpi_errors",
                 "PLENUM_INITIAL_ERRHANDLER is \"mpi_errors\": it must be "
                 "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace, "
                 "plenum://callback or plugin://NAME");
    expect_error("PLENUM_TRANSPORT", "shm,tcp",
                 "PLENUM_TRANSPORT is \"shm,tcp\": it must be a comma-separated list of auto|self|shm|ucx");
    expect_error(
        "PLENUM_LOG", "match:loud",
        "PLENUM_LOG is \"match:loud\": it must be error, warning, info or debug, or subsystem:level,... with coll, "
        "comm, config, engine, errhandler, match, pmi, pmix, process, pset, session, shm or ucx");
    expect_error("PLENUM_LOG", "matching:debug",
                 "PLENUM_LOG is \"matching:debug\": it must be error, warning, info or debug, or subsystem:level,... "
                 "with coll, comm, config, engine, errhandler, match, pmi, pmix, process, pset, session, shm or ucx");
    char value[100000];
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = '\0';
    setenv("PLENUM_TRANSPORT", value, 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    /* What was loaded before is what still holds. */
    setenv("PLENUM_TRANSPORT", "shm", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    setenv("PLENUM_TRANSPORT", "\x01\xff", 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    ck_assert_str_eq(pl_config_text("transport"), "shm");
}
END_TEST

/* A broken environment before anything is loaded: defaults hold, and the process hears of it when it opens. */
START_TEST(broken_at_first_use)
{
    clean();
    setenv("PLENUM_TRANSPORT", "shm", 1);
    setenv("PLENUM_LOG", "loud", 1);
    ck_assert_str_eq(pl_config_text("transport"), "auto");
    ck_assert_str_eq(pl_error_detail(NULL), "");
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
}
END_TEST

static void expect_initial(MPI_Errhandler standard)
{
    struct pl_errhandler *handler;
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_errhandler_initial(&handler), MPI_SUCCESS);
    ck_assert_ptr_eq(handler, pl_errhandler_predefined((uintptr_t)standard));
    pl_object_release(handler);
}

START_TEST(initial_errhandler)
{
    clean();
    expect_initial(MPI_ERRORS_ARE_FATAL);
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    expect_initial(MPI_ERRORS_RETURN);
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_abort", 1);
    expect_initial(MPI_ERRORS_ABORT);
}
END_TEST

START_TEST(log_filters)
{
    const char *good[] = { "", "debug", "error", "match:debug", "match:debug,shm:info", "warning,shm:debug" };
    const char *bad[] = { "loud",
                          "match:",
                          ":debug",
                          "match:debug,",
                          ",",
                          "match:debug:info",
                          "debug,,info",
                          "a:b",
                          "matching:debug",
                          "mat:debug",
                          "match:debug,shmem:info",
                          "Match:debug" };
    const char *known = strstr(PL_LOG_ALLOWED, "with ") + 5; /* each word that the message names */
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_msg(pl_log_filter_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!pl_log_filter_valid(bad[i]), "%s", bad[i]);
    int words = 0;
    for (char word[32], rule[48]; sscanf(known, "%31[a-z]", word) == 1; words += strcmp(word, "or") != 0) {
        snprintf(rule, sizeof rule, "%s:info", word);
        ck_assert_msg(pl_log_filter_valid(rule) || strcmp(word, "or") == 0, "%s", rule);
        known += strlen(word);
        known += strspn(known, ", ");
    }
    ck_assert_int_eq(words, 13);
}
END_TEST

/* What a filter lets through to stderr. */
static void expect_log(const char *filter, const char *subsystem, int level, bool shown)
{
    int both[2], saved = dup(STDERR_FILENO);
    char line[4096] = "", expected[128];
    ck_assert_int_eq(pipe(both), 0);
    dup2(both[1], STDERR_FILENO);
    pl_log_filter(filter);
    pl_log(subsystem, level, "the %s has %d legs", "spider", 8);
    pl_log_filter("");
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(both[1]);
    ssize_t length = read(both[0], line, sizeof line - 1);
    close(both[0]);
    snprintf(expected, sizeof expected, "plenum[%ld] %s: the spider has 8 legs\n", (long)getpid(), subsystem);
    ck_assert_int_eq(length, shown ? (ssize_t)strlen(expected) : 0);
    ck_assert_str_eq(line, shown ? expected : "");
}

START_TEST(log_lines)
{
    expect_log("", "match", 0, false);
    expect_log("error", "match", 0, true);
    expect_log("error", "match", 1, false);
    expect_log("debug", "match", 3, true);
    expect_log("match:info", "match", 2, true);
    expect_log("match:info", "match", 3, false);
    expect_log("match:info", "matcher", 2, false);
    expect_log("match:info", "mat", 2, false);
    expect_log("shm:debug,error", "match", 0, true);
    expect_log("shm:debug,error", "match", 1, false);
}
END_TEST

START_TEST(log_long)
{
    char text[5000];
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = '\0';
    int both[2], saved = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe(both), 0);
    dup2(both[1], STDERR_FILENO);
    pl_log_filter("debug");
    pl_log("shm", 3, "%s", text);
    dup2(saved, STDERR_FILENO);
    ssize_t length = read(both[0], text, sizeof text);
    ck_assert_int_gt(length, 500);
    ck_assert_int_eq(text[length - 1], '\n');
    ck_assert_ptr_eq(memchr(text, '\n', (size_t)length), text + length - 1);
}
END_TEST

/* --- the configuration file ---------------------------------------------------------------------------------- */

static const char *folder;
static char file[192];

static void make_file(const char *text)
{
    folder = unit_directory();
    snprintf(file, sizeof file, "%s/plenum.json", folder);
    FILE *out = fopen(file, "w");
    ck_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

START_TEST(from_file)
{
    char origin[208];
    clean();
    make_file("{\n  \"transport\": [\"self\", \"shm\"],\n  \"shm_ring\": \"1M\", \"shm_eager\": 8192,\n\n"
              "  \"strict\": true, \"initial_errhandler\": \"plenum://log\" }\n");
    setenv("PLENUM_CONFIG", file, 1);
    setenv("PLENUM_SHM_EAGER", "4096", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "self,shm");
    ck_assert_int_eq(pl_config_long("shm_ring"), 1 << 20);
    ck_assert(pl_config_bool("strict"));
    ck_assert_str_eq(pl_config_text("initial_errhandler"), "plenum://log");
    ck_assert_str_eq(pl_config_text("config"), file);
    ck_assert_str_eq(pl_config_origin("config"), "environment");
    snprintf(origin, sizeof origin, "%s:3", file);
    ck_assert_str_eq(pl_config_origin("shm_ring"), origin);
    snprintf(origin, sizeof origin, "%s:5", file);
    ck_assert_str_eq(pl_config_origin("strict"), origin);
    ck_assert_int_eq(pl_config_long("shm_eager"), 4096); /* the environment wins */
    ck_assert_str_eq(pl_config_origin("shm_eager"), "environment");
    ck_assert_str_eq(pl_config_origin("ucx_eager"), "default");

    setenv("PLENUM_CONFIG", "", 1); /* none */
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "auto");
    ck_assert_str_eq(pl_config_origin("transport"), "default");
}
END_TEST

/* Set and empty: not set. Only a text that may be empty is, whatever the file says. */
START_TEST(empty_in_environment)
{
    clean();
    for (size_t i = 0; i < pl_config_count; i++) {
        char name[64] = "PLENUM_";
        for (size_t c = 0; pl_config_table[i].name[c]; c++)
            name[7 + c] = (char)toupper((unsigned char)pl_config_table[i].name[c]);
        setenv(name, "", 1);
    }
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    for (size_t i = 0; i < pl_config_count; i++) {
        const struct pl_config *v = &pl_config_table[i];
        ck_assert_str_eq(pl_config_text(v->name), v->standard);
        ck_assert_str_eq(pl_config_origin(v->name), *v->standard ? "default" : "environment");
    }
    make_file("{ \"transport\": \"shm\", \"shm_ring\": 8192, \"strict\": true, \"log\": \"error\" }");
    setenv("PLENUM_CONFIG", file, 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "shm");
    ck_assert_int_eq(pl_config_long("shm_ring"), 8192);
    ck_assert(pl_config_bool("strict"));
    ck_assert_str_eq(pl_config_text("log"), "");
}
END_TEST

/* Without a name: in the directory for configuration, in .config at home. */
START_TEST(default_files)
{
    char home[192];
    clean();
    make_file("{ \"transport\": \"shm\" }");
    setenv("XDG_CONFIG_HOME", folder, 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "shm");
    setenv("PLENUM_CONFIG", "", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "auto");
    unsetenv("PLENUM_CONFIG");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "auto");

    unsetenv("XDG_CONFIG_HOME");
    snprintf(home, sizeof home, "%s/.config", folder);
    ck_assert_int_eq(mkdir(home, 0700), 0);
    char moved[224];
    snprintf(moved, sizeof moved, "%s/plenum.json", home);
    ck_assert_int_eq(rename(file, moved), 0);
    setenv("HOME", folder, 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_str_eq(pl_config_text("transport"), "shm");
}
END_TEST

static const struct wrong_file wrong[] = {
    { "{ \"transport\": \"shm\"\n \"log\": \"\" }", 2, "column" },
    { "[ ]", 1, "the top-level value must be an object" },
    { "{ \"shm_eager\": 5,\n \"transprot\": \"shm\" }", 2,
      "transprot: is not a variable of Plenum; the nearest name is transport" },
    { "{ \"\": 5 }", 1, "is not a variable of Plenum" },
    { "{\n\n\"transport\": \"tcp\" }", 3,
      "transport: is \"tcp\": it must be a comma-separated list of auto|self|shm|ucx" },
    { "{ \"transport\": [\"self\", [\"shm\"]] }", 1, "transport: must be a string, an integer" },
    { "{ \"transport\": [] }", 1, "transport: is \"\": it must be a comma-separated list" },
    { "{ \"transport\": null }", 1, "transport: must be a string" },
    { "{ \"shm_ring\": 5 }", 1, "shm_ring: is \"5\": it must be a number from 4096" },
    { "{ \"shm_ring\": 65536.0 }", 1, "shm_ring: must be a string" },
    { "{ \"shm_ring\": 5,\n \"shm_ring\": 6 }", 2, "duplicate" },
    { "{ \"strict\": \"maybe\" }", 1, "strict: is \"maybe\": it must be yes or no" },
    { "{ \"config\": \"other.json\" }", 1, "config: can only be set in the environment, as PLENUM_CONFIG" },
    { "{ \"initial_errhandler\": \"log\" }", 1, "initial_errhandler: is \"log\": it must be mpi_errors_are_fatal" },
};

START_TEST(wrong_files)
{
    clean();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_file(wrong[i].text);
        setenv("PLENUM_CONFIG", file, 1);
        ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
        wrong_file_expect(&wrong[i], file);
        ck_assert_str_eq(pl_config_text("transport"), "auto");
    }
    expect_error("PLENUM_CONFIG", "/nowhere/plenum.json",
                 "/nowhere/plenum.json: cannot be opened: No such file or directory");
}
END_TEST

START_TEST(long_values)
{
    clean();
    char *text = malloc(40000);
    memcpy(text, "{ \"ucx_tls\": \"", 14);
    memset(text + 14, 'x', 30000);
    strcpy(text + 30014, "\" }");
    make_file(text);
    setenv("PLENUM_CONFIG", file, 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "ucx_tls: is longer than"));
    free(text);
}
END_TEST

/* --- the documentation --------------------------------------------------------------------------------------- */

static const char document[] = "docs/configuration.md", first[] = "<!-- the table: written by test_config -->\n",
                  last[] = "<!-- end of the table -->\n";

static void put_allowed(FILE *out, const struct pl_config *v)
{
    switch (v->type) {
    case PL_CONFIG_TEXT:
    case PL_CONFIG_LIST:
        fputs(v->choices ? v->type == PL_CONFIG_LIST ? "a list of " : "" : "text", out);
        for (const char *c = v->choices ? v->choices : ""; *c; c++)
            fputs(*c == '|' ? ", " : (char[]){ *c, 0 }, out);
        break;
    case PL_CONFIG_BOOL: fputs("yes, no", out); break;
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE:
        fprintf(out, "%ld to %ld%s", v->lowest, v->highest, v->type == PL_CONFIG_SIZE ? ", K, M, G" : "");
        break;
    }
}

static char *make_table(void)
{
    static const char *const written[] = {
        [PL_CONFIG_FIXED] = "", [PL_CONFIG_LOCAL] = " each", [PL_CONFIG_EQUAL] = " all"
    };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("| variable | default | values | written | |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < pl_config_count; i++) {
        const struct pl_config *v = &pl_config_table[i];
        fprintf(out, *v->standard ? "| `%s` | `%s` | " : "| `%s` |%s | ", v->name, v->standard);
        put_allowed(out, v);
        fprintf(out, " |%s | %s |\n", written[v->change], v->help);
    }
    fclose(out);
    return text;
}

static char *read_document(void)
{
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(document, "r");
    if (in && fread(text, 1, (1 << 20) - 1, in) > 0 && fclose(in) == 0)
        return text;
    free(text);
    return NULL;
}

/* The table in the documentation is the one in the source. */
START_TEST(documented)
{
    char *text = read_document(), *rows = make_table();
    if (text) { /* else this is not run from the top of the sources */
        char *begin = strstr(text, first), *end = strstr(text, last);
        ck_assert(begin && end && begin < end);
        begin += strlen(first);
        if (getenv("PLENUM_TEST_WRITE")) {
            FILE *out = fopen(document, "w");
            ck_assert(fprintf(out, "%.*s%s%s", (int)(begin - text), text, rows, end) > 0 && fclose(out) == 0);
        } else {
            *end = '\0';
            ck_assert_msg(strcmp(begin, rows) == 0,
                          "the table of %s is not that of core/base/config.c; to write it: "
                          "PLENUM_TEST_WRITE=1 make check-unit ONLY=test_config",
                          document);
        }
    }
    free(text);
    free(rows);
}
END_TEST

UNIT_MAIN("config", table, set_at_run_time, from_environment, unknown_names, bad_values, broken_at_first_use,
          initial_errhandler, log_filters, log_lines, log_long, from_file, empty_in_environment, default_files,
          wrong_files, long_values, documented)
