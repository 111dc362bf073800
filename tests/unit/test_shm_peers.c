/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport and its peers: many of them, closed and killed ones, wrong addresses, damaged memory, sleeping. */
#include "transport_node.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/shm/shm.h"
#include "shm_sandbox.h"

static const struct pl_transport_ops *const ops = &pl_transport_shm;

enum { EAGER = 4096, LARGE = 300000 };

static struct node *node_new(uint64_t id)
{
    node_ring = 16384;
    node_eager = EAGER;
    return node_open(ops, id);
}

static struct pl_endpoint *join(struct node *from, struct node *to)
{
    return node_connect(from, to->card, to->card_length);
}

static struct pl_shm *inside(struct node *node)
{
    return node->self;
}

static void progress(struct node *node, int rounds)
{
    for (int i = 0; i < rounds; i++)
        ops->progress(node->self);
}

/* Looks after the peers now, not when it is time again. */
static void look(struct node *node)
{
    inside(node)->looked = 0;
    pl_shm_peers_watch(inside(node));
    progress(node, 3);
}

static void exchange_one(struct node *from, struct pl_endpoint *endpoint, struct node *to, size_t bytes, unsigned seed)
{
    static unsigned char room[LARGE];
    struct message *message = message_send(from, endpoint, seed, bytes, &node_solid);
    struct pl_header header = node_take(to, from, room, bytes, &node_solid);
    ck_assert_int_eq(header.tag, (int)seed);
    ck_assert(node_intact(room, bytes, 1, seed));
    NODE_UNTIL(from, to, message_done(message));
    message_free(message);
}

/* --- many of them ----------------------------------------------------------------------------------------------- */

/* More than are polled, and more than there are bits for bells. */
static void crowd(int count, int messages)
{
    struct node *hub = node_new(1), **node = calloc((size_t)count, sizeof *node);
    struct pl_endpoint **up = calloc((size_t)count, sizeof *up), **down = calloc((size_t)count, sizeof *down);
    unsigned *sent = calloc((size_t)count, sizeof *sent);
    uint64_t state = 3;
    for (int i = 0; i < count; i++) {
        node[i] = node_new(100 + (uint64_t)i);
        up[i] = join(node[i], hub);
        down[i] = join(hub, node[i]);
    }
    for (int m = 0; m < messages; m++) {
        int favourite = m / 500 % count, i = unit_below(&state, 3) ? (favourite * 7) % count : unit_below(&state, count);
        size_t bytes = (size_t)unit_below(&state, m % 100 == 0 ? 20000 : 500);
        exchange_one(node[i], up[i], hub, bytes, ++sent[i]);
        if (m % 10 == 0)
            exchange_one(hub, down[i], node[i], bytes, sent[i]);
    }
    ck_assert_int_eq(inside(hub)->polls, count < PL_SHM_POLLS ? count : PL_SHM_POLLS);
    ck_assert_int_eq(inside(hub)->polls + inside(hub)->belled, count);
    for (int i = 0; i < count; i++)
        node_close(node[i]);
    look(hub);
    ck_assert(pl_list_empty(&inside(hub)->peers));
    ck_assert_uint_eq(hub->lost, 0);
    ck_assert_int_eq(inside(hub)->polls + inside(hub)->belled, 0);
    node_close(hub);
    free(node), free(up), free(down), free(sent);
}

START_TEST(forty_peers)
{
    crowd(40, 20000);
}
END_TEST

START_TEST(three_hundred_peers)
{
    struct rlimit files;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    crowd(300, 5000);
}
END_TEST

