/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches /proc/self/fd; without /proc, the first FDS_BLIND descriptors. */
#include "plugins/ucx/fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/memory.h"

enum { FDS_BLIND = 1024 };

/* --- walking ----------------------------------------------------------------------------------------------------- */

typedef void fds_visit(void *context, int fd);

static void fds_each(fds_visit *visit, void *context)
{
    DIR *directory = opendir("/proc/self/fd");
    for (int fd = 0; !directory && fd < FDS_BLIND; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            visit(context, fd);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
            visit(context, atoi(entry->d_name));
    closedir(directory);
}

static void fds_visit_remember(void *context, int fd)
{
    struct pl_ucx_fds *before = context;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return;
    if ((size_t)fd >= before->size) {
        size_t size = ((size_t)fd + 1) * 2;
        ino_t *file = pl_realloc(before->file, size * sizeof *file);
        before->incomplete |= !file;
        if (!file)
            return;
        memset(file + before->size, 0, (size - before->size) * sizeof *file);
        before->file = file;
        before->size = size;
    }
    before->file[fd] = st.st_ino;
}

bool pl_ucx_fds_remember(struct pl_ucx_fds *before)
{
    *before = (struct pl_ucx_fds){ .file = NULL };
    fds_each(fds_visit_remember, before);
    return !before->incomplete;
}

void pl_ucx_fds_forget(struct pl_ucx_fds *before)
{
    free(before->file);
}

/* --- sockets ----------------------------------------------------------------------------------------------------- */

typedef int fds_end(int fd, struct sockaddr *address, socklen_t *length);

/* One end of an IPv4 socket. */
static bool fds_read_end(fds_end *get, int fd, uint32_t *address, uint16_t *port)
{
    struct sockaddr_in end = { .sin_family = AF_UNSPEC };
    if (get(fd, (struct sockaddr *)&end, &(socklen_t){ sizeof end }) != 0 || end.sin_family != AF_INET)
        return false;
    *address = ntohl(end.sin_addr.s_addr);
    *port = ntohs(end.sin_port);
    return true;
}

static int fds_option(int fd, int option)
{
    int value = 0;
    return getsockopt(fd, SOL_SOCKET, option, &value, &(socklen_t){ sizeof value }) == 0 ? value : -1;
}

static bool fds_is_stream(int fd)
{
    return fds_option(fd, SO_DOMAIN) == AF_INET && fds_option(fd, SO_TYPE) == SOCK_STREAM;
}

static void fds_close_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC))
        fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

bool pl_ucx_fds_has_port(const void *address, size_t length, uint16_t port)
{
    unsigned char big[] = { (unsigned char)(port >> 8), (unsigned char)port }, little[] = { big[1], big[0] };
    return memmem(address, length, big, sizeof big) || memmem(address, length, little, sizeof little);
}

/* --- what has appeared ------------------------------------------------------------------------------------------- */

struct fds_claim {
    const struct pl_ucx_fds *before;
    const void *address;
    size_t length;
    struct pl_ucx_listener *listeners;
    int count;
};

/* The socket by which UCX wakes receivers through shared memory: datagrams, with a name that the kernel gave. */
static bool fds_is_signal(int fd)
{
    struct sockaddr_un name = { .sun_path = "?" };
    socklen_t length = sizeof name;
    return fds_option(fd, SO_DOMAIN) == AF_UNIX && fds_option(fd, SO_TYPE) == SOCK_DGRAM &&
           getsockname(fd, (struct sockaddr *)&name, &length) == 0 && length == sizeof(sa_family_t) + 6 &&
           name.sun_path[0] == '\0';
}

static void fds_claim_socket(struct fds_claim *claim, int fd)
{
    struct pl_ucx_listener listener = { .fd = fd };
    if (fds_is_signal(fd))
        fds_close_on_exec(fd);
    if (!fds_is_stream(fd) || fds_option(fd, SO_ACCEPTCONN) != 1 ||
        !fds_read_end(getsockname, fd, &listener.address, &listener.port) ||
        !pl_ucx_fds_has_port(claim->address, claim->length, listener.port))
        return;
    fds_close_on_exec(fd);
    if (claim->count < PL_UCX_LISTENERS)
        claim->listeners[claim->count++] = listener;
}

/* Event descriptors have no type; devices are those of networks. */
static void fds_visit_claim(void *context, int fd)
{
    struct fds_claim *claim = context;
    struct stat st;
    if (fstat(fd, &st) != 0 || ((size_t)fd < claim->before->size && claim->before->file[fd] == st.st_ino))
        return;
    int flags = fcntl(fd, F_GETFL);
    if (S_ISSOCK(st.st_mode))
        fds_claim_socket(claim, fd);
    else if ((st.st_mode & S_IFMT) == 0 || (S_ISFIFO(st.st_mode) && flags >= 0 && (flags & O_NONBLOCK)) ||
             (S_ISCHR(st.st_mode) && !isatty(fd)))
        fds_close_on_exec(fd);
}

int pl_ucx_fds_claim(const struct pl_ucx_fds *before, const void *address, size_t length,
                     struct pl_ucx_listener *listeners)
{
    struct fds_claim claim = { .before = before, .address = address, .length = length, .listeners = listeners };
    fds_each(fds_visit_claim, &claim);
    return claim.count;
}

/* --- connections ------------------------------------------------------------------------------------------------- */

struct fds_connections {
    pl_ucx_fds_ours *is_ours;
    void *context;
};

static void fds_visit_connection(void *context, int fd)
{
    const struct fds_connections *connections = context;
    uint32_t address;
    uint16_t local, remote;
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) || !fds_is_stream(fd) || fds_option(fd, SO_ACCEPTCONN) != 0 ||
        !(fcntl(fd, F_GETFL) & O_NONBLOCK) || !fds_read_end(getsockname, fd, &address, &local) ||
        !fds_read_end(getpeername, fd, &address, &remote))
        return;
    if (connections->is_ours(connections->context, local, remote))
        fds_close_on_exec(fd);
}

void pl_ucx_fds_claim_connections(pl_ucx_fds_ours *is_ours, void *context)
{
    struct fds_connections connections = { is_ours, context };
    fds_each(fds_visit_connection, &connections);
}

static void fds_visit_reset(void *context, int fd)
{
    const struct pl_ucx_listener *listener = context;
    uint32_t address;
    uint16_t port;
    if (fd != listener->fd && fds_is_stream(fd) && fds_read_end(getsockname, fd, &address, &port) &&
        address == listener->address && port == listener->port)
        shutdown(fd, SHUT_RDWR);
}

void pl_ucx_fds_reset(const struct pl_ucx_listener *listener)
{
    int fd;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(fd);
    fds_each(fds_visit_reset, (void *)listener);
}
