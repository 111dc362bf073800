/* SPDX-License-Identifier: BSD-3-Clause */
/* See keeper_link.h. */
#include "world/runtime/keeper/keeper_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/proc_stat.h"
#include "world/runtime/runtime_error.h"

enum {
    HELD_MS = 2900,   /* for which a debugger is seen to hold the keeper, before that is killed */
    CHECK_MS = 1000,  /* between two checks of that, at the end */
    REAP_TRIES = 100, /* each of a millisecond, for the keeper's tracer to learn of its end */
};

/*
 * Forks a child that the embedding program does not notice: it sends no SIGCHLD, and only a wait with __WALL or
 * __WCLONE sees it. The child may only make system calls, since the C library does not know of this fork.
 * ThreadSanitizer takes its own locks within system calls, and would wait for ever in the child for those that other
 * threads held at the fork. It frees them in fork(). qemu, where it runs a program for another processor, refuses a
 * fork without a signal (EINVAL).
 */
static pid_t link_fork(void)
{
    if (PL_THREAD_SANITIZER)
        return fork();
    pid_t pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    return pid < 0 && errno == EINVAL ? fork() : pid;
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
    link->held = 0;
    return PLENUM_OK;
}

/* A process may have stopped the keeper (SIGSTOP), and then nothing would start, end or be reported. */
static void link_continue(const struct pl_link *link)
{
    kill(link->keeper, SIGCONT);
}

/* SIGCONT does not continue a process that a tracer has stopped. strace stops it for moments only. */
static bool link_is_held(const struct pl_link *link)
{
    struct pl_proc_stat stat;
    return pl_proc_stat_read(link->keeper, &stat) == 0 && stat.state == 't';
}

void pl_link_rouse(const struct pl_link *link)
{
    if (link->fd >= 0)
        link_continue(link);
}

void pl_link_kill_held(struct pl_link *link)
{
    if (link->keeper <= 0 || !link_is_held(link))
        link->held = 0;
    else if (!link->held)
        link->held = pl_clock_ms();
    else if (pl_clock_ms() - link->held >= HELD_MS)
        kill(link->keeper, SIGKILL);
}

/* Waits until the keeper has ended. A debugger that holds it would make that last for ever. */
static void link_await_end(struct pl_link *link, int pidfd)
{
    struct pollfd p = { .fd = pidfd, .events = POLLIN };
    int ready;
    while ((ready = poll(&p, 1, CHECK_MS)) == 0 || (ready < 0 && errno == EINTR))
        if (ready == 0)
            pl_link_kill_held(link);
}

/* True: *status says how the keeper has ended. Its tracer is told first, and may never pass that on: then the keeper
 * stays a zombie of the embedder. */
static bool link_reap(struct pl_link *link, int *status)
{
    int pidfd = (int)syscall(SYS_pidfd_open, link->keeper, 0), tries = 0;
    pid_t got;
    if (pidfd >= 0) {
        link_await_end(link, pidfd);
        close(pidfd);
    }
    while ((got = waitpid(link->keeper, status, __WALL | (pidfd >= 0 ? WNOHANG : 0))) <= 0) {
        if (got < 0 ? errno != EINTR : ++tries > REAP_TRIES)
            return false;
        if (got == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return true;
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
    bool reaped = link_reap(link, &status);
    link->keeper = 0;
    return reaped && WIFEXITED(status);
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