/* A lane each, at the same time and then by turns: no more lanes than are needed at once. */
START_TEST(lanes_go_around)
{
    enum { COUNT = 20 };
    static unsigned char room[COUNT][LARGE];
    struct node *hub = node_new(1), *node[COUNT];
    struct pl_endpoint *down[COUNT];
    for (int i = 0; i < COUNT; i++) {
        node[i] = node_new(100 + (uint64_t)i);
        down[i] = join(hub, node[i]);
        exchange_one(hub, down[i], node[i], LARGE, (unsigned)i);
    }
    int lanes = 0;
    PL_LIST_EACH(lane, &inside(hub)->peers, struct pl_shm_peer, link)
        lanes += lane->lane != NULL;
    ck_assert_int_eq(lanes, 8);

    struct pl_incoming incoming[COUNT];
    struct message *message[COUNT];
    for (int i = 0; i < COUNT; i++)
        message[i] = message_send(hub, down[i], (unsigned)i, LARGE, &node_solid);
    for (int i = 0; i < COUNT; i++) {
        NODE_UNTIL(node[i], hub, !pl_list_empty(&node[i]->inbox));
        struct arrival *arrival = PL_CONTAINER(pl_list_pop(&node[i]->inbox), struct arrival, link);
        incoming[i] = (struct pl_incoming){ .data = node_cursor(room[i], LARGE, &node_solid), .size = LARGE };
        ck_assert_int_eq(ops->fetch(node[i]->self, arrival->bulk, &incoming[i]), PL_PENDING);
        free(arrival);
    }
    for (int i = COUNT - 1; i >= 0; i--) { /* the first ones granted do not hold up the others */
        NODE_UNTIL(node[i], hub, incoming[i].transport[5]);
        ck_assert(node_intact(room[i], LARGE, 1, (unsigned)i));
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
    struct pl_endpoint *endpoint = join(node, node);
    exchange_one(node, endpoint, node, 100, 1);
    exchange_one(node, endpoint, node, LARGE, 2);
    node_close(node);
}
END_TEST

static int entries(const char *directory)
{
    int count = 0;
    DIR *dir = opendir(directory);
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

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
            descriptors = entries("/proc/self/fd");
        struct node *x = node_new(1), *y = node_new(2);
        struct pl_endpoint *xy = join(x, y);
        exchange_one(x, xy, y, 100, 1);
        exchange_one(x, xy, y, i % 10 ? 10 : LARGE, 2);
        node_close(i % 2 ? x : y);
        node_close(i % 2 ? y : x);
        ck_assert_int_eq(mappings(), 0);
    }
    ck_assert_int_eq(entries("/proc/self/fd"), descriptors);
}
END_TEST

/* --- gone -------------------------------------------------------------------------------------------------------- */

START_TEST(closed_peer)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = join(x, y), *yx = join(y, x);
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
    ck_assert(message_done(long_one)); /* it vanishes, like all that is sent to one that has closed */
    ck_assert_int_eq(x->last_error, MPI_SUCCESS);
    ck_assert_uint_eq(x->lost, 0);
    for (int i = 0; i < 100; i++)
        message_free(message_send(x, xy, 6, i % 2 ? LARGE : 10, &node_solid));

    /* What it offered has arrived and cannot be had any more. */
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link);
    ck_assert_int_eq(arrival->header.tag, 4);
    struct pl_incoming incoming = { .data = node_cursor(NULL, 0, &node_solid), .size = LARGE };
    ck_assert_int_eq(ops->fetch(x->self, arrival->bulk, &incoming), MPI_ERR_PROC_ABORTED);
    free(arrival);
    message_free(short_one), message_free(long_one), message_free(theirs), message_free(late);
    node_close(x);
}
END_TEST

