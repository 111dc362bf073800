/* SPDX-License-Identifier: BSD-3-Clause */
/* See json_keys.h: one table of keys for a job, one for a program, and the functions that apply them. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum.h"
#include "core/base/memory.h"
#include "core/base/words.h"
#include "world/runtime/job/json_keys.h"

void pl_job_cursor_enter(struct pl_job_cursor *at, const char *format, ...)
{
    size_t used = strlen(at->path);
    va_list args;
    va_start(args, format);
    vsnprintf(at->path + used, sizeof at->path - used, format, args);
    va_end(args);
}

/* --- lists of ranks ---------------------------------------------------------------------------------------- */

struct ranges {
    int (*range)[2];
    int count;
};

static bool ranges_add(struct ranges *r, json_int_t first, json_int_t last)
{
    if (first < 0 || last < first || last > INT32_MAX)
        return false;
    int(*grown)[2] = pl_realloc(r->range, ((size_t)r->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    r->range = grown;
    r->range[r->count][0] = (int)first;
    r->range[r->count++][1] = (int)last;
    return true;
}

/* "0-3,7" */
static bool ranges_of_text(struct ranges *r, const char *text)
{
    do {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text || *text < '0' || *text > '9')
            return false;
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtol(end + 1, &end, 10);
        if ((*end && *end != ',') || !ranges_add(r, first, last))
            return false;
        text = end;
    } while (*text++);
    return true;
}

/* [0, 1, [4, 7]] */
static bool ranges_of_array(struct ranges *r, const json_t *array)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
    {
        const json_t *first = json_is_array(item) && json_array_size(item) == 2 ? json_array_get(item, 0) : item;
        const json_t *last = first == item ? item : json_array_get(item, 1);
        if (!json_is_integer(first) || !json_is_integer(last) ||
            !ranges_add(r, json_integer_value(first), json_integer_value(last)))
            return false;
    }
    return true;
}

/* --- applying the keys ------------------------------------------------------------------------------------- */

