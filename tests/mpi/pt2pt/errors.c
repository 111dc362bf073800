/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments give their error class and a message that names the function and the value (MPI-5.0 sections 3.2 and
 * 9.4), move no data, and leave the communicator usable.
 */
#include "mtest.h"

static MPI_Comm comm;

/* The text of the last error contains both. */
static void explains(int code, const char *function, const char *value)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (!CHECK(strstr(text, function) && strstr(text, value)))
        fprintf(stderr, "   \"%s\" does not say \"%s\" and \"%s\"\n", text, function, value);
}

static int not_committed(int *data)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    int rc = MPI_Send(data, 1, type, 0, 0, comm);
    MPI_Type_free(&type);
    return rc;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int data[2] = { 1, 2 }, beyond = mtest_size, rc;
    char value[16];
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors that belong to no communicator */
    snprintf(value, sizeof value, "%d", beyond);

    CHECK_CLASS(rc = MPI_Send(data, 1, MPI_INT, beyond, 0, comm), MPI_ERR_RANK);
    explains(rc, "MPI_Send", value);
    CHECK_CLASS(MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Isend(data, 1, MPI_INT, -77, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(rc = MPI_Recv(data, 1, MPI_INT, beyond, 0, comm, &status), MPI_ERR_RANK);
    explains(rc, "MPI_Recv", value);
    CHECK_CLASS(MPI_Probe(beyond, 0, comm, &status), MPI_ERR_RANK);

    CHECK_CLASS(rc = MPI_Send(data, -3, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    explains(rc, "MPI_Send", "-3");
    CHECK_CLASS(MPI_Irecv(data, -1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(rc = MPI_Ssend(data, 1, MPI_INT, 0, -9, comm), MPI_ERR_TAG);
    explains(rc, "MPI_Ssend", "-9");
    CHECK_CLASS(MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(data, 1, MPI_INT, 0, -9, comm, &status), MPI_ERR_TAG);

    CHECK_CLASS(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(not_committed(data), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(rc = MPI_Bsend(data, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER); /* none is attached */
    explains(rc, "MPI_Bsend", "no buffer");

    request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);

    CHECK(data[0] == 1 && data[1] == 2);
    CHECK_OK(MPI_Sendrecv(&data[1], 1, MPI_INT, mtest_rank, 3, &data[0], 1, MPI_INT, mtest_rank, 3, comm, &status));
    CHECK(data[0] == 2);
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
