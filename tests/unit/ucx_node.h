/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport by itself, for its tests: over which of UCX's transports, two nodes in one process, the suite. */
#ifndef PLENUM_TESTS_UCX_NODE_H
#define PLENUM_TESTS_UCX_NODE_H

#include "transport_node.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
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

static inline void choose(int choice)
{
    node_tls = choices[choice].tls;
    node_transport = choices[choice].transport;
}

static const struct pl_transport_ops *ops;

static inline void load(void)
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

static inline void open_pair(int choice)
{
    choose(choice);
    room = malloc(2 * LARGEST + 64);
    a = node_open(ops, 0xa1);
    b = node_open(ops, 0xb2);
    ab = node_connect(a, b->card, b->card_length);
    ba = node_connect(b, a->card, a->card_length);
}

static inline void close_pair(void)
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

static inline void one_message(size_t bytes, unsigned seed, const struct pl_type *from, const struct pl_type *to)
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

/* Of the n-th message of many: mostly short. */
static inline size_t size_of(unsigned long n)
{
    size_t spread = (n * 2654435761u) >> 7;
    return n % 100 == 99 ? 65537 + spread % 200000 : n % 10 == 9 ? spread % 70000 : spread % 3000;
}

static inline int entries(const char *directory)
{
    int count = 0;
    DIR *dir = opendir(directory);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* --- the suite -------------------------------------------------------------------------------------------------- */

/* One test case each, so that CK_RUN_CASE=test_order runs it alone. */
static inline void add(Suite *suite, const char *name, const TTest *test, int loops)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240);
    tcase_add_checked_fixture(tcase, load, NULL);
    tcase_add_loop_test(tcase, test, 0, loops);
    suite_add_tcase(suite, tcase);
}

static inline Suite *suite_of(const char *name)
{
#ifdef __SANITIZE_THREAD__
    setenv("UCX_MEM_EVENTS", "n", 0); /* UCX patches mmap() and its like to call the sanitizer where it is not ready */
#endif
    return suite_create(name);
}

#endif
