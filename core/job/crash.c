/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a crash leaves behind: the signal and a trace, in the page of the rank. The handlers stand aside where somebody
 * has one already, run on a stack of their own, call nothing that is not safe there, and let the signal end the process
 * as it would have done.
 */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"

enum { STACK = 64 << 10, PATIENCE_MS = 500 };

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static _Atomic(struct pl_job_record *) page; /* NULL: nothing is to be written */
static pid_t watcher;                        /* a forked child has the handlers, too, and not the page */
static _Atomic int crashing, told;
static bool watched[SIGNALS], own_stack;
static _Alignas(16) char stack[STACK]; /* takes memory when it is used */

static const void *crash_place_of(const ucontext_t *context)
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

/* A call of what is no code: goes back to the caller, from which frames can be followed, and says where it was. */
static bool step_back(ucontext_t *context, const siginfo_t *info)
{
    if (info->si_code <= 0 || crash_place_of(context) != info->si_addr)
        return false;
#if defined(__x86_64__)
    greg_t *reg = context->uc_mcontext.gregs;
    reg[REG_RIP] = *__extension__(const greg_t *) reg[REG_RSP];
    reg[REG_RSP] += (greg_t)sizeof(greg_t);
    return true;
#elif defined(__aarch64__)
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
    return true;
#else
    return false;
#endif
}

static void take_trace(struct pl_job_record *to, const siginfo_t *info, ucontext_t *context)
{
    struct pl_job_trace *trace = &to->trace[PL_RECORD_TRACES - 1];
    const mcontext_t before = context->uc_mcontext;
    const void *place = crash_place_of(context);
    bool nowhere = step_back(context, info);
    pl_trace_take(to, trace, crash_place_of(context));
    context->uc_mcontext = before; /* the fault is to happen again */
    if (!nowhere)
        return;
    trace->count -= trace->count == PL_RECORD_FRAMES;
    memmove(&trace->frame[1], trace->frame, trace->count++ * sizeof trace->frame[0]);
    trace->frame[0] = (struct pl_job_frame){ .offset = (uint64_t)(uintptr_t)place, .module = PL_RECORD_MODULES };
}

/* The trace comes last: if the stack is so damaged that taking it is a crash, too, the rest is there. */
static void write_crash(struct pl_job_record *to, int signo, const siginfo_t *info, ucontext_t *context)
{
    bool sent = info->si_code <= 0;
    to->crash_code = info->si_code;
    to->crash_sender = sent && info->si_pid != watcher ? (int32_t)info->si_pid : 0;
    to->crash_address = sent ? 0 : (uint64_t)(uintptr_t)info->si_addr;
    to->crash_thread = (int32_t)syscall(SYS_gettid);
    to->trace[PL_RECORD_TRACES - 1].count = 0;
    atomic_store_explicit(&to->crashed, (uint32_t)signo, memory_order_release);
    take_trace(to, info, context);
    atomic_store(&told, 1);
}

/* A fault happens again when the handler returns, what was sent is sent again: and now it is the end. */
static void crash_crashed(int signo, siginfo_t *info, void *context)
{
    struct pl_job_record *to = atomic_load(&page);
    bool mine = to && getpid() == watcher;
    if (mine && atomic_exchange(&crashing, 1) == 0)
        write_crash(to, signo, info, context);
    else if (mine) /* another thread is writing */
        for (int i = 0; i < PATIENCE_MS && !atomic_load(&told); i++)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    signal(signo, SIG_DFL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
}

void pl_crash_watch(void)
{
    const struct pl_job_segment *job = pl_process.place.job;
    struct pl_job_record *to = job && pl_config_bool("crash_report") ? pl_job_record(job, pl_process.place.rank) : NULL;
    struct sigaction now, mine = { .sa_sigaction = crash_crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t before, alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    if (!to)
        return;
    watcher = getpid();
    atomic_store(&to->crashed, 0);
    atomic_store(&told, 0);
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
            now.sa_sigaction == crash_crashed)
            signal(signals[i], SIG_DFL);
    if (own_stack && sigaltstack(NULL, &alternate) == 0 && alternate.ss_sp == stack)
        sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}
