/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keeper's loop: requests from the embedder, ends of children, notices to the embedder, the embedder's death.
 *
 * The keeper never blocks on the embedder: a notice to send is a bit in the rank's record, and is sent when the socket
 * has space. keeper.h says what code here may use.
 */
#include "world/runtime/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/descriptors.h"
#include "core/job/stale_files.h"
#include "world/runtime/keeper/keeper_spawn.h"
#include "world/runtime/keeper/orphans.h"

enum {
    SOCKET_FD = 3,
    PLACER_END_MS = 2000,  /* from the end of its input to SIGTERM, for what leads to another host */
    PLACER_TERM_MS = 1000, /* from there to SIGKILL */
};

struct keeper {
    int children;     /* signalfd: SIGCHLD */
    int embedder;     /* pidfd of the embedding program, -1 where the kernel has none */
    uint32_t runtime; /* its pid */
    struct pl_kept_job *jobs;
    struct pl_spawning spawning;
};

static struct pl_kept_job *keeper_find_job(struct keeper *k, uint32_t id)
{
    struct pl_kept_job *job = k->jobs;
    while (job && job->id != id)
        job = job->next;
    return job;
}

static struct pl_kept_rank *keeper_find_rank(struct keeper *k, pid_t pid, struct pl_kept_job **owner)
{
    for (struct pl_kept_job *job = k->jobs; job; job = job->next)
        for (uint32_t r = 0; r < job->size; r++)
            if (job->rank[r].pid == pid && job->rank[r].phase == PL_KEPT_RUNNING) {
                *owner = job;
                return &job->rank[r];
            }
    return NULL;
}

/* False: the socket is full. If nothing can be sent at all, the embedder must not wait for notices: reading ends too,
 * and with it the keeper. */
