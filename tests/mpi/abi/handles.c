/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of every kind as integers (MPI-5.0 section 20.3), as another language keeps them: the handle made from the
 * integer names the same object and works, and that of a freed object is refused. Also what such a language reads from
 * a status, or writes into one.
 */
/* ranks: 1 2 */
#include "mtest.h"

static int left, right;

static void communicators(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Errhandler handler;
    int number, size, rank, sum = -1, length;
    char name[MPI_MAX_OBJECT_NAME];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_name(comm, "by number"));
    number = MPI_Comm_toint(comm);
    CHECK(MPI_Comm_fromint(number) == comm);
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, MPI_Comm_fromint(number)));
    CHECK_OK(MPI_Comm_get_name(MPI_Comm_fromint(number), name, &length));
    CHECK(sum == mtest_size && strcmp(name, "by number") == 0);

    CHECK_OK(MPI_Comm_group(comm, &group));
    int of_group = MPI_Group_toint(group);
    CHECK(of_group != number && MPI_Group_fromint(of_group) == group);
    CHECK_CLASS(MPI_Comm_size(MPI_Comm_fromint(of_group), &size), MPI_ERR_COMM);
    CHECK_OK(MPI_Group_size(MPI_Group_fromint(of_group), &size));
    CHECK_OK(MPI_Group_rank(MPI_Group_fromint(of_group), &rank));
    CHECK(size == mtest_size && rank == mtest_rank);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_CLASS(MPI_Group_size(MPI_Group_fromint(of_group), &size), MPI_ERR_GROUP);

    CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Comm_size(MPI_Comm_fromint(number), &size), MPI_ERR_COMM);
}

static int handled;
static void handle(MPI_Comm *comm, int *code, ...)
{
    handled += *comm == MPI_COMM_SELF && *code == MPI_ERR_TOPOLOGY;
}

static void add_squares(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i] * ((int *)in)[i];
    CHECK(*type == MPI_INT);
}

static void handlers_and_operations(void)
{
    MPI_Errhandler handler;
    MPI_Op op;
    int in[] = { 2, 3 }, inout[] = { 10, 20 };
    CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
    int number = MPI_Errhandler_toint(handler);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_Errhandler_fromint(number)));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TOPOLOGY));
    CHECK(handled == 1);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_Errhandler_fromint(number)), MPI_ERR_ERRHANDLER);

    CHECK_OK(MPI_Op_create(add_squares, 1, &op));
    number = MPI_Op_toint(op);
    CHECK(MPI_Op_fromint(number) == op);
    CHECK_OK(MPI_Reduce_local(in, inout, 2, MPI_INT, MPI_Op_fromint(number)));
    CHECK(inout[0] == 14 && inout[1] == 29);
    CHECK_OK(MPI_Op_free(&op));
    CHECK_CLASS(MPI_Reduce_local(in, inout, 2, MPI_INT, MPI_Op_fromint(number)), MPI_ERR_OP);
    CHECK(inout[0] == 14 && inout[1] == 29);
}

static void datatypes_and_infos(void)
{
    MPI_Datatype type;
    MPI_Info info;
    char value[16];
    int size, length = sizeof value, flag, number;
    CHECK_OK(MPI_Type_contiguous(3, MPI_DOUBLE, &type));
    CHECK_OK(MPI_Type_size(MPI_Type_fromint(number = MPI_Type_toint(type)), &size));
    CHECK(size == 24);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_CLASS(MPI_Type_size(MPI_Type_fromint(number), &size), MPI_ERR_TYPE);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(MPI_Info_fromint(number = MPI_Info_toint(info)), "color", "green"));
    CHECK_OK(MPI_Info_get_string(info, "color", &length, value, &flag));
    CHECK(flag && strcmp(value, "green") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_Info_set(MPI_Info_fromint(number), "color", "red"), MPI_ERR_INFO);
}

static void requests_and_messages(void)
{
    MPI_Request requests[2], copy;
    MPI_Message message;
    MPI_Status status;
    int word = -1, source, tag, error, count, flag;
    CHECK_OK(MPI_Recv_init(&word, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]));
    int number = MPI_Request_toint(requests[0]);
    copy = MPI_Request_fromint(number);
    CHECK(copy == requests[0]);
    CHECK_OK(MPI_Start(&copy));
    CHECK_OK(MPI_Send(&mtest_rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&copy, &status));
    CHECK(word == left && copy == requests[0]);
    CHECK_OK(MPI_Request_free(&copy));
    copy = MPI_Request_fromint(number);
    CHECK_CLASS(MPI_Start(&copy), MPI_ERR_REQUEST);

    status.MPI_ERROR = MPI_ERR_TAG; /* calls for one status do not set it */
    CHECK_OK(MPI_Isend(&mtest_rank, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    number = MPI_Message_toint(message);
    CHECK(MPI_Message_fromint(number) == message);
    message = MPI_Message_fromint(number);
    CHECK_OK(MPI_Mrecv(&word, 1, MPI_INT, &message, &status));
    CHECK(word == left);
    message = MPI_Message_fromint(number);
    CHECK_CLASS(MPI_Mrecv(&word, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Status_get_source(&status, &source));
    CHECK_OK(MPI_Status_get_tag(&status, &tag));
    CHECK_OK(MPI_Status_get_error(&status, &error));
    CHECK(source == left && tag == 9 && error == MPI_ERR_TAG);

    CHECK_OK(MPI_Status_set_source(&status, 77));
    CHECK_OK(MPI_Status_set_tag(&status, 78));
    CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == 77 && status.MPI_TAG == 78 && status.MPI_ERROR == MPI_ERR_TRUNCATE && count == 1);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 5));
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Get_elements(&status, MPI_DOUBLE, &count));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(count == 5 && flag && status.MPI_SOURCE == 77);
    CHECK_OK(MPI_Status_set_cancelled(&status, 0));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK(count == 5 && !flag);
}

static void sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    int size;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    int number = MPI_Session_toint(session);
    CHECK(MPI_Session_fromint(number) == session);
    CHECK_OK(MPI_Group_from_session_pset(MPI_Session_fromint(number), "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(size == mtest_size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_CLASS(MPI_Session_get_num_psets(MPI_Session_fromint(number), MPI_INFO_NULL, &size), MPI_ERR_SESSION);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    left = (mtest_rank + mtest_size - 1) % mtest_size;
    right = (mtest_rank + 1) % mtest_size;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    communicators();
    handlers_and_operations();
    datatypes_and_infos();
    requests_and_messages();
    sessions();
    MTEST_END;
}
