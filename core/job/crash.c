/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handlers are not installed where the program has one already. They run on a stack of their own, call only what is
 * safe in a signal handler, and let the signal end the process as it would have.
 */
#include "core/job/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/job/process.h"
#include "core/job/trace.h"

enum { STACK = 64 << 10, WRITER_MS = 500 /* for another thread to finish the record */ };

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static _Atomic(struct pl_job_record *) crash_page; /* NULL: no record is to be written */
static pid_t crash_pid;                            /* a forked child has the handlers as well, but not the page */
static _Atomic int crashing, written;
static bool crash_watched[SIGNALS], crash_stack_set;
static _Alignas(16) char crash_stack[STACK]; /* takes memory only when it is used */

static const void *crash_pc(const ucontext_t *context)
{
#if PL_X86_64
    return __extension__(const void *) context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)context->uc_mcontext.pc;
#elif defined(__riscv)
    return (const void *)context->uc_mcontext.__gregs[REG_PC];
#elif defined(__powerpc64__)
    return (const void *)context->uc_mcontext.gp_regs[PT_NIP];
#elif defined(__s390x__)
    return (const void *)context->uc_mcontext.psw.addr;
#else
    (void)context;
    return NULL;
#endif
}

/* After a call to an address that is not code: returns to the caller, from which the frames can be followed. */
static bool crash_step_back(ucontext_t *context, const siginfo_t *info)
{
    if (info->si_code <= 0 || crash_pc(context) != info->si_addr)
        return false;
#if PL_X86_64
    greg_t *reg = context->uc_mcontext.gregs;
    reg[REG_RIP] = *__extension__(const greg_t *) reg[REG_RSP];
    reg[REG_RSP] += (greg_t)sizeof(greg_t);
    return true;
#elif defined(__aarch64__)
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
    return true;
#elif defined(__riscv)
    context->uc_mcontext.__gregs[REG_PC] = context->uc_mcontext.__gregs[REG_RA];
    return true;
#elif defined(__powerpc64__)
    context->uc_mcontext.gp_regs[PT_NIP] = context->uc_mcontext.gp_regs[PT_LNK];
    return true;
#elif defined(__s390x__)
    context->uc_mcontext.psw.addr = context->uc_mcontext.gregs[14];
    return true;
#else
    return false;
#endif
}

static void crash_take_trace(struct pl_job_record *to, const siginfo_t *info, ucontext_t *context)
{
    struct pl_job_trace *trace = &to->trace[PL_RECORD_TRACES - 1];
    const mcontext_t before = context->uc_mcontext;
    const void *address = crash_pc(context);
    bool not_code = crash_step_back(context, info);
    pl_trace_take(to, trace, crash_pc(context));
    context->uc_mcontext = before; /* so that the fault happens again */
    if (!not_code)
        return;
    trace->count -= trace->count == PL_RECORD_FRAMES;
    memmove(&trace->frame[1], trace->frame, trace->count++ * sizeof trace->frame[0]);
    trace->frame[0] = (struct pl_job_frame){ .offset = (uint64_t)(uintptr_t)address, .module = PL_RECORD_MODULES };
}

/* The trace comes last: if the stack is so damaged that the trace crashes as well, the rest is recorded. */
static void crash_write(struct pl_job_record *to, int signo, const siginfo_t *info, ucontext_t *context)
{
    bool sent = info->si_code <= 0;
    to->crash_code = info->si_code;
    to->crash_sender = sent && info->si_pid != crash_pid ? (int32_t)info->si_pid : 0;
    to->crash_address = sent ? 0 : (uint64_t)(uintptr_t)info->si_addr;
    to->crash_thread = (int32_t)syscall(SYS_gettid);
    to->trace[PL_RECORD_TRACES - 1].count = 0;
    atomic_store_explicit(&to->crashed, (uint32_t)signo, memory_order_release);
    crash_take_trace(to, info, context);
    atomic_store(&written, 1);
}

/* A fault happens again when the handler returns, and a sent signal is sent again: then it ends the process. */
static void crash_handler(int signo, siginfo_t *info, void *context)
{
    struct pl_job_record *to = atomic_load(&crash_page);
    bool mine = to && getpid() == crash_pid;
    if (mine && atomic_exchange(&crashing, 1) == 0)
        crash_write(to, signo, info, context);
    else if (mine) /* another thread is writing the record */
        for (int i = 0; i < WRITER_MS && !atomic_load(&written); i++)
            pl_clock_sleep_ns(PL_NS_PER_MS);
    signal(signo, SIG_DFL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
}

void pl_crash_watch(void)
{
    const struct pl_job_segment *job = pl_process.identity.job;
    struct pl_job_record *to = job && pl_config_bool("crash_report")
                                   ? pl_job_record(job, pl_process.identity.shared, pl_process.identity.rank)
                                   : NULL;
    struct sigaction now, mine = { .sa_sigaction = crash_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t before, alternate = { .ss_sp = crash_stack, .ss_size = sizeof crash_stack };
    if (!to)
        return;
    crash_pid = getpid();
    atomic_store(&to->crashed, 0);
    atomic_store(&written, 0);
    atomic_store(&crash_page, to);
    crash_stack_set =
        sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) && sigaltstack(&alternate, NULL) == 0;
    for (int i = 0; i < SIGNALS; i++) {
        bool free = sigaction(signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
        crash_watched[i] = free && sigaction(signals[i], &mine, NULL) == 0;
    }
}

void pl_crash_ignore(void)
{
    struct sigaction now;
    stack_t alternate;
    if (!atomic_exchange(&crash_page, NULL))
        return;
    for (int i = 0; i < SIGNALS; i++)
        if (crash_watched[i] && sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == crash_handler)
            signal(signals[i], SIG_DFL);
    if (crash_stack_set && sigaltstack(NULL, &alternate) == 0 && alternate.ss_sp == crash_stack)
        sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}
