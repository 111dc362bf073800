/* SPDX-License-Identifier: BSD-3-Clause */
/* Each of the two processes opens a port and sends its name over the socket; the one with the greater name accepts. */
#include "sessions/port/join.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "sessions/port/connect.h"
#include "sessions/port/port.h"

enum { POLL_MS = 1 };

/* What each process sends over the socket. */
struct greeting {
    char magic[8];
    char port[MPI_MAX_PORT_NAME];
};
static const char magic[8] = "PlJoin1";

/* Waits until the socket can be read or written. Engines make progress meanwhile. */
static int join_wait_for(int fd, short events)
{
    struct pollfd wanted = { .fd = fd, .events = events };
    int ready = 0;
    while ((ready = poll(&wanted, 1, POLL_MS)) == 0 || (ready < 0 && errno == EINTR))
        pl_engine_nudge_others(NULL);
    return ready < 0 ? pl_fail_errno(MPI_ERR_OTHER, "cannot wait for descriptor %d", fd) : MPI_SUCCESS;
}

static int join_fail(int fd, ssize_t moved, const char *what)
{
    return moved == 0 ? pl_fail(MPI_ERR_OTHER, "the other end of descriptor %d was closed", fd)
                      : pl_fail_errno(MPI_ERR_OTHER, "cannot %s descriptor %d", what, fd);
}

static bool join_is_transient(ssize_t moved)
{
    return moved < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
}

static int join_send(int fd, const struct greeting *greeting)
{
    const char *at = (const char *)greeting, *end = at + sizeof *greeting;
    while (at < end) {
        int rc = join_wait_for(fd, POLLOUT);
        if (rc)
            return rc;
        ssize_t sent = send(fd, at, (size_t)(end - at), MSG_NOSIGNAL);
        if (sent <= 0 && !join_is_transient(sent))
            return join_fail(fd, sent, "write to");
        at += sent > 0 ? sent : 0;
    }
    return MPI_SUCCESS;
}

static int join_receive(int fd, struct greeting *greeting)
{
    char *at = (char *)greeting, *end = at + sizeof *greeting;
    while (at < end) {
        int rc = join_wait_for(fd, POLLIN);
        if (rc)
            return rc;
        ssize_t got = recv(fd, at, (size_t)(end - at), 0);
        if (got <= 0 && !join_is_transient(got))
            return join_fail(fd, got, "read from");
        at += got > 0 ? got : 0;
    }
    if (memcmp(greeting->magic, magic, sizeof magic) != 0 || !memchr(greeting->port, '\0', sizeof greeting->port))
        return pl_fail(MPI_ERR_OTHER,
                       "the process at the other end of descriptor %d has not called MPI_Comm_join, or uses "
                       "another MPI",
                       fd);
    return MPI_SUCCESS;
}

/* The address of a socket's end without its port. False: it has none. */
static bool join_read_host(int (*get)(int, struct sockaddr *, socklen_t *), int fd, struct sockaddr_storage *end)
{
    memset(end, 0, sizeof *end);
    if (get(fd, (struct sockaddr *)end, &(socklen_t){ sizeof *end }) != 0)
        return false;
    if (end->ss_family == AF_INET)
        ((struct sockaddr_in *)end)->sin_port = 0;
    else if (end->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)end)->sin6_port = 0;
    return true;
}

/* May the other end be on another host? Not if both ends have the same address: that is this host's. */
static bool join_may_leave_host(int fd)
{
    struct sockaddr_storage here, there;
    if (!join_read_host(getsockname, fd, &here) || here.ss_family == AF_UNIX)
        return false;
    return !join_read_host(getpeername, fd, &there) || memcmp(&here, &there, sizeof here) != 0;
}

int pl_port_join(int fd, struct pl_comm *self, struct pl_comm **made)
{
    struct greeting mine = { .port = "" }, theirs;
    *made = NULL;
    memcpy(mine.magic, magic, sizeof magic);
    int rc = pl_port_open(join_may_leave_host(fd), mine.port);
    if (rc)
        return rc;
    rc = join_send(fd, &mine);
    if (rc == MPI_SUCCESS)
        rc = join_receive(fd, &theirs);
    int order = rc ? 0 : strcmp(mine.port, theirs.port);
    if (order > 0)
        rc = pl_port_accept(mine.port, NULL, 0, self, made);
    else if (order < 0)
        rc = pl_port_connect(theirs.port, NULL, 0, self, made);
    else if (rc == MPI_SUCCESS)
        rc = pl_fail(MPI_ERR_ARG, "descriptor %d leads back to this process", fd);
    pl_port_close(mine.port);
    return rc;
}
