/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of arguments: what each refuses, with which class, and what it says. */
#include "fakes.h"

#include <limits.h>

#include "api/call.h"
#include "api/plenum.h"
#include "core/base/version.h"

/* A check on a fresh call record: its class and message. */
#define EXPECT(check, class, text)                                                                                     \
    do {                                                                                                               \
        struct pl_call call = PL_CALL(MPI_Send);                                                                       \
        check;                                                                                                         \
        ck_assert_int_eq(call.err, (class));                                                                           \
        ck_assert_int_eq(pl_call_leave(&call), (class));                                                               \
        if (class)                                                                                                     \
            ck_assert_str_eq(fake_string(class), "MPI_Send: " text);                                                   \
    } while (0)
#define ACCEPT(check) EXPECT(check, MPI_SUCCESS, "")

START_TEST(communicators)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 1, 4);
    MPI_Comm handle = (MPI_Comm)comm;
    ACCEPT(ck_assert_ptr_eq(pl_arg_comm(&call, handle), comm));
    ACCEPT(ck_assert_ptr_eq(pl_arg_intracomm(&call, handle), comm));
    EXPECT(ck_assert_ptr_null(pl_arg_comm(&call, MPI_COMM_NULL)), MPI_ERR_COMM, "comm is MPI_COMM_NULL (MPI_ERR_COMM)");
    EXPECT(pl_arg_comm(&call, MPI_COMM_WORLD), MPI_ERR_COMM,
           "MPI_COMM_WORLD does not exist before MPI_Init (MPI_ERR_COMM)");
    EXPECT(pl_arg_comm(&call, MPI_COMM_SELF), MPI_ERR_COMM,
           "MPI_COMM_SELF does not exist before MPI_Init (MPI_ERR_COMM)");
    pl_world_state = PL_WORLD_FINALIZED;
    EXPECT(pl_arg_comm(&call, MPI_COMM_WORLD), MPI_ERR_COMM,
           "MPI_COMM_WORLD does not exist any more after MPI_Finalize (MPI_ERR_COMM)");
    EXPECT(pl_arg_comm(&call, (MPI_Comm)MPI_INT), MPI_ERR_COMM,
           "comm is not a valid communicator: 0x209 was never one, or is freed (MPI_ERR_COMM)");
    EXPECT(pl_arg_intercomm(&call, handle), MPI_ERR_COMM,
           "comm is an intracommunicator; it must be an intercommunicator (MPI_ERR_COMM)");
    struct pl_group remote = { .size = 9 };
    comm->inter.remote = &remote;
    ACCEPT(ck_assert_ptr_eq(pl_arg_intercomm(&call, handle), comm));
    EXPECT(ck_assert_ptr_null(pl_arg_intracomm(&call, handle)), MPI_ERR_COMM,
           "comm is an intercommunicator; it must be an intracommunicator (MPI_ERR_COMM)");
    ACCEPT(pl_arg_dest(&call, comm, 8)); /* of the remote group */
    EXPECT(pl_arg_dest(&call, comm, 9), MPI_ERR_RANK,
           "rank 9 is not in intercommunicator \"ocean\" with a remote group of 9 processes (MPI_ERR_RANK)");
    comm->inter.remote = NULL;
    fake_comm_free(comm);
}
END_TEST