static bool keeper_send(const struct pl_keeper_notice *notice)
{
    bool sent = send(SOCKET_FD, notice, sizeof *notice, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof *notice;
    if (!sent && errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
        shutdown(SOCKET_FD, SHUT_RDWR);
    return sent;
}

/* Without poll() the keeper looks every few milliseconds. */
static void keeper_poll(struct pollfd *p, nfds_t count, int timeout)
{
    if (poll(p, count, timeout) < 0 && errno != EINTR)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

/* --- requests ---------------------------------------------------------------------------------------------- */

static void *keeper_map(size_t bytes, int how)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | how, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool keeper_add_job(struct keeper *k, uint32_t id, const int *fd, int fds)
{
    struct stat st;
    if (fstat(fd[0], &st) != 0)
        return false;
    const struct pl_plan *plan = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd[0], 0);
    if (plan == MAP_FAILED)
        return false;
    size_t bytes = sizeof(struct pl_kept_job) + plan->rank_count * sizeof(struct pl_kept_rank);
    struct pl_kept_job *job = keeper_map(bytes, MAP_PRIVATE);
    if (!job) {
        munmap((void *)plan, (size_t)st.st_size);
        return false;
    }
    job->mapped = bytes;
    job->plan = plan;
    job->plan_bytes = (size_t)st.st_size;
    job->segment = fcntl(fd[1], F_DUPFD_CLOEXEC, SOCKET_FD + 1);
    job->shared = fcntl(fd[2], F_DUPFD_CLOEXEC, SOCKET_FD + 1);
    job->notes = fds > 3 ? fcntl(fd[3], F_DUPFD_CLOEXEC, SOCKET_FD + 1) : -1;
    job->id = id;
    job->size = plan->rank_count;
    job->waiting = plan->here;
    job->next = k->jobs;
    k->jobs = job;
    return true;
}

/* No rank of the job can be started: the record is kept for its notice. */
static void keeper_add_rejected(struct keeper *k, uint32_t id, int number)
{
    struct pl_kept_job *job = keeper_map(sizeof *job, MAP_PRIVATE);
    if (!job) {
        if (!keeper_send(&(struct pl_keeper_notice){ PL_KEEPER_GONE, id, .status = number }))
            shutdown(SOCKET_FD, SHUT_RDWR); /* the embedder would wait for the job for ever */
        return;
    }
    *job = (struct pl_kept_job){ .next = k->jobs,
                                 .mapped = sizeof *job,
                                 .segment = -1,
                                 .shared = -1,
                                 .notes = -1,
                                 .id = id,
                                 .gone = true,
                                 .status = number };
    k->jobs = job;
}

static void keeper_free_job(struct keeper *k, struct pl_kept_job *job)
{
    struct pl_kept_job **at = &k->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (job->plan)
        munmap((void *)job->plan, job->plan_bytes);
    munmap(job, job->mapped);
}

/* All ranks were started, or the remaining ones will not be. */
static void keeper_stop_starting(struct pl_kept_job *job)
{
    job->waiting = 0;
    if (job->segment >= 0)
        close(job->segment);
    if (job->shared >= 0)
        close(job->shared);
    if (job->notes >= 0)
        close(job->notes);
    job->segment = job->shared = job->notes = -1;
}

/* Descriptors do not arrive when this process is at its limit. */
static void keeper_start_ranks(struct keeper *k, struct pl_kept_job *job, uint32_t first, uint32_t count, const int *fd,
                               bool arrived)
{
    for (uint32_t i = 0; i < count && first + i < job->size && job->waiting > 0; i++) {
        struct pl_kept_rank *rank = &job->rank[first + i];
        if (arrived)
            pl_keeper_spawn(job, first + i, fd + PL_KEEPER_EACH * i, &k->spawning, rank);
        else
            *rank = (struct pl_kept_rank){
                .phase = PL_KEPT_ENDED, .unsent = 1 << PL_KEEPER_FAILED, .stage = PL_STAGE_SETUP, .status = EMFILE
            };
        job->waiting--;
        job->running += rank->phase == PL_KEPT_RUNNING;
    }
    if (job->waiting == 0)
        keeper_stop_starting(job);
}

/* Also to the processes that the rank started; to the rank alone if it has left its process group. */
static void keeper_signal_rank(const struct pl_kept_rank *rank, int signo)
{
    if (kill(-rank->pid, signo) != 0)
        kill(rank->pid, signo);
}

static void keeper_signal_ranks(struct pl_kept_job *job, int32_t only, int signo)
{
    for (uint32_t r = 0; r < job->size; r++)
        if (job->rank[r].phase == PL_KEPT_RUNNING && (only < 0 || (uint32_t)only == r))
            keeper_signal_rank(&job->rank[r], signo);
}

static void keeper_handle(struct keeper *k, const struct pl_keeper_request *request, const int *fd, int fds)
{
    struct pl_kept_job *job = keeper_find_job(k, request->job);
    switch (request->op) {
    case PL_KEEPER_JOB:
        errno = EMFILE;
        if (fds < 3 || !keeper_add_job(k, request->job, fd, fds))
            keeper_add_rejected(k, request->job, errno);
        break;
    case PL_KEEPER_RANKS:
        if (job)
            keeper_start_ranks(k, job, (uint32_t)request->first, request->count, fd,
                               (uint32_t)fds == PL_KEEPER_EACH * request->count);
        break;
    case PL_KEEPER_FORGO:
        if (job)
            keeper_stop_starting(job);
        break;
    case PL_KEEPER_SIGNAL:
        if (job)
            keeper_signal_ranks(job, request->first, request->signal);
        break;
    case PL_KEEPER_SYMBOLIZER:
        if (fds == 2)
            pl_keeper_spawn_symbolizer(fd[0], fd[1]);
        break;
    }
}

/* Receives one request. False: there is none now. Sets *closed when the embedder has closed its end. */
static bool keeper_receive(struct keeper *k, bool *closed)
{
    struct pl_keeper_request request;
    struct iovec part = { &request, sizeof request };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(PL_KEEPER_FDS * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t got = recvmsg(SOCKET_FD, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < (ssize_t)sizeof request) {
        *closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        return false;
    }
    int fd[PL_KEEPER_FDS], fds = 0;
    struct cmsghdr *carried = CMSG_FIRSTHDR(&message);
    if (carried && carried->cmsg_type == SCM_RIGHTS) {
        fds = (int)((carried->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fd, CMSG_DATA(carried), (size_t)fds * sizeof(int));
    }
    keeper_handle(k, &request, fd, fds);
    for (int i = 0; i < fds; i++)
        close(fd[i]);
    return true;
}

/* --- ends of processes ------------------------------------------------------------------------------------- */

static int64_t keeper_us(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

static void keeper_record_end(struct pl_kept_rank *rank, const struct rusage *used)
{
    rank->ended_us = pl_clock_read(CLOCK_REALTIME) / 1000;
    rank->run_us = pl_clock_read(CLOCK_MONOTONIC) / 1000 - rank->run_us;
    rank->usage =
        (struct pl_usage){ keeper_us(used->ru_utime), keeper_us(used->ru_stime), (int64_t)used->ru_maxrss * 1024 };
}

/* A dead child, which is not reaped yet: its pid cannot belong to another process. 0: there is none. Where the kernel
 * denies waitid(), the child is reaped at once, and its process group is killed a moment later. */
static pid_t keeper_find_dead(int *status, struct rusage *used, bool *reaped)
{
    siginfo_t dead = { 0 };
    *reaped = waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != ECHILD;
    return *reaped ? wait4(-1, status, WNOHANG, used) : dead.si_pid;
}

/* Reaps all dead children. The process group of a dead rank is killed before the rank is reaped. */
static void keeper_reap(struct keeper *k)
{
    struct rusage used = { 0 };
    int status = 0;
    bool reaped;
    for (pid_t pid; (pid = keeper_find_dead(&status, &used, &reaped)) > 0;) {
        struct pl_kept_job *job;
        struct pl_kept_rank *rank = keeper_find_rank(k, pid, &job);
        if (rank)
            kill(-pid, SIGKILL);
        if (!reaped)
            wait4(pid, &status, 0, &used);
        if (rank) {
            keeper_record_end(rank, &used);
            rank->phase = PL_KEPT_ENDED;
            rank->status = status;
            rank->unsent |= 1 << PL_KEEPER_ENDED;
            job->running--;
        }
    }
}

/* Jobs without ranks are gone once no process that they left behind lives. The death of a process that is killed here
 * raises SIGCHLD, after which the sweep runs again. */
static void keeper_sweep(struct keeper *k)
{
    bool any_ended = false, all_ended = true;
    for (struct pl_kept_job *job = k->jobs; job; job = job->next) {
        if (job->waiting == 0 && job->running == 0 && !job->gone)
            any_ended |= job->gone = pl_keeper_sweep(k->jobs, job->plan->cookie, false) == 0;
        all_ended &= job->gone;
    }
    if (any_ended)
        pl_stale_files_sweep(all_ended ? k->runtime : 0);
}

/* --- notices ----------------------------------------------------------------------------------------------- */

/* Sends the notices of kinds `first` to `last` of all ranks. False: the socket is full. */
static bool keeper_send_ranks(struct pl_kept_job *job, uint32_t first, uint32_t last)
{
    for (uint32_t r = 0; r < job->size; r++)
        for (uint32_t kind = first; kind <= last && job->rank[r].unsent; kind++) {
            struct pl_kept_rank *rank = &job->rank[r];
            if (!(rank->unsent & 1u << kind))
                continue;
            const struct pl_keeper_notice notice = {
                .kind = kind,
                .job = job->id,
                .rank = r,
                .pid = rank->pid,
                .status = rank->status,
                .stage = rank->stage,
                .time_us = kind == PL_KEEPER_ENDED ? rank->ended_us : rank->started_us,
                .run_us = kind == PL_KEEPER_ENDED ? rank->run_us : 0,
                .usage = rank->usage,
            };
            if (!keeper_send(&notice))
                return false;
            rank->unsent &= (uint8_t) ~(1u << kind);
        }
    return true;
}

/* Sends the unsent notices, for each job in the order started, ended, gone: no end of a rank is told before all ranks
 * have been started. False: the socket is full. */
static bool keeper_send_all(struct keeper *k)
{
    struct pl_kept_job *next;
    for (struct pl_kept_job *job = k->jobs; job; job = next) {
        next = job->next;
        if (!keeper_send_ranks(job, PL_KEEPER_STARTED, PL_KEEPER_FAILED) ||
            (job->waiting == 0 && !keeper_send_ranks(job, PL_KEEPER_ENDED, PL_KEEPER_ENDED)))
            return false;
        if (!job->gone)
            continue;
        struct pl_keeper_notice gone = { .kind = PL_KEEPER_GONE, .job = job->id, .status = job->status };
        if (!keeper_send(&gone))
            return false;
        keeper_free_job(k, job);
    }
    return true;
}

/* --- the loop ---------------------------------------------------------------------------------------------- */

static bool keeper_is_placer(const struct pl_kept_job *job)
{
    return job->plan && job->plan->placer && job->running > 0;
}

/* True: all placers have ended. */
static bool keeper_await_placers(struct keeper *k, int ms)
{
    int64_t deadline = pl_deadline_after_ms(ms);
    while (true) {
        struct pollfd p = { .fd = k->children, .events = POLLIN };
        struct signalfd_siginfo seen;
        bool any = false;
        keeper_reap(k);
        for (struct pl_kept_job *job = k->jobs; job; job = job->next)
            any |= keeper_is_placer(job);
        if (!any || pl_deadline_left_ms(deadline) <= 0)
            return !any;
        keeper_poll(&p, 1, pl_deadline_left_ms(deadline));
        while (read(k->children, &seen, sizeof seen) > 0)
            ;
    }
}

/* The input of the placers has ended, and so the agents end. A placer that waits for that leaves nothing on the other
 * host: an srun that is killed leaves its allocation, and perhaps the agent. */
static void keeper_end_placers(struct keeper *k)
{
    if (keeper_await_placers(k, PLACER_END_MS))
        return;
    for (struct pl_kept_job *job = k->jobs; job; job = job->next)
        if (keeper_is_placer(job))
            keeper_signal_ranks(job, -1, SIGTERM);
    keeper_await_placers(k, PLACER_TERM_MS);
}

/* The embedder is gone: no process of its jobs may survive. Processes that cannot be killed (of other users) are left
 * alone. */
static _Noreturn void keeper_end_everything(struct keeper *k)
{
    for (struct pl_kept_job *job = k->jobs; job; job = job->next)
        if (!keeper_is_placer(job))
            keeper_signal_ranks(job, -1, SIGKILL);
    keeper_end_placers(k);
    for (struct pl_kept_job *job = k->jobs; job; job = job->next)
        keeper_signal_ranks(job, -1, SIGKILL);
    do {
        keeper_reap(k);
        struct pollfd p = { .fd = k->children, .events = POLLIN };
        if (pl_keeper_sweep(k->jobs, 0, true) == 0)
            break;
        struct signalfd_siginfo seen;
        keeper_poll(&p, 1, 100);
        while (read(k->children, &seen, sizeof seen) > 0)
            ;
    } while (true);
    pl_stale_files_sweep(k->runtime);
    _exit(0);
}

static void keeper_close_from(int first)
{
    struct rlimit limit;
    if (syscall(SYS_close_range, first, ~0u, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    for (int fd = first; (rlim_t)fd < limit.rlim_cur; fd++)
        close(fd);
}

static void keeper_init(struct keeper *k, int socket, pid_t embedder)
{
    sigset_t all;
    sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, NULL) != 0)
        _exit(1); /* no end of a process would be noticed */
    for (int s = 1; s < NSIG; s++) {
        struct sigaction now;
        /* The ranks inherit an ignored SIGHUP (nohup); all other dispositions are reset. */
        if (s == SIGHUP && sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            continue;
        signal(s, SIG_DFL);
    }
    if (dup2(socket, SOCKET_FD) != SOCKET_FD)
        _exit(1);
    keeper_close_from(SOCKET_FD + 1); /* before the first open(): the embedder may be at its limit of descriptors */
    fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < SOCKET_FD && null >= 0; fd++)
        dup2(null, fd);
    prctl(PR_SET_NAME, "plenum-keeper", 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    setpgid(0, 0);
    if (chdir("/") != 0) { /* the keeper then only keeps the embedder's directory busy */
    }
    k->children = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    k->embedder = (int)syscall(SYS_pidfd_open, embedder, 0);
    k->runtime = (uint32_t)embedder;
    k->spawning.shared = keeper_map(4096, MAP_SHARED);
    k->spawning.raised = pl_descriptors_raise(&k->spawning.descriptors);
}

_Noreturn void pl_keeper_run(int socket, pid_t embedder)
{
    struct keeper k = { .embedder = -1 };
    bool closed = false, writable = true;

    keeper_init(&k, socket, embedder);
    if (!k.spawning.shared || k.children < 0)
        _exit(1);
    while (!closed && getppid() == embedder) {
        struct pollfd p[] = { { .fd = SOCKET_FD, .events = (short)(writable ? POLLIN : POLLIN | POLLOUT) },
                              { .fd = k.children, .events = POLLIN },
                              { .fd = k.embedder, .events = POLLIN } };
        keeper_poll(p, 3, -1);
        struct signalfd_siginfo seen;
        while (read(k.children, &seen, sizeof seen) > 0)
            ;
        while (keeper_receive(&k, &closed))
            ;
        keeper_reap(&k);
        keeper_sweep(&k);
        writable = keeper_send_all(&k);
    }
    keeper_end_everything(&k);
}
