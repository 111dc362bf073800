/* SPDX-License-Identifier: BSD-3-Clause */
/* Categories of variables (MPI-5.0 section 15.3.9): the prefix of a variable's name determines its category. */
#include <string.h>

#include "api/pmpi.h"
#include "api/tool.h"
#include "api/tool_cvar.h"
#include "api/tool_pvar.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct category {
    const char *name, *help;
    const char *beginnings[6];
} categories[] = {
    { "collectives", "algorithms of collective operations", { "coll_" } },
    { "errors", "handling of errors", { "crash_", "errhandlers", "error_range", "initial_errhandler", "strict" } },
    { "messages", "messages and receives that wait in communicators", { "posted_", "unexpected_" } },
    { "objects", "live objects and their memory", { "live_", "object_" } },
    { "process", "configuration, plugins, logging and progress", { "config", "log", "plugin_", "progress" } },
    { "sessions", "sessions, their process sets and communicators", { "meet_", "memory_", "pset", "session_" } },
    { "transports", "transports of messages", { "net", "scope", "shm_", "transport", "ucx_" } },
};
enum { COUNT = sizeof categories / sizeof *categories };

static bool tool_category_is_in(const struct category *category, const char *variable)
{
    for (const char *const *beginning = category->beginnings; *beginning; beginning++)
        if (strncmp(variable, *beginning, strlen(*beginning)) == 0)
            return true;
    return false;
}

/* The number of variables of a category, and the first `length` of their indices. */
static int tool_category_members(const struct category *category, int count, const char *(*name)(int), int length,
                                 int indices[])
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (!tool_category_is_in(category, name(i)))
            continue;
        if (found < length)
            indices[found] = i;
        found++;
    }
    return found;
}

int MPI_T_category_get_num(int *num_cat)
{
    return pl_tool_give_count(COUNT, num_cat);
}

/* They never change. */
int MPI_T_category_changed(int *update_number)
{
    return pl_tool_give_count(0, update_number);
}

int MPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
                            int *num_pvars, int *num_categories)
{
    int error = pl_tool_check_index(cat_index, COUNT);
    if (error)
        return error;
    const struct category *category = &categories[cat_index];
    pl_tool_give_text(category->name, name, name_len);
    pl_tool_give_text(category->help, desc, desc_len);
    pl_tool_give(tool_category_members(category, pl_tool_cvar_count(), pl_tool_cvar_name, 0, NULL), num_cvars);
    pl_tool_give(tool_category_members(category, pl_tool_pvar_count(), pl_tool_pvar_name, 0, NULL), num_pvars);
    pl_tool_give(0, num_categories);
    return MPI_SUCCESS;
}

int MPI_T_category_get_index(const char *name, int *cat_index)
{
    int error = pl_tool_check(name && cat_index ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    for (int i = 0; !error && i < COUNT; i++)
        if (strcmp(categories[i].name, name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    return error ? error : MPI_T_ERR_INVALID_NAME;
}

int MPI_T_category_get_num_events(int cat_index, int *num_events)
{
    int error = pl_tool_check_index(cat_index, COUNT);
    return error ? error : pl_tool_give_count(0, num_events);
}

/* An array of a category's members. */
static int check_array(int cat_index, int length, const int indices[])
{
    int error = pl_tool_check_index(cat_index, COUNT);
    return error ? error : length < 0 || (length > 0 && !indices) ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}

int MPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    int error = check_array(cat_index, len, indices);
    if (!error)
        tool_category_members(&categories[cat_index], pl_tool_cvar_count(), pl_tool_cvar_name, len, indices);
    return error;
}

int MPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    int error = check_array(cat_index, len, indices);
    if (!error)
        tool_category_members(&categories[cat_index], pl_tool_pvar_count(), pl_tool_pvar_name, len, indices);
    return error;
}

int MPI_T_category_get_events(int cat_index, int len, int indices[])
{
    return check_array(cat_index, len, indices);
}

int MPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return check_array(cat_index, len, indices);
}

PL_NAMES_TOOL_CATEGORY(PL_PMPI)
