/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport and its peers: many of them, closed ones, killed ones, and wrong addresses. */
#include "shm_node.h"
#include "shm_sandbox.h"
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/shm/inbox.h"
#include "plugins/shm/ring_read.h"

/* --- many of them ----------------------------------------------------------------------------------------------- */

/* More peers than are polled, and more than there are ready bits. */
static void many_peers(int count, int messages)
{
    struct node *hub = node_new(1), **node = calloc((size_t)count, sizeof *node);
    struct pl_endpoint **up = calloc((size_t)count, sizeof *up), **down = calloc((size_t)count, sizeof *down);
    unsigned *sent = calloc((size_t)count, sizeof *sent);
    uint64_t state = 3;
    for (int i = 0; i < count; i++) {
        node[i] = node_new(100 + (uint64_t)i);
        up[i] = node_join(node[i], hub);
        down[i] = node_join(hub, node[i]);
    }
    for (int m = 0; m < messages; m++) {
        int favourite = m / 500 % count,
            i = unit_below(&state, 3) ? (favourite * 7) % count : unit_below(&state, count);
        size_t bytes = (size_t)unit_below(&state, m % 100 == 0 ? 20000 : 500);
        exchange_one(node[i], up[i], hub, bytes, ++sent[i]);
        if (m % 10 == 0)
            exchange_one(hub, down[i], node[i], bytes, sent[i]);
    }
    ck_assert_int_eq(inside(hub)->polls, count < PL_SHM_POLLS ? count : PL_SHM_POLLS);
    ck_assert_int_eq(inside(hub)->polls + inside(hub)->unpolled, count);
    for (int i = 0; i < count; i++)
        node_close(node[i]);
    check_peers(hub);
    ck_assert(pl_list_empty(&inside(hub)->peers));
    ck_assert_uint_eq(hub->failed, 0);
    ck_assert_int_eq(inside(hub)->polls + inside(hub)->unpolled, 0);
    node_close(hub);
    free(node), free(up), free(down), free(sent);
}

START_TEST(forty_peers)
{
    many_peers(40, 20000);
}
END_TEST

START_TEST(three_hundred_peers)
{
    struct rlimit files;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    many_peers(300, 5000);
}
END_TEST

/* Messages to twenty peers, in turn and at the same time: no more FIFOs exist than are needed at once. */
START_TEST(fifos_are_reassigned)
{
    enum { COUNT = 20 };
    static unsigned char received[COUNT][LARGE];
    struct node *hub = node_new(1), *node[COUNT];
    struct pl_endpoint *down[COUNT];
    for (int i = 0; i < COUNT; i++) {
        node[i] = node_new(100 + (uint64_t)i);
        down[i] = node_join(hub, node[i]);
        exchange_one(hub, down[i], node[i], LARGE, (unsigned)i);
    }
    int fifos = 0;
    PL_LIST_EACH(peer, &inside(hub)->peers, struct pl_shm_peer, link)
        fifos += peer->out_fifo != NULL;
    ck_assert_int_eq(fifos, 8);

    struct pl_incoming incoming[COUNT];
    struct message *message[COUNT];
    for (int i = 0; i < COUNT; i++)
        message[i] = message_send(hub, down[i], (unsigned)i, LARGE, &node_solid);
    for (int i = 0; i < COUNT; i++) {
        NODE_UNTIL(node[i], hub, !pl_list_empty(&node[i]->inbox));
        struct arrival *arrival = PL_CONTAINER(pl_list_pop(&node[i]->inbox), struct arrival, link);
        incoming[i] = (struct pl_incoming){ .data = node_cursor(received[i], LARGE, &node_solid), .size = LARGE };
        ck_assert_int_eq(ops->fetch(node[i]->self, arrival->rndv, &incoming[i]), PL_PENDING);
        free(arrival);
    }
    for (int i = COUNT - 1; i >= 0; i--) { /* messages whose CTS came first do not hold up the others */
        NODE_UNTIL(node[i], hub, incoming[i].transport[5]);
        ck_assert(node_intact(received[i], LARGE, 1, (unsigned)i));
        NODE_UNTIL(hub, NULL, message_done(message[i]));
        message_free(message[i]);
    }
    for (int i = 0; i < COUNT; i++)
        exchange_one(hub, down[i], node[i], LARGE, (unsigned)i);
    for (int i = 0; i < COUNT; i++)
        node_close(node[i]);
    node_close(hub);
}
END_TEST

