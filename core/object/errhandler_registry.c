/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of error handlers. Locking: none; the table is constant, and plugin.c needs none. */
#include "core/object/errhandler_registry.h"

#include <ctype.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/plain_locale.h"
#include "core/object/errhandler_standard.h"
#include "core/object/plugin.h"

extern const struct plenum_errhandler_ops pl_errhandler_log, pl_errhandler_backtrace, pl_errhandler_callback;

static const struct {
    const char *name;
    const struct plenum_errhandler_ops *ops;
} built_in[] = {
    { "mpi_errors_are_fatal", &pl_errhandler_are_fatal }, { "mpi_errors_abort", &pl_errhandler_abort },
    { "mpi_errors_return", &pl_errhandler_return },       { "plenum://log", &pl_errhandler_log },
    { "plenum://backtrace", &pl_errhandler_backtrace },   { "plenum://callback", &pl_errhandler_callback },
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in, PLUGIN_NAME_MAX = 64 };

static const char plugin_scheme[] = "plugin://";

bool pl_named_nth(size_t n, const char **name, const struct plenum_errhandler_ops **ops)
{
    if (n >= BUILT_IN)
        return false;
    *name = built_in[n].name;
    *ops = built_in[n].ops;
    return true;
}

/* Ignores case, as MPI-5.0 demands for the key mpi_initial_errhandler (section 11.8.4). */
static const struct plenum_errhandler_ops *find_built_in(const char *name)
{
    for (int i = 0; i < BUILT_IN; i++)
        if (pl_plain_same(built_in[i].name, name))
            return built_in[i].ops;
    return NULL;
}

/* Splits plugin://NAME or plugin://NAME/ARGUMENT. A name of letters, digits, '-' and '_' cannot lead to another
 * directory. */
static bool errhandler_registry_split(const char *name, char plugin[PLUGIN_NAME_MAX], const char **argument)
{
    size_t length = 0;
    if (strncmp(name, plugin_scheme, sizeof plugin_scheme - 1) != 0)
        return false;
    name += sizeof plugin_scheme - 1;
    while (isalnum((unsigned char)name[length]) || name[length] == '-' || name[length] == '_')
        length++;
    if (length == 0 || length >= PLUGIN_NAME_MAX || (name[length] && name[length] != '/'))
        return false;
    memcpy(plugin, name, length);
    plugin[length] = '\0';
    *argument = name[length] ? name + length + 1 : "";
    return true;
}

bool pl_named_valid(const char *name)
{
    char plugin[PLUGIN_NAME_MAX];
    const char *argument;
    return find_built_in(name) || errhandler_registry_split(name, plugin, &argument);
}

static void errhandler_registry_host_log(const char *line)
{
    pl_log_line("errhandler", line);
}

static void host_refuse(const char *why)
{
    pl_fail(MPI_ERR_OTHER, "%s", why);
}

static int open_with(const struct plenum_errhandler_ops *ops, const char *name, const char *argument,
                     struct pl_named *named)
{
    static const struct plenum_errhandler_host host = { .log = errhandler_registry_host_log, .refuse = host_refuse };
    char why[PL_DETAIL_MAX];
    *named = (struct pl_named){ .ops = ops };
    pl_error_clear();
    if (!ops->open || ops->open(&host, argument, &named->state) == 0)
        return MPI_SUCCESS;
    strcpy(why, pl_error_detail(NULL));
    *named = (struct pl_named){ 0 };
    return pl_fail(MPI_ERR_OTHER, "the error handler %.200s refuses: %s", name, *why ? why : "it gives no reason");
}

int pl_named_open(const char *name, struct pl_named *named)
{
    char plugin[PLUGIN_NAME_MAX];
    const char *argument;
    const struct plenum_errhandler_ops *ops = find_built_in(name);
    *named = (struct pl_named){ 0 };
    if (ops)
        return open_with(ops, name, "", named);
    if (!errhandler_registry_split(name, plugin, &argument))
        return pl_fail(MPI_ERR_ARG, "\"%.80s\" is not an error handler; the handlers are " PL_NAMED_ALLOWED, name);
    ops = pl_plugin_load(plugin, PLENUM_ERRHANDLER_SYMBOL);
    if (!ops)
        return MPI_ERR_OTHER;
    if (!ops->handle)
        return pl_fail(MPI_ERR_OTHER, "plugin %s has no function that handles errors", plugin);
    return open_with(ops, name, argument, named);
}

void pl_named_close(struct pl_named *named)
{
    if (named->ops && named->ops->close)
        named->ops->close(named->state);
    *named = (struct pl_named){ 0 };
}
