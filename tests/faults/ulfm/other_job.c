/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/*
 * Two jobs of two mpiexec, which connect: other_job NAME PART. All processes of the second one end, and with them what
 * its runtime keeps. The first one tells those that were killed from those that have finalized.
 *
 * - "waits", "polls": the first job, which waits for a message of any source, or probes for one; "asks": for each of
 *   the others, which have finalized.
 * - "dies", "leaves": the second job. Each of its processes is told to end by one of the first job only.
 */
#include "ulfm.h"

enum { TAG_GO = 7, TAG_NONE = 8 };

static MPI_Comm accept_job(const char *name)
{
    MPI_Comm inter = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
    }
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    if (rank == 0) {
        OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    return inter;
}

static MPI_Comm join_job(const char *name)
{
    MPI_Comm inter = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME] = "";
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (rank == 0 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS)
        usleep(1000);
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    return inter;
}

static void expect_finalized(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    EXPECT(class_of(code) == MPIX_ERR_PROC_FAILED);
    MPI_Error_string(code, text, &length);
    expect_at(__LINE__, strstr(text, "has finalized") && !strstr(text, "has died"), "%s", text);
}

static void end_others(MPI_Comm all, int of)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int other = size; rank == 0 && other < of; other++)
        OK(MPI_Send(NULL, 0, MPI_INT, other, TAG_GO, all));
}

static void miss_dead(MPI_Comm all, int of, int polls)
{
    int found = 0, code = MPI_SUCCESS;
    MPI_Comm left;
    if (polls)
        while (code == MPI_SUCCESS && !found)
            code = MPI_Iprobe(MPI_ANY_SOURCE, TAG_NONE, all, &found, MPI_STATUS_IGNORE);
    else
        code = MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, TAG_NONE, all, MPI_STATUS_IGNORE);
    FAILS(code);
    for (int other = size; other < of; other++)
        FAILS(MPI_Recv(NULL, 0, MPI_INT, other, TAG_NONE, all, MPI_STATUS_IGNORE));
    EXPECT(failures_of(all) == of - size);
    OK(MPIX_Comm_shrink(all, &left));
    expect_living(all, left, ((1u << of) - 1) ^ ((1u << size) - 1));
    expect_works(left);
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *part = argv[2];
    int first = strcmp(part, "dies") != 0 && strcmp(part, "leaves") != 0, of;
    MPI_Comm inter = first ? accept_job(argv[1]) : join_job(argv[1]), all;
    OK(MPI_Intercomm_merge(inter, !first, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(all, &of));
    if (first)
        end_others(all, of);
    else
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG_GO, all, MPI_STATUS_IGNORE));
    if (strcmp(part, "dies") == 0)
        die();
    if (strcmp(part, "asks") == 0)
        for (int other = size; other < of; other++)
            expect_finalized(MPI_Recv(NULL, 0, MPI_INT, other, TAG_NONE, all, MPI_STATUS_IGNORE));
    else if (first)
        miss_dead(all, of, strcmp(part, "polls") == 0);
    if (first && strcmp(part, "asks") == 0)
        EXPECT(failures_of(all) == 0);
    return end();
}