START_TEST(to_itself)
{
    struct node *node = node_new(1);
    struct pl_endpoint *endpoint = node_join(node, node);
    exchange_one(node, endpoint, node, 100, 1);
    exchange_one(node, endpoint, node, LARGE, 2);
    node_close(node);
}
END_TEST

static int mappings(void)
{
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    for (char line[512]; fgets(line, sizeof line, maps);)
        count += strstr(line, "memfd:") != NULL;
    fclose(maps);
    return count;
}

START_TEST(opened_and_closed_again_and_again)
{
    int descriptors = 0;
    for (int i = 0; i < 1000; i++) {
        if (i == 10)
            descriptors = unit_entries("/proc/self/fd");
        struct node *x = node_new(1), *y = node_new(2);
        struct pl_endpoint *xy = node_join(x, y);
        exchange_one(x, xy, y, 100, 1);
        exchange_one(x, xy, y, i % 10 ? 10 : LARGE, 2);
        node_close(i % 2 ? x : y);
        node_close(i % 2 ? y : x);
        ck_assert_int_eq(mappings(), 0);
    }
    ck_assert_int_eq(unit_entries("/proc/self/fd"), descriptors);
}
END_TEST

/* --- peers that have gone ---------------------------------------------------------------------------------------- */

START_TEST(closed_peer)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = node_join(x, y), *yx = node_join(y, x);
    exchange_one(x, xy, y, 100, 1);
    exchange_one(y, yx, x, 100, 1);
    struct message *short_one = message_send(x, xy, 2, 100, &node_solid);
    struct message *long_one = message_send(x, xy, 3, LARGE, &node_solid);
    struct message *theirs = message_send(y, yx, 4, LARGE, &node_solid);
    ck_assert(!ops->flushed(x->self));
    node_close(y);
    ck_assert(ops->flushed(x->self));
    struct message *late = message_send(x, xy, 5, 100, &node_solid);
    ck_assert(late->done);
    progress(x, 3);
    ck_assert(message_done(long_one)); /* it vanishes, like all messages to a peer that has closed */
    ck_assert_int_eq(x->last_error, MPI_SUCCESS);
    ck_assert_uint_eq(x->failed, 0);
    for (int i = 0; i < 100; i++)
        message_free(message_send(x, xy, 6, i % 2 ? LARGE : 10, &node_solid));

    /* The closed peer's RTS has arrived, but its data has gone. */
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link);
    ck_assert_int_eq(arrival->header.tag, 4);
    struct pl_incoming incoming = { .data = node_cursor(NULL, 0, &node_solid), .size = LARGE };
    ck_assert_int_eq(ops->fetch(x->self, arrival->rndv, &incoming), MPI_ERR_PROC_ABORTED);
    free(arrival);
    message_free(short_one), message_free(long_one), message_free(theirs), message_free(late);
    node_close(x);
}
END_TEST

/* The program closes all descriptors, as daemons do, and one of its files takes the number. The peer lives: what both
 * have mapped works on. */
