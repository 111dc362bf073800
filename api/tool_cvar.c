/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables (MPI-5.0 section 15.3.6): the configuration (core/base/config.h), in the order of its table. A
 * number is an MPI_COUNT, a boolean an MPI_INT, everything else a text.
 *
 * Handles are not allocated: the handle of a variable is an address that stands for it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/pmpi.h"
#include "api/tool_cvar.h"

#include "api/tool.h"
#include "core/base/config.h"
#include "core/base/error.h"

enum { TEXT_MAX = 4096 }; /* with the NUL; longer texts are truncated */

int pl_tool_cvar_count(void)
{
    return (int)pl_config_count;
}

const char *pl_tool_cvar_name(int index)
{
    return pl_config_table[index].name;
}

static MPI_Datatype datatype_of(const struct pl_config *variable)
{
    switch (variable->type) {
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE: return MPI_COUNT;
    case PL_CONFIG_BOOL: return MPI_INT;
    default: return MPI_CHAR;
    }
}

static int scope_of(const struct pl_config *variable)
{
    switch (variable->change) {
    case PL_CONFIG_LOCAL: return MPI_T_SCOPE_LOCAL;
    case PL_CONFIG_EQUAL: return MPI_T_SCOPE_ALL_EQ;
    default: return MPI_T_SCOPE_READONLY; /* read again when all sessions have ended and one begins */
    }
}

static MPI_T_cvar_handle handle_of(const struct pl_config *variable)
{
    return (MPI_T_cvar_handle)(uintptr_t)variable;
}

/* NULL: not a handle. */
static const struct pl_config *variable_of(MPI_T_cvar_handle handle)
{
    for (size_t i = 0; i < pl_config_count; i++)
        if (handle == handle_of(&pl_config_table[i]))
            return &pl_config_table[i];
    return NULL;
}

int MPI_T_cvar_get_num(int *num_cvar)
{
    return pl_tool_give_count(pl_tool_cvar_count(), num_cvar);
}

int MPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                        MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    int error = pl_tool_check_index(cvar_index, pl_tool_cvar_count());
    if (error)
        return error;
    const struct pl_config *variable = &pl_config_table[cvar_index];
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", variable->help, variable->choices ? "; one of " : "",
             variable->choices ? variable->choices : "");
    pl_tool_give_text(variable->name, name, name_len);
    pl_tool_give_text(text, desc, desc_len);
    pl_tool_give(MPI_T_VERBOSITY_USER_BASIC, verbosity);
    pl_tool_give(MPI_T_BIND_NO_OBJECT, bind);
    pl_tool_give(scope_of(variable), scope);
    if (datatype)
        *datatype = datatype_of(variable);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

int MPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    int error = pl_tool_check(name && cvar_index ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    for (int i = 0; !error && i < pl_tool_cvar_count(); i++)
        if (strcmp(pl_tool_cvar_name(i), name) == 0) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    return error ? error : MPI_T_ERR_INVALID_NAME;
}

int MPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    int error = pl_tool_check_index(cvar_index, pl_tool_cvar_count());
    (void)obj_handle; /* variables do not belong to objects */
    if (!error && (!handle || !count))
        error = MPI_T_ERR_INVALID;
    if (error)
        return error;
    const struct pl_config *variable = &pl_config_table[cvar_index];
    *handle = handle_of(variable);
    *count = datatype_of(variable) == MPI_CHAR ? TEXT_MAX : 1;
    return MPI_SUCCESS;
}

int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int error = pl_tool_check(handle && variable_of(*handle) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE);
    if (!error)
        *handle = MPI_T_CVAR_HANDLE_NULL;
    return error;
}

/* Checks a handle and the buffer for its value. */
static int tool_cvar_check_access(MPI_T_cvar_handle handle, const void *buf, const struct pl_config **variable)
{
    *variable = variable_of(handle);
    return pl_tool_check(!*variable ? MPI_T_ERR_INVALID_HANDLE : !buf ? MPI_T_ERR_INVALID : MPI_SUCCESS);
}

int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    const struct pl_config *variable;
    int error = tool_cvar_check_access(handle, buf, &variable);
    if (error)
        return error;
    switch (variable->type) {
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE: *(MPI_Count *)buf = pl_config_long(variable->name); break;
    case PL_CONFIG_BOOL: *(int *)buf = pl_config_bool(variable->name); break;
    default: snprintf(buf, TEXT_MAX, "%s", pl_config_text(variable->name));
    }
    return MPI_SUCCESS;
}

int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    const struct pl_config *variable;
    char text[TEXT_MAX];
    int error = tool_cvar_check_access(handle, buf, &variable);
    if (!error && variable->change == PL_CONFIG_FIXED)
        error = MPI_T_ERR_CVAR_SET_NEVER;
    if (error)
        return error;
    switch (variable->type) {
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE: snprintf(text, sizeof text, "%lld", (long long)*(const MPI_Count *)buf); break;
    case PL_CONFIG_BOOL: snprintf(text, sizeof text, "%d", *(const int *)buf); break;
    default: snprintf(text, sizeof text, "%.*s", TEXT_MAX - 1, (const char *)buf);
    }
    int rc = pl_config_set(variable, text);
    if (rc)
        pl_error_clear(); /* this interface returns no messages */
    return rc == MPI_SUCCESS ? MPI_SUCCESS : rc == MPI_ERR_ARG ? MPI_T_ERR_INVALID : MPI_T_ERR_MEMORY;
}

PL_NAMES_TOOL_CVAR(PL_PMPI)
