/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of one sender and one receiver: short, long, persistent, partitioned, probed. */
#include "work.h"

#include <stdlib.h>

enum { LONG = 100000, PARTS = 4 };
static int out[LONG], in[LONG];

static void ring(MPI_Comm comm, int count)
{
    int rank, size;
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < count; i++)
        out[i] = rank + i;
    TRY(MPI_Sendrecv(out, count, MPI_INT, to, 1, in, count, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
    work_expect(in[0] == from && in[count - 1] == from + count - 1, "MPI_Sendrecv");
    TRY(MPI_Isend(out, count, MPI_INT, to, 2, comm, &requests[0]));
    TRY(MPI_Recv(in, count, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE));
    TRY(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    TRY(MPI_Sendrecv_replace(in, count, MPI_INT, to, 3, from, 3, comm, MPI_STATUS_IGNORE));
    TRY(MPI_Irecv(in, count, MPI_INT, from, 4, comm, &requests[0]));
    TRY(MPI_Issend(out, count, MPI_INT, to, 4, comm, &requests[1]));
    TRY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    work_expect(in[0] == from && in[count - 1] == from + count - 1, "MPI_Issend");
    TRY(MPI_Isendrecv(out, count, MPI_INT, to, 5, in, count, MPI_INT, from, 5, comm, &requests[0]));
    TRY(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
done:
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}

static void persistent(MPI_Comm comm)
{
    int rank, size;
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    TRY(MPI_Send_init(out, 10, MPI_INT, to, 6, comm, &requests[0]));
    TRY(MPI_Recv_init(in, 10, MPI_INT, from, 6, comm, &requests[1]));
    TRY(MPI_Startall(2, requests));
    TRY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    TRY(MPI_Psend_init(out, PARTS, 100, MPI_INT, to, 7, comm, MPI_INFO_NULL, &requests[0]));
    TRY(MPI_Precv_init(in, PARTS, 100, MPI_INT, from, 7, comm, MPI_INFO_NULL, &requests[1]));
    TRY(MPI_Startall(2, requests));
    TRY(MPI_Pready_range(0, PARTS - 1, requests[0]));
    TRY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    work_expect(in[0] == from && in[PARTS * 100 - 1] == from + PARTS * 100 - 1, "MPI_Psend_init");
done:
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}

static void probed(MPI_Comm comm)
{
    int rank, size, attached = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    char *buffer = malloc(MPI_BSEND_OVERHEAD + sizeof out);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    TRY(MPI_Type_vector(100, 1, 3, MPI_INT, &column));
    TRY(MPI_Type_commit(&column));
    TRY(MPI_Comm_attach_buffer(comm, buffer, MPI_BSEND_OVERHEAD + sizeof out));
    attached = 1;
    TRY(MPI_Bsend(out, 1, column, to, 8, comm));
    TRY(MPI_Mprobe(from, 8, comm, &message, MPI_STATUS_IGNORE));
    TRY(MPI_Mrecv(in, 1, column, &message, MPI_STATUS_IGNORE));
    work_expect(in[297] == from + 297, "MPI_Mrecv");
done:
    if (attached)
        work_failed(MPI_Comm_detach_buffer(comm, &(void *){ NULL }, &(int){ 0 }));
    if (column != MPI_DATATYPE_NULL)
        MPI_Type_free(&column);
    free(buffer);
}

void work_messages(MPI_Comm comm)
{
    ring(comm, 1);
    if (work_is_well())
        ring(comm, LONG);
    if (work_is_well())
        persistent(comm);
    if (work_is_well())
        probed(comm);
}
