/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport and its peers: departure, wrong addresses, sleep, repeated opening; two processes, one of which may
 * be killed. */
#include "ucx_node.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/job/stale_files.h"
#include "plugins/ucx/ucx.h"

/* A sender that flushes and closes loses no message, even if the receiver takes them only afterwards; the receiver
 * notices no failure. */
START_TEST(test_flush_and_leave)
{
    enum { MESSAGES = 500 };
    struct message *messages[MESSAGES];
    open_pair(_i);
    for (unsigned n = 0; n < MESSAGES; n++)
        messages[n] = message_send(a, ab, n, size_of(n) % 60000, &node_solid);
    ck_assert(!a->ops->flushed(a->self));
    NODE_UNTIL(a, b, a->ops->flushed(a->self));
    for (unsigned n = 0; n < MESSAGES; n++) {
        ck_assert(message_done(messages[n]));
        message_free(messages[n]);
        struct pl_header header = node_take(b, NULL, received, LARGEST, &node_solid);
        ck_assert_int_eq(header.tag, (int)n);
        ck_assert(node_intact(received, size_of(n) % 60000, 1, n));
    }
    ops->disconnect(ab);
    node_close(a);
    for (int i = 0;
         i < 100000 && ops->send(ba, &(struct pl_outgoing){ .data = { .type = &node_solid } }) == MPI_SUCCESS; i++)
        b->ops->progress(b->self);
    ck_assert_int_eq(ops->send(ba, &(struct pl_outgoing){ .data = { .type = &node_solid } }), MPI_ERR_PROC_ABORTED);
    ck_assert_uint_eq(b->failed, 0);
    ck_assert(b->ops->flushed(b->self));
    ops->disconnect(ba);
    node_close(b);
    free(received);
}
END_TEST

static void drop_oldest(struct node *node)
{
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&node->inbox), struct arrival, link);
    ops->drop(node->self, arrival->rndv, false);
    free(arrival);
}

/* The engine drops a message when it is told that another of the same lost peer will not come. */
START_TEST(test_drop_at_loss)
{
    open_pair(_i);
    struct message *messages[2] = { message_send(a, ab, 1, LARGEST, &node_solid),
                                    message_send(a, ab, 2, LARGEST, &node_solid) };
    NODE_UNTIL(a, b, b->arrived == 2);
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
    struct pl_incoming incoming = { .data = node_cursor(received, LARGEST, &node_solid), .size = LARGEST };
    ((struct pl_ucx_link *)ba)->exchanges = true; /* over TCP it is put off */
    int err = ops->fetch(b->self, arrival->rndv, &incoming);
    free(arrival);
    b->on_fetched = drop_oldest;
    if (err == MPI_SUCCESS) /* at once */
        drop_oldest(b);
    ops->lose(ba);
    NODE_UNTIL(b, NULL, b->failed);
    ck_assert(pl_list_empty(&b->inbox));
    struct pl_endpoint *again;
    ck_assert_int_eq(ops->connect(b->self, a->card, a->card_length, (struct pl_peer *)b, &again), MPI_ERR_PROC_ABORTED);
    ck_assert_str_eq(node_detail, "the connection to this process has failed: it has ended");
    ck_assert(err == MPI_SUCCESS || incoming.transport[5]);
    ops->disconnect(ba);
    node_close(b);
    ops->disconnect(ab);
    node_close(a);
    for (int i = 0; i < 2; i++)
        message_free(messages[i]);
    free(received);
}
END_TEST

static struct message *answer;

static void answer_once(struct node *node)
{
    if (!answer)
        answer = message_send(node, ba, 3, LARGEST, &node_solid);
}

/* A message whose fetch ended at once, after a send: the engine answers it with a long one, which lets the transport
 * fetch the next message that was put off. That one is fetched once. */
