/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport by itself: two of it in one process, then in two processes; over all of UCX's transports, and over TCP. */
#include "transport_node.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* LeakSanitizer's tracer crashes on UCX's threads; valgrind looks for leaks in this test. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* All that UCX has; TCP; and what is left for the network where our own shared memory serves the node. */
static const struct {
    const char *tls, *transport;
} choices[] = { { "", "ucx" }, { "tcp,self", "ucx" }, { "", "auto" } };
enum { CHOICES = 3, LARGEST = 1 << 20 };

static void choose(int choice)
{
    node_tls = choices[choice].tls;
    node_transport = choices[choice].transport;
}

static const struct pl_transport_ops *ops;

static void load(void)
{
    char exe[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(length, 0);
    exe[length] = '\0';
    snprintf(path, sizeof path, "%s/../../lib/plenum/ucx.so", dirname(exe));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    ops = dlsym(handle, PL_TRANSPORT_SYMBOL);
    ck_assert_ptr_nonnull(ops);
    ck_assert_uint_eq(ops->abi, PL_TRANSPORT_ABI);
}

/* --- two in one process ---------------------------------------------------------------------------------------- */

static struct node *a, *b;
static struct pl_endpoint *ab, *ba;
static unsigned char *room; /* 2 * LARGEST + some */

static void open_pair(int choice)
{
    choose(choice);
    room = malloc(2 * LARGEST + 64);
    a = node_open(ops, 0xa1);
    b = node_open(ops, 0xb2);
    ab = node_connect(a, b->card, b->card_length);
    ba = node_connect(b, a->card, a->card_length);
}

static void close_pair(void)
{
    bool done_a = false, done_b = false;
    NODE_UNTIL(a, b, (done_a = a->ops->flushed(a->self), done_b = b->ops->flushed(b->self), done_a && done_b));
    ck_assert_uint_eq(a->lost + b->lost, 0);
    ops->disconnect(ab);
    ops->disconnect(ba);
    node_close(a);
    node_close(b);
    free(room);
}

static void one_message(size_t bytes, unsigned seed, const struct pl_type *from, const struct pl_type *to)
{
    struct message *message = message_send(a, ab, seed, bytes, from);
    ck_assert_int_eq(message->out.bulk, bytes > (size_t)node_eager);
    struct pl_header header = node_take(b, a, room, bytes, to);
    ck_assert_uint_eq(header.size, bytes);
    ck_assert_int_eq(header.tag, (int)seed);
    ck_assert_msg(node_intact(room, bytes, (size_t)to->extent, seed), "%zu bytes damaged", bytes);
    NODE_UNTIL(a, b, message_done(message));
    message_free(message);
}

/* Sizes on both sides of every limit, in one run or with holes on either side. */
START_TEST(test_sizes)
{
    static const size_t limits[] = { 8, 64, 128, 256, 1024, 4096, 8192, 8256, 16384, 65536, 131072, 262144, LARGEST };
    static const struct pl_type *const types[] = { &node_solid, &node_holes };
    open_pair(_i);
    one_message(0, 1, &node_solid, &node_solid);
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (size_t bytes = limits[l] - 1; bytes <= limits[l] + 1; bytes++)
            for (unsigned kind = 0; kind < 4; kind++)
                if (bytes <= LARGEST)
                    one_message(bytes, (unsigned)bytes + kind, types[kind & 1], types[kind >> 1]);
    close_pair();
}
END_TEST

/* What a receiver checks of each arrival as it comes: number and content. */
static unsigned long expected_a, expected_b;
static size_t size_of(unsigned long n)
{
    size_t spread = (n * 2654435761u) >> 7;
    return n % 100 == 99 ? 65537 + spread % 200000 : n % 10 == 9 ? spread % 70000 : spread % 3000;
}

static void in_order(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                     struct pl_bulk *bulk)
{
    unsigned long *expected = node == a ? &expected_a : &expected_b;
    ck_assert_uint_eq(from->engine, node == a ? b->id : a->id);
    ck_assert_uint_eq((unsigned)header->tag, (unsigned)*expected);
    ck_assert_uint_eq(header->size, size_of(*expected));
    unsigned seed = (unsigned)(*expected)++;
    if (!bulk) {
        ck_assert_msg(node_intact(data, header->size, 1, seed), "message %u of %zu bytes damaged", seed,
                      (size_t)header->size);
        return;
    }
    struct arrival *arrival = calloc(1, sizeof *arrival);
    arrival->header = *header;
    arrival->bulk = bulk;
    pl_list_append(&node->inbox, &arrival->link);
}

static void fetch_all(struct node *node, struct node *other, size_t leave)
{
    size_t waiting = 0;
    PL_LIST_EACH(arrival, &node->inbox, struct arrival, link)
        waiting += arrival != NULL;
    for (; waiting > leave; waiting--) {
        struct pl_header header = node_take(node, other, room, 2 * LARGEST, &node_solid);
        ck_assert(node_intact(room, header.size, 1, (unsigned)header.tag));
    }
}

/* Both directions at once; up to ten bulk messages wait while later ones overtake them. */
START_TEST(test_order)
{
    enum { MESSAGES = 10000, WINDOW = 64 };
    struct message *pending[2][WINDOW] = { 0 };
    open_pair(_i);
    a->on_arrival = b->on_arrival = in_order;
    for (unsigned n = 0; n < MESSAGES; n++) {
        for (int side = 0; side < 2; side++) {
            struct message **slot = &pending[side][n % WINDOW];
            if (*slot) {
                while (!message_done(*slot)) {
                    a->ops->progress(a->self);
                    b->ops->progress(b->self);
                    fetch_all(a, b, 0);
                    fetch_all(b, a, 0);
                }
                message_free(*slot);
            }
            *slot = message_send(side ? b : a, side ? ba : ab, n, size_of(n), &node_solid);
        }
        a->ops->progress(a->self);
        b->ops->progress(b->self);
        fetch_all(a, b, 10);
        fetch_all(b, a, 10);
    }
    while (expected_a < MESSAGES || expected_b < MESSAGES) {
        a->ops->progress(a->self);
        b->ops->progress(b->self);
    }
    fetch_all(a, b, 0);
    fetch_all(b, a, 0);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < WINDOW; i++) {
            NODE_UNTIL(a, b, message_done(pending[side][i]));
            message_free(pending[side][i]);
        }
    ck_assert_uint_eq(a->arrived, MESSAGES);
    ck_assert_uint_eq(b->arrived, MESSAGES);
    a->on_arrival = b->on_arrival = NULL;
    close_pair();
}
END_TEST

