/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of thousands of receives and of messages (MPI-5.0 section 3.5), with wildcards in any place: each message goes
 * to the first receive that fits, and each receive or probe finds the first message that fits. A model with plain lists
 * says which these are. Then queues between two ranks that are emptied in the worst order, and synchronous sends that
 * are received or cancelled in the worst order.
 */
/* seconds: 300 */
#include "mtest.h"
#include "pattern.h"

enum { MOST = 1000, STEPS = 30000, TAGS = 300, MANY = 10000 };

static uint64_t state = 2024;

static int below(int n)
{
    return (int)(pattern_random(&state) % (unsigned)n);
}

/* --- one rank, against a model ------------------------------------------------------------------------------------ */

struct receive {
    int tag; /* or MPI_ANY_TAG */
    int got;
    MPI_Request request;
};

struct message {
    int tag, word;
};

static struct receive *receives[MOST];
static struct message messages[MOST];
static int receive_count, message_count;

static void end_receive(int at)
{
    free(receives[at]);
    receive_count--;
    memmove(&receives[at], &receives[at + 1], (size_t)(receive_count - at) * sizeof *receives);
}

static int first_message(int tag)
{
    for (int i = 0; i < message_count; i++)
        if (tag == MPI_ANY_TAG || tag == messages[i].tag)
            return i;
    return -1;
}

static int some_tag(void)
{
    return below(20) == 0 ? MPI_ANY_TAG : below(TAGS);
}

static int some_source(void)
{
    return below(2) ? MPI_ANY_SOURCE : 0;
}

static void send_one(int word)
{
    int tag = below(TAGS), at = 0;
    while (at < receive_count && receives[at]->tag != MPI_ANY_TAG && receives[at]->tag != tag)
        at++;
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_SELF));
    if (at == receive_count) {
        messages[message_count++] = (struct message){ tag, word };
        return;
    }
    CHECK_OK(MPI_Wait(&receives[at]->request, MPI_STATUS_IGNORE));
    CHECK(receives[at]->got == word);
    end_receive(at);
}

static void post_one(int tag)
{
    struct receive *made = malloc(sizeof *made);
    made->tag = tag;
    made->got = -1;
    CHECK_OK(MPI_Irecv(&made->got, 1, MPI_INT, some_source(), tag, MPI_COMM_SELF, &made->request));
    receives[receive_count++] = made;
}

static void receive_one(int tag)
{
    int at = first_message(tag), got = -1, flag = 0;
    MPI_Message message;
    MPI_Status status;
    if (at < 0) {
        post_one(tag);
        return;
    }
    if (below(3) == 0) {
        CHECK_OK(MPI_Improbe(some_source(), tag, MPI_COMM_SELF, &flag, &message, &status));
        CHECK(flag);
        CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
    } else {
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, some_source(), tag, MPI_COMM_SELF, &status));
    }
    CHECK(got == messages[at].word && status.MPI_TAG == messages[at].tag);
    message_count--;
    memmove(&messages[at], &messages[at + 1], (size_t)(message_count - at) * sizeof *messages);
}

static void probe_one(void)
{
    int tag = some_tag(), at = first_message(tag), flag = -1;
    MPI_Status status;
    CHECK_OK(MPI_Iprobe(some_source(), tag, MPI_COMM_SELF, &flag, &status));
    CHECK(flag == (at >= 0) && (at < 0 || status.MPI_TAG == messages[at].tag));
}

