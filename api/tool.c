/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool information interface, without variables, events, sources and categories: all counts are 0, every index is
 * out of range, every name unknown, and every handle invalid. Sessions of performance variables exist, empty.
 * Nothing here invokes an error handler, and all of it may be called before MPI_Init and after MPI_Finalize.
 *
 * Locking: `lock` protects the number of initializations and the list of sessions.
 */
#include "api/pmpi.h"
#include "core/list.h"
#include "core/lock.h"
#include "core/memory.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct MPI_ABI_T_pvar_session {
    struct pl_list link;
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static int initialized;
static struct pl_list sessions = { &sessions, &sessions };

static bool is_initialized(void)
{
    pl_lock_take(&lock);
    bool is = initialized > 0;
    pl_lock_drop(&lock);
    return is;
}

/* The answer to an argument that cannot be right. */
static int refuse(int error)
{
    return is_initialized() ? error : MPI_T_ERR_NOT_INITIALIZED;
}

/* A count of nothing. */
static int give_zero(int *count)
{
    if (!is_initialized())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!count)
        return MPI_T_ERR_INVALID;
    *count = 0;
    return MPI_SUCCESS;
}

static bool session_exists_locked(MPI_T_pvar_session session)
{
    PL_LIST_EACH(other, &sessions, struct MPI_ABI_T_pvar_session, link)
        if (other == session)
            return true;
    return false;
}

/* For a call on one handle of a session, which has none. */
static int refuse_handle(MPI_T_pvar_session session)
{
    pl_lock_take(&lock);
    int error = !initialized                      ? MPI_T_ERR_NOT_INITIALIZED
                : !session_exists_locked(session) ? MPI_T_ERR_INVALID_SESSION
                                                  : MPI_T_ERR_INVALID_HANDLE;
    pl_lock_drop(&lock);
    return error;
}

/* The same where MPI_T_PVAR_ALL_HANDLES is allowed, and means none. */
static int refuse_one_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    int error = refuse_handle(session);

    return error == MPI_T_ERR_INVALID_HANDLE && handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : error;
}

/* --- initialization -------------------------------------------------------------------------------------------------- */

int MPI_T_init_thread(int required, int *provided)
{
    if (!provided)
        return MPI_T_ERR_INVALID;
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED && required != MPI_THREAD_SERIALIZED &&
        required != MPI_THREAD_MULTIPLE)
        return MPI_T_ERR_INVALID;
    *provided = required;
    pl_lock_take(&lock);
    initialized++;
    pl_lock_drop(&lock);
    return MPI_SUCCESS;
}

int MPI_T_finalize(void)
{
    int error = MPI_SUCCESS;

    pl_lock_take(&lock);
    if (initialized == 0)
        error = MPI_T_ERR_NOT_INITIALIZED;
    else if (--initialized == 0)
        for (struct pl_list *node; (node = pl_list_pop(&sessions));)
            free(PL_CONTAINER(node, struct MPI_ABI_T_pvar_session, link));
    pl_lock_drop(&lock);
    return error;
}

/* --- enumerations ---------------------------------------------------------------------------------------------------- */

int MPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

/* --- control variables ----------------------------------------------------------------------------------------------- */

int MPI_T_cvar_get_num(int *num_cvar)
{
    return give_zero(num_cvar);
}

int MPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                        MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    return refuse(MPI_T_ERR_INVALID_NAME);
}

int MPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

/* --- performance variables ------------------------------------------------------------------------------------------- */

int MPI_T_pvar_get_num(int *num_pvar)
{
    return give_zero(num_pvar);
}

int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                        MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                        int *readonly, int *continuous, int *atomic)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    return refuse(MPI_T_ERR_INVALID_NAME);
}

int MPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    if (!session)
        return refuse(MPI_T_ERR_INVALID);
    MPI_T_pvar_session made = pl_malloc(sizeof *made);
    if (!made)
        return refuse(MPI_T_ERR_MEMORY);
    pl_lock_take(&lock);
    bool allowed = initialized > 0;
    if (allowed)
        pl_list_append(&sessions, &made->link);
    pl_lock_drop(&lock);
    if (!allowed) {
        free(made);
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    *session = made;
    return MPI_SUCCESS;
}

int MPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int error = MPI_SUCCESS;

    if (!session)
        return refuse(MPI_T_ERR_INVALID);
    pl_lock_take(&lock);
    if (!initialized)
        error = MPI_T_ERR_NOT_INITIALIZED;
    else if (!session_exists_locked(*session))
        error = MPI_T_ERR_INVALID_SESSION;
    else
        pl_list_remove(&(*session)->link);
    pl_lock_drop(&lock);
    if (!error) {
        free(*session);
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    return error;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
                            int *count)
{
    int error = refuse_handle(session);

    return error == MPI_T_ERR_INVALID_HANDLE ? MPI_T_ERR_INVALID_INDEX : error;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    return refuse_handle(session);
}

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    return refuse_handle(session);
}

int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    return refuse_handle(session);
}

int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    return refuse_handle(session);
}

int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse_one_handle(session, handle);
}

int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse_one_handle(session, handle);
}

int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse_one_handle(session, handle);
}

/* --- events and their sources ---------------------------------------------------------------------------------------- */

int MPI_T_source_get_num(int *num_sources)
{
    return give_zero(num_sources);
}

int MPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                          MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
                          MPI_Info *info)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_get_num(int *num_events)
{
    return give_zero(num_events);
}

int MPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
                         MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info,
                         char *desc, int *desc_len, int *bind)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_get_index(const char *name, int *event_index)
{
    return refuse(MPI_T_ERR_INVALID_NAME);
}

int MPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                             MPI_T_event_registration *event_registration)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
                                  void *user_data, MPI_T_event_cb_function event_cb_function)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                  MPI_Info *info_used)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                            MPI_T_event_free_cb_function free_cb_function)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                    MPI_T_event_dropped_cb_function dropped_cb_function)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

int MPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    return refuse(MPI_T_ERR_INVALID_HANDLE);
}

/* --- categories ------------------------------------------------------------------------------------------------------ */

int MPI_T_category_get_num(int *num_cat)
{
    return give_zero(num_cat);
}

int MPI_T_category_changed(int *update_number)
{
    return give_zero(update_number);
}

int MPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
                            int *num_pvars, int *num_categories)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_category_get_index(const char *name, int *cat_index)
{
    return refuse(MPI_T_ERR_INVALID_NAME);
}

int MPI_T_category_get_num_events(int cat_index, int *num_events)
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_category_get_events(int cat_index, int len, int indices[])
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

int MPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return refuse(MPI_T_ERR_INVALID_INDEX);
}

PL_NAMES_TOOL(PL_PMPI)