START_TEST(peer_without_descriptors)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = node_join(x, y), *yx = node_join(y, x);
    exchange_one(x, xy, y, LARGE, 1);
    exchange_one(y, yx, x, LARGE, 2);
    int fd = inside(y)->region.fd;
    for (unsigned file = 0; file < 2; file++) {
        close(fd);
        if (file)
            ck_assert_int_eq(dup2(STDERR_FILENO, fd), fd);
        check_peers(x);
        ck_assert_uint_eq(x->failed, 0);
        exchange_one(x, xy, y, LARGE, 3 + file);
        exchange_one(y, yx, x, LARGE, 5 + file);
    }
    node_close(y);
    check_peers(x);
    ck_assert_uint_eq(x->failed, 0); /* it has closed */
    ck_assert(ops->flushed(x->self));
    node_close(x);
}
END_TEST

/* One that has not connected to us before it closes them never will. */
START_TEST(silent_peer_without_descriptors)
{
    struct node *x = node_new(1), *y = node_new(2);
    exchange_one(x, node_join(x, y), y, 10, 1); /* a longer one would be answered */
    close(inside(y)->region.fd);
    check_peers(x);
    ck_assert_uint_eq(x->failed, 1);
    node_close(y);
    node_close(x);
}
END_TEST

/* A check asks the system about the next peers only, so that many of them cost no more; and it gets to all of them. */
START_TEST(many_peers_checked_in_turn)
{
    enum { COUNT = 40, AT_ONCE = 16 };
    struct node *x = node_new(1), *y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        y[i] = node_new(100 + (uint64_t)i);
        exchange_one(x, node_join(x, y[i]), y[i], 10, 1);
    }
    for (int round = 0; round < 2; round++) {
        check_peers(x);
        ck_assert_uint_eq(x->failed, 0);
    }
    for (int i = 0; i < COUNT; i++)
        close(inside(y[i])->region.fd); /* silent peers: they count as dead */
    unsigned failed = 0;
    for (int round = 0; failed < COUNT; round++) {
        check_peers(x);
        ck_assert_uint_le(x->failed, failed + AT_ONCE);
        ck_assert_int_lt(round, 2 * COUNT);
        failed = x->failed;
    }
    for (int i = 0; i < COUNT; i++)
        node_close(y[i]);
    node_close(x);
}
END_TEST

/* Starts a process that opens a node, connects to ours, sends `messages` of `bytes` each, and waits to be killed. */
static pid_t start_doomed(struct node *node, int messages, size_t bytes, unsigned char card[PL_CARD_MAX],
                          size_t *length)
{
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct node *doomed = node_new(99);
        struct pl_endpoint *endpoint = node_join(doomed, node);
        for (int i = 0; i < messages; i++)
            message_send(doomed, endpoint, (unsigned)i, bytes, &node_solid);
        if (write(ready[1], doomed->card, doomed->card_length) < 0)
            _exit(1);
        for (;;) {
            progress(doomed, 1);
            sched_yield();
        }
    }
    *length = (size_t)read(ready[0], card, PL_CARD_MAX);
    close(ready[0]), close(ready[1]);
    return child;
}

static void doom(pid_t child, bool reap)
{
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | (reap ? 0 : WNOWAIT)), 0);
}

static void killed(bool reaped)
{
    unsigned char card[PL_CARD_MAX], received[100];
    size_t length;
    struct node *x = node_new(1);
    pid_t child = start_doomed(x, 2, LARGE, card, &length);
    struct pl_endpoint *endpoint = node_connect(x, card, length);
    NODE_UNTIL(x, NULL, x->arrived == 2);
    struct message *message = message_send(x, endpoint, 1, LARGE, &node_solid);
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link);
    struct pl_incoming incoming = { .data = node_cursor(received, sizeof received, &node_solid), .size = LARGE };
    doom(child, reaped);
    ck_assert_int_eq(ops->fetch(x->self, arrival->rndv, &incoming), PL_PENDING);
    check_peers(x);
    ck_assert_uint_eq(x->failed, 1);
    ck_assert(incoming.transport[5] && message_done(message));
    ck_assert_int_eq(x->last_error, MPI_ERR_PROC_ABORTED);
    ck_assert(ops->flushed(x->self));
    ck_assert_int_eq(ops->send(endpoint, &message->out), MPI_ERR_PROC_ABORTED);
    free(arrival);
    message_free(message);

    arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link); /* not fetched when its sender died */
    ops->drop(x->self, arrival->rndv, false);
    free(arrival);
    node_close(x);
}

