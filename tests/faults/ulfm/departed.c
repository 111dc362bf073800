/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/*
 * A member that finalizes while the others agree counts as failed. Messages about it say that it has finalized, in the
 * agreement and afterwards. It ends only when all others have agreed.
 */
#include "ulfm.h"

static void expect_words(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    EXPECT(class_of(code) == MPIX_ERR_PROC_FAILED);
    MPI_Error_string(code, text, &length);
    expect_at(__LINE__, strstr(text, "has finalized") && !strstr(text, "has died"), "%s: %s", call, text);
}

#define DEPARTED(call) expect_words((call), #call)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int word = 1, last = size - 1;
    MPI_Comm made;
    MPI_Request request;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == last)
        return end();
    DEPARTED(MPIX_Comm_agree(MPI_COMM_WORLD, &word));
    DEPARTED(finished(MPIX_Comm_iagree(MPI_COMM_WORLD, &word, &request), &request));
    DEPARTED(MPI_Recv(&word, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    DEPARTED(MPI_Probe(last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    DEPARTED(MPI_Ssend(&word, 1, MPI_INT, last, 1, MPI_COMM_WORLD));
    DEPARTED(MPI_Barrier(MPI_COMM_WORLD));
    EXPECT(acknowledge(MPI_COMM_WORLD) == 1);
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &word));
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &made));
    expect_works(made);
    OK(MPI_Comm_free(&made));
    return end();
}
