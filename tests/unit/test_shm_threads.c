/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node transport between threads, for the thread sanitizer (make check-tsan): each thread plays a process with its
 * node. Processes map the same memory at different addresses, where the sanitizer cannot see that they share it. So a
 * node's memory is mapped once here, and each access of the transport's own code is checked against those of the
 * others. Sleeps are so long that a lost wake-up ends the test.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* The transport's own region.c, whose maps of other regions are replaced below. */
#define pl_shm_span_create  own_span_create
#define pl_shm_span_release own_span_release
#define pl_shm_region_map   own_region_map
#define pl_shm_region_unmap own_region_unmap
#include "plugins/shm/region.c"
#undef pl_shm_span_create
#undef pl_shm_span_release
#undef pl_shm_region_map
#undef pl_shm_region_unmap

#include "shm_node.h"
#include "unit.h"

enum { LONG_US = 60000000, SHORT_US = 500, SPANS = 2048, LONGEST = 3 * PL_SHM_FIFO_BYTES, PENDING = 6, CALLERS = 20 };

/* --- memory that is mapped once ----------------------------------------------------------------------------------- */

static struct mapped {
    int fd;
    struct pl_shm_span span;
} mapped[SPANS];
static int mapped_count;
static pthread_mutex_t mapped_lock = PTHREAD_MUTEX_INITIALIZER;

int pl_shm_span_create(struct pl_shm_region *region, const struct pl_transport_host *host, size_t bytes,
                       struct pl_shm_span *span);
void pl_shm_span_release(struct pl_shm_region *region, struct pl_shm_span *span, bool reuse);
int pl_shm_region_map(const struct pl_transport_host *host, const struct pl_shm_address *from, uint64_t offset,
                      size_t bytes, ino_t *inode, void **memory);
void pl_shm_region_unmap(void *memory, size_t bytes);

int pl_shm_span_create(struct pl_shm_region *region, const struct pl_transport_host *host, size_t bytes,
                       struct pl_shm_span *span)
{
    int rc = own_span_create(region, host, bytes, span);
    pthread_mutex_lock(&mapped_lock);
    if (rc == MPI_SUCCESS)
        mapped[mapped_count++] = (struct mapped){ region->fd, *span };
    pthread_mutex_unlock(&mapped_lock);
    return rc;
}

/* Another node may have it mapped, as it seems to itself. */
void pl_shm_span_release(struct pl_shm_region *region, struct pl_shm_span *span, bool reuse)
{
    (void)region, (void)reuse;
    span->memory = NULL;
}

int pl_shm_region_map(const struct pl_transport_host *host, const struct pl_shm_address *from, uint64_t offset,
                      size_t bytes, ino_t *inode, void **memory)
{
    struct stat st;
    (void)host;
    *memory = NULL;
    pthread_mutex_lock(&mapped_lock);
    for (int i = 0; i < mapped_count; i++)
        if (mapped[i].fd == from->fd && mapped[i].span.offset == offset && mapped[i].span.bytes >= bytes)
            *memory = mapped[i].span.memory;
    pthread_mutex_unlock(&mapped_lock);
    if (!*memory || fstat(from->fd, &st) != 0)
        return PL_UNREACHABLE;
    if (!*inode)
        *inode = st.st_ino;
    return MPI_SUCCESS;
}