/* A process that opens a node, joins ours, sends `messages` of `bytes` each, and waits to be killed. */
static pid_t start_doomed(struct node *node, int messages, size_t bytes, unsigned char card[PL_CARD_MAX], size_t *length)
{
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct node *doomed = node_new(99);
        struct pl_endpoint *endpoint = join(doomed, node);
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
    unsigned char card[PL_CARD_MAX], room[100];
    size_t length;
    struct node *x = node_new(1);
    pid_t child = start_doomed(x, 2, LARGE, card, &length);
    struct pl_endpoint *endpoint = node_connect(x, card, length);
    NODE_UNTIL(x, NULL, x->arrived == 2);
    struct message *message = message_send(x, endpoint, 1, LARGE, &node_solid);
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link);
    struct pl_incoming incoming = { .data = node_cursor(room, sizeof room, &node_solid), .size = LARGE };
    doom(child, reaped);
    ck_assert_int_eq(ops->fetch(x->self, arrival->bulk, &incoming), PL_PENDING);
    look(x);
    ck_assert_uint_eq(x->lost, 1);
    ck_assert(incoming.transport[5] && message_done(message));
    ck_assert_int_eq(x->last_error, MPI_ERR_PROC_ABORTED);
    ck_assert(ops->flushed(x->self));
    ck_assert_int_eq(ops->send(endpoint, &message->out), MPI_ERR_PROC_ABORTED);
    free(arrival);
    message_free(message);

    arrival = PL_CONTAINER(pl_list_pop(&x->inbox), struct arrival, link); /* was not fetched when it died */
    ops->drop(x->self, arrival->bulk, false);
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
        killed(false); /* somebody who cannot look into a zombie's directory */
}
END_TEST

