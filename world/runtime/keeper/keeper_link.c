/* SPDX-License-Identifier: BSD-3-Clause */
/* See keeper_link.h. */
#include "world/runtime/keeper/keeper_link.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "world/runtime/runtime_error.h"

/*
 * Forks a child that the embedding program does not notice: it sends no SIGCHLD, and only a wait with __WALL or
 * __WCLONE sees it. The child may only make system calls, since the C library does not know of this fork.
 * ThreadSanitizer takes its own locks within system calls, and would wait for ever in the child for those that other
 * threads held at the fork. It frees them in fork().
 */
static pid_t link_fork(void)
{
    return PL_THREAD_SANITIZER ? fork() : (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

int pl_link_open(struct pl_link *link)
{
    int pair[2];
    sigset_t all, before;
    pid_t embedder = getpid();

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return pl_rt_fail_errno("cannot create a socket pair for the keeper process");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of the embedder may run in the child */
    pid_t keeper = link_fork();
    if (keeper == 0)
        pl_keeper_run(pair[1], embedder);
    int failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (keeper < 0) {
        close(pair[0]);
        errno = failure;
        return pl_rt_fail_errno("cannot start the keeper process");
    }
    link->fd = pair[0];
    link->keeper = keeper;
    return PLENUM_OK;
}

/* A process may have stopped the keeper (SIGSTOP), and then nothing would start, end or be reported. */
static void link_continue(const struct pl_link *link)
{
    kill(link->keeper, SIGCONT);
}

void pl_link_rouse(const struct pl_link *link)
{
    if (link->fd >= 0)
        link_continue(link);
}

bool pl_link_close(struct pl_link *link)
{
    int status = SIGKILL;
    if (link->fd < 0)
        return false;
    shutdown(link->fd, SHUT_RDWR); /* a child that the embedder has forked may still hold the descriptor */
    close(link->fd);
    link->fd = -1;
    link_continue(link);
    while (waitpid(link->keeper, &status, __WALL) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status);
}

int pl_link_send(struct pl_link *link, const struct pl_keeper_request *request, const int *fd, int count)
{
    if (link->fd < 0)
        return PLENUM_OK;
    struct iovec part = { (void *)request, sizeof *request };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(PL_KEEPER_FDS * sizeof(int))];
    } control;
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

    if (count > 0) {
        size_t bytes = (size_t)count * sizeof(int);
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(bytes);
        struct cmsghdr *carried = CMSG_FIRSTHDR(&message);
        *carried = (struct cmsghdr){ .cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(carried), fd, bytes);
    }
    ssize_t sent;
    link_continue(link);
    do
        sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno == EPIPE || errno == ECONNRESET)
        return PLENUM_OK;
    return pl_rt_fail_errno("cannot reach the keeper process");
}

enum pl_link_state pl_link_receive(struct pl_link *link, struct pl_keeper_notice *notice)
{
    ssize_t got;
    do
        got = recv(link->fd, notice, sizeof *notice, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == sizeof *notice)
        return PL_LINK_NOTICE;
    return got < 0 && errno == EAGAIN ? PL_LINK_NOTHING : PL_LINK_CLOSED;
}
