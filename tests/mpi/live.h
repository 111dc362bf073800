/* SPDX-License-Identifier: BSD-3-Clause */
/* How many objects of a kind exist: "live_requests" and the like, performance variables of the tool interface. */
#ifndef PLENUM_TESTS_LIVE_H
#define PLENUM_TESTS_LIVE_H

#include "mtest.h"

static inline unsigned long live_objects(const char *variable)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long live = 0;
    int provided, index = -1, count;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &live) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return live;
}

#endif