/* A receiver with too little room gets what fits, nothing behind it is touched, and the sender completes. */
START_TEST(test_truncation)
{
    static const size_t sizes[] = { 100, 65537, 300000 }, rooms[] = { 0, 1, 99, 50000 };
    open_pair(_i);
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 4; r++)
            for (size_t step = 1; step <= 2; step++) {
                size_t fits = rooms[r] < sizes[s] ? rooms[r] : sizes[s];
                struct message *message = message_send(a, ab, 7, sizes[s], &node_solid);
                memset(room, 0xee, 2 * sizes[s] + 2);
                struct pl_header header = node_take(b, a, room, rooms[r], step == 1 ? &node_solid : &node_holes);
                ck_assert_uint_eq(header.size, sizes[s]);
                ck_assert(node_intact(room, fits, step, 7));
                ck_assert_uint_eq(room[fits * step], 0xee);
                NODE_UNTIL(a, b, message_done(message));
                message_free(message);
            }
    close_pair();
}
END_TEST

/* Bulk that nobody wants: its sender completes; also when it is dropped while it arrives. */
static void drop_now(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                     struct pl_bulk *bulk)
{
    (void)from, (void)header, (void)data;
    if (bulk)
        node->ops->drop(node->self, bulk, false);
}

START_TEST(test_drop)
{
    open_pair(_i);
    for (int i = 0; i < 20; i++) {
        struct message *message = message_send(a, ab, 1, 200000, i & 1 ? &node_holes : &node_solid);
        if (i < 10) {
            NODE_UNTIL(b, a, !pl_list_empty(&b->inbox));
            struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
            ck_assert(!message_done(message));
            ops->drop(b->self, arrival->bulk, false);
            free(arrival);
        } else {
            b->on_arrival = drop_now;
        }
        NODE_UNTIL(a, b, message_done(message));
        message_free(message);
    }
    b->on_arrival = NULL;
    one_message(1000, 3, &node_solid, &node_solid);
    close_pair();
}
END_TEST

