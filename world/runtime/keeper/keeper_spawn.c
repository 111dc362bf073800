/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See keeper_spawn.h. Between vfork() and execve() the child runs in the keeper's memory and writes only `*shared`.
 * (Where vfork() is a plain fork(), for example under a sanitizer, `*shared` still arrives.)
 */
#include "world/runtime/keeper/keeper_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "world/runtime/keeper/slice.h"

enum {
    PROGRAM_FD = 3,
    SLICE_NS = 100000, /* the shortest that Linux has */
};

struct child {
    const char *path, *wdir;
    char **argv, **env;
    const int *fd;
    int segment, job_fd, shared, shared_fd;
    int notes, notes_fd; /* -1: there is no pipe */
    int pmi_fd;          /* 0: no server */
    bool stopped;
    const cpu_set_t *cpus;            /* NULL: not bound */
    const struct rlimit *descriptors; /* NULL: that of the keeper */
    pid_t keeper;
    int *failed; /* [2]: stage, errno */
};

static _Noreturn void child_fail(const struct child *c, enum pl_keeper_stage stage)
{
    c->failed[1] = errno;
    c->failed[0] = stage;
    _exit(127);
}

/* The shell runs a script without a #! line. There is space for one more pointer before c->argv. */
static void child_exec(const struct child *c)
{
    execve(c->path, c->argv, c->env);
    if (errno != ENOEXEC)
        return;
    char **argv = c->argv - 1;
    argv[0] = "/bin/sh";
    argv[1] = (char *)c->path;
    execve(argv[0], argv, c->env);
}

/* `fd` becomes the descriptor `number`, which the program inherits. */
static void child_give(const struct child *c, int fd, int number)
{
    if (fd == number ? fcntl(fd, F_SETFD, 0) < 0 : dup2(fd, number) < 0)
        child_fail(c, PL_STAGE_SETUP);
}

/* The lowest descriptor that the program inherits beside its standard streams. */
static int child_lowest(const struct child *c)
{
    return c->pmi_fd ? c->pmi_fd : c->notes_fd ? c->notes_fd : c->shared_fd;
}

/* The same file, to become the descriptor `number`: by one that child_give() does not overwrite before. */
static int child_keep(const struct child *c, int fd, int number)
{
    while (fd >= child_lowest(c) && fd <= c->job_fd && fd != number)
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return fd;
}

/*
 * Ranks get short time slices. The kernel then lets a rank that was awaited run soon, beside programs that compute:
 * four ranks that wait for each other are five times as fast on two busy cores (docs/notes/waiting.md). Their share of
 * the cores stays the same, and ranks that compute are not interrupted more often. Kernels before Linux 6.12 ignore it.
 */
static void child_set_slice(void)
{
    struct pl_sched_attr attr;
    if (pl_sched_get(&attr) != 0 || (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH))
        return;
    attr.runtime = SLICE_NS;
    pl_sched_set(&attr);
}

static _Noreturn void child_run(const struct child *c)
{
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != c->keeper)
        _exit(127);
    for (int s = 0; s < 3; s++)
        if (dup2(c->fd[s], s) < 0)
            child_fail(c, PL_STAGE_SETUP);
    int shared = child_keep(c, c->shared, c->shared_fd);
    int notes = child_keep(c, c->notes, c->notes_fd);
    int pmi = c->pmi_fd ? child_keep(c, c->fd[3], c->pmi_fd) : -1;
    child_give(c, c->segment, c->job_fd);
    child_give(c, shared, c->shared_fd);
    if (notes >= 0)
        child_give(c, notes, c->notes_fd);
    if (pmi >= 0)
        child_give(c, pmi, c->pmi_fd);
    syscall(SYS_close_range, 3, child_lowest(c) - 1, 0); /* all of them should be close-on-exec already */
    syscall(SYS_close_range, c->job_fd + 1, ~0u, 0);
    if (chdir(c->wdir) != 0)
        child_fail(c, PL_STAGE_WDIR);
    if (c->cpus && sched_setaffinity(0, sizeof *c->cpus, c->cpus) != 0)
        child_fail(c, PL_STAGE_SETUP);
    if (c->descriptors)
        setrlimit(RLIMIT_NOFILE, c->descriptors);
    child_set_slice();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (c->stopped && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        child_fail(c, PL_STAGE_STOP);
    child_exec(c);
    child_fail(c, PL_STAGE_EXEC);
}

