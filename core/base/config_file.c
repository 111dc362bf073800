/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the configuration file, and its values as texts. See config_file.h. */
#include "core/base/config_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/error.h"

static const char system_file[] = "/etc/plenum.json";

static bool config_file_is_there(struct pl_config_file *file, const char *directory, const char *rest)
{
    if (!directory || directory[0] != '/')
        return false;
    return (size_t)snprintf(file->path, sizeof file->path, "%s%s", directory, rest) < sizeof file->path &&
           access(file->path, F_OK) == 0;
}

bool pl_config_file_find(struct pl_config_file *file)
{
    bool trusted = !getauxval(AT_SECURE); /* a program with more rights than its user reads only the system's file */
    const char *named = secure_getenv("PLENUM_CONFIG");
    if (named) {
        snprintf(file->path, sizeof file->path, "%s", named);
        return *named;
    }
    const char *config = secure_getenv("XDG_CONFIG_HOME");
    if (trusted && (config && *config ? config_file_is_there(file, config, "/plenum.json")
                                      : config_file_is_there(file, secure_getenv("HOME"), "/.config/plenum.json")))
        return true;
    return config_file_is_there(file, system_file, "");
}

int pl_config_file_fail(const struct pl_config_file *file, const char *name, const char *format, ...)
{
    char where[256] = "", why[PL_DETAIL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    pl_json_enter(where, sizeof where, name);
    return pl_json_fail(&file->json, MPI_ERR_ARG, where, "%s", why);
}

static int config_file_scalar(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value))
        return snprintf(text, size, "%s", json_string_value(value));
    if (json_is_integer(value))
        return snprintf(text, size, "%lld", (long long)json_integer_value(value));
    if (json_is_boolean(value))
        return snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    return -1;
}

int pl_config_file_text(const struct pl_config_file *file, const char *name, const json_t *value,
                        char text[PL_CONFIG_TEXT_SIZE], char origin[PL_CONFIG_TEXT_SIZE])
{
    char where[256] = "";
    size_t count = json_is_array(value) ? json_array_size(value) : 1, used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[used++] = ',';
        int n = config_file_scalar(json_is_array(value) ? json_array_get(value, i) : value, text + used,
                                   PL_CONFIG_TEXT_SIZE - used);
        if (n < 0)
            return pl_config_file_fail(file, name, "must be a string, an integer, true, false, or a list of these");
        used += (size_t)n;
        if (used + 2 > PL_CONFIG_TEXT_SIZE)
            return pl_config_file_fail(file, name, "is longer than %d bytes", PL_CONFIG_TEXT_SIZE - 2);
    }
    pl_json_enter(where, sizeof where, name);
    snprintf(origin, PL_CONFIG_TEXT_SIZE, "%s:%d", file->path, pl_json_line(&file->json, where));
    return MPI_SUCCESS;
}
