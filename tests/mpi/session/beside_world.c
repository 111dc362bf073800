/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * World and sessions in one process, in any order (MPI-5.0 section 11.1): a session that begins before MPI_Init and
 * continues after it, one in the middle, one that outlives MPI_Finalize, one that begins after it. A message of one is
 * never received in another.
 */
#include "mtest.h"

struct part {
    MPI_Session session;
    MPI_Comm comm;
};

static struct part begin(const char *tag)
{
    struct part part;
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &part.session));
    CHECK_OK(MPI_Group_from_session_pset(part.session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &part.comm));
    CHECK_OK(MPI_Group_free(&group));
    return part;
}

static void end(struct part *part)
{
    CHECK_OK(MPI_Comm_free(&part->comm));
    CHECK_OK(MPI_Session_finalize(&part->session));
}

/* Around the ring in all communicators at once; receives are posted in the opposite order, with wildcards. */
static void work(MPI_Comm *comms, int count)
{
    int out[4], in[4], rank, size;
    MPI_Request sends[4];
    for (int i = 0; i < count; i++) {
        MPI_Comm_rank(comms[i], &rank);
        MPI_Comm_size(comms[i], &size);
        out[i] = 100 * i + rank;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 7, comms[i], &sends[i]));
    }
    for (int i = count - 1; i >= 0; i--) {
        CHECK_OK(MPI_Recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE));
        CHECK(in[i] == 100 * i + (rank + size - 1) % size);
    }
    CHECK_OK(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK_OK(MPI_Barrier(comms[i]));
}

int main(int argc, char **argv)
{
    int flag = 1;
    struct part early = begin("early"), middle, late, after;
    CHECK_OK(MPI_Initialized(&flag));
    CHECK(!flag); /* sessions do not initialize the World */
    work(&early.comm, 1);

    MTEST_INIT(argc, argv);
    work((MPI_Comm[]){ early.comm, MPI_COMM_WORLD }, 2);
    middle = begin("middle");
    late = begin("late");
    work((MPI_Comm[]){ MPI_COMM_WORLD, middle.comm, early.comm, late.comm }, 4);
    end(&early);
    work((MPI_Comm[]){ late.comm, MPI_COMM_WORLD, middle.comm }, 3);
    end(&middle);

    CHECK_OK(MPI_Finalize());
    work(&late.comm, 1);
    after = begin("after");
    work((MPI_Comm[]){ late.comm, after.comm }, 2);
    end(&late);
    work(&after.comm, 1);
    end(&after);
    MTEST_END;
}
