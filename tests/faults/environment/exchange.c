/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank sends short and long messages around a ring, in the World and in a session, and checks what it gets. The
 * program follows the language of the user, as many do. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char byte(int from, size_t i)
{
    return (unsigned char)(from * 31 + i * 7 + (i >> 9));
}

static int around(MPI_Comm comm, size_t bytes)
{
    int rank, size, bad = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int left = (rank + size - 1) % size;
    unsigned char *out = malloc(bytes + 1), *in = calloc(bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++)
        out[i] = byte(rank, i);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (rank + 1) % size, 3, in, (int)bytes, MPI_BYTE, left, 3, comm,
                 MPI_STATUS_IGNORE);
    for (size_t i = 0; i < bytes && !bad; i++)
        bad = in[i] != byte(left, i);
    free(out);
    free(in);
    return bad;
}

int main(int argc, char **argv)
{
    size_t sizes[] = { 0, 1, 4000, 20000, 300000, 5000000 };
    int bad = 0, rank, all;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (!setlocale(LC_ALL, "") && getenv("LOCPATH"))
        puts("the language of the environment does not exist");
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "exchange", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bad |= around(MPI_COMM_WORLD, sizes[i]);
        bad |= around(comm, sizes[i]);
    }
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_rank(comm, &rank);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    if (rank == 0)
        puts(all ? "damaged" : "intact");
    return all;
}
