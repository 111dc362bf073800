/* SPDX-License-Identifier: BSD-3-Clause */
/* The entrances, the connections that wait there, and the admitted addresses. */
#include "plugins/ucx/gate.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "plugins/ucx/knock.h"
#include "plugins/ucx/ucx.h"

enum {
    GATE_PENDING = 64,
    GATE_SECONDS = 60,
    GATE_BATCH = 64,    /* events in a round */
    GATE_REST_MS = 100, /* until connections are accepted again, after there was no descriptor for one */
    GATE_TURNS = 64,    /* calls, of which one polls the entrances */
};

struct gate_pending {
    struct pl_ucx_watch watch; /* first */
    struct pl_list entry;
    int64_t since; /* ms */
    size_t got;
    struct pl_ucx_pass pass;
};

/* --- passes ------------------------------------------------------------------------------------------------------ */

static bool gate_is_loopback(uint32_t address)
{
    return address >> 24 == IN_LOOPBACKNET;
}

/* The addresses of this host's interfaces, those of the loopback last. */
static uint32_t gate_read_sources(uint32_t source[PL_UCX_SOURCES])
{
    struct ifaddrs *all = NULL;
    uint32_t count = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (int loopback = 0; loopback <= 1; loopback++)
        for (struct ifaddrs *at = all; at && count < PL_UCX_SOURCES; at = at->ifa_next) {
            if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_UP))
                continue;
            uint32_t address = ntohl(((struct sockaddr_in *)at->ifa_addr)->sin_addr.s_addr);
            if (gate_is_loopback(address) == (bool)loopback)
                source[count++] = address;
        }
    freeifaddrs(all);
    return count;
}

void pl_ucx_pass_make(const char *magic, uint64_t to, const uint64_t nonce[2], const unsigned char *key,
                      struct pl_ucx_pass *pass)
{
    memset(pass, 0, sizeof *pass);
    memcpy(pass->magic, magic, sizeof pass->magic);
    pass->to = to;
    memcpy(pass->nonce, nonce, sizeof pass->nonce);
    pass->count = gate_read_sources(pass->source);
    pl_ucx_mac(key, pass, PL_UCX_PASS_SIGNED, pass->mac);
}

bool pl_ucx_pass_check(const struct pl_ucx_pass *pass, const char *magic, uint64_t to, const unsigned char *key)
{
    unsigned char mac[PL_UCX_MAC];
    pl_ucx_mac(key, pass, PL_UCX_PASS_SIGNED, mac);
    return pl_ucx_mac_equal(mac, pass->mac) && memcmp(pass->magic, magic, sizeof pass->magic) == 0 && pass->to == to &&
           pass->count <= PL_UCX_SOURCES;
}

/* --- admission --------------------------------------------------------------------------------------------------- */

static int gate_set_filters(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    int error = 0;
    for (int i = 0; i < gate->listeners && !error; i++)
        error = pl_ucx_filter_set(gate->listener[i].fd, &gate->admitted);
    return error;
}

int pl_ucx_gate_admit(struct pl_ucx *ucx, const uint32_t *source, size_t count, bool local)
{
    bool added = false;
    for (size_t i = 0; i < count; i++)
        if ((local || !gate_is_loopback(source[i])) && !pl_ucx_addresses_add(&ucx->gate.admitted, source[i], &added))
            return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for the addresses of peers");
    int error = (added || ucx->gate.stale) && !ucx->gate.open_to_all ? gate_set_filters(ucx) : 0;
    ucx->gate.stale = error != 0;
    return error ? ucx->host->fail(MPI_ERR_OTHER, "the kernel does not admit a peer to UCX: %s", strerror(error))
                 : MPI_SUCCESS;
}

bool pl_ucx_gate_is_local(int fd)
{
    struct sockaddr_in here = { .sin_port = 0 }, there = { .sin_port = 0 };
    return getsockname(fd, (struct sockaddr *)&here, &(socklen_t){ sizeof here }) == 0 &&
           getpeername(fd, (struct sockaddr *)&there, &(socklen_t){ sizeof there }) == 0 &&
           here.sin_addr.s_addr == there.sin_addr.s_addr;
}

/* --- connections that wait --------------------------------------------------------------------------------------- */

bool pl_ucx_gate_watch(struct pl_ucx *ucx, struct pl_ucx_watch *watch, bool write)
{
    struct epoll_event event = { .events = write ? EPOLLOUT : EPOLLIN, .data.ptr = watch };
    int epoll = ucx->gate.epoll_fd;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0 ||
           (errno == EEXIST && epoll_ctl(epoll, EPOLL_CTL_MOD, watch->fd, &event) == 0);
}