/* A cancelled one: the sender hears nothing, and can take it back once the receiver's next message is there. */
START_TEST(test_cancel)
{
    open_pair(_i);
    for (int i = 0; i < 10; i++) {
        struct message *message = message_send(a, ab, 1, 200000, &node_holes);
        NODE_UNTIL(b, a, !pl_list_empty(&b->inbox));
        struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
        ck_assert(!ops->withdraw(ab, &message->out));
        ops->drop(b->self, arrival->bulk, true);
        free(arrival);
        struct message *answer = message_send(b, ba, 2, 10, &node_solid);
        node_take(a, b, room, 10, &node_solid);
        ck_assert(ops->withdraw(ab, &message->out));
        message_free(message);
        one_message(300000, 3, &node_solid, &node_solid);
        NODE_UNTIL(a, b, message_done(answer));
        message_free(answer);
    }
    close_pair();
}
END_TEST

/* A sender that flushes and closes loses nothing, though the receiver looks only afterwards; the receiver sees a good end. */
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
        struct pl_header header = node_take(b, NULL, room, LARGEST, &node_solid);
        ck_assert_int_eq(header.tag, (int)n);
        ck_assert(node_intact(room, size_of(n) % 60000, 1, n));
    }
    ops->disconnect(ab);
    node_close(a);
    for (int i = 0;
         i < 100000 && ops->send(ba, &(struct pl_outgoing){ .data = { .type = &node_solid } }) == MPI_SUCCESS; i++)
        b->ops->progress(b->self);
    ck_assert_int_eq(ops->send(ba, &(struct pl_outgoing){ .data = { .type = &node_solid } }), MPI_ERR_PROC_ABORTED);
    ck_assert_uint_eq(b->lost, 0);
    ck_assert(b->ops->flushed(b->self));
    ops->disconnect(ba);
    node_close(b);
    free(room);
}
END_TEST

/* An engine that sends to itself. */
START_TEST(test_self)
{
    open_pair(_i);
    struct pl_endpoint *aa = node_connect(a, a->card, a->card_length);
    for (size_t bytes = 0; bytes <= 300000; bytes += 100000) {
        struct message *message = message_send(a, aa, 5, bytes, &node_solid);
        node_take(a, NULL, room, bytes, &node_solid);
        ck_assert(node_intact(room, bytes, 1, 5));
        NODE_UNTIL(a, NULL, message_done(message));
        message_free(message);
    }
    ops->disconnect(aa);
    close_pair();
}
END_TEST

/* Addresses that are damaged are refused; one that outlived its owner delivers nothing to the new one. */
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
    struct message *stray = message_send(a, endpoint, 1, 8, &node_solid);
    NODE_UNTIL(a, b, node_logged > 0);
    for (unsigned n = 1; n <= 1000; n++)
        one_message(n, n, &node_solid, &node_solid);
    ck_assert_uint_eq(b->arrived, 1000);
    node_close(a);
    node_close(b);
    message_free(stray);
    free(room);
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
    for (int i = 0; i < 3; i++) { /* woken, by the call, by a message, by the time */
        arm(b);
        ck_assert_int_eq(pthread_create(&thread, NULL, i ? send_later : wake_later, i ? a : b), 0);
        ops->sleep(b->self, 60000000);
        ops->disarm(b->self);
        pthread_join(thread, NULL);
        if (i)
            node_take(b, a, room, 8, &node_solid);
        arm(b);
        ops->sleep(b->self, 1000);
        ops->disarm(b->self);
    }
    close_pair();
}
END_TEST

/* --- cycles ---------------------------------------------------------------------------------------------------- */