START_TEST(other_objects)
{
    fake_returning_errors();
    EXPECT(pl_arg_op(&call, MPI_OP_NULL), MPI_ERR_OP, "op is MPI_OP_NULL (MPI_ERR_OP)");
    EXPECT(pl_arg_group(&call, MPI_GROUP_NULL, "group2"), MPI_ERR_GROUP, "group2 is MPI_GROUP_NULL (MPI_ERR_GROUP)");
    MPI_Request volatile none = MPI_REQUEST_NULL; /* else the compiler follows it */
    EXPECT(pl_arg_request(&call, none), MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL (MPI_ERR_REQUEST)");
    EXPECT(pl_arg_info(&call, MPI_INFO_NULL), MPI_ERR_INFO, "info is MPI_INFO_NULL (MPI_ERR_INFO)");
    EXPECT(pl_arg_session(&call, MPI_SESSION_NULL), MPI_ERR_SESSION, "session is MPI_SESSION_NULL (MPI_ERR_SESSION)");
    EXPECT(pl_arg_win(&call, MPI_WIN_NULL), MPI_ERR_WIN, "win is MPI_WIN_NULL (MPI_ERR_WIN)");
    EXPECT(pl_arg_file(&call, MPI_FILE_NULL), MPI_ERR_FILE, "fh is MPI_FILE_NULL (MPI_ERR_FILE)");
    EXPECT(pl_arg_type(&call, MPI_DATATYPE_NULL), MPI_ERR_TYPE, "datatype is MPI_DATATYPE_NULL (MPI_ERR_TYPE)");
    ACCEPT(ck_assert_ptr_null(pl_arg_info_or_null(&call, MPI_INFO_NULL)));
    ACCEPT(ck_assert_ptr_nonnull(pl_arg_info_or_null(&call, MPI_INFO_ENV)));
    ACCEPT(ck_assert_ptr_nonnull(pl_arg_type(&call, MPI_INT)));
    ACCEPT(ck_assert_ptr_nonnull(pl_arg_op(&call, MPI_SUM)));

    MPI_Datatype pair;
    ck_assert_int_eq(MPI_Type_contiguous(2, MPI_INT, &pair), MPI_SUCCESS);
    EXPECT(ck_assert_ptr_null(pl_arg_type(&call, pair)), MPI_ERR_TYPE, "datatype is not committed (MPI_ERR_TYPE)");
    ACCEPT(ck_assert_ptr_nonnull(pl_arg_type_uncommitted(&call, pair)));
    ck_assert_int_eq(MPI_Type_commit(&pair), MPI_SUCCESS);
    ACCEPT(ck_assert_ptr_nonnull(pl_arg_type(&call, pair)));
    MPI_Type_free(&pair);
}
END_TEST

START_TEST(values)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 1, 4), *lone = fake_comm("", 0, 1);
    ACCEPT(pl_arg_count(&call, 0));
    EXPECT(pl_arg_count(&call, -3), MPI_ERR_COUNT, "count is -3; it must not be negative (MPI_ERR_COUNT)");
    ACCEPT(pl_arg_dest(&call, comm, 0));
    ACCEPT(pl_arg_dest(&call, comm, 3));
    ACCEPT(pl_arg_dest(&call, comm, MPI_PROC_NULL));
    EXPECT(pl_arg_dest(&call, comm, 4), MPI_ERR_RANK,
           "rank 4 is not in communicator \"ocean\" of 4 processes (MPI_ERR_RANK)");
    EXPECT(pl_arg_dest(&call, comm, MPI_ANY_SOURCE), MPI_ERR_RANK,
           "rank -1 (MPI_ANY_SOURCE) is not in communicator \"ocean\" of 4 processes (MPI_ERR_RANK)");
    EXPECT(pl_arg_dest(&call, lone, 7), MPI_ERR_RANK,
           "rank 7 is not in the communicator (unnamed, of 1 process) (MPI_ERR_RANK)");
    ACCEPT(pl_arg_source(&call, comm, MPI_ANY_SOURCE));
    EXPECT(pl_arg_source(&call, comm, INT_MIN), MPI_ERR_RANK,
           "rank -2147483648 is not in communicator \"ocean\" of 4 processes (MPI_ERR_RANK)");
    ACCEPT(pl_arg_root(&call, comm, 3));
    EXPECT(pl_arg_root(&call, comm, MPI_PROC_NULL), MPI_ERR_ROOT,
           "root -3 (MPI_PROC_NULL) is not in communicator \"ocean\" of 4 processes (MPI_ERR_ROOT)");
    ACCEPT(pl_arg_tag(&call, INT_MAX));
    EXPECT(pl_arg_tag(&call, MPI_ANY_TAG), MPI_ERR_TAG,
           "tag is -2 (MPI_ANY_TAG); it must not be negative (MPI_ERR_TAG)");
    ACCEPT(pl_arg_recv_tag(&call, comm, MPI_ANY_TAG));
    EXPECT(pl_arg_recv_tag(&call, comm, -7), MPI_ERR_TAG,
           "tag is -7; it must not be negative unless it is MPI_ANY_TAG (MPI_ERR_TAG)");
    EXPECT(pl_arg_output(&call, NULL, "flag"), MPI_ERR_ARG, "flag is NULL (MPI_ERR_ARG)");
    fake_comm_free(comm);
    fake_comm_free(lone);
}
END_TEST

START_TEST(buffers)
{
    fake_returning_errors();
    struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT);
    int data = 1;
    ACCEPT(pl_arg_buffer(&call, &data, 1, type));
    ACCEPT(pl_arg_buffer(&call, NULL, 0, type));
    ACCEPT(pl_arg_buffer(&call, NULL, 5, NULL));
    EXPECT(pl_arg_buffer(&call, NULL, 5, type), MPI_ERR_BUFFER,
           "the buffer is NULL, with 5 elements of data (MPI_ERR_BUFFER)");
    /* MPI_BOTTOM with addresses in the type. */
    MPI_Datatype absolute;
    MPI_Aint address;
    int one = 1;
    MPI_Get_address(&data, &address);
    ck_assert_int_eq(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_commit(&absolute), MPI_SUCCESS);
    ACCEPT(pl_arg_buffer(&call, MPI_BOTTOM, 1, pl_arg_type(&call, absolute)));
    MPI_Type_free(&absolute);
}
END_TEST