START_TEST(test_answer_fetched)
{
    open_pair(1);
    struct pl_ucx *ucx = b->self;
    struct pl_ucx_link *link = (struct pl_ucx_link *)ba;
    struct pl_incoming ended = { .size = 0 }, waits = { .data = node_cursor(received, LARGEST, &node_solid) };
    struct message *message = message_send(a, ab, 2, LARGEST, &node_solid);
    NODE_UNTIL(b, a, !pl_list_empty(&b->inbox));
    struct pl_ucx_rndv *first = calloc(1, sizeof *first);
    *first = (struct pl_ucx_rndv){ .link = link, .message = &ended, .state = PL_UCX_RNDV_FETCHED };
    pl_list_append(&link->rndvs, &first->entry);
    pl_list_append(&ucx->put_off, &first->put_off);
    link->put_off_count = 1;
    link->exchanges = true;
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
    waits.size = arrival->header.size;
    ck_assert_int_eq(ops->fetch(b->self, arrival->rndv, &waits), PL_PENDING);
    free(arrival);
    answer = NULL;
    b->on_fetched = answer_once;
    NODE_UNTIL(b, a, waits.transport[5] && message_done(message));
    ck_assert_uint_eq(b->fetched, 2);
    ck_assert(ended.transport[5] && node_intact(received, LARGEST, 1, 2));
    ck_assert_int_eq(link->put_off_count, 0);
    b->on_fetched = NULL;
    ck_assert_int_eq(node_take(a, b, received, LARGEST, &node_solid).tag, 3);
    ck_assert(node_intact(received, LARGEST, 1, 3));
    NODE_UNTIL(a, b, message_done(answer));
    message_free(answer);
    message_free(message);
    close_pair();
}
END_TEST

/* A link has carried so many messages that their numbers pass 2^31: a message that the peer has not acknowledged keeps
 * the sender from closing, as before. */
START_TEST(test_flush_after_many)
{
    open_pair(_i);
    struct pl_ucx_link *out = (struct pl_ucx_link *)ab, *in = (struct pl_ucx_link *)ba;
    out->next_out = in->next_in = 0x80000010u;
    struct message *message = message_send(a, ab, 1, 100, &node_solid);
    for (int i = 0; i < 1000; i++) {
        ops->progress(a->self);
        ck_assert(!ops->flushed(a->self));
    }
    ck_assert_int_eq(node_take(b, a, received, 100, &node_solid).tag, 1);
    ck_assert(node_intact(received, 100, 1, 1));
    NODE_UNTIL(a, b, message_done(message));
    message_free(message);
    close_pair();
}
END_TEST

/* Damaged addresses are refused; an address that outlived its owner does not lead to the new owner. */
START_TEST(test_bad_address)
{
    open_pair(_i);
    unsigned char card[PL_CARD_MAX];
    struct pl_endpoint *endpoint;
    memcpy(card, b->card, b->card_length);
    ck_assert_int_eq(ops->connect(a->self, card, 0, NULL, &endpoint), PL_UNREACHABLE);
    ck_assert_int_eq(ops->connect(a->self, card, 16, NULL, &endpoint), PL_UNREACHABLE);
    ck_assert_int_eq(ops->connect(a->self, card, sizeof card, NULL, &endpoint), PL_UNREACHABLE);
    card[0] ^= 1;
    endpoint = node_connect(a, card, b->card_length);
    struct pl_outgoing out = { .header = { .kind = PL_MSG_P2P } };
    int err;
    while ((err = ops->send(endpoint, &out)) == PL_AGAIN)
        node_progress_all();
    ck_assert_int_eq(err, MPI_ERR_PROC_ABORTED);
    for (unsigned n = 1; n <= 1000; n++)
        one_message(n, n, &node_solid, &node_solid);
    ck_assert_uint_eq(b->arrived, 1000);
    node_close(a);
    node_close(b);
    free(received);
}
END_TEST

/* --- sleep ----------------------------------------------------------------------------------------------------- */

static void *wake_later(void *argument)
{
    struct node *node = argument;
    usleep(20000);
    node->ops->wake(node->self);
    return NULL;
}

static void *send_later(void *argument)
{
    usleep(20000);
    message_free(message_send(argument, ab, 1, 8, &node_solid));
    return NULL;
}

static void arm(struct node *node)
{
    while (!ops->arm(node->self)) {
        ops->disarm(node->self);
        ops->progress(node->self);
    }
}

START_TEST(test_sleep)
{
    pthread_t thread;
    open_pair(_i);
    one_message(8, 1, &node_solid, &node_solid);
    for (int i = 0; i < 3; i++) { /* woken by the call, by a message, by the timeout */
        arm(b);
        ck_assert_int_eq(pthread_create(&thread, NULL, i ? send_later : wake_later, i ? a : b), 0);
        ops->sleep(b->self, 60000000);
        ops->disarm(b->self);
        pthread_join(thread, NULL);
        if (i)
            node_take(b, a, received, 8, &node_solid);
        arm(b);
        ops->sleep(b->self, 1000);
        ops->disarm(b->self);
    }
    close_pair();
}
END_TEST