void pl_shm_region_unmap(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

/* --- a thread and its node ---------------------------------------------------------------------------------------- */

/* libcheck's checks are not for threads. */
#define EXPECT(condition) ((condition) ? (void)0 : expect_failed(#condition, __LINE__))
static void expect_failed(const char *condition, int line)
{
    fprintf(stderr, "%s:%d: %s\n", __FILE__, line, condition);
    abort();
}

struct side {
    struct node *node;
    struct pl_endpoint *to;
    unsigned sends, takes, sent, taken; /* messages: to do, and done */
    size_t most;                        /* bytes in a message */
    long sleep_us;
    struct message *next, *pending[PENDING];
    struct arrival *arrival; /* whose data is under way */
    struct pl_incoming incoming;
    unsigned char *into; /* [LONGEST] */
};
static _Atomic int sides_left;

static size_t size_of(unsigned number, size_t longest)
{
    static const size_t most[] = { 16, 300, 16, EAGER, 64, 40000 };
    size_t bytes = (number * 2654435761u >> 8) % (most[number % 6] + 1);
    if (number % 500 == 499) /* several times around a FIFO */
        bytes = LONGEST;
    return bytes < longest ? bytes : longest;
}

static struct message *message_new(unsigned number, size_t longest)
{
    struct message *made = calloc(1, sizeof *made);
    size_t bytes = size_of(number, longest);
    made->data = malloc(bytes + 1);
    node_fill(made->data, bytes, 1, number);
    made->out.header = (struct pl_header){ .tag = (int32_t)number, .size = bytes, .kind = PL_MSG_P2P };
    made->out.data = node_cursor(made->data, bytes, &node_solid);
    return made;
}

static int side_send(struct side *s)
{
    int events = 0;
    for (int i = 0; i < PENDING; i++) {
        if (s->pending[i] && message_done(s->pending[i])) {
            message_free(s->pending[i]);
            s->pending[i] = NULL;
            events++;
        }
        if (s->pending[i] || (!s->next && s->sent == s->sends))
            continue;
        if (!s->next)
            s->next = message_new(s->sent++, s->most);
        int err = ops->send(s->to, &s->next->out);
        EXPECT(err == MPI_SUCCESS || err == PL_PENDING || err == PL_AGAIN);
        if (err == PL_AGAIN)
            break;
        s->next->done = err == MPI_SUCCESS;
        s->pending[i] = s->next;
        s->next = NULL;
        events++;
    }
    return events;
}

static void side_took(struct side *s)
{
    unsigned number = (unsigned)s->arrival->header.tag;
    EXPECT(number == s->taken && s->arrival->header.size == size_of(number, s->most));
    EXPECT(node_intact(s->into, size_of(number, s->most), 1, number));
    free(s->arrival);
    s->arrival = NULL;
    s->taken++;
}

static int side_take(struct side *s)
{
    if (s->arrival) {
        if (!s->incoming.transport[5])
            return 0;
        side_took(s);
        return 1;
    }
    if (pl_list_empty(&s->node->inbox))
        return 0;
    s->arrival = PL_CONTAINER(pl_list_pop(&s->node->inbox), struct arrival, link);
    size_t bytes = s->arrival->header.size;
    s->incoming = (struct pl_incoming){ .data = node_cursor(s->into, bytes, &node_solid), .size = bytes };
    if (s->arrival->rndv) {
        int err = ops->fetch(s->node->self, s->arrival->rndv, &s->incoming);
        EXPECT(err == MPI_SUCCESS || err == PL_PENDING);
        s->incoming.transport[5] |= err == MPI_SUCCESS;
    } else {
        node_unpack(&s->incoming.data, s->arrival->data, bytes);
        side_took(s);
    }
    return 1;
}

static bool side_done(const struct side *s)
{
    bool done = s->sent == s->sends && !s->next && s->taken == s->takes;
    for (int i = 0; i < PENDING; i++)
        done = done && !s->pending[i];
    return done;
}

static void side_sleep(struct side *s)
{
    if (ops->arm(s->node->self))
        ops->sleep(s->node->self, s->sleep_us);
    ops->disarm(s->node->self);
}

/* Exchanges everything, and then serves the others until they have, too. */
static void *side_run(void *side)
{
    struct side *s = side;
    s->into = malloc(LONGEST);
    for (int idle = 0; !side_done(s);) {
        int events = side_send(s) + ops->progress(s->node->self) + side_take(s);
        idle = events ? 0 : idle + 1;
        if (idle > 50 && !side_done(s))
            side_sleep(s);
    }
    atomic_fetch_sub_explicit(&sides_left, 1, memory_order_relaxed);
    while (atomic_load_explicit(&sides_left, memory_order_relaxed) > 0 || !ops->flushed(s->node->self))
        ops->progress(s->node->self);
    free(s->into);
    return NULL;
}

static void run_sides(struct side *sides, int count)
{
    pthread_t thread[2 + CALLERS];
    atomic_store(&sides_left, count);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, side_run, &sides[i]), 0);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

