/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of ports: exact, and at all members. Arguments that count at the root only are not checked elsewhere. */
#include "mtest.h"
#include <mpi-ext.h>

static MPI_Info seconds(const char *text)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", text);
    return info;
}

static void connect_fails(const char *port, MPI_Info info, int want)
{
    MPI_Comm inter = MPI_COMM_SELF;
    int root = mtest_size - 1;
    CHECK_CLASS(MPI_Comm_connect(mtest_rank == root ? port : NULL, mtest_rank == root ? info : MPI_INFO_NULL, root,
                                 MPI_COMM_WORLD, &inter),
                want);
    CHECK(inter == MPI_COMM_SELF);
}

static MPI_Info scopes = MPI_INFO_NULL;

/* An info object with this scope, the same for all calls. */
static MPI_Info scope(const char *word)
{
    if (scopes == MPI_INFO_NULL)
        MPI_Info_create(&scopes);
    MPI_Info_set(scopes, "plenum_scope", word);
    return scopes;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME], copy[MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_SELF, intercomm;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info brief = seconds("0.05"), wrong = seconds("soon");

    CHECK_CLASS(MPI_Open_port(scope("everywhere"), port), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Open_port(scope("host"), port));
    CHECK_OK(MPI_Open_port(scope("runtime"), other)); /* a word for published names */
    CHECK_OK(MPI_Close_port(other));
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, other));
    CHECK(strcmp(port, other) != 0 && strlen(port) < MPI_MAX_PORT_NAME);

    connect_fails("", MPI_INFO_NULL, MPI_ERR_PORT);
    connect_fails("tcp://somewhere:1", MPI_INFO_NULL, MPI_ERR_PORT);
    strcpy(copy, port);
    copy[strlen(copy) - 3] = '\0';
    connect_fails(copy, MPI_INFO_NULL, MPI_ERR_PORT);
    strcpy(copy, port);
    copy[12] = copy[12] == '0' ? '1' : '0';
    connect_fails(copy, MPI_INFO_NULL, MPI_ERR_PORT);
    connect_fails(port, wrong, MPI_ERR_INFO_VALUE);
    connect_fails(port, brief, MPI_ERR_PORT); /* no process accepts */

    /* Errors of a closed port, of this and of another process. */
    CHECK_OK(MPI_Close_port(other));
    CHECK_CLASS(MPI_Close_port(other), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Close_port("plenum:"), MPI_ERR_PORT);
    connect_fails(other, MPI_INFO_NULL, MPI_ERR_PORT);
    int next = (mtest_rank + 1) % mtest_size, before = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Sendrecv(other, sizeof other, MPI_CHAR, next, 0, copy, sizeof copy, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    connect_fails(copy, MPI_INFO_NULL, MPI_ERR_PORT);

    CHECK_CLASS(MPI_Comm_accept(mtest_rank == 0 ? port : NULL, mtest_rank == 0 ? brief : MPI_INFO_NULL, 0,
                                MPI_COMM_WORLD, &inter),
                MPIX_ERR_TIMEOUT);
    CHECK_CLASS(MPI_Comm_accept(mtest_rank == 0 ? other : port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter),
                MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, mtest_size, MPI_COMM_WORLD, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, -1, MPI_COMM_WORLD, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Open_port(MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    if (mtest_size > 1) {
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, mtest_rank == 0, 0, &part);
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, mtest_rank == 0, 1, &intercomm);
        MPI_Comm_set_errhandler(intercomm, MPI_ERRORS_RETURN);
        CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, intercomm, &inter), MPI_ERR_COMM);
        MPI_Comm_free(&intercomm);
        MPI_Comm_free(&part);
    }
    CHECK(inter == MPI_COMM_SELF);
    CHECK_OK(MPI_Close_port(port));
    MPI_Info_free(&scopes);
    MPI_Info_free(&brief);
    MPI_Info_free(&wrong);
    MTEST_END;
}