static int job_key_env(struct pl_job_cursor *at, json_t *value)
{
    const char *name;
    json_t *text;
    if (!json_is_object(value))
        return PL_JOB_REFUSED;
    json_object_foreach(value, name, text)
    {
        if (!json_is_string(text) && !json_is_null(text)) {
            pl_job_cursor_enter(at, ".%s", name);
            return PL_JOB_REFUSED;
        }
        int err = plenum_job_env(at->job, at->program, name, json_string_value(text));
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_key_wdir(struct pl_job_cursor *at, json_t *value)
{
    const char *text = json_string_value(value);
    return text && text[0] ? plenum_job_wdir(at->job, at->program, text) : PL_JOB_REFUSED;
}

static int job_key_path(struct pl_job_cursor *at, json_t *value)
{
    const char *text = json_string_value(value);
    return text ? plenum_job_path(at->job, at->program, text) : PL_JOB_REFUSED;
}

static int job_key_clear_env(struct pl_job_cursor *at, json_t *value)
{
    if (!json_is_boolean(value))
        return PL_JOB_REFUSED;
    return json_is_true(value) ? plenum_job_env_clear(at->job) : PLENUM_OK;
}

static int job_key_psets(struct pl_job_cursor *at, json_t *value)
{
    const char *name;
    json_t *ranks;
    if (!json_is_object(value))
        return PL_JOB_REFUSED;
    json_object_foreach(value, name, ranks)
    {
        struct ranges r = { 0 };
        bool good = json_is_string(ranks) ? ranges_of_text(&r, json_string_value(ranks))
                                          : json_is_array(ranks) && ranges_of_array(&r, ranks);
        int err = good ? plenum_job_pset(at->job, name, (const int(*)[2])r.range, r.count) : PL_JOB_REFUSED;
        free(r.range);
        if (err == PL_JOB_REFUSED)
            pl_job_cursor_enter(at, ".%s", name);
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_key_file(struct pl_job_cursor *at, json_t *value, int rank, int number)
{
    if (json_is_null(value))
        return plenum_job_redirect(at->job, rank, number, -1);
    const char *file = json_string_value(value);
    return file && file[0] ? plenum_job_redirect_file(at->job, rank, number, file) : PL_JOB_REFUSED;
}

static int job_key_stdin(struct pl_job_cursor *at, json_t *value)
{
    return job_key_file(at, value, 0, 0);
}

static int job_key_stdout(struct pl_job_cursor *at, json_t *value)
{
    return job_key_file(at, value, PLENUM_ALL, 1);
}

static int job_key_stderr(struct pl_job_cursor *at, json_t *value)
{
    return job_key_file(at, value, PLENUM_ALL, 2);
}

static int job_key_redirect(struct pl_job_cursor *at, json_t *item)
{
    static const char *const names[] = { "stdin", "stdout", "stderr" };
    const json_t *rank = json_object_get(item, "rank");
    const char *stream = json_string_value(json_object_get(item, "stream"));
    json_t *file = json_object_get(item, "file");
    int number = 0;
    while (number < 3 && (!stream || strcmp(names[number], stream) != 0))
        number++;
    bool good = number < 3 && file && (!rank || (json_is_integer(rank) && json_integer_value(rank) <= INT32_MAX)) &&
                json_object_size(item) == (rank ? 3 : 2);
    if (!good || (rank && json_integer_value(rank) < 0))
        return PL_JOB_REFUSED;
    return job_key_file(at, file, rank ? (int)json_integer_value(rank) : PLENUM_ALL, number);
}

static int job_key_redirects(struct pl_job_cursor *at, json_t *value)
{
    size_t i;
    json_t *item;
    if (!json_is_array(value))
        return PL_JOB_REFUSED;
    json_array_foreach(value, i, item)
    {
        int err = job_key_redirect(at, item);
        if (err == PL_JOB_REFUSED)
            pl_job_cursor_enter(at, "[%zu]", i);
        if (err)
            return err;
    }
    return PLENUM_OK;
}

/* {"0": "0-2", "3": "1:*"}; with "all" for PLENUM_ALL where that may be. */
static int job_key_texts(struct pl_job_cursor *at, json_t *value, bool all,
                         int (*set)(struct plenum_job *job, int rank, const char *text))
{
    const char *name;
    json_t *text;
    if (!json_is_object(value))
        return PL_JOB_REFUSED;
    json_object_foreach(value, name, text)
    {
        char *end;
        long rank = strtol(name, &end, 10);
        bool good = *name >= '0' && *name <= '9' && !*end && rank <= 65535;
        if (all && strcmp(name, "all") == 0)
            good = true, rank = PLENUM_ALL;
        int err = good && json_is_string(text) ? set(at->job, (int)rank, json_string_value(text)) : PL_JOB_REFUSED;
        if (err == PL_JOB_REFUSED)
            pl_job_cursor_enter(at, ".%s", name);
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_key_cores(struct pl_job_cursor *at, json_t *value)
{
    return job_key_texts(at, value, true, plenum_job_place);
}

static int job_key_hosts(struct pl_job_cursor *at, json_t *value)
{
    return job_key_texts(at, value, false, plenum_job_host);
}

static int job_key_amounts(struct pl_job_cursor *at, const json_t *value, enum plenum_scope scope)
{
    const char *name;
    json_t *count;
    if (!json_is_object(value))
        return PL_JOB_REFUSED;
    json_object_foreach((json_t *)value, name, count)
    {
        json_int_t given = json_is_integer(count) ? json_integer_value(count) : -1;
        int err =
            given < 0 || given > INT32_MAX ? PL_JOB_REFUSED : plenum_job_resource(at->job, name, (int)given, scope);
        if (err == PL_JOB_REFUSED)
            pl_job_cursor_enter(at, ".%s", name);
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_key_resources(struct pl_job_cursor *at, json_t *value)
{
    return job_key_amounts(at, value, PLENUM_EACH_RANK);
}

static int job_key_shared_resources(struct pl_job_cursor *at, json_t *value)
{
    return job_key_amounts(at, value, PLENUM_WHOLE_JOB);
}

/* Takes the number of the option from the table. */
static int job_key_option(struct pl_job_cursor *at, json_t *value);

/* --- the tables -------------------------------------------------------------------------------------------- */

#define FILE_PATTERN "a file name with %r for the rank, or null for /dev/null"

const struct pl_job_key pl_program_keys[] = {
    { "argv", "a list of strings, the first of which is the program", NULL, 0 },
    { "ranks", "an integer from 1 to 65536", NULL, 0 },
    { "env", "an object of names and strings, null to unset", job_key_env, 0 },
    { "wdir", "a directory", job_key_wdir, 0 },
    { "path", "directories as in PATH", job_key_path, 0 },
    { NULL, NULL, NULL, 0 },
};

const struct pl_job_key pl_job_keys[] = {
    { "programs", "a list of objects with argv, ranks, env, wdir, path", NULL, 0 },
    { "argv", "a list of strings, the first of which is the program", NULL, 0 },
    { "ranks", "an integer from 1 to 65536", NULL, 0 },
    { "env", "an object of names and strings, null to unset", job_key_env, 0 },
    { "clear_env", "true or false", job_key_clear_env, 0 },
    { "wdir", "a directory", NULL, 0 },
    { "path", "directories as in PATH", NULL, 0 },
    { "stdin", "a file name, for rank 0, or null for /dev/null", job_key_stdin, 0 },
    { "stdout", FILE_PATTERN, job_key_stdout, 0 },
    { "stderr", FILE_PATTERN, job_key_stderr, 0 },
    { "redirects", "a list of objects with rank (all without it), stream (stdin, stdout, stderr) and file (or null)",
      job_key_redirects, 0 },
    { "psets", "an object of names and ranks such as \"0-3,7\" or [0, [4, 7]]", job_key_psets, 0 },
    { "time_limit", "a number of seconds from 0 (no limit) to 2000000", job_key_option, PLENUM_JOB_TIME_LIMIT },
    { "grace", "a number of seconds from 0 to 2000000", job_key_option, PLENUM_JOB_GRACE },
    { "keep_going", "true or false", job_key_option, PLENUM_JOB_KEEP_GOING },
    { "pmix", "true, false or \"auto\"", job_key_option, PLENUM_JOB_PMIX },
    { "slots", "an integer from 0 (the default)", job_key_option, PLENUM_JOB_SLOTS },
    { "universe", "an integer from 0 (not set)", job_key_option, PLENUM_JOB_UNIVERSE },
    { "bind", "\"none\", \"core\", \"socket\", \"numa\", \"thread\" or \"l3cache\"", job_key_option, PLENUM_JOB_BIND },
    { "map", "\"slot\", \"socket\", \"numa\", \"node\" or \"l3cache\"", job_key_option, PLENUM_JOB_MAP },
    { "rank_by", "\"mapped\", \"slot\", \"node\", \"fill\" or \"span\"", job_key_option, PLENUM_JOB_RANK },
    { "bind_count", "an integer from 0 (one)", job_key_option, PLENUM_JOB_BIND_COUNT },
    { "cores", "an object of ranks, or \"all\", and lists of cores such as \"0-2,5\", \"1:0-2\" or \"p3\"",
      job_key_cores, 0 },
    { "hosts", "an object of ranks and names of hosts", job_key_hosts, 0 },
    { "resources", "an object of names and integers from 0: for each rank", job_key_resources, 0 },
    { "shared_resources", "an object of names and integers from 0: for all ranks together", job_key_shared_resources,
      0 },
    { "priority", "an integer from -2147483647 to 2147483647", job_key_option, PLENUM_JOB_PRIORITY },
    { "terminal", "true or false", job_key_option, PLENUM_JOB_TERMINAL },
    { "report", "true or false", job_key_option, PLENUM_JOB_REPORT },
    { "stopped", "true or false", job_key_option, PLENUM_JOB_STOPPED },
    { NULL, NULL, NULL, 0 },
};

const char *const *pl_job_option_words(long option)
{
    static const char *const bind[] = { "none", "core", "socket", "numa", "thread", "l3cache", NULL };
    static const char *const map[] = { "slot", "socket", "numa", "node", "l3cache", NULL };
    static const char *const rank[] = { "mapped", "slot", "node", "fill", "span", NULL };
    static const char *const pmix[] = { "off", "on", "auto", NULL };
    switch (option) {
    case PLENUM_JOB_BIND: return bind;
    case PLENUM_JOB_MAP: return map;
    case PLENUM_JOB_RANK: return rank;
    case PLENUM_JOB_PMIX: return pmix;
    default: return NULL;
    }
}

bool pl_job_option_is_seconds(long option)
{
    return option == PLENUM_JOB_TIME_LIMIT || option == PLENUM_JOB_GRACE;
}

bool pl_job_option_is_flag(long option)
{
    return option == PLENUM_JOB_KEEP_GOING || option == PLENUM_JOB_PMIX || option == PLENUM_JOB_TERMINAL ||
           option == PLENUM_JOB_REPORT || option == PLENUM_JOB_STOPPED;
}

const struct pl_job_key *pl_job_key_find(const struct pl_job_key *keys, const char *name)
{
    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name ? keys : NULL;
}

static int job_key_option(struct pl_job_cursor *at, json_t *value)
{
    long option = pl_job_key_find(pl_job_keys, at->path)->option, number = LONG_MIN;
    const char *const *words = pl_job_option_words(option);
    if (words && json_is_string(value)) {
        int which = pl_words_find(words, json_string_value(value));
        number = which < 0 ? LONG_MIN : which;
    } else if (pl_job_option_is_flag(option) && json_is_boolean(value)) {
        number = json_is_true(value);
    } else if (pl_job_option_is_seconds(option) && json_is_number(value)) {
        double seconds = json_number_value(value);
        if (seconds >= 0 && seconds <= 2000000)
            number = (long)(seconds * 1000 + 0.999); /* rounded up: 0 would mean none */
    } else if (!words && !pl_job_option_is_flag(option) && json_is_integer(value)) {
        json_int_t given = json_integer_value(value);
        number = given >= -INT32_MAX && given <= INT32_MAX ? (long)given : LONG_MIN;
        if (number < 0 && option != PLENUM_JOB_PRIORITY)
            number = LONG_MIN;
    }
    return number == LONG_MIN ? PL_JOB_REFUSED : plenum_job_set(at->job, (enum plenum_job_option)option, number);
}
