/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A delete callback of MPI_COMM_SELF that fails (MPI-5.0 sections 7.7.2 and 11.2.4): MPI_Finalize returns its code. MPI
 * and the remaining attributes stay as before, and the next MPI_Finalize continues with them.
 */
#include "mtest.h"

static int calls[3], refuse = 1;

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    int which = *(int *)value;
    (void)keyval, (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    calls[which]++;
    return which == 1 && refuse ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int values[3] = { 0, 1, 2 };
    int keyvals[3], flag = -1, one = 1, sum = 0, *value = NULL;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyvals[i], NULL));
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], &values[i]));
    }
    CHECK_CLASS(MPI_Finalize(), MPI_ERR_BUFFER);
    CHECK(calls[0] == 0 && calls[1] == 1 && calls[2] == 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_SELF, keyvals[2], &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_SELF, keyvals[1], &value, &flag));
    CHECK(flag && value == &values[1]);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == mtest_size);
    refuse = 0;
    CHECK_OK(MPI_Finalize());
    CHECK(calls[0] == 1 && calls[1] == 2 && calls[2] == 1);
    MTEST_END;
}
