/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket filters: which addresses get through to a listening socket of this kernel. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugins/ucx/filter.h"

static int listener_open(struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    ck_assert_int_eq(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    ck_assert_int_eq(listen(fd, 64), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)at, &(socklen_t){ sizeof *at }), 0);
    return fd;
}

/* Whether a connection from this address of the loopback becomes one is as expected. What the kernel drops is waited
 * for only shortly; what it lets through, until it is there. */
static bool gets_through(const struct sockaddr_in *to, uint32_t from, bool expected)
{
    struct sockaddr_in source = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(from) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&source, sizeof source), 0);
    bool there = connect(fd, (const struct sockaddr *)to, sizeof *to) == 0;
    if (!there) {
        ck_assert_int_eq(errno, EINPROGRESS);
        there = poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, expected ? -1 : 20) == 1;
    }
    close(fd);
    return there == expected;
}

static uint32_t address_of(unsigned number)
{
    return 0x7f000000u + 2 + number * 7;
}

/* Any number of addresses, and none: those in the set get through, their neighbours do not. */
START_TEST(test_sets)
{
    struct pl_ucx_addresses set = { 0 };
    struct sockaddr_in at;
    int fd = listener_open(&at);
    int error = pl_ucx_filter_set(fd, &set);
    if (error) {
        printf("no socket filters here: %s\n", strerror(error));
        close(fd);
        return;
    }
    ck_assert(gets_through(&at, address_of(0), false));
    for (unsigned count = 1; count <= 9; count++) {
        bool added = false;
        ck_assert(pl_ucx_addresses_add(&set, address_of((count * 5) % 9), &added) && added);
        ck_assert_int_eq(pl_ucx_filter_set(fd, &set), 0);
        for (unsigned number = 0; number < 9; number++)
            ck_assert(gets_through(&at, address_of(number), pl_ucx_addresses_have(&set, address_of(number))));
        ck_assert(gets_through(&at, address_of(count) + 1, false));
    }
    close(fd);
    PL_VEC_FINI(&set);
}
END_TEST

/* More than a filter has instructions for: their networks are admitted. */
START_TEST(test_many)
{
    struct pl_ucx_addresses set = { 0 };
    struct sockaddr_in at;
    bool added;
    int fd = listener_open(&at);
    for (unsigned number = 0; number < 5000; number++)
        ck_assert(pl_ucx_addresses_add(&set, address_of(number), &added));
    ck_assert_uint_eq(set.count, 5000);
    if (pl_ucx_filter_set(fd, &set) == 0) {
        ck_assert(gets_through(&at, address_of(0), true) && gets_through(&at, address_of(4999), true));
        ck_assert(gets_through(&at, 0x7f700001, false));
    }
    close(fd);
    PL_VEC_FINI(&set);
}
END_TEST

START_TEST(test_addresses)
{
    struct pl_ucx_addresses set = { 0 };
    bool added;
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t address = i * 2654435761u;
        added = false;
        ck_assert(!pl_ucx_addresses_have(&set, address));
        ck_assert(pl_ucx_addresses_add(&set, address, &added) && added);
        added = false;
        ck_assert(pl_ucx_addresses_add(&set, address, &added) && !added);
    }
    for (size_t i = 1; i < set.count; i++)
        ck_assert_uint_lt(set.items[i - 1], set.items[i]);
    PL_VEC_FINI(&set);
}
END_TEST

UNIT_MAIN("filter", test_addresses, test_sets, test_many)
