/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables (MPI-5.0 section 15.3.7): levels that count live objects, and what waits in a communicator or
 * belongs to a session. The calls around them determine the values.
 */
/* ranks: 1 2 3 */
#include "mtest.h"

static MPI_T_pvar_session tool;

static MPI_T_pvar_handle handle_of(const char *name, void *object)
{
    int index = -1, count = 0;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(tool, index, object, &handle, &count) == MPI_SUCCESS && count == 1);
    return handle;
}

static unsigned long read_handle(MPI_T_pvar_handle handle)
{
    unsigned long value = 77777;
    CHECK(MPI_T_pvar_read(tool, handle, &value) == MPI_SUCCESS);
    return value;
}

static unsigned long level(const char *name, void *object)
{
    MPI_T_pvar_handle handle = handle_of(name, object);
    unsigned long value = read_handle(handle);
    CHECK(MPI_T_pvar_handle_free(tool, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
    return value;
}

static void test_all(void)
{
    int number = 0, found = -1;
    CHECK(MPI_T_pvar_get_num(&number) == MPI_SUCCESS && number > 5);
    for (int i = 0; i < number; i++) {
        char name[64], help[256];
        int name_length = sizeof name, help_length = sizeof help, verbosity, class, bind = -1, readonly, continuous,
            atomic;
        MPI_Datatype type;
        MPI_T_enum none;
        CHECK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &none, help, &help_length, &bind,
                                  &readonly, &continuous, &atomic) == MPI_SUCCESS);
        CHECK(name_length == (int)strlen(name) + 1 && help_length == (int)strlen(help) + 1);
        CHECK(class == MPI_T_PVAR_CLASS_LEVEL && type == MPI_UNSIGNED_LONG && none == MPI_T_ENUM_NULL);
        CHECK(readonly == 1 && continuous == 1 && atomic == 0 && verbosity == MPI_T_VERBOSITY_USER_DETAIL);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM || bind == MPI_T_BIND_MPI_SESSION);
        CHECK(MPI_T_pvar_get_index(name, class, &found) == MPI_SUCCESS && found == i);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &found) == MPI_T_ERR_INVALID_NAME);
    }
}

static void test_objects(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Info info;
    unsigned long comms = level("live_communicators", NULL), types = level("live_datatypes", NULL);
    unsigned long infos = level("live_infos", NULL);
    CHECK(level("live_sessions", NULL) == 0 && level("object_memory", NULL) > 0);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Info_create(&info));
    CHECK(level("live_communicators", NULL) == comms + 1 && level("live_datatypes", NULL) == types + 1);
    CHECK(level("live_infos", NULL) == infos + 1);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(level("live_communicators", NULL) == comms && level("live_datatypes", NULL) == types);
    CHECK(level("live_infos", NULL) == infos);
}

static void test_messages(void)
{
    MPI_Comm comm, world = MPI_COMM_WORLD;
    MPI_Request request;
    int flag, data[5] = { 0 };
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_T_pvar_handle posted = handle_of("posted_receives", &comm), messages = handle_of("unexpected_messages", &comm),
                      bytes = handle_of("unexpected_bytes", &comm);
    CHECK(read_handle(posted) == 0 && read_handle(messages) == 0 && read_handle(bytes) == 0);
    CHECK_OK(MPI_Irecv(data, 5, MPI_INT, mtest_rank, 1, comm, &request));
    CHECK(read_handle(posted) == 1 && level("posted_receives", &world) == 0);
    CHECK_OK(MPI_Send(data, 5, MPI_INT, mtest_rank, 2, comm));
    CHECK_OK(MPI_Send(data, 3, MPI_INT, mtest_rank, 3, comm));
    CHECK_OK(MPI_Iprobe(mtest_rank, 3, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(read_handle(messages) == 2 && read_handle(bytes) == 8 * sizeof(int));
    CHECK_OK(MPI_Recv(data, 5, MPI_INT, mtest_rank, 2, comm, MPI_STATUS_IGNORE));
    CHECK(read_handle(messages) == 1 && read_handle(bytes) == 3 * sizeof(int));
    CHECK_OK(MPI_Recv(data, 5, MPI_INT, mtest_rank, 3, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(data, 5, MPI_INT, mtest_rank, 1, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(read_handle(posted) == 0 && read_handle(messages) == 0 && read_handle(bytes) == 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(MPI_T_pvar_read(tool, posted, &(unsigned long){ 0 }) == MPI_T_ERR_INVALID_HANDLE); /* it has been freed */
    CHECK(MPI_T_pvar_handle_free(tool, &posted) == MPI_SUCCESS);
}

static void test_session(void)
{
    MPI_Session session;
    MPI_Group self;
    MPI_Comm comm;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK(level("live_sessions", NULL) == 1 && level("session_communicators", &session) == 0);
    CHECK_OK(MPI_Comm_create_from_group(self, "tool", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(level("session_communicators", &session) == 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(level("session_communicators", &session) == 0);
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(level("live_sessions", NULL) == 0);
}

static void test_mistakes(void)
{
    int index, count;
    unsigned long value;
    MPI_Comm null = MPI_COMM_NULL;
    MPI_T_pvar_session foreign = (MPI_T_pvar_session)&index, other;
    MPI_T_pvar_handle handle = handle_of("live_groups", NULL), none;
    CHECK(MPI_T_pvar_get_index("posted_receives", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(tool, index, &null, &none, &count) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_alloc(tool, index, NULL, &none, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(tool, -1, NULL, &none, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_handle_alloc(foreign, 0, NULL, &none, &count) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_HANDLE); /* a handle of another session */
    CHECK(MPI_T_pvar_read(tool, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_start(tool, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_stop(tool, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_stop(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(tool, handle) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(tool, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(tool, handle, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS && other == MPI_T_PVAR_SESSION_NULL);
    none = handle;
    CHECK(MPI_T_pvar_handle_free(tool, &handle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(tool, &none) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(tool, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&tool) == MPI_SUCCESS);
    test_all();
    CHECK(level("live_sessions", NULL) == 0); /* before MPI_Init */
    MTEST_INIT(argc, argv);
    test_objects();
    test_messages();
    test_session();
    test_mistakes();
    handle_of("live_infos", NULL); /* the last finalization frees it, and the session */
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&tool) == MPI_T_ERR_NOT_INITIALIZED);
    MTEST_END;
}
