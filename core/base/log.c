/* SPDX-License-Identifier: BSD-3-Clause */
/* Filtering and writing log lines. See log.h. */
#include "core/base/log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/visible.h"

static const char *const levels[] = { "error", "warning", "info", "debug" };
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* As PL_LOG_ALLOWED has them. A line of another one could not be asked for. */
static const char *const subsystems[] = { "coll", "comm",    "config", "engine",  "errhandler", "match", "pmi",
                                          "pmix", "process", "pset",   "session", "shm",        "ucx" };
enum { SUBSYSTEMS = sizeof subsystems / sizeof subsystems[0] };

static _Atomic(const char *) filter = "";

static bool log_knows(const char *word, size_t length)
{
    for (int i = 0; i < SUBSYSTEMS; i++)
        if (strlen(subsystems[i]) == length && strncmp(subsystems[i], word, length) == 0)
            return true;
    return false;
}

static int log_level_of(const char *word, size_t length)
{
    for (int level = 0; level < LEVELS; level++)
        if (strlen(levels[level]) == length && strncmp(levels[level], word, length) == 0)
            return level;
    return -1;
}

/* The next rule of a filter, at *at: the subsystem (length 0: every one) and its level; -1: it is not a rule. */
static int log_next_rule(const char **at, const char **subsystem, size_t *length)
{
    const char *rule = *at, *end = rule + strcspn(rule, ",");
    const char *colon = memchr(rule, ':', (size_t)(end - rule));
    *subsystem = rule;
    *length = colon ? (size_t)(colon - rule) : 0;
    *at = *end ? end + 1 : end;
    const char *level = colon ? colon + 1 : rule;
    return colon == rule ? -1 : log_level_of(level, (size_t)(end - level));
}

bool pl_log_filter_valid(const char *text)
{
    const char *subsystem;
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ',')
        return false;
    while (*text)
        if (log_next_rule(&text, &subsystem, &length) < 0 || (length > 0 && !log_knows(subsystem, length)))
            return false;
    return true;
}

void pl_log_filter(const char *text)
{
    atomic_store(&filter, text);
}

static bool log_wanted(const char *rules, const char *subsystem, int level)
{
    const char *name;
    size_t length;
    while (*rules) {
        int limit = log_next_rule(&rules, &name, &length);
        bool fits = length == 0 || (strlen(subsystem) == length && strncmp(subsystem, name, length) == 0);
        if (fits && level <= limit)
            return true;
    }
    return false;
}

/* `line` has space for a newline after its end. */
static void log_write(char *line)
{
    size_t length = strlen(line);
    line[length] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length + 1);
    (void)written;
}

void pl_log_line(const char *subsystem, const char *text)
{
    char line[PIPE_BUF];
    int used = snprintf(line, sizeof line, "plenum[%ld] %s: ", (long)getpid(), subsystem);
    pl_visible(line + used, sizeof line - (size_t)used - 1, text);
    log_write(line);
}

void pl_log(const char *subsystem, int level, const char *format, ...)
{
    const char *rules = atomic_load_explicit(&filter, memory_order_relaxed);
    if (!*rules || !log_wanted(rules, subsystem, level))
        return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0)
        pl_log_line(subsystem, text);
}