static int entries(const char *directory)
{
    int count = 0;
    DIR *dir = opendir(directory);
    while (readdir(dir))
        count++;
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
            descriptors = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            shared = entries("/dev/shm");
        }
    }
    ck_assert_int_le(entries("/proc/self/fd"), descriptors);
    ck_assert_int_le(entries("/proc/self/task"), threads);
    ck_assert_int_le(entries("/dev/shm"), shared + 8); /* others run beside us */
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

/* Sends and checks `rounds` messages of growing size against the other process, which does the same. */
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

/* Forks; both sides come back with a node each and an endpoint to the other. */
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
    unsigned long lost = node->lost;
    ops->disconnect(endpoint);
    node_close(node);
    if (child == 0)
        _exit(lost != 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(lost, 0);
}
END_TEST

/* Over TCP a killed peer is noticed: what is under way ends with an error, later sends are refused, close() ends. */
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

    struct message *bulk = message_send(node, endpoint, 1, 500000, _i ? &node_holes : &node_solid);
    for (int i = 0; i < 1000; i++)
        ops->progress(node->self);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    NODE_UNTIL(node, NULL, node->lost);
    ck_assert_uint_eq(node->lost, 1);
    ck_assert(message_done(bulk));
    ck_assert_int_eq(node->last_error, MPI_ERR_PROC_ABORTED);
    message_free(bulk);
    ck_assert_int_eq(ops->send(endpoint, &(struct pl_outgoing){ .data = { .type = &node_solid } }),
                     MPI_ERR_PROC_ABORTED);
    ck_assert(ops->flushed(node->self));
    ops->disconnect(endpoint);
    node_close(node);
}
END_TEST

/* Another process with a node that does nothing. */
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

/* Over shared memory of UCX's: a peer that ended before it had answered. Whoever waits for it is told, and the worker
 * that still has something for it goes with its engine. */
START_TEST(test_silent_peer)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    choose(0);
    pid_t child = fork_silent(card, &length);
    node_close(node_open(ops, 0xcc)); /* what UCX opens once */
    int descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    struct node *node = node_open(ops, 0xaa);
    struct pl_endpoint *endpoint = node_connect(node, card, length);
    struct message *message = message_send(node, endpoint, 1, 10, &node_solid);
    for (int i = 0; i < 1000; i++)
        ck_assert(!ops->flushed(node->self) && ops->progress(node->self) >= 0);
    ck_assert_uint_eq(node->lost, 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    if (_i == 0) {
        NODE_UNTIL(node, NULL, ops->flushed(node->self));
        ck_assert_uint_eq(node->lost, 1);
        ck_assert(message_done(message));
        ck_assert_int_eq(node->last_error, MPI_ERR_PROC_ABORTED);
    }
    ops->disconnect(endpoint);
    node_close(node);
    message_free(message);
    ck_assert_int_eq(entries("/proc/self/fd"), descriptors);
    ck_assert_int_eq(entries("/proc/self/task"), threads);
}
END_TEST

/* One test case each, so that CK_RUN_CASE=test_order runs it alone. */
static void add(Suite *suite, const char *name, const TTest *test, int loops)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240);
    tcase_add_checked_fixture(tcase, load, NULL);
    tcase_add_loop_test(tcase, test, 0, loops);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    setenv("UCX_MEM_EVENTS", "n",
           0); /* UCX's patches of mmap() and its like call the sanitizer where it is not ready */
#endif
    Suite *suite = suite_create("ucx");
    add(suite, "test_sizes", test_sizes, CHOICES);
    add(suite, "test_order", test_order, CHOICES);
    add(suite, "test_truncation", test_truncation, CHOICES);
    add(suite, "test_drop", test_drop, CHOICES);
    add(suite, "test_cancel", test_cancel, CHOICES);
    add(suite, "test_flush_and_leave", test_flush_and_leave, CHOICES);
    add(suite, "test_self", test_self, CHOICES);
    add(suite, "test_bad_address", test_bad_address, CHOICES);
    add(suite, "test_sleep", test_sleep, CHOICES);
    add(suite, "test_cycles", test_cycles, CHOICES);
    add(suite, "test_processes", test_processes, CHOICES);
    add(suite, "test_killed_peer", test_killed_peer, 2);
    add(suite, "test_silent_peer", test_silent_peer, 2);
    return unit_end(suite);
}
