/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a crash leaves behind: the signal and a trace, in the page of the rank. The handlers stand aside where somebody has
 * one already, run on a stack of their own, call nothing that is not safe there, and let the signal end the process as it
 * would have done.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/config.h"
#include "core/process.h"
#include "core/report.h"

enum { STACK = 64 << 10, PATIENCE_MS = 500 };

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static _Atomic(struct pl_job_page *) page; /* NULL: nothing is to be written */
static pid_t watcher;                      /* a forked child has the handlers, too, and not the page */
static _Atomic int crashing;
static bool watched[SIGNALS], own_stack;
static _Alignas(16) char stack[STACK]; /* takes memory when it is used */

static const void *place_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return __extension__(const void *) context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static void write_crash(struct pl_job_page *to, int signo, const siginfo_t *info, const ucontext_t *context)
{
    bool sent = info->si_code <= 0;
    to->crash_code = info->si_code;
    to->crash_sender = sent ? (int32_t)info->si_pid : 0;
    to->crash_address = sent ? 0 : (uint64_t)(uintptr_t)info->si_addr;
    to->crash_thread = (int32_t)syscall(SYS_gettid);
    pl_trace_take(to, &to->trace[PL_PAGE_TRACES - 1], place_of(context));
    atomic_store_explicit(&to->crashed, (uint32_t)signo, memory_order_release);
}

/* A fault happens again when the handler returns, what was sent is sent again: and now it is the end. */
static void crashed(int signo, siginfo_t *info, void *context)
{
    struct pl_job_page *to = atomic_load(&page);
    bool mine = to && getpid() == watcher;
    if (mine && atomic_exchange(&crashing, 1) == 0)
        write_crash(to, signo, info, context);
    else if (mine) /* another thread is writing, unless this is a crash of the handler itself */
        for (int i = 0; i < PATIENCE_MS && !atomic_load(&to->crashed); i++)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    signal(signo, SIG_DFL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
}

void pl_crash_watch(void)
{
    const struct pl_job *job = pl_process.place.job;
    struct pl_job_page *to = job && pl_config_bool("crash_report") ? pl_job_page(job, pl_process.place.rank) : NULL;
    struct sigaction now, mine = { .sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t before, alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    if (!to)
        return;
    watcher = getpid();
    atomic_store(&to->crashed, 0);
    atomic_store(&page, to);
    own_stack = sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) && sigaltstack(&alternate, NULL) == 0;
    for (int i = 0; i < SIGNALS; i++) {
        bool free = sigaction(signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
        watched[i] = free && sigaction(signals[i], &mine, NULL) == 0;
    }
}

void pl_crash_ignore(void)
{
    struct sigaction now;
    stack_t alternate;
    if (!atomic_exchange(&page, NULL))
        return;
    for (int i = 0; i < SIGNALS; i++)
        if (watched[i] && sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == crashed)
            signal(signals[i], SIG_DFL);
    if (own_stack && sigaltstack(NULL, &alternate) == 0 && alternate.ss_sp == stack)
        sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}
