/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate before UCX without descriptors: a connection waits, and is accepted later. */
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* clang-format off: libcheck calls a macro what a host calls a function */
#include "plugins/ucx/gate.c"
#include "transport_node.h"
#include "unit.h"
/* clang-format on */

/* --- what the gate needs of UCX and of other files of the plugin -------------------------------------------------- */

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *length)
{
    (void)worker, (void)address, (void)length;
    return UCS_ERR_NO_RESOURCE;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    (void)worker, (void)address;
}

int pl_ucx_error(struct pl_ucx *ucx, ucs_status_t status, const char *what)
{
    (void)ucx, (void)status, (void)what;
    return MPI_ERR_OTHER;
}

int pl_ucx_knocks_progress(struct pl_ucx *ucx)
{
    (void)ucx;
    return 0;
}

/* --- connections -------------------------------------------------------------------------------------------------- */

static struct node node = { .id = 7 };
static struct pl_ucx ucx = { .engine = (struct pl_engine *)&node, .host = &node_host, .id = 7 };

static void gate_begin(void)
{
    pl_ucx_gate_init(&ucx.gate);
    ucx.gate.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    ck_assert_int_ge(ucx.gate.epoll_fd, 0);
    ucx.gate.listener[0].address = INADDR_LOOPBACK;
    ucx.gate.listeners = 1;
    ck_assert_int_eq(gate_open_entrances(&ucx), MPI_SUCCESS);
}

static int gate_connect(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(ucx.gate.where[0].port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* No further descriptor may be opened; returns the limit before. */
static struct rlimit gate_forbid_descriptors(void)
{
    struct rlimit before, none;
    int next = dup(STDERR_FILENO);
    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)next;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    return before;
}

START_TEST(without_descriptors)
{
    enum { ROUNDS = 1000 };
    gate_begin();
    int caller = gate_connect();
    struct rlimit before = gate_forbid_descriptors();
    for (int i = 0; i < ROUNDS; i++)
        ck_assert_int_le(pl_ucx_gate_progress(&ucx, true), 1); /* it does not try again and again */
    ck_assert_int_eq(ucx.gate.count, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (ucx.gate.count == 0) {
        pl_ucx_gate_progress(&ucx, true);
        usleep(1000);
    }
    close(caller);
    while (ucx.gate.count > 0)
        pl_ucx_gate_progress(&ucx, true);
    pl_ucx_gate_close(&ucx);
}
END_TEST

UNIT_MAIN("gate", without_descriptors)