/* --- cycles ---------------------------------------------------------------------------------------------------- */

/* Files of UCX that no process holds, here or elsewhere on the machine. */
static int unheld_files(void)
{
    static const char ours[] = "plenum-ucx-", other[] = "ucx";
    int count = 0;
    DIR *dir = opendir("/dev/shm");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, ours, sizeof ours - 1) == 0) {
            uint64_t number = strtoull(entry->d_name + sizeof ours - 1, NULL, 16);
            count += pl_scratch_dir_state(number, NULL) == PL_SCRATCH_ABANDONED;
        } else {
            count += strncmp(entry->d_name, other, sizeof other - 1) == 0;
        }
    closedir(dir);
    return count;
}

START_TEST(test_cycles)
{
    int descriptors = 0, threads = 0, shared = 0;
    for (int cycle = 0; cycle < 100; cycle++) {
        open_pair(_i);
        one_message(100, 1, &node_solid, &node_solid);
        one_message(100000, 1, &node_solid, &node_solid);
        close_pair();
        if (cycle == 1) {
            descriptors = unit_entries("/proc/self/fd");
            threads = unit_entries("/proc/self/task");
            shared = unheld_files();
        }
    }
    ck_assert_int_le(unit_entries("/proc/self/fd"), descriptors);
    ck_assert_int_le(threads_left(threads), threads);
    ck_assert_int_le(unheld_files(), shared + 60); /* others leave some, too; a leak is 98 */
}
END_TEST

/* --- descriptors ----------------------------------------------------------------------------------------------- */

/* The number of descriptors, among those that were not open before, that a program started now would inherit. */
static int inherited_by_exec(const bool before[1024])
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        int flags = before[fd] ? -1 : fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