/* --- two nodes ---------------------------------------------------------------------------------------------------- */

static struct node *node_with(uint64_t id, const char *rndv, long ring)
{
    node_rndv = rndv;
    node_ring = ring;
    node_eager = EAGER;
    return node_open(ops, id);
}

/* Does the engine ask its writers for fences, as one that sleeps often? Else it calls membarrier(). */
static void set_fences(struct node *node, bool fences)
{
    inside(node)->sleeps.last = INT64_MAX / 2; /* no two sleeps are far apart */
    inside(node)->sleeps.streak = fences ? 15 : 1 << 20;
}

static void exchange(const char *rndv, bool fences, unsigned count)
{
    struct node *x = node_with(1, rndv, 16384), *y = node_with(2, rndv, 16384);
    set_fences(x, fences);
    set_fences(y, fences);
    struct side sides[2] = { { .node = x, .sends = count, .takes = count, .most = LONGEST, .sleep_us = LONG_US },
                             { .node = y, .sends = count, .takes = count, .most = LONGEST, .sleep_us = LONG_US } };
    sides[0].to = node_join(x, y);
    sides[1].to = node_join(y, x);
    run_sides(sides, 2);
    node_close(x);
    node_close(y);
}

START_TEST(rings_and_fifos)
{
    exchange("copy", false, 3000);
}
END_TEST

START_TEST(rings_and_fifos_with_fences)
{
    exchange("copy", true, 3000);
}
END_TEST

START_TEST(rings_and_the_kernel)
{
    exchange("cma", true, 2000);
}
END_TEST

/* --- the fast paths ----------------------------------------------------------------------------------------------- */

/* As a blocking receive does: progress takes what the fast path leaves. */
static ptrdiff_t take_short(struct side *s, const struct pl_header *header, int tag, unsigned char into[EAGER])
{
    while (pl_list_empty(&s->node->inbox)) {
        ptrdiff_t got = ops->take_next(s->to, header, 0, tag, 100, into, EAGER);
        if (got >= 0)
            return got;
        if (got == PL_PENDING)
            ops->progress(s->node->self);
        else
            sched_yield();
    }
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&s->node->inbox), struct arrival, link);
    ptrdiff_t size = (ptrdiff_t)arrival->header.size;
    memcpy(into, arrival->data, (size_t)size);
    free(arrival);
    return size;
}

static void *ping_pong(void *side)
{
    struct side *s = side;
    struct pl_header header = { .kind = PL_MSG_P2P };
    unsigned char data[EAGER], into[EAGER];
    for (unsigned i = 0; i < s->sends; i++) {
        size_t bytes = size_of(i, EAGER);
        for (int turn = 0; turn < 2; turn++) {
            if ((s->node->id == 1) == (turn == 0)) {
                node_fill(data, bytes, 1, i);
                while (!ops->send_now(s->to, &header, (int)i, bytes, data))
                    ops->progress(s->node->self);
                continue;
            }
            ptrdiff_t got = take_short(s, &header, (int)i, into);
            EXPECT(got == (ptrdiff_t)bytes && node_intact(into, bytes, 1, i));
        }
    }
    return NULL;
}

