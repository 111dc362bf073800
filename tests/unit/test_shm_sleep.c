/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport asleep: tens of thousands of wake-ups, each of which would cost a minute if it were lost. */
#include "shm_node.h"
#include "shm_sandbox.h"
#include "unit.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the next message, and sleeps whenever there is none. */
static long sleeps;
static void sleep_until(struct node *node, unsigned long arrived)
{
    while (ops->progress(node->self), node->arrived < arrived) {
        bool quiet = ops->arm(node->self);
        if (quiet) {
            ops->sleep(node->self, 60000000);
            sleeps++;
        }
        ops->disarm(node->self);
    }
}

static void count_only(struct node *node, const struct pl_origin *from, const struct pl_header *header,
                       const void *data, struct pl_rndv *rndv)
{
    (void)node, (void)from, (void)header, (void)data, (void)rndv;
}

static void sleepy(struct node *node, struct pl_endpoint *endpoint, bool first, unsigned long count)
{
    node->on_arrival = count_only;
    for (unsigned long i = 1; i <= count; i++) {
        if (first)
            message_free(message_send(node, endpoint, 1, 8, &node_solid));
        sleep_until(node, i);
        if (!first)
            message_free(message_send(node, endpoint, 1, 8, &node_solid));
    }
}

static void sleepy_ping_pong(bool fences)
{
    int there[2], back[2], status;
    unsigned char card[PL_CARD_MAX];
    ck_assert(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    bool first = child != 0;
    int in = first ? back[0] : there[0], out = first ? there[1] : back[1];
    struct node *node = node_new(first ? 1 : 2);
    ck_assert_int_eq(write(out, node->card, node->card_length), (ssize_t)node->card_length);
    ck_assert_int_eq(read(in, card, sizeof card), (ssize_t)node->card_length);
    struct pl_endpoint *endpoint = node_connect(node, card, node->card_length);
    if (!fences)
        inside(node)->sleeps.streak = 1 << 20; /* beyond the count at which the engine asks for fences */
    sleepy(node, endpoint, first, 10000);
    char byte = 0;
    ck_assert_int_eq(write(out, &byte, 1), 1);
    ck_assert_int_eq(read(in, &byte, 1), 1);
    node_close(node);
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(sleeps, 0);
}

START_TEST(sleep_and_wake)
{
    sleepy_ping_pong(true);
}
END_TEST

START_TEST(sleep_and_wake_by_barriers)
{
    sleepy_ping_pong(false);
}
END_TEST

START_TEST(sleep_and_wake_without_membarrier)
{
    forbid(SYS_membarrier, ENOSYS);
    sleepy_ping_pong(true);
}
END_TEST

/* The sender sleeps until there is space, the receiver until there is a message. */
static void flood(struct node *node, struct pl_endpoint *endpoint, int count)
{
    static unsigned char data[1000];
    struct message message = { .out.header.size = 1000, .out.data = node_cursor(data, 1000, &node_solid) };
    for (int i = 0; i < count; i++)
        while (ops->send(endpoint, &message.out) == PL_AGAIN) {
            if (ops->progress(node->self) == 0 && ops->arm(node->self))
                ops->sleep(node->self, 60000000);
            ops->disarm(node->self);
        }
}

START_TEST(sleeps_until_there_is_space)
{
    static struct node *y; /* static: the child must not close its copy */
    int status;
    y = node_new(2);
    pid_t child = fork();
    if (child == 0) {
        struct node *x = node_new(1);
        flood(x, node_join(x, y), 20000);
        NODE_UNTIL(x, NULL, ops->flushed(x->self));
        node_close(x);
        _exit(0);
    }
    y->on_arrival = count_only;
    sleep_until(y, 20000);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    node_close(y);
}
END_TEST

static void *wake_soon(void *node)
{
    ops->wake(((struct node *)node)->self);
    return NULL;
}

START_TEST(woken_by_a_thread)
{
    struct node *x = node_new(1);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        ck_assert(ops->arm(x->self));
        ck_assert_int_eq(pthread_create(&thread, NULL, wake_soon, x), 0);
        ops->sleep(x->self, 60000000);
        ops->disarm(x->self);
        pthread_join(thread, NULL);
    }
    node_close(x);
}
END_TEST

UNIT_MAIN("shm sleep", sleep_and_wake, sleep_and_wake_by_barriers, sleep_and_wake_without_membarrier,
          sleeps_until_there_is_space, woken_by_a_thread)
