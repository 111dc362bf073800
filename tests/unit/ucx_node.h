/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the UCX transport: choices of UCX's transports, two nodes in one process, the suite. */
#ifndef PLENUM_TESTS_UCX_NODE_H
#define PLENUM_TESTS_UCX_NODE_H

#include "transport_pair.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <ucp/api/ucp_version.h>
#include <unistd.h>

/* LeakSanitizer's tracer crashes on UCX's threads; valgrind checks this test for leaks. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* The sanitizers cannot bear CMA of UCX 1.18, which reads a peer's memory into the list that describes what it
 * reads. */
#if (defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__) && UCP_API_VERSION >= UCP_VERSION(1, 17)
#define ALL "posix,sysv,tcp,self"
#else
#define ALL ""
#endif

/* All transports of UCX; TCP; and those left for the network where our own shared memory serves the node. */
static const struct {
    const char *tls, *transport;
} choices[] = { { ALL, "ucx" }, { "tcp,self", "ucx" }, { "", "auto" } };
enum { CHOICES = 3 };

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

/* --- two nodes in one process ---------------------------------------------------------------------------------- */

/* Both directions are connected afterwards: before, a transport may ask its caller to send again. */
static inline void open_pair(int choice)
{
    unsigned char none;
    choose(choice);
    pair_open(ops);
    struct message *to_b = message_send(a, ab, 0, 0, &node_solid), *to_a = message_send(b, ba, 0, 0, &node_solid);
    node_take(a, b, &none, 0, &node_solid);
    node_take(b, a, &none, 0, &node_solid);
    NODE_UNTIL(a, b, message_done(to_a) && message_done(to_b));
    message_free(to_a);
    message_free(to_b);
    a->arrived = a->sent = b->arrived = b->sent = 0;
}

/* The size of message number n of a mix of mostly short ones. */
static inline size_t size_of(unsigned long n)
{
    size_t spread = (n * 2654435761u) >> 7;
    return n % 100 == 99 ? 65537 + spread % 200000 : n % 10 == 9 ? spread % 70000 : spread % 3000;
}

/* The threads of this process, when they are at most `most`, or in the end. The kernel lists a thread for a little
 * while after it was joined. */
static inline int threads_left(int most)
{
    for (int i = 0; i < 2000 && unit_entries("/proc/self/task") > most; i++)
        usleep(5000);
    return unit_entries("/proc/self/task");
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
    setenv("UCX_MEM_EVENTS", "n", 0); /* UCX's hooks in mmap() and the like call the sanitizer too early */
#endif
    return suite_create(name);
}

#endif