/* What it had sent before it died arrives, once it had been met. */
START_TEST(last_words)
{
    unsigned char card[PL_CARD_MAX], room[1000];
    size_t length;
    struct node *x = node_new(1);
    pid_t child = start_doomed(x, 10, 1000, card, &length);
    pl_shm_requests_take(inside(x));
    doom(child, true);
    for (int i = 0; i < 10; i++) {
        struct pl_header header = node_take(x, NULL, room, sizeof room, &node_solid);
        ck_assert_int_eq(header.tag, i);
        ck_assert(node_intact(room, sizeof room, 1, (unsigned)i));
    }
    look(x);
    ck_assert_uint_eq(x->lost, 1);
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
    int descriptors = entries("/proc/self/fd");
    bad.cookie ^= 1;
    unreachable(x, bad, "not the one");
    bad = good;
    bad.engine++;
    unreachable(x, bad, "not the one");
    bad = good;
    bad.fd = 99999;
    unreachable(x, bad, "cannot open");
    bad.fd = 1;
    unreachable(x, bad, "no shared memory");
    bad.fd = -1;
    unreachable(x, bad, "cannot open");
    bad = good;
    bad.pid = 0x7fffffff;
    unreachable(x, bad, "cannot open");
    bad.pid = -1;
    unreachable(x, bad, "cannot open");
    bad.pid = 1; /* somebody, but not that one */
    bad.cookie = 0;
    struct pl_endpoint *endpoint;
    ck_assert_int_eq(ops->connect(x->self, &bad, sizeof bad, NULL, &endpoint), PL_UNREACHABLE);
    ck_assert_int_eq(ops->connect(x->self, &bad, sizeof bad - 1, NULL, &endpoint), PL_UNREACHABLE);

    bad = good;
    bad.fd = memfd_create("plenum", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    unreachable(x, bad, "not sealed");
    ck_assert_int_eq(fcntl(bad.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    unreachable(x, bad, "too short");
    ck_assert_int_eq(ftruncate(bad.fd, 1 << 20), 0);
    unreachable(x, bad, "another version");
    close(bad.fd);
    ck_assert_int_eq(entries("/proc/self/fd"), descriptors);

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

/* The receiver cannot open the caller's memory: the caller gets to know. */
START_TEST(refused)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = join(x, y);
    inside(x)->address.cookie ^= 1; /* as it will be in the request */
    struct message *message = message_send(x, xy, 1, LARGE, &node_solid);
    NODE_UNTIL(x, y, x->lost == 1);
    ck_assert(message_done(message));
    ck_assert_int_ne(x->last_error, MPI_SUCCESS);
    ck_assert_uint_eq(y->arrived + y->lost, 0);
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

/* --- damage ------------------------------------------------------------------------------------------------------ */

static void scribble(uint64_t *state, void *memory, size_t bytes)
{
    unsigned char *at = memory;
    for (int i = unit_below(state, 8); i >= 0; i--)
        at[(size_t)unit_random(state) % bytes] = (unsigned char)unit_random(state);
}

/* Takes what arrives and fetches it, into little room. */
static unsigned char scrap[1 << 16];
static struct pl_incoming scrap_incoming[64];
static int scrap_next;
static void take_scrap(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data, struct pl_bulk *bulk)
{
    (void)from;
    if (!bulk) {
        for (size_t i = 0; i < header->size; i++)
            scrap[i % sizeof scrap] ^= ((const unsigned char *)data)[i];
        return;
    }
    struct pl_incoming *in = &scrap_incoming[scrap_next++ % 64];
    *in = (struct pl_incoming){ .data = node_cursor(scrap, sizeof scrap, &node_solid), .size = header->size };
    ops->fetch(node->self, bulk, in);
}

/* Sends through memory in which somebody scribbles: whatever happens, nobody crashes, and the others are not concerned. */
static void damaged(void *(*where)(struct node *x, struct pl_shm_peer *peer, size_t *bytes))
{
    uint64_t state = 77;
    struct node *z = node_new(3), *y = node_new(2);
    struct pl_endpoint *zy = join(z, y);
    z->on_arrival = y->on_arrival = take_scrap;
    unsigned long lost = 0;
    for (int round = 0; round < 300; round++) {
        struct node *x = node_new(1);
        x->on_arrival = take_scrap;
        struct pl_shm_peer *xy = (struct pl_shm_peer *)join(x, y);
        struct message *message[40];
        int sent = 0;
        for (; sent < 40; sent++) {
            size_t bytes = (size_t)unit_below(&state, sent % 4 ? 800 : 20000);
            message[sent] = calloc(1, sizeof **message);
            message[sent]->data = calloc(1, bytes + 1);
            message[sent]->out.header.size = bytes;
            message[sent]->out.data = node_cursor(message[sent]->data, bytes, &node_solid);
            int err = ops->send(&xy->endpoint, &message[sent]->out);
            message[sent]->done = err != PL_PENDING;
            size_t area;
            void *memory = xy->life == PL_SHM_OPEN ? where(x, xy, &area) : NULL;
            if (memory && sent > 5)
                scribble(&state, memory, area);
            progress(y, 2);
            progress(x, 2);
        }
        lost += y->lost + x->lost;
        y->lost = 0;
        node_close(x); /* all that is pending is given up */
        for (int i = 0; i < sent; i++)
            message_free(message[i]);
        look(y);
    }
    struct message *whole = message_send(z, zy, 1, 50000, &node_solid);
    NODE_UNTIL(z, y, message_done(whole));
    message_free(whole);
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_eq(z->lost, 0);
    node_close(z);
    node_close(y);
}

static void *in_ring(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = 2048; /* where the first records lie: more is hit */
    return peer->out.ring ? peer->out.ring->line : NULL;
}

static void *in_ring_controls(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = offsetof(struct pl_shm_ring, line);
    return peer->out.ring;
}

static void *in_lane(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = 2 * PL_SHM_LINE;
    return peer->in_lane ? (void *)peer->in_lane : in_ring(x, peer, bytes);
}

static void *in_head(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)peer;
    *bytes = sizeof *inside(x)->head;
    memset(&inside(x)->head->request[3], 0x5a, sizeof inside(x)->head->request[3]);
    atomic_store(&inside(x)->head->slot[3], PL_SHM_SLOT(getpid(), PL_SHM_SLOT_READY));
    atomic_fetch_add(&inside(x)->head->requests, 1);
    return inside(x)->head;
}

START_TEST(damaged_ring)
{
    damaged(in_ring);
}
END_TEST

START_TEST(damaged_lane)
{
    damaged(in_lane);
}
END_TEST

static void survives(void *(*where)(struct node *x, struct pl_shm_peer *peer, size_t *bytes))
{
    uint64_t state = 78;
    for (int round = 0; round < 300; round++) {
        struct node *x = node_new(1), *y = node_new(2);
        struct pl_shm_peer *xy = (struct pl_shm_peer *)join(x, y);
        for (int i = 0; i < 20; i++) {
            struct message message = { .out.header.size = 100, .out.data = node_cursor(scrap, 100, &node_solid) };
            ops->send(&xy->endpoint, &message.out);
            size_t area;
            void *memory = xy->life == PL_SHM_OPEN ? where(x, xy, &area) : NULL;
            if (memory)
                scribble(&state, memory, area);
            progress(y, 2);
            progress(x, 2);
        }
        node_close(x);
        node_close(y);
    }
}

START_TEST(damaged_inbox)
{
    survives(in_head);
}
END_TEST

START_TEST(damaged_ring_controls)
{
    survives(in_ring_controls);
}
END_TEST

/* A caller that died while it held a slot of the inbox, and one that died waiting in it. */
START_TEST(abandoned_slots)
{
    struct node *x = node_new(1), *y = node_new(2);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    for (int i = 0; i < PL_SHM_INBOX; i++)
        atomic_store(&inside(y)->head->slot[i], PL_SHM_SLOT(child, i % 2 ? PL_SHM_SLOT_CLAIMED : PL_SHM_SLOT_REFUSED));
    struct pl_endpoint *xy = join(x, y);
    struct message *message = message_send(x, xy, 1, 100, &node_solid);
    progress(x, 3), progress(y, 3), progress(x, 3);
    ck_assert_uint_eq(y->arrived, 0);
    look(y);
    NODE_UNTIL(x, y, y->arrived == 1);
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

/* --- sleeping ---------------------------------------------------------------------------------------------------- */

/* Waits for the next message, always asleep if nothing is there. A wake that gets lost costs a minute. */
static long naps;
static void sleep_until(struct node *node, unsigned long arrived)
{
    while (ops->progress(node->self), node->arrived < arrived) {
        bool quiet = ops->arm(node->self);
        if (quiet) {
            ops->sleep(node->self, 60000000);
            naps++;
        }
        ops->disarm(node->self);
    }
}

static void count_only(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data, struct pl_bulk *bulk)
{
    (void)node, (void)from, (void)header, (void)data, (void)bulk;
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
    if (!fences) /* it is a thousand times a second only if nobody counts */
        inside(node)->naps.often = 1 << 20;
    sleepy(node, endpoint, first, 10000);
    char byte = 0;
    ck_assert_int_eq(write(out, &byte, 1), 1);
    ck_assert_int_eq(read(in, &byte, 1), 1);
    node_close(node);
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(naps, 0);
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

/* The sender sleeps until there is room, the receiver until there is something. */
static void flood(struct node *node, struct pl_endpoint *endpoint, int count)
{
    struct message message = { .out.header.size = 1000, .out.data = node_cursor(scrap, 1000, &node_solid) };
    for (int i = 0; i < count; i++)
        while (ops->send(endpoint, &message.out) == PL_AGAIN) {
            if (ops->progress(node->self) == 0 && ops->arm(node->self))
                ops->sleep(node->self, 60000000);
            ops->disarm(node->self);
        }
}

START_TEST(sleeps_until_there_is_room)
{
    int status;
    struct node *y = node_new(2);
    pid_t child = fork();
    if (child == 0) {
        struct node *x = node_new(1);
        flood(x, join(x, y), 20000);
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

UNIT_MAIN("shm peers", forty_peers, three_hundred_peers, lanes_go_around, to_itself, opened_and_closed_again_and_again,
          closed_peer, killed_peer, zombie_peer, last_words, wrong_addresses, not_dumpable, no_memfd, refused, damaged_ring,
          damaged_lane, damaged_inbox, damaged_ring_controls, abandoned_slots, sleep_and_wake, sleep_and_wake_by_barriers,
          sleep_and_wake_without_membarrier, sleeps_until_there_is_room, woken_by_a_thread)