START_TEST(test_close_on_exec)
{
    bool before[1024];
    int ends[2];
    for (int fd = 0; fd < 1024; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    open_pair(_i);
    ck_assert_int_eq(pipe(ends), 0); /* another thread's, for a child: left alone */
    one_message(8, 1, &node_solid, &node_solid);
    for (int round = 0; round < 100; round++) {
        one_message(8, 1, &node_solid, &node_solid);
        NODE_UNTIL(a, b, inherited_by_exec(before) == 2); /* a connection soon after it was made */
    }
    ck_assert(!(fcntl(ends[0], F_GETFD) & FD_CLOEXEC) && !(fcntl(ends[1], F_GETFD) & FD_CLOEXEC));
    close(ends[0]);
    close(ends[1]);
    close_pair();
}
END_TEST

/* --- two processes --------------------------------------------------------------------------------------------- */

static void write_all(int fd, const void *data, size_t bytes)
{
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
}

static void swap_cards(int in, int out, const struct node *node, unsigned char *card, size_t *length)
{
    write_all(out, &node->card_length, sizeof node->card_length);
    write_all(out, node->card, node->card_length);
    ck_assert_int_eq(read(in, length, sizeof *length), sizeof *length);
    ck_assert_int_eq(read(in, card, *length), (ssize_t)*length);
}

/* Sends `rounds` messages of mixed sizes to the other process, which does the same, and checks those that arrive. */
static void exchange(struct node *node, struct pl_endpoint *endpoint, int rounds)
{
    unsigned char *data = malloc(2 * LARGEST);
    for (int n = 0; n < rounds; n++) {
        size_t bytes = size_of((unsigned long)n);
        struct message *message = message_send(node, endpoint, (unsigned)n, bytes, n & 1 ? &node_holes : &node_solid);
        struct pl_header header = node_take(node, NULL, data, bytes, n & 2 ? &node_holes : &node_solid);
        ck_assert_uint_eq(header.size, bytes);
        ck_assert_int_eq(header.tag, n);
        ck_assert(node_intact(data, bytes, n & 2 ? 2 : 1, (unsigned)n));
        NODE_UNTIL(node, NULL, message_done(message));
        message_free(message);
    }
    free(data);
}

/* Forks; both processes return with a node each and an endpoint to the other's. */
static pid_t fork_pair(struct node **node, struct pl_endpoint **endpoint)
{
    int down[2], up[2];
    unsigned char card[PL_CARD_MAX];
    size_t length;
    ck_assert_int_eq(pipe(down), 0);
    ck_assert_int_eq(pipe(up), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    *node = node_open(ops, child ? 0xaa : 0xbb);
    swap_cards(child ? up[0] : down[0], child ? down[1] : up[1], *node, card, &length);
    *endpoint = node_connect(*node, card, length);
    return child;
}

START_TEST(test_processes)
{
    struct node *node;
    struct pl_endpoint *endpoint;
    choose(_i);
    pid_t child = fork_pair(&node, &endpoint);
    exchange(node, endpoint, 1000);
    NODE_UNTIL(node, NULL, ops->flushed(node->self));
    unsigned long failed = node->failed;
    ops->disconnect(endpoint);
    node_close(node);
    if (child == 0)
        _exit(failed != 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(failed, 0);
}
END_TEST

/* Over TCP a killed peer is noticed: pending messages fail, later sends are refused, and close() returns. */
START_TEST(test_killed_peer)
{
    struct node *node;
    struct pl_endpoint *endpoint;
    choose(1);
    pid_t child = fork_pair(&node, &endpoint);
    exchange(node, endpoint, 10);
    if (child == 0)
        for (;;)
            ops->progress(node->self);

    struct message *rndv = message_send(node, endpoint, 1, 500000, _i ? &node_holes : &node_solid);
    for (int i = 0; i < 1000; i++)
        ops->progress(node->self);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    NODE_UNTIL(node, NULL, node->failed);
    ck_assert_uint_eq(node->failed, 1);
    ck_assert(message_done(rndv));
    ck_assert_int_eq(node->last_error, MPI_ERR_PROC_ABORTED);
    message_free(rndv);
    ck_assert_int_eq(ops->send(endpoint, &(struct pl_outgoing){ .data = { .type = &node_solid } }),
                     MPI_ERR_PROC_ABORTED);
    ck_assert(ops->flushed(node->self));
    ops->disconnect(endpoint);
    node_close(node);
}
END_TEST

/* Starts another process, with a node that makes no progress. */
static pid_t fork_silent(unsigned char *card, size_t *length)
{
    int up[2];
    ck_assert_int_eq(pipe(up), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct node *node = node_open(ops, 0xbb);
        write_all(up[1], &node->card_length, sizeof node->card_length);
        write_all(up[1], node->card, node->card_length);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(up[0], length, sizeof *length), sizeof *length);
    ck_assert_int_eq(read(up[0], card, *length), (ssize_t)*length);
    close(up[0]);
    close(up[1]);
    return child;
}

/* A peer that ends before it has admitted this process. A process that sends to it is told, and one that does not wait
 * for that closes without it. */
START_TEST(test_silent_peer)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    choose(0);
    pid_t child = fork_silent(card, &length);
    node_close(node_open(ops, 0xcc)); /* UCX keeps some descriptors open from the first time on */
    int descriptors = unit_entries("/proc/self/fd"), threads = unit_entries("/proc/self/task");
    struct node *node = node_open(ops, 0xaa);
    struct pl_endpoint *endpoint = node_connect(node, card, length);
    struct pl_outgoing message = { .data = { .type = &node_solid } };
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(ops->send(endpoint, &message), PL_AGAIN);
        ck_assert_int_ge(ops->progress(node->self), 0);
    }
    ck_assert_uint_eq(node->failed, 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    int err = PL_AGAIN;
    if (_i == 0) {
        NODE_UNTIL(node, NULL, (err = ops->send(endpoint, &message)) != PL_AGAIN);
        ck_assert_int_eq(err, MPI_ERR_PROC_ABORTED);
    }
    ops->disconnect(endpoint);
    node_close(node);
    ck_assert_int_eq(unit_entries("/proc/self/fd"), descriptors);
    ck_assert_int_le(threads_left(threads), threads);
}
END_TEST

int main(void)
{
    Suite *suite = suite_of("ucx peers");
    add(suite, "test_flush_and_leave", test_flush_and_leave, CHOICES);
    add(suite, "test_drop_at_loss", test_drop_at_loss, CHOICES);
    add(suite, "test_answer_fetched", test_answer_fetched, 1);
    add(suite, "test_flush_after_many", test_flush_after_many, CHOICES);
    add(suite, "test_bad_address", test_bad_address, CHOICES);
    add(suite, "test_sleep", test_sleep, CHOICES);
    add(suite, "test_close_on_exec", test_close_on_exec, CHOICES);
    add(suite, "test_cycles", test_cycles, CHOICES);
    add(suite, "test_processes", test_processes, CHOICES);
    add(suite, "test_killed_peer", test_killed_peer, 2);
    add(suite, "test_silent_peer", test_silent_peer, 2);
    return unit_end(suite);
}