START_TEST(killed_peer)
{
    killed(true);
}
END_TEST

START_TEST(zombie_peer)
{
    killed(false);
    if (geteuid() == 0 && setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0)
        killed(false); /* as a user that cannot read a zombie's directory */
}
END_TEST

/* The sender dies after its DATA record: the FIFO cannot be mapped any more, which is not taken for damage. */
START_TEST(killed_in_between)
{
    unsigned char card[PL_CARD_MAX], received[100];
    size_t length;
    struct node *x = node_new(1);
    pid_t child = start_doomed(x, 1, LARGE, card, &length);
    node_connect(x, card, length);
    NODE_UNTIL(x, NULL, x->arrived == 1);
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link);
    struct pl_incoming incoming = { .data = node_cursor(received, sizeof received, &node_solid), .size = LARGE };
    ck_assert_int_eq(ops->fetch(x->self, arrival->rndv, &incoming), PL_PENDING);
    const struct pl_shm_peer *peer = PL_CONTAINER(inside(x)->peers.next, struct pl_shm_peer, link);
    while (!pl_shm_read_has_record(peer))
        sched_yield();
    doom(child, true);
    NODE_UNTIL(x, NULL, incoming.transport[5]);
    ck_assert_int_eq(x->last_error, MPI_ERR_PROC_ABORTED);
    ck_assert_uint_eq(x->failed, 1);
    free(arrival);
    node_close(x);
}
END_TEST

/* Messages that a peer sent before it died arrive if its connection request was accepted. */
START_TEST(last_words)
{
    unsigned char card[PL_CARD_MAX], received[1000];
    size_t length;
    struct node *x = node_new(1);
    pid_t child = start_doomed(x, 10, 1000, card, &length);
    pl_shm_requests_accept(inside(x));
    doom(child, true);
    for (int i = 0; i < 10; i++) {
        struct pl_header header = node_take(x, NULL, received, sizeof received, &node_solid);
        ck_assert_int_eq(header.tag, i);
        ck_assert(node_intact(received, sizeof received, 1, (unsigned)i));
    }
    check_peers(x);
    ck_assert_uint_eq(x->failed, 1);
    node_close(x);
}
END_TEST

/* --- wrong addresses --------------------------------------------------------------------------------------------- */

static void unreachable(struct node *node, struct pl_shm_address address, const char *why)
{
    struct pl_endpoint *endpoint;
    int err = ops->connect(node->self, &address, sizeof address, (struct pl_peer *)node, &endpoint);
    ck_assert_int_eq(err, PL_UNREACHABLE);
    ck_assert_msg(strstr(node_detail, why) != NULL, "%s", node_detail);
}

