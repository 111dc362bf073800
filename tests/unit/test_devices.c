/* SPDX-License-Identifier: BSD-3-Clause */
/* PLENUM_NET: the lists that select interfaces, and those that are mistakes. Every machine has the loopback. And the
 * sockets that UCX opens on them are found among the descriptors of the process. */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugins/ucx/devices.h"
#include "plugins/ucx/fds.h"

static char words[512];

PL_PRINTF(2, 3) static int record(int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return class;
}

static const struct pl_transport_host host = { .fail = record };

static void expect(const char *list, const char *selected)
{
    char devices[PL_UCX_DEVICES];
    ck_assert_msg(pl_ucx_devices(&host, list, devices) == 0, "%s: %s", list, words);
    ck_assert_str_eq(devices, selected);
}

static void expect_mistake(const char *list, const char *said)
{
    char devices[PL_UCX_DEVICES];
    words[0] = '\0';
    ck_assert_int_eq(pl_ucx_devices(&host, list, devices), PL_UNREACHABLE);
    ck_assert_msg(strstr(words, said) && !strchr(words, '\n'), "%s: %s", list, words);
}

START_TEST(lists)
{
    expect("lo", "lo");
    expect("127.0.0.1", "lo");
    expect("127.0.0.1/32", "lo");
    expect("127.0.0.0/8", "lo");
    expect("lo,127.0.0.0/8,lo", "lo");
    expect("lo,203.0.113.0/24", "lo"); /* other hosts may have such an address */
}
END_TEST

START_TEST(mistakes)
{
    static const char item[] = "an item is the name of an interface";
    static const char *const malformed[] = { "10.0.0.0/33",  "10.0.0.0/",   "10.0.0.0/-1",   "10.0.0/8",
                                             "10.0.0.0/8/8", "lo,,lo",      ",lo",           "lo,",
                                             "10.0.0.0/ 8",  "/etc/passwd", "../infiniband", "1.2.3.4.5" };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        expect_mistake(malformed[i], item);
    expect_mistake("nosuch7", "it has lo");
    expect_mistake("203.0.113.0/24", "no interface of this host has such a name or address");
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect_mistake(longest, "no interface");
}
END_TEST

/* Listens at a free port of the loopback; *port: in the byte order of the network. */
static int listen_somewhere(uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    *port = at.sin_port;
    return fd;
}

/* A socket is new, although its number was open before: another thread has closed that descriptor meanwhile. */
START_TEST(sockets)
{
    struct pl_ucx_fds before;
    struct pl_ucx_listener found[PL_UCX_LISTENERS];
    uint16_t old_port, port;
    int old = listen_somewhere(&old_port), other = dup(STDERR_FILENO);
    ck_assert(pl_ucx_fds_remember(&before));
    close(other);
    int fd = listen_somewhere(&port);
    ck_assert_int_eq(fd, other);
    uint16_t address[] = { old_port, port }; /* as in a worker's address */
    ck_assert_int_eq(pl_ucx_fds_claim(&before, address, sizeof address, found), 1);
    ck_assert_int_eq(found[0].fd, fd);
    ck_assert_uint_eq(found[0].port, ntohs(port));
    ck_assert_uint_eq(found[0].address, INADDR_LOOPBACK);
    pl_ucx_fds_forget(&before);
    close(fd);
    close(old);
}
END_TEST

UNIT_MAIN("devices", lists, mistakes, sockets)
