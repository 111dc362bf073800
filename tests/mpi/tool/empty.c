/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool information interface without variables: counted initialization, sessions, the error of each argument. */
/* ranks: 1 */
#include <assert.h>
#include <mpi.h>

static void before_initialization(void)
{
    int number;

    assert(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    assert(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
    assert(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
}

static void nothing_is_there(void)
{
    int number = 1, index;
    MPI_Count timestamp;

    assert(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number == 0);
    number = 1;
    assert(MPI_T_pvar_get_num(&number) == MPI_SUCCESS && number == 0);
    number = 1;
    assert(MPI_T_event_get_num(&number) == MPI_SUCCESS && number == 0);
    number = 1;
    assert(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 0);
    number = 1;
    assert(MPI_T_category_get_num(&number) == MPI_SUCCESS && number == 0);

    assert(MPI_T_cvar_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    assert(MPI_T_cvar_handle_alloc(0, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    assert(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &index) == MPI_T_ERR_INVALID_HANDLE);
    assert(MPI_T_category_get_cvars(0, 0, NULL) == MPI_T_ERR_INVALID_INDEX);
    assert(MPI_T_source_get_timestamp(0, &timestamp) == MPI_T_ERR_INVALID_INDEX);
}

static void sessions(void)
{
    MPI_T_pvar_session session, foreign = (MPI_T_pvar_session)&session;

    assert(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    assert(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    assert(MPI_T_pvar_start(session, MPI_T_PVAR_HANDLE_NULL) == MPI_T_ERR_INVALID_HANDLE);
    assert(MPI_T_pvar_start(foreign, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    assert(MPI_T_pvar_handle_alloc(session, 0, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    assert(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    assert(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
    assert(MPI_T_pvar_session_create(&session) == MPI_SUCCESS); /* the last finalization frees it */
}

int main(int argc, char **argv)
{
    int provided;

    before_initialization();
    assert(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
    MPI_Init(&argc, &argv);
    assert(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    nothing_is_there();
    MPI_Finalize();
    sessions();
    assert(MPI_T_finalize() == MPI_SUCCESS);
    assert(MPI_T_finalize() == MPI_SUCCESS);
    before_initialization();
    return 0;
}