START_TEST(wrong_addresses)
{
    struct node *x = node_new(1), *y = node_new(2);
    const struct pl_shm_address good = inside(y)->address;
    struct pl_shm_address bad = good;
    int descriptors = unit_entries("/proc/self/fd");
    bad.cookie ^= 1;
    unreachable(x, bad, "not the one");
    bad = good;
    bad.engine++;
    unreachable(x, bad, "not the one");
    bad = good;
    bad.fd = 99999;
    unreachable(x, bad, "cannot open");
    bad.fd = 1;
    unreachable(x, bad, "not shared memory");
    bad.fd = -1;
    unreachable(x, bad, "cannot open");
    bad = good;
    bad.pid = 0x7fffffff;
    unreachable(x, bad, "cannot open");
    bad.pid = -1;
    unreachable(x, bad, "cannot open");
    bad.pid = 1; /* another process */
    bad.cookie = 0;
    struct pl_endpoint *endpoint;
    ck_assert_int_eq(ops->connect(x->self, &bad, sizeof bad, NULL, &endpoint), PL_UNREACHABLE);
    ck_assert_int_eq(ops->connect(x->self, &bad, sizeof bad - 1, NULL, &endpoint), PL_UNREACHABLE);

    bad = good;
    bad.fd = memfd_create("plenum-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING); /* opening it would cost its locks */
    ck_assert_int_eq(fcntl(bad.fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_len = 1 }), 0);
    unreachable(x, bad, "not shared memory");
    struct flock kept = { .l_type = F_WRLCK, .l_len = 1 };
    ck_assert_int_eq(fcntl(bad.fd, F_OFD_GETLK, &kept), 0);
    ck_assert_int_eq(kept.l_pid, getpid());
    close(bad.fd);

    bad = good;
    bad.fd = memfd_create("plenum", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    unreachable(x, bad, "not sealed");
    ck_assert_int_eq(fcntl(bad.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    unreachable(x, bad, "too short");
    ck_assert_int_eq(ftruncate(bad.fd, 1 << 20), 0);
    unreachable(x, bad, "another version");
    close(bad.fd);
    ck_assert_int_eq(unit_entries("/proc/self/fd"), descriptors);

    node_close(y);
    unreachable(x, good, "");
    node_close(x);
}
END_TEST

START_TEST(not_dumpable)
{
    if (geteuid() == 0)
        ck_assert_int_eq(setuid(65534), 0);
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    struct node *node = calloc(1, sizeof *node);
    ck_assert_int_eq(ops->open((struct pl_engine *)node, &node_host, &node->self), PL_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(node_detail, "dumpable"));
    free(node);
}
END_TEST

START_TEST(no_memfd)
{
    forbid(SYS_memfd_create, ENOSYS);
    struct node *node = calloc(1, sizeof *node);
    ck_assert_int_eq(ops->open((struct pl_engine *)node, &node_host, &node->self), PL_UNREACHABLE);
    free(node);
}
END_TEST

/* File size limits: too low from the start, then high enough for some memory. */
START_TEST(short_files)
{
    struct rlimit before, limit;
    struct pl_shared shared;
    struct node *node = calloc(1, sizeof *node);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(ops->open((struct pl_engine *)node, &node_host, &node->self), PL_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(node_detail, "ulimit -f"));
    free(node);
    limit.rlim_cur = 100 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    struct node *x = node_new(1), *y = node_new(2);
    limit.rlim_cur = 4096; /* regions that are open have their size */
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(ops->share(x->self, 80 << 20, &shared), MPI_SUCCESS);
    ((char *)shared.memory)[(80 << 20) - 1] = 1;
    exchange_one(x, node_join(x, y), y, LARGE, 1);
    ck_assert_int_eq(ops->share(x->self, 80 << 20, &shared), MPI_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(node_detail, "ulimit -f"));
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(ops->share(x->self, 80 << 20, &shared), MPI_SUCCESS);
    node_close(x);
    node_close(y);
}
END_TEST

/* The receiver cannot open the caller's memory: both notice that. */
START_TEST(refused)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = node_join(x, y);
    inside(x)->address.cookie ^= 1; /* in the request it will be this */
    struct message *message = message_send(x, xy, 1, LARGE, &node_solid);
    NODE_UNTIL(x, y, x->failed == 1);
    ck_assert(message_done(message));
    ck_assert_int_ne(x->last_error, MPI_SUCCESS);
    ck_assert_uint_eq(y->arrived, 0);
    ck_assert_uint_eq(y->failed, 1);
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

UNIT_MAIN("shm peers", forty_peers, three_hundred_peers, fifos_are_reassigned, to_itself,
          opened_and_closed_again_and_again, closed_peer, peer_without_descriptors, silent_peer_without_descriptors,
          many_peers_checked_in_turn, killed_peer, zombie_peer, killed_in_between, last_words, wrong_addresses,
          not_dumpable, no_memfd, short_files, refused)
