/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/*
 * One MPI_Waitall for requests of all kinds in any order. There are sends that were complete at once and sends that
 * wait for space, receives that were posted and receives whose message was there, of two communicators. There are
 * persistent, inactive and null ones, derived datatypes, MPI_PROC_NULL, and collectives. Every request is finished, has
 * its own status, and leaves no object behind.
 */
#include <stdbool.h>

#include "mtest.h"
#include "pattern.h"

enum { KINDS = 9, COUNT = 150, ROUNDS = 40, MOST = 9000, SENTINEL = 4711 };

enum kind { SEND, RECEIVE, SEND_OTHER, RECEIVE_OTHER, PERSISTENT, INACTIVE, NONE, TO_NONE, COLLECTIVE };

static MPI_Comm other;
static MPI_Datatype gaps; /* every second byte */
static unsigned char out[COUNT][2 * MOST], in[COUNT][2 * MOST];
static MPI_Request request[COUNT], persistent, inactive;
static MPI_Status status[COUNT];
static struct {
    enum kind kind;
    int length; /* elements */
    int spread;
} item[COUNT];

static int to(void)
{
    return (mtest_rank + 1) % mtest_size;
}

static int from(void)
{
    return (mtest_rank + mtest_size - 1) % mtest_size;
}

/* The same on all ranks. For each receive there is a send in the same communicator, and the other way around. */
static void plan(uint64_t *random)
{
    int sends[2] = { 0, 0 };
    for (int i = 0; i < COUNT; i++) {
        item[i].kind = (enum kind)(pattern_random(random) % KINDS);
        if (item[i].kind == RECEIVE || item[i].kind == RECEIVE_OTHER)
            item[i].kind = (enum kind)(item[i].kind - 1);
        sends[0] += item[i].kind == SEND;
        sends[1] += item[i].kind == SEND_OTHER;
        if (item[i].kind == PERSISTENT && i > 0)
            item[i].kind = NONE;
    }
    for (int comm = 0; comm < 2; comm++)
        for (int i = 0, kept = 0; i < COUNT; i++)
            if (item[i].kind == (comm ? SEND_OTHER : SEND)) {
                bool last = kept + 1 == sends[comm] && sends[comm] % 2;
                item[i].kind = last ? NONE : (enum kind)(item[i].kind + (int)(kept % 2));
                kept++;
            }
    for (int i = 0; i < COUNT; i++) {
        static const int lengths[] = { 0, 1, 8, 100, 1000, MOST };
        item[i].length = lengths[pattern_random(random) % 6];
        item[i].spread = pattern_random(random) % 3 == 0;
    }
}

/* The send that belongs to a receive: the n-th of its communicator. */
static int send_of(int receive)
{
    int before = 0;
    for (int i = 0; i < receive; i++)
        before += item[i].kind == item[receive].kind;
    for (int i = 0;; i++)
        if (item[i].kind == item[receive].kind - 1 && before-- == 0)
            return i;
}

static unsigned char letter(int rank, int round, int i, int at)
{
    return (unsigned char)(rank * 31 + round * 7 + i * 3 + at);
}

static void start(int i, int round)
{
    static int one = 1, sum[COUNT];
    MPI_Comm comm = item[i].kind == SEND_OTHER || item[i].kind == RECEIVE_OTHER ? other : MPI_COMM_WORLD;
    int step = item[i].spread ? 2 : 1;
    request[i] = MPI_REQUEST_NULL;
    switch (item[i].kind) {
    case SEND:
    case SEND_OTHER:
        for (int at = 0; at < item[i].length; at++)
            out[i][at * step] = letter(mtest_rank, round, i, at);
        CHECK_OK(MPI_Isend(out[i], item[i].length, item[i].spread ? gaps : MPI_BYTE, to(), i, comm, &request[i]));
        break;
    case RECEIVE:
    case RECEIVE_OTHER:
        memset(in[i], 0, sizeof in[i]);
        CHECK_OK(MPI_Irecv(in[i], MOST, item[i].spread ? gaps : MPI_BYTE, from(), send_of(i), comm, &request[i]));
        break;
    case PERSISTENT:
        request[i] = persistent;
        CHECK_OK(MPI_Start(&request[i]));
        break;
    case INACTIVE: request[i] = inactive; break;
    case NONE: break;
    case TO_NONE: CHECK_OK(MPI_Irecv(in[i], 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[i])); break;
    case COLLECTIVE: CHECK_OK(MPI_Iallreduce(&one, &sum[i], 1, MPI_INT, MPI_SUM, other, &request[i])); break;
    }
}

static void check_received(int i, int round)
{
    int sent = send_of(i), count = -1, wrong = 0, step = item[i].spread ? 2 : 1;
    MPI_Get_count(&status[i], MPI_BYTE, &count);
    CHECK(status[i].MPI_SOURCE == from() && status[i].MPI_TAG == sent && count == item[sent].length);
    for (int at = 0; at < item[sent].length; at++)
        wrong += in[i][at * step] != letter(from(), round, sent, at);
    CHECK(wrong == 0);
}

static void check_finished(int i, int round)
{
    bool empty = item[i].kind == INACTIVE || item[i].kind == NONE;
    CHECK(request[i] == (item[i].kind == PERSISTENT ? persistent
                         : item[i].kind == INACTIVE ? inactive
                                                    : MPI_REQUEST_NULL));
    CHECK(status[i].MPI_ERROR == (empty ? MPI_SUCCESS : SENTINEL));
    if (item[i].kind == RECEIVE || item[i].kind == RECEIVE_OTHER)
        check_received(i, round);
    else if (item[i].kind == TO_NONE)
        CHECK(status[i].MPI_SOURCE == MPI_PROC_NULL && status[i].MPI_TAG == MPI_ANY_TAG);
    else if (empty)
        CHECK(status[i].MPI_SOURCE == MPI_ANY_SOURCE && status[i].MPI_TAG == MPI_ANY_TAG);
}

static void round_of(int round, uint64_t *random)
{
    plan(random);
    for (int i = 0; i < COUNT; i++)
        start(i, round);
    for (int i = 0; i < COUNT; i++)
        status[i].MPI_ERROR = SENTINEL;
    if (round % 4 == 3) { /* without statuses */
        CHECK_OK(MPI_Waitall(COUNT, request, MPI_STATUSES_IGNORE));
        for (int i = 0; i < COUNT; i++)
            CHECK(request[i] == MPI_REQUEST_NULL || request[i] == persistent || request[i] == inactive);
        return;
    }
    CHECK_OK(MPI_Waitall(COUNT, request, status));
    for (int i = 0; i < COUNT; i++)
        check_finished(i, round);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    uint64_t random = 5;
    unsigned long live = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    CHECK_OK(MPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &persistent));
    CHECK_OK(MPI_Recv_init(NULL, 0, MPI_BYTE, from(), 3, MPI_COMM_WORLD, &inactive));
    for (int round = 0; round < ROUNDS; round++) {
        round_of(round, &random);
        if (round == ROUNDS / 2)
            live = mtest_live("live_requests");
    }
    CHECK(mtest_live("live_requests") <= live + COUNT);
    CHECK_OK(MPI_Request_free(&persistent));
    CHECK_OK(MPI_Request_free(&inactive));
    CHECK_OK(MPI_Type_free(&gaps));
    CHECK_OK(MPI_Comm_free(&other));
    MTEST_END;
}