static char **child_pointers(const struct pl_plan *plan, uint32_t offset, uint32_t count, char **out)
{
    const uint32_t *text = pl_plan_at(plan, offset);
    for (uint32_t i = 0; i < count; i++)
        *out++ = (char *)pl_plan_at(plan, text[i]);
    return out;
}

/* Waits until the process has stopped: the signal; 0: it has ended, which is left for the keeper's wait. */
static int spawn_await_stop(pid_t pid)
{
    siginfo_t info = { .si_code = 0 };
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) != 0)
        if (errno != EINTR)
            return 0;
    return info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED ? info.si_status : 0;
}

/* A traced process stops when it has executed a program, and before for each signal that it gets. From the former stop
 * it goes into one of its own, untraced, so that a debugger can attach. */
static void spawn_stop(pid_t pid)
{
    int signo;
    while ((signo = spawn_await_stop(pid)) != SIGTRAP && signo)
        ptrace(PTRACE_CONT, pid, NULL, signo);
    if (signo && ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP) == 0)
        spawn_await_stop(pid);
}

/* How the start has ended. `shared`: the stage at which the process failed, or 0, and its errno. */
static void spawn_record_start(struct pl_kept_rank *rank, const int *shared)
{
    if (rank->pid < 0) {
        rank->status = errno;
    } else if (shared[0]) {
        rank->stage = (uint8_t)shared[0];
        rank->status = shared[1];
    } else {
        rank->phase = PL_KEPT_RUNNING;
        rank->unsent = 1 << PL_KEEPER_STARTED;
        rank->status = 0;
        rank->started_us = pl_clock_read(CLOCK_REALTIME) / 1000;
        rank->run_us = pl_clock_read(CLOCK_MONOTONIC) / 1000;
    }
}

void pl_keeper_spawn(const struct pl_kept_job *job, uint32_t number, const int fd[PL_KEEPER_EACH],
                     const struct pl_spawning *spawning, struct pl_kept_rank *rank)
{
    const struct pl_plan *plan = job->plan;
    int *shared = spawning->shared;
    const struct pl_plan_rank *p = (const struct pl_plan_rank *)pl_plan_at(plan, plan->ranks) + number;
    size_t bytes = (3 + p->argc + p->envc + p->ownc) * sizeof(char *);
    char **pointers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    rank->phase = PL_KEPT_ENDED;
    rank->unsent = 1 << PL_KEEPER_FAILED;
    rank->stage = PL_STAGE_FORK;
    rank->status = ENOMEM;
    if (pointers == MAP_FAILED)
        return;

    char **env = child_pointers(plan, p->argv, p->argc, pointers + 1) + 1;
    child_pointers(plan, p->own, p->ownc, child_pointers(plan, p->env, p->envc, env));
    shared[0] = 0;
    const struct child child = {
        .path = pl_plan_at(plan, p->path),
        .wdir = pl_plan_at(plan, p->wdir),
        .argv = pointers + 1,
        .env = env,
        .fd = fd,
        .segment = job->segment,
        .job_fd = (int)plan->job_fd,
        .shared = job->shared,
        .shared_fd = (int)plan->shared_fd,
        .notes = plan->notes_fd ? job->notes : -1,
        .notes_fd = (int)plan->notes_fd,
        .pmi_fd = (int)plan->pmi_fd,
        .stopped = plan->stopped != 0,
        .cpus = p->cpus ? pl_plan_at(plan, p->cpus) : NULL,
        .descriptors = spawning->raised ? &spawning->descriptors : NULL,
        .keeper = getpid(),
        .failed = shared,
    };
    rank->pid = child.stopped ? fork() : vfork(); /* a signal may stop a traced child before it executes */
    if (rank->pid == 0)
        child_run(&child);
    if (rank->pid > 0 && child.stopped)
        spawn_stop(rank->pid);
    spawn_record_start(rank, shared);
    munmap(pointers, bytes);
}

/* The program keeps its descriptor, so that it may be a script. */
static _Noreturn void child_symbolizer(int program, int socket)
{
    static char *const argv[] = { "symbolizer", NULL }, *const env[] = { NULL };
    sigset_t none;

    if (dup2(socket, STDIN_FILENO) < 0 || dup2(socket, STDOUT_FILENO) < 0 || dup2(program, PROGRAM_FD) < 0)
        _exit(127);
    syscall(SYS_close_range, PROGRAM_FD + 1, ~0u, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execveat(PROGRAM_FD, "", argv, env, AT_EMPTY_PATH);
    _exit(127);
}

void pl_keeper_spawn_symbolizer(int program, int socket)
{
    if (vfork() == 0)
        child_symbolizer(program, socket);
}
