/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entrances of the peer are tried in turn. A connection that ends with a reset came when the gate was full, and is
 * made again later; one that ends in order was refused: there is another process at that port now.
 */
#include "plugins/ucx/knock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "plugins/ucx/gate.h"
#include "plugins/ucx/link.h"

enum {
    KNOCK_TRIES = 200,     /* at one entrance */
    KNOCK_DELAY_MS = 2,    /* before the second try; more before each further one, */
    KNOCK_DELAY_MAX = 250, /* up to this */
    KNOCK_CONNECT_MS = 10000,
    UNREACHED_MOST = 3, /* times that the peer answers, and UCX cannot connect */
    KNOCK_IDLE_S = 10,  /* a host that answers nothing for three times as long is gone */
};

struct pl_ucx_knock {
    struct pl_ucx_watch watch; /* first; fd -1: between two tries */
    struct pl_list entry;      /* in the gate's list */
    struct pl_ucx_link *link;
    int entrance, tries;
    bool sent;
    bool closed;   /* at an entrance it was refused: the peer has closed, or another process is there */
    int unreached; /* errno of an entrance that cannot be reached; 0: there is none */
    int64_t due;   /* ms: give up connecting, or try again */
    size_t got;
    struct pl_ucx_pass pass, answer;
};

static void knock_at_next_entrance(struct pl_ucx *ucx, struct pl_ucx_knock *knock);

static struct pl_ucx_address knock_address(const struct pl_ucx_link *link)
{
    struct pl_ucx_address head = { .engine = 0 };
    if (link->address)
        memcpy(&head, link->address, sizeof head);
    return head;
}

/* Also within a node: UCX connects over TCP beside shared memory where it may not copy between processes, and since
 * 1.18 in any case. */
bool pl_ucx_knock_is_needed(const struct pl_ucx_link *link)
{
    struct pl_ucx_address head = knock_address(link);
    return !link->admitted && head.engine != link->ucx->id && head.entrance[0].address != 0;
}

static void knock_hang_up(struct pl_ucx_knock *knock)
{
    pl_ucx_gate_hang_up(knock->link->ucx, &knock->watch);
    knock->got = 0;
    knock->sent = false;
}

void pl_ucx_knock_end(struct pl_ucx_link *link)
{
    struct pl_ucx_knock *knock = link->knock;
    if (!knock)
        return;
    knock_hang_up(knock);
    pl_list_remove(&knock->entry);
    link->knock = NULL;
    free(knock);
}

/* The loopback of a network namespace leads to no other. */
static const char *knock_refusal(const struct pl_ucx_link *link)
{
    bool loopback = knock_address(link).entrance[0].address >> 24 == 127;
    return loopback ? "it does not let this process connect (is one of the two in a container with a network of its "
                      "own? then let it have that of the host)"
                    : "it does not let this process connect";
}

static void knock_fail(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    struct pl_ucx_link *link = knock->link;
    bool unreached = knock->unreached && !knock->closed;
    if (unreached)
        ucx->host->log("ucx", 1, "none of a peer's addresses can be reached: %s", strerror(knock->unreached));
    else
        ucx->host->log("ucx", 2,
                       "a peer does not let this process connect: it has closed, or another process has its port");
    pl_ucx_knock_end(link);
    link->departed = link->refused = !unreached; /* what waits for it ends, and nothing else */
    pl_ucx_link_fail(link, unreached ? MPI_ERR_OTHER : MPI_ERR_PROC_ABORTED,
                     unreached ? "none of its addresses can be reached" : knock_refusal(link));
}

static void knock_note(struct pl_ucx_knock *knock, int error)
{
    if (error == ECONNREFUSED)
        knock->closed = true;
    else
        knock->unreached = error;
}

/* --- the answer -------------------------------------------------------------------------------------------------- */

static void knock_admitted(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    struct pl_ucx_link *link = knock->link;
    const struct pl_ucx_pass *answer = &knock->answer;
    int err = pl_ucx_gate_admit(ucx, answer->source, answer->count, pl_ucx_gate_is_local(knock->watch.fd));
    pl_ucx_knock_end(link);
    link->admitted = true;
    if (!err)
        err = pl_ucx_link_open(link);
    if (err == PL_UNREACHABLE && ++link->unreached < UNREACHED_MOST) {
        link->admitted = false;
        err = pl_ucx_knock_start(link); /* a peer that has closed since does not answer */
    }
    if (err)
        pl_ucx_link_fail(link, err < 0 ? MPI_ERR_OTHER : err, "it cannot be reached");
}

static void knock_try_later(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    knock_hang_up(knock);
    int delay = KNOCK_DELAY_MS * ++knock->tries;
    knock->due = pl_clock_ms() + (delay < KNOCK_DELAY_MAX ? delay : KNOCK_DELAY_MAX);
    if (knock->tries == KNOCK_TRIES)
        knock_at_next_entrance(ucx, knock);
}