static void cancel_one(int at)
{
    int cancelled = 0;
    MPI_Status status;
    CHECK_OK(MPI_Cancel(&receives[at]->request));
    CHECK_OK(MPI_Wait(&receives[at]->request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    end_receive(at);
}

/* Messages prevail, then receives, in turn: either queue becomes long and short again. */
static void against_a_model(void)
{
    for (int step = 0; step < STEPS; step++) {
        int phase = step / 2000 % 2, what = below(100);
        if (what < (phase ? 30 : 65) && message_count < MOST)
            send_one(step);
        else if (what < 90 && receive_count < MOST)
            receive_one(some_tag());
        else if (what < 95 || receive_count == 0)
            probe_one();
        else
            cancel_one(below(receive_count));
    }
    while (message_count > 0)
        receive_one(MPI_ANY_TAG);
    while (receive_count > 0)
        cancel_one(receive_count - 1);
}

/* --- between ranks ------------------------------------------------------------------------------------------------ */

static int in[MANY], out[MANY];
static MPI_Request sends[MANY], received[MANY];

static void shuffle(int *order)
{
    for (int i = 0; i < MANY; i++) {
        int k = below(i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

/* Receives are posted before the others send, in another order; or messages wait for them. */
static void around_a_ring(int early, int wild)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, bad = 0;
    shuffle(out);
    for (int i = 0; early && i < MANY; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, wild ? MPI_ANY_SOURCE : from, i, MPI_COMM_WORLD, &received[i]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, out[i], MPI_COMM_WORLD, &sends[i]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = MANY - 1; !early && i >= 0; i--)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, wild ? MPI_ANY_SOURCE : from, i, MPI_COMM_WORLD, &received[i]));
    CHECK_OK(MPI_Waitall(MANY, received, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        bad += in[i] != i;
    CHECK(bad == 0);
}

/* Every third synchronous send is cancelled, the last first; the others are received, the last first. */
static void synchronous(void)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, bad = 0;
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        CHECK_OK(MPI_Issend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = MANY - 1; i >= 0; i--)
        if (i % 3 == 0)
            CHECK_OK(MPI_Cancel(&sends[i]));
    for (int i = MANY - 1; i >= 0; i--)
        if (i % 3 == 0) {
            MPI_Status status;
            int cancelled = 0;
            CHECK_OK(MPI_Wait(&sends[i], &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            bad += !cancelled;
        }
    for (int i = MANY - 1; i >= 0; i--) {
        received[i] = MPI_REQUEST_NULL;
        if (i % 3 != 0)
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &received[i]));
    }
    CHECK_OK(MPI_Waitall(MANY, received, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        bad += i % 3 != 0 && in[i] != i;
    CHECK(bad == 0);
}

/* A wildcard behind many receives, or for a source behind many messages: they are not searched one by one. */
static void wildcards_behind(void)
{
    enum { BEHIND = 500, UNUSED = 77 };
    static int values[BEHIND];
    const int tags[] = { MPI_ANY_TAG, MPI_ANY_TAG, UNUSED }, sources[] = { mtest_rank, MPI_ANY_SOURCE, MPI_ANY_SOURCE };
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Request requests[BEHIND], wild, send;
    MPI_Status status;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < BEHIND; i++)
        CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, mtest_rank, 1000 + i, comm, &requests[i]));
    for (int i = BEHIND - 1; i >= 0; i--) {
        int word = i * 3, got = -1, found = 0, kind = i % 3;
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, sources[kind], tags[kind], comm, &wild));
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, mtest_rank, 1000 + i, comm));
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK(values[i] == word);
        CHECK_OK(MPI_Isend(&i, 1, MPI_INT, mtest_rank, UNUSED, comm, &send));
        for (int tries = 0; tries < 10000 && !found; tries++)
            CHECK_OK(MPI_Test(&wild, &found, MPI_STATUS_IGNORE));
        CHECK(found && got == i);
        if (!found) {
            CHECK_OK(MPI_Cancel(&wild));
            CHECK_OK(MPI_Wait(&wild, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, mtest_rank, UNUSED, comm, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Barrier(comm)); /* the wildcards must not take the following messages of others */
    for (int i = 0; i < BEHIND && mtest_size > 1; i++)
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, mtest_rank, i, comm, &requests[i]));
    for (int i = 0; i < 3 && mtest_size > 1; i++) {
        int got = -1;
        CHECK_OK(MPI_Isend(&i, 1, MPI_INT, right, 30 + i, comm, &send));
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, left, MPI_ANY_TAG, comm, &status));
        CHECK(got == i && status.MPI_SOURCE == left && status.MPI_TAG == 30 + i);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < BEHIND && mtest_size > 1; i++) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, mtest_rank, MPI_ANY_TAG, comm, &status));
        CHECK(got == values[i] && status.MPI_TAG == i);
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    against_a_model();
    for (int way = 0; way < 4; way++)
        around_a_ring(way & 1, way >> 1);
    synchronous();
    wildcards_behind();
    MTEST_END;
}
