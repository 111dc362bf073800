/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See debugger.h. A debugger of all ranks starts mpiexec, sets MPIR_being_debugged, and stops it in MPIR_Breakpoint();
 * or it attaches later. Either way it finds the processes in MPIR_proctable. It needs the names and types as they are
 * here, also in an executable without its debugging information.
 */
#include "api/mpiexec/debugger.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/memory_libc.h"

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

enum { DEBUGGER_SPAWNED = 1, DEBUGGER_ABORTING };

#define MPIR __attribute__((used, visibility("default")))

MPIR MPIR_PROCDESC *MPIR_proctable;
MPIR int MPIR_proctable_size;
MPIR volatile int MPIR_being_debugged; /* the debugger writes it */
MPIR volatile int MPIR_debug_state;
MPIR const char *volatile MPIR_debug_abort_string;
MPIR const int MPIR_i_am_starter = 1;      /* not a rank itself */
MPIR const int MPIR_acquired_pre_main = 1; /* the processes are stopped when MPIR_Breakpoint() is called */
MPIR const int MPIR_partial_attach_ok = 1; /* mpiexec continues those to which the debugger does not attach */
MPIR const int MPIR_ignore_queues = 1;     /* there is no library that shows the messages */
MPIR void MPIR_Breakpoint(void);

MPIR __attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory");
}

int debugger_prepare(struct run *run)
{
    if (!MPIR_being_debugged && !run->options->stop_on_exec)
        return PLENUM_OK;
    return plenum_job_set(run->job, PLENUM_JOB_STOPPED, 1);
}

/* The file of a process of this machine, which a debugger reads; otherwise the name that was given. */
static char *debugger_find_program(const struct plenum_process *process)
{
    char link[64], file[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", process->pid);
    ssize_t length = process->host[0] ? -1 : readlink(link, file, sizeof file);
    return length > 0 ? pl_strndup(file, (size_t)length) : pl_strdup(process->program);
}

static void debugger_make_table(const struct run *run)
{
    int size = plenum_job_size(run->job);
    struct utsname machine;
    struct plenum_process process;
    MPIR_PROCDESC *table = pl_calloc((size_t)size, sizeof *table);
    if (!table || uname(&machine) != 0) {
        free(table);
        return;
    }
    for (int r = 0; r < size && plenum_job_process(run->job, r, &process, sizeof process) == PLENUM_OK; r++) {
        table[r].host_name = pl_strdup(process.host[0] ? process.host : machine.nodename);
        table[r].executable_name = debugger_find_program(&process);
        table[r].pid = process.pid;
    }
    MPIR_proctable = table;
    MPIR_proctable_size = size;
}

static void debugger_say_stopped(struct run *run)
{
    struct plenum_process process;
    int stopped = 0;
    for (int r = 0; plenum_job_process(run->job, r, &process, sizeof process) == PLENUM_OK; r++) {
        if (process.state != PLENUM_PROCESS_STOPPED)
            continue;
        run_say(run, "rank %d (pid %d%s%s) is stopped before its program runs", r, process.pid,
                process.host[0] ? " on " : "", process.host);
        stopped++;
    }
    if (stopped)
        run_say(run, "kill -CONT %d continues all ranks", (int)getpid());
}

void debugger_show(struct run *run)
{
    debugger_make_table(run);
    MPIR_debug_state = DEBUGGER_SPAWNED;
    MPIR_Breakpoint();
    if (MPIR_being_debugged)
        plenum_job_signal(run->job, PLENUM_ALL, SIGCONT);
    else
        debugger_say_stopped(run);
}

void debugger_show_abort(const char *line)
{
    if (!MPIR_being_debugged)
        return;
    MPIR_debug_abort_string = line;
    MPIR_debug_state = DEBUGGER_ABORTING;
    MPIR_Breakpoint();
    MPIR_debug_abort_string = NULL;
}

void debugger_forget(void)
{
    for (int r = 0; r < MPIR_proctable_size; r++) {
        free(MPIR_proctable[r].host_name);
        free(MPIR_proctable[r].executable_name);
    }
    free(MPIR_proctable);
    MPIR_proctable = NULL;
    MPIR_proctable_size = 0;
}