static void knock_receive(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    struct pl_ucx_address head = knock_address(knock->link);
    struct pl_ucx_pass *answer = &knock->answer;
    ssize_t got = recv(knock->watch.fd, (char *)answer + knock->got, sizeof *answer - knock->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got < 0) {
        knock_try_later(ucx, knock);
        return;
    }
    knock->got += (size_t)got;
    if (got > 0 && knock->got < sizeof *answer)
        return;
    if (got > 0 && pl_ucx_pass_check(answer, PL_UCX_ADMIT, head.engine, head.key) &&
        memcmp(answer->nonce, knock->pass.nonce, sizeof answer->nonce) == 0) {
        knock_admitted(ucx, knock);
        return;
    }
    knock->closed = true;
    knock_at_next_entrance(ucx, knock);
}

/* --- the question ------------------------------------------------------------------------------------------------ */

static void knock_send(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    int error = 0;
    getsockopt(knock->watch.fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
    ssize_t sent = error ? -1 : send(knock->watch.fd, &knock->pass, sizeof knock->pass, MSG_NOSIGNAL | MSG_DONTWAIT);
    knock->sent = sent == (ssize_t)sizeof knock->pass;
    if (error && error != ECONNRESET)
        knock_note(knock, error);
    if (!knock->sent && (error == ECONNRESET || sent >= 0))
        knock_try_later(ucx, knock);
    else if (!knock->sent || !pl_ucx_gate_watch(ucx, &knock->watch, false))
        knock_at_next_entrance(ucx, knock);
}

static void knock_ready(struct pl_ucx *ucx, struct pl_ucx_watch *watch)
{
    struct pl_ucx_knock *knock = (struct pl_ucx_knock *)watch;
    if (knock->sent)
        knock_receive(ucx, knock);
    else
        knock_send(ucx, knock);
}

/* False: this entrance is closed. */
static bool knock_try(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    struct pl_ucx_entrance entrance = knock_address(knock->link).entrance[knock->entrance];
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(entrance.address),
                              .sin_port = htons(entrance.port) };
    int fd = knock->watch.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    knock->due = pl_clock_ms() + KNOCK_CONNECT_MS;
    if (fd < 0) {
        knock_note(knock, errno);
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ KNOCK_IDLE_S }, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){ KNOCK_IDLE_S }, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){ 2 }, sizeof(int));
    bool connecting = connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS;
    if (!connecting)
        knock_note(knock, errno);
    return connecting && pl_ucx_gate_watch(ucx, &knock->watch, true);
}

static void knock_at_next_entrance(struct pl_ucx *ucx, struct pl_ucx_knock *knock)
{
    struct pl_ucx_address head = knock_address(knock->link);
    knock->tries = 0;
    do {
        knock_hang_up(knock);
        if (++knock->entrance == PL_UCX_ENTRANCES || head.entrance[knock->entrance].address == 0) {
            knock_fail(ucx, knock);
            return;
        }
    } while (!knock_try(ucx, knock));
}

/* UCX's answer comes from one of the addresses of the peer's entrances: they are admitted before the peer may know of
 * this process. */
static int knock_admit_peer(struct pl_ucx *ucx, const struct pl_ucx_address *head)
{
    uint32_t source[PL_UCX_ENTRANCES];
    size_t count = 0;
    for (int i = 0; i < PL_UCX_ENTRANCES; i++)
        if (head->entrance[i].address)
            source[count++] = head->entrance[i].address;
    return pl_ucx_gate_admit(ucx, source, count, false);
}

int pl_ucx_knock_start(struct pl_ucx_link *link)
{
    struct pl_ucx *ucx = link->ucx;
    struct pl_ucx_address head = knock_address(link);
    if (link->knock)
        return MPI_SUCCESS;
    if (ucx->gate.epoll_fd < 0)
        return ucx->host->fail(PL_UNREACHABLE, "the peer uses TCP, which UCX does not have here");
    struct pl_ucx_knock *knock = pl_calloc(1, sizeof *knock);
    uint64_t nonce[2];
    if (!knock)
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a connection");
    int err = knock_admit_peer(ucx, &head);
    if (!err && getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        err = ucx->host->fail(MPI_ERR_OTHER, "cannot get random bytes: %s", strerror(errno));
    if (err) {
        free(knock);
        return err;
    }
    pl_ucx_pass_make(PL_UCX_KNOCK, head.engine, nonce, head.key, &knock->pass);
    *knock = (struct pl_ucx_knock){
        .watch = { .fd = -1, .ready = knock_ready }, .link = link, .entrance = -1, .pass = knock->pass
    };
    pl_list_append(&ucx->gate.knocks, &knock->entry);
    link->knock = knock;
    knock_at_next_entrance(ucx, knock);
    pl_ucx_gate_progress(ucx, true); /* a connection within the host is there already */
    return MPI_SUCCESS;
}

int pl_ucx_knocks_progress(struct pl_ucx *ucx)
{
    int events = 0;
    int64_t now = pl_clock_ms();
    PL_LIST_EACH(knock, &ucx->gate.knocks, struct pl_ucx_knock, entry) {
        if (knock->sent || now < knock->due)
            continue;
        events++;
        if (knock->watch.fd >= 0)
            knock_note(knock, ETIMEDOUT);
        if (knock->watch.fd >= 0 || !knock_try(ucx, knock))
            knock_at_next_entrance(ucx, knock);
    }
    return events;
}