/* The first error stays; what comes after it neither checks nor resolves. */
START_TEST(first_error)
{
    fake_returning_errors();
    struct pl_comm *comm = fake_comm("ocean", 1, 4);
    EXPECT(({
               pl_arg_count(&call, -3);
               ck_assert_ptr_null(pl_arg_comm(&call, (MPI_Comm)comm));
               ck_assert_ptr_null(pl_arg_type(&call, MPI_INT));
               pl_arg_dest(&call, comm, 99);
               pl_arg_output(&call, NULL, "flag");
           }),
           MPI_ERR_COUNT, "count is -3; it must not be negative (MPI_ERR_COUNT)");
    EXPECT(pl_arg_dest(&call, NULL, 99), MPI_SUCCESS, ""); /* without a communicator nothing is known */
    fake_comm_free(comm);
}
END_TEST

static int calls;
static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

/* The handler is that of the first object that the call resolved. */
START_TEST(whose_handler)
{
    fake_returning_errors();
    struct pl_comm *first = fake_comm("first", 0, 1), *second = fake_comm("second", 0, 1);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler((MPI_Comm)second, handler);
    struct pl_call call = PL_CALL(MPI_Intercomm_create);
    pl_arg_comm(&call, (MPI_Comm)first);
    pl_arg_comm(&call, (MPI_Comm)second);
    pl_arg_tag(&call, -5);
    ck_assert_int_eq(pl_call_leave(&call), MPI_ERR_TAG);
    ck_assert_int_eq(calls, 0);
    MPI_Comm_set_errhandler((MPI_Comm)first, handler);
    ck_assert_int_eq(pl_call_leave(&call), MPI_ERR_TAG);
    ck_assert_int_eq(calls, 1);
    MPI_Errhandler_free(&handler);
    fake_comm_free(first);
    fake_comm_free(second);
}
END_TEST

START_TEST(environment_functions)
{
    fake_returning_errors();
    int version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    ck_assert_int_eq(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    ck_assert(version == 5 && subversion == 0);
    ck_assert_int_eq(MPI_Get_library_version(text, &length), MPI_SUCCESS);
    ck_assert_int_eq((int)strlen(text), length);
    ck_assert_ptr_eq(strstr(text, "Plenum " PLENUM_VERSION ", MPI 5.0"), text);
    ck_assert_str_eq(PL_VERSION, PLENUM_VERSION);
    ck_assert_int_eq(MPI_Get_processor_name(text, &length), MPI_SUCCESS);
    ck_assert_int_eq((int)strlen(text), length);
    double before = MPI_Wtime(), after = MPI_Wtime();
    ck_assert(after >= before && MPI_Wtick() > 0 && MPI_Wtick() < 1);
    ck_assert_int_eq(MPI_Pcontrol(1, "x", 2), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Get_version(NULL, &subversion), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Get_processor_name(text, NULL), MPI_ERR_ARG);
}
END_TEST

START_TEST(memory)
{
    fake_returning_errors();
    char *base;
    MPI_Info info;
    ck_assert_int_eq(MPI_Alloc_mem(1000, MPI_INFO_NULL, &base), MPI_SUCCESS);
    memset(base, 1, 1000);
    ck_assert_uint_eq((uintptr_t)base % 64, 0);
    ck_assert_int_eq(MPI_Free_mem(base), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Alloc_mem(0, MPI_INFO_NULL, &base), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Free_mem(base), MPI_SUCCESS);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192");
    ck_assert_int_eq(MPI_Alloc_mem(10, info, &base), MPI_SUCCESS);
    ck_assert_uint_eq((uintptr_t)base % 8192, 0);
    ck_assert_int_eq(MPI_Free_mem(base), MPI_SUCCESS);
    const char *bad[] = { "0", "3", "x", "", "-8", "8x", "99999999999999999999", "2147483648" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        MPI_Info_set(info, "mpi_minimum_memory_alignment", bad[i]);
        ck_assert_int_eq(MPI_Alloc_mem(10, info, &base), MPI_ERR_INFO_VALUE);
    }
    MPI_Info_free(&info);
    ck_assert_int_eq(MPI_Alloc_mem(-1, MPI_INFO_NULL, &base), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Alloc_mem(10, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_int_eq(MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &base), MPI_ERR_NO_MEM);
#endif
}
END_TEST

UNIT_MAIN("call", communicators, other_objects, values, buffers, first_error, whose_handler, environment_functions,
          memory)
