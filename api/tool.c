/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool information interface: initialization; and enumerations, events and their sources, of which the library has
 * none: their counts are 0, every index is out of range, every name unknown, and every handle invalid. Variables:
 * tool_cvar.c, tool_pvar.c.
 */
#include "api/tool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/pmpi.h"
#include "api/tool_pvar.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static _Atomic int initialized;

bool pl_tool_initialized(void)
{
    return atomic_load(&initialized) > 0;
}

int pl_tool_check(int error)
{
    return pl_tool_initialized() ? error : MPI_T_ERR_NOT_INITIALIZED;
}

int pl_tool_check_index(int index, int count)
{
    return pl_tool_check(index < 0 || index >= count ? MPI_T_ERR_INVALID_INDEX : MPI_SUCCESS);
}

int pl_tool_give_count(int count, int *number)
{
    int error = pl_tool_check(number ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    if (!error)
        *number = count;
    return error;
}

void pl_tool_give_text(const char *text, char *to, int *length)
{
    if (!length)
        return;
    if (to && *length > 0)
        snprintf(to, (size_t)*length, "%s", text);
    *length = (int)strlen(text) + 1;
}

/* --- initialization ----------------------------------------------------------------------------------------------- */

int MPI_T_init_thread(int required, int *provided)
{
    if (!provided)
        return MPI_T_ERR_INVALID;
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED && required != MPI_THREAD_SERIALIZED &&
        required != MPI_THREAD_MULTIPLE)
        return MPI_T_ERR_INVALID;
    *provided = required;
    atomic_fetch_add(&initialized, 1);
    return MPI_SUCCESS;
}

int MPI_T_finalize(void)
{
    int before = atomic_load(&initialized);
    do {
        if (before == 0)
            return MPI_T_ERR_NOT_INITIALIZED;
    } while (!atomic_compare_exchange_weak(&initialized, &before, before - 1));
    if (before == 1)
        pl_tool_pvar_sessions_end();
    return MPI_SUCCESS;
}

/* --- enumerations ------------------------------------------------------------------------------------------------- */

int MPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

/* --- events and their sources ------------------------------------------------------------------------------------- */

int MPI_T_source_get_num(int *num_sources)
{
    return pl_tool_give_count(0, num_sources);
}

int MPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                          MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
                          MPI_Info *info)
{
    return pl_tool_check(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    return pl_tool_check(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_get_num(int *num_events)
{
    return pl_tool_give_count(0, num_events);
}

int MPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
                         MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info,
                         char *desc, int *desc_len, int *bind)
{
    return pl_tool_check(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_get_index(const char *name, int *event_index)
{
    return pl_tool_check(MPI_T_ERR_INVALID_NAME);
}

int MPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                             MPI_T_event_registration *event_registration)
{
    return pl_tool_check(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
                                  void *user_data, MPI_T_event_cb_function event_cb_function)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                  MPI_Info *info_used)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                            MPI_T_event_free_cb_function free_cb_function)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                    MPI_T_event_dropped_cb_function dropped_cb_function)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    return pl_tool_check(MPI_T_ERR_INVALID_HANDLE);
}

PL_NAMES_TOOL(PL_PMPI)