void pl_ucx_gate_hang_up(struct pl_ucx *ucx, struct pl_ucx_watch *watch)
{
    if (watch->fd < 0)
        return;
    epoll_ctl(ucx->gate.epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    close(watch->fd);
    watch->fd = -1;
}

/* `later`: the connection ends with a reset, which tells a process of ours to knock again. */
static void gate_drop(struct pl_ucx *ucx, struct gate_pending *pending, bool later)
{
    if (later)
        setsockopt(pending->watch.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
    pl_ucx_gate_hang_up(ucx, &pending->watch);
    pl_list_remove(&pending->entry);
    ucx->gate.count--;
    free(pending);
}

static void gate_answer(struct pl_ucx *ucx, struct gate_pending *pending)
{
    const struct pl_ucx_pass *knock = &pending->pass;
    struct pl_ucx_pass answer;
    if (!pl_ucx_pass_check(knock, PL_UCX_KNOCK, ucx->id, ucx->gate.key)) {
        ucx->host->log("ucx", 3, "a knock was rejected: it does not show this worker's key");
        return;
    }
    if (pl_ucx_gate_admit(ucx, knock->source, knock->count, pl_ucx_gate_is_local(pending->watch.fd)) != MPI_SUCCESS)
        return;
    pl_ucx_pass_make(PL_UCX_ADMIT, ucx->id, knock->nonce, ucx->gate.key, &answer);
    send(pending->watch.fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT); /* fits into an empty socket */
}

static void gate_pending_ready(struct pl_ucx *ucx, struct pl_ucx_watch *watch)
{
    struct gate_pending *pending = (struct gate_pending *)watch;
    ssize_t got =
        recv(watch->fd, (char *)&pending->pass + pending->got, sizeof pending->pass - pending->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0) {
        pending->got += (size_t)got;
        if (pending->got < sizeof pending->pass)
            return;
        gate_answer(ucx, pending);
    }
    gate_drop(ucx, pending, false);
}

static struct gate_pending *gate_oldest(const struct pl_ucx_gate *gate)
{
    return pl_list_empty(&gate->pending) ? NULL : PL_CONTAINER(gate->pending.next, struct gate_pending, entry);
}

/* The entrances stay open, and connections wait in the kernel. Watched, they would be ready in each round. */
static void gate_rest(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    ucx->host->log("ucx", 2, "connections have to wait: %s", strerror(errno));
    gate->rests_until = pl_clock_ms() + GATE_REST_MS;
    for (int i = 0; i < PL_UCX_ENTRANCES; i++)
        if (gate->entrance[i].fd >= 0)
            epoll_ctl(gate->epoll_fd, EPOLL_CTL_DEL, gate->entrance[i].fd, NULL);
}

static void gate_end_rest(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    bool watched = true;
    for (int i = 0; i < PL_UCX_ENTRANCES; i++)
        if (gate->entrance[i].fd >= 0)
            watched &= pl_ucx_gate_watch(ucx, &gate->entrance[i], false);
    gate->rests_until = watched ? 0 : pl_clock_ms() + GATE_REST_MS;
}

static bool gate_lacks_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void gate_entrance_ready(struct pl_ucx *ucx, struct pl_ucx_watch *entrance)
{
    int fd = accept4(entrance->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (gate_lacks_resources(errno))
            gate_rest(ucx);
        return;
    }
    struct gate_pending *pending = pl_calloc(1, sizeof *pending), *oldest = gate_oldest(&ucx->gate);
    if (!pending) {
        close(fd);
        return;
    }
    if (ucx->gate.count >= GATE_PENDING)
        gate_drop(ucx, oldest, true);
    pending->watch = (struct pl_ucx_watch){ .fd = fd, .ready = gate_pending_ready };
    pending->since = pl_clock_ms();
    pl_list_append(&ucx->gate.pending, &pending->entry);
    ucx->gate.count++;
    if (!pl_ucx_gate_watch(ucx, &pending->watch, false))
        gate_drop(ucx, pending, true);
    else
        gate_pending_ready(ucx, &pending->watch);
}

/* --- progress ---------------------------------------------------------------------------------------------------- */

int pl_ucx_gate_progress(struct pl_ucx *ucx, bool now)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    struct epoll_event event;
    int events = 0;
    if (gate->epoll_fd < 0 || (!now && pl_list_empty(&gate->knocks) && ++gate->turns % GATE_TURNS != 0))
        return 0;
    if (gate->rests_until && pl_clock_ms() >= gate->rests_until)
        gate_end_rest(ucx);
    while (events < GATE_BATCH && epoll_wait(gate->epoll_fd, &event, 1, 0) > 0) {
        struct pl_ucx_watch *watch = event.data.ptr;
        watch->ready(ucx, watch);
        events++;
    }
    struct gate_pending *oldest = gate_oldest(gate);
    if (oldest && pl_clock_ms() - oldest->since > GATE_SECONDS * 1000)
        gate_drop(ucx, oldest, true);
    return events + (pl_list_empty(&gate->knocks) ? 0 : pl_ucx_knocks_progress(ucx));
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

/* Where a filter denies the call, peers would wait for an answer. */
static bool gate_can_accept(int fd)
{
    int early = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (early >= 0)
        close(early);
    return early >= 0 || errno == EAGAIN || errno == ECONNABORTED;
}

/* An entrance beside a listener of UCX, at the same address. */
static int gate_open_entrance(struct pl_ucx *ucx, const struct pl_ucx_listener *listener, int number)
{
    struct pl_ucx_watch *entrance = &ucx->gate.entrance[number];
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(listener->address) };
    entrance->ready = gate_entrance_ready;
    entrance->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (entrance->fd < 0 || bind(entrance->fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(entrance->fd, SOMAXCONN) != 0 || !gate_can_accept(entrance->fd) ||
        getsockname(entrance->fd, (struct sockaddr *)&at, &(socklen_t){ sizeof at }) != 0 ||
        !pl_ucx_gate_watch(ucx, entrance, false))
        return ucx->host->fail(PL_UNREACHABLE, "cannot listen for connections: %s", strerror(errno));
    ucx->gate.where[number] = (struct pl_ucx_entrance){ .address = listener->address, .port = ntohs(at.sin_port) };
    return MPI_SUCCESS;
}

/* The entrances of other hosts first: a peer tries them in this order. */
static int gate_open_entrances(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    int entrances = 0, err = MPI_SUCCESS;
    for (int loopback = 0; loopback <= 1; loopback++)
        for (int i = 0; i < gate->listeners && entrances < PL_UCX_ENTRANCES && !err; i++)
            if (gate_is_loopback(gate->listener[i].address) == (bool)loopback)
                err = gate_open_entrance(ucx, &gate->listener[i], entrances++);
    return err;
}

/* No byte of a connection that UCX accepted before the filter was there has been read: that is for progress(). */
static void gate_shut(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    int error = gate_set_filters(ucx);
    gate->open_to_all = error != 0;
    if (error)
        ucx->host->log("ucx", 0, "this kernel takes no socket filters (%s): programs on all hosts can send to UCX",
                       strerror(error));
    for (int i = 0; i < gate->listeners && !error; i++)
        pl_ucx_fds_reset(&gate->listener[i]);
}

void pl_ucx_gate_init(struct pl_ucx_gate *gate)
{
    gate->epoll_fd = -1;
    for (int i = 0; i < PL_UCX_ENTRANCES; i++)
        gate->entrance[i].fd = -1;
    pl_list_init(&gate->pending);
    pl_list_init(&gate->knocks);
}

int pl_ucx_gate_open(struct pl_ucx *ucx, const struct pl_ucx_fds *before)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    ucp_address_t *address;
    size_t length;
    ucs_status_t status = ucp_worker_get_address(ucx->worker, &address, &length);
    if (status != UCS_OK)
        return pl_ucx_error(ucx, status, "cannot get the UCX address");
    gate->listeners = pl_ucx_fds_claim(before, address, length, gate->listener);
    ucp_worker_release_address(ucx->worker, address);
    gate_shut(ucx);
    if (gate->listeners == 0)
        return MPI_SUCCESS;
    gate->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (gate->epoll_fd < 0 || getrandom(gate->key, sizeof gate->key, 0) != sizeof gate->key)
        return ucx->host->fail(PL_UNREACHABLE, "cannot guard the ports of UCX: %s", strerror(errno));
    return gate_open_entrances(ucx);
}

void pl_ucx_gate_close(struct pl_ucx *ucx)
{
    struct pl_ucx_gate *gate = &ucx->gate;
    struct gate_pending *oldest;
    while ((oldest = gate_oldest(gate)) != NULL)
        gate_drop(ucx, oldest, true);
    for (int i = 0; i < PL_UCX_ENTRANCES; i++)
        if (gate->entrance[i].fd >= 0)
            close(gate->entrance[i].fd);
    if (gate->epoll_fd >= 0)
        close(gate->epoll_fd);
    gate->epoll_fd = -1;
    PL_VEC_FINI(&gate->admitted);
}
