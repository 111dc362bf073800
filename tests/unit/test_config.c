/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration from the environment, its error messages, and the log. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"
#include "core/error.h"
#include "core/errhandler.h"
#include "core/log.h"

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

START_TEST(unknown_names)
{
    clean();
    expect_error("PLENUM_TRANSPRT", "shm",
                 "PLENUM_TRANSPRT in the environment is not a variable of Plenum; the nearest name is PLENUM_TRANSPORT");
    expect_error("PLENUM_Transport", "shm",
                 "PLENUM_Transport in the environment is not a variable of Plenum; the nearest name is PLENUM_TRANSPORT");
    expect_error("PLENUM_LOGG", "",
                 "PLENUM_LOGG in the environment is not a variable of Plenum; the nearest name is PLENUM_LOG");
    char name[300] = "PLENUM_";
    memset(name + 7, 'A', 280);
    setenv(name, "x", 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    unsetenv(name);
    setenv("PLENUM_", "x", 1);
    ck_assert_int_eq(pl_config_load(), MPI_ERR_ARG);
    unsetenv("PLENUM_");
    setenv("PLENUM_JOB", "3:0:0", 1);
    setenv("PLENUM_RANK", "0", 1);
    setenv("PLENUM_SIZE", "1", 1);
    setenv("PLENUMX", "1", 1);
    setenv("XPLENUM_TRANSPORT", "1", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
}
END_TEST

START_TEST(bad_values)
{
    clean();
    expect_error("PLENUM_INITIAL_ERRHANDLER", "mpi_errors",
                 "PLENUM_INITIAL_ERRHANDLER is \"mpi_errors\": it must be "
                 "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace, plenum://callback or plugin://NAME");
    expect_error("PLENUM_INITIAL_ERRHANDLER", "",
                 "PLENUM_INITIAL_ERRHANDLER is \"\": it must be mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace, plenum://callback or plugin://NAME");
    expect_error("PLENUM_TRANSPORT", "shm,tcp",
                 "PLENUM_TRANSPORT is \"shm,tcp\": it must be a list, with commas, of auto|self|shm|ucx");
    expect_error("PLENUM_LOG", "match:loud",
                 "PLENUM_LOG is \"match:loud\": it must be error, warning, info or debug, or subsystem:level,...");
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
    const char *bad[] = { "loud", "match:", ":debug", "match:debug,", ",", "match:debug:info", "debug,,info", "a:b" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_msg(pl_log_filter_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!pl_log_filter_valid(bad[i]), "%s", bad[i]);
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
    pl_log("x", 3, "%s", text);
    dup2(saved, STDERR_FILENO);
    ssize_t length = read(both[0], text, sizeof text);
    ck_assert_int_gt(length, 500);
    ck_assert_int_eq(text[length - 1], '\n');
    ck_assert_ptr_eq(memchr(text, '\n', (size_t)length), text + length - 1);
}
END_TEST

UNIT_MAIN("config", table, from_environment, unknown_names, bad_values, broken_at_first_use, initial_errhandler, log_filters,
          log_lines, log_long)
