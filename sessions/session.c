/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions and their built-in process sets. */
#include "sessions/session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/errhandler.h"
#include "core/error.h"
#include "core/group.h"
#include "core/info.h"
#include "core/process.h"

static const struct {
    int level;
    const char *name;
} levels[] = {
    { MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE" },
    { MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED" },
    { MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED" },
    { MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE" },
};

const char *pl_thread_level_name(int level)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].level == level)
            return levels[i].name;
    return "";
}

int pl_thread_level_from(const char *name)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].name, name) == 0)
            return levels[i].level;
    return MPI_UNDEFINED;
}

/* Without the key a session is for any thread: a library cannot know who will call it. */
static int level_wanted(struct pl_info *info, int *level)
{
    char *text = info ? pl_info_get(info, "mpi_thread_support_level") : NULL;
    *level = MPI_THREAD_MULTIPLE;
    if (!text)
        return MPI_SUCCESS;
    *level = pl_thread_level_from(text);
    int rc = *level != MPI_UNDEFINED ? MPI_SUCCESS
             : pl_fail(MPI_ERR_INFO_VALUE, "info key mpi_thread_support_level is \"%s\", allowed are MPI_THREAD_SINGLE, FUNNELED, SERIALIZED and MULTIPLE", text);
    free(text);
    return rc;
}

int pl_session_open(struct pl_info *info, struct pl_errhandler *errhandler, struct pl_instance **session)
{
    int level;
    int rc = level_wanted(info, &level);
    if (rc == MPI_SUCCESS)
        rc = pl_instance_open(false, level, session);
    if (rc == MPI_SUCCESS && errhandler) {
        pl_object_release((*session)->errhandler);
        (*session)->errhandler = pl_object_retain(errhandler);
    }
    return rc;
}

int pl_session_close(struct pl_instance *session)
{
    pl_instance_close(session);
    pl_handle_drop(session);
    pl_object_trim(); /* the session itself may have been the last object */
    return MPI_SUCCESS;
}

/* --- process sets -------------------------------------------------------------------------------------------------------- */

static const char *const built_in[] = { "mpi://WORLD", "mpi://SELF" };
enum { BUILT_IN = sizeof built_in / sizeof *built_in };

int pl_pset_count(struct pl_instance *session)
{
    (void)session;
    return BUILT_IN;
}

const char *pl_pset_name(struct pl_instance *session, int n)
{
    (void)session;
    return n >= 0 && n < BUILT_IN ? built_in[n] : NULL;
}

/* Names of process sets are URIs: scheme and authority in any case. */
static int find(const char *name, int *n)
{
    for (*n = 0; *n < BUILT_IN; (*n)++)
        if (strcasecmp(built_in[*n], name) == 0)
            return MPI_SUCCESS;
    return pl_fail(MPI_ERR_ARG, "there is no process set \"%s\"", name);
}

int pl_pset_size(struct pl_instance *session, const char *name, int *size)
{
    int n;
    (void)session;
    int rc = find(name, &n);
    *size = n == 0 ? pl_process.place.size : 1;
    return rc;
}

int pl_pset_group(struct pl_instance *session, const char *name, struct pl_group **group)
{
    int n;
    int rc = find(name, &n);
    if (rc)
        return rc;
    *group = n == 0 ? pl_group_create_range(session, pl_process.place.size, PL_PROC(0, 0), 1)
                    : pl_group_create_range(session, 1, pl_process_self(), 1);
    return *group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
