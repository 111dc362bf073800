/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and sessions that can be named, described and given error handlers, and nothing more. */
#ifndef PLENUM_TESTS_FAKES_H
#define PLENUM_TESTS_FAKES_H

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/object/errhandler.h"

static inline struct pl_errhandler *fake_predefined(MPI_Errhandler errhandler)
{
    return pl_errhandler_predefined((uintptr_t)errhandler);
}

static inline struct pl_comm *fake_comm(const char *name, int rank, int size)
{
    struct pl_comm *comm = pl_object_create(PL_COMM);
    ck_assert_ptr_nonnull(comm);
    pl_lock_init(&comm->lock, PL_RANK_OBJECT, true);
    pl_list_init(&comm->requests.spares);
    pl_list_init(&comm->coll.persistent);
    snprintf(comm->name, sizeof comm->name, "%s", name);
    comm->rank = rank;
    comm->size = size;
    comm->errhandler = fake_predefined(MPI_ERRORS_RETURN);
    return comm;
}

static inline void fake_comm_free(struct pl_comm *comm)
{
    pl_object_release(comm->errhandler);
    comm->errhandler = NULL;
    pl_handle_drop(comm);
}

static inline struct pl_instance *fake_session(void)
{
    struct pl_instance *session = pl_object_create(PL_SESSION);
    ck_assert_ptr_nonnull(session);
    pl_lock_init(&session->lock, PL_RANK_INSTANCE, true);
    session->errhandler = fake_predefined(MPI_ERRORS_RETURN);
    return session;
}

static inline void fake_session_free(struct pl_instance *session)
{
    pl_object_release(session->errhandler);
    session->errhandler = NULL;
    pl_lock_fini(&session->lock);
    pl_handle_drop(session);
}

/* Errors that belong to no object are returned from now on. */
static inline void fake_returning_errors(void)
{
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
}

static inline const char *fake_string(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    ck_assert_int_eq(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    ck_assert_int_eq((int)strlen(text), length);
    return text;
}

#define FAKE_EXPECT(call, class, text)                                                                                 \
    do {                                                                                                               \
        ck_assert_int_eq((call), (class));                                                                             \
        ck_assert_str_eq(fake_string(class), (text));                                                                  \
    } while (0)

#endif