START_TEST(fast_paths)
{
    pthread_t thread[2];
    struct node *x = node_new(1), *y = node_new(2);
    struct side sides[2] = { { .node = x, .sends = 5000 }, { .node = y, .sends = 5000 } };
    sides[0].to = node_join(x, y);
    sides[1].to = node_join(y, x);
    exchange_one(x, sides[0].to, y, 8, 1); /* connects */
    exchange_one(y, sides[1].to, x, 8, 1);
    for (int i = 0; i < 10; i++)
        node_progress_all();
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, ping_pong, &sides[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    node_close(x);
    node_close(y);
}
END_TEST

/* --- many writers: the inbox, and rings that are not polled ------------------------------------------------------- */

static void count_one(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                      struct pl_rndv *rndv)
{
    (void)from, (void)rndv;
    EXPECT(node_intact(data, header->size, 1, (unsigned)header->tag));
    (void)node;
}

/* A caller may find the inbox full, and no signal tells when there is a slot again: it sleeps briefly. */
static void many_writers(bool fences)
{
    enum { EACH = 150 };
    struct side sides[1 + CALLERS] = { 0 };
    struct node *reader = node_with(1, "copy", 4096);
    set_fences(reader, fences);
    for (int i = 1; i <= CALLERS; i++) {
        struct node *node = node_with((uint64_t)i + 1, "copy", 4096);
        set_fences(node, fences);
        sides[i] = (struct side){
            .node = node, .to = node_join(node, reader), .sends = EACH, .most = EAGER / 4, .sleep_us = SHORT_US
        };
    }
    sides[0] = (struct side){ .node = reader, .sleep_us = LONG_US };
    reader->on_arrival = count_one;
    pthread_t thread[1 + CALLERS];
    atomic_store(&sides_left, CALLERS);
    for (int i = 1; i <= CALLERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, side_run, &sides[i]), 0);
    while (reader->arrived < (unsigned long)EACH * CALLERS)
        if (ops->progress(reader->self) == 0)
            side_sleep(&sides[0]);
    for (int i = 1; i <= CALLERS; i++)
        pthread_join(thread[i], NULL);
    node_progress_all();
    while (node_first)
        node_close(node_first);
}

START_TEST(many_writers_by_barriers)
{
    many_writers(false);
}
END_TEST

START_TEST(many_writers_with_fences)
{
    many_writers(true);
}
END_TEST

/* --- closing ------------------------------------------------------------------------------------------------------ */

/* What a peer finds in its ring when it learns that the other side has closed. */
static void *see_closed(void *endpoint)
{
    struct pl_shm_peer *peer = endpoint;
    while (!(atomic_load_explicit(&peer->head->attention, memory_order_acquire) & PL_SHM_CLOSED))
        ;
    EXPECT(atomic_load_explicit(&peer->out.ring->state, memory_order_relaxed) == PL_SHM_RING_ABANDONED);
    return NULL;
}

/* The owner of a ring reuses its memory once the reader has closed, which must not write there any more. */
START_TEST(writes_nothing_once_closed)
{
    enum { TIMES = 20, WRITERS = 8 };
    for (int t = 0; t < TIMES; t++) {
        pthread_t thread;
        struct node *writer[WRITERS], *reader = node_new(1);
        struct pl_endpoint *to[WRITERS];
        for (int i = 0; i < WRITERS; i++) {
            writer[i] = node_new((uint64_t)i + 2);
            to[i] = node_join(writer[i], reader);
            exchange_one(writer[i], to[i], reader, 8, 1);
        }
        ck_assert_int_eq(pthread_create(&thread, NULL, see_closed, to[WRITERS - 1]), 0);
        node_close(reader);
        pthread_join(thread, NULL);
        for (int i = 0; i < WRITERS; i++)
            node_close(writer[i]);
    }
}
END_TEST

UNIT_MAIN("shm threads", rings_and_fifos, rings_and_fifos_with_fences, rings_and_the_kernel, fast_paths,
          many_writers_by_barriers, many_writers_with_fences, writes_nothing_once_closed)
