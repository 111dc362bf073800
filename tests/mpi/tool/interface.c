/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool information interface: counted initialization, and the kinds without members: enumerations, events, sources.
 */
/* ranks: 1 */
#include "mtest.h"

static void before_initialization(void)
{
    int number;

    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
}

static void nothing_is_there(void)
{
    int number = 1, index;
    MPI_Count timestamp;

    CHECK(MPI_T_event_get_num(&number) == MPI_SUCCESS && number == 0);
    number = 1;
    CHECK(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_event_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(0, &timestamp) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

static void sessions(void)
{
    MPI_T_pvar_session session, foreign = (MPI_T_pvar_session)&session;

    CHECK(MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_HANDLE_NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_start(foreign, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS); /* the last finalization frees it */
}

int main(int argc, char **argv)
{
    int provided;

    before_initialization();
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
    MTEST_INIT(argc, argv);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    CHECK(MPI_T_init_thread(-5, &provided) == MPI_T_ERR_INVALID);
    nothing_is_there();
    MPI_Finalize();
    sessions();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    before_initialization();
    MTEST_END;
}
