/* SPDX-License-Identifier: BSD-3-Clause */
/* See others.h. docs/mpiexec.md says the same in a table. Options that are done here are in options.c. */
#include "api/mpiexec/others.h"

#include <string.h>

#define VARIABLES      "Plenum has variables instead: -x PLENUM_NAME=VALUE, with a name of `plenum-info config`"
#define ONE_NODE       "mpiexec starts processes on this machine itself; --launcher passes a job on"
#define PLACES         "the order of the ranks on a machine is fixed, and only --map-by and --bind-to place them"
#define ALWAYS         "it is always so here"
#define DEBUGGER       "start a debugger for each process: mpiexec -n 2 xterm -e gdb --args ./program"
#define SERVERS        "jobs find each other by ports and names (docs/dynamic.md), without a server"
#define NO_CHECKPOINTS "there are no checkpoints; the program must write its own"

static const struct other others[] = {
    /* Open MPI: accepted */
    { "mca", 2, false, VARIABLES },
    { "gmca", 2, false, VARIABLES },
    { "prtemca", 2, false, VARIABLES },
    { "pmixmca", 2, false, VARIABLES },
    { "omca", 2, false, VARIABLES },
    { "am", 1, false, VARIABLES },
    { "tune", 1, false, VARIABLES },
    { "rank-by", 1, false, PLACES },
    { "bynode", 0, false, PLACES },
    { "byslot", 0, false, PLACES },
    { "nooversubscribe", 0, false, "more processes than cores are always allowed" },
    { "use-hwthread-cpus", 0, false, "more processes than cores are always allowed; to bind, use --bind-to hwthread" },
    { "cpus-per-proc", 1, false, "a process is not bound to several cores; without --bind-to it may use all" },
    { "cpus-per-rank", 1, false, "a process is not bound to several cores; without --bind-to it may use all" },
    { "display-allocation", 0, false, ONE_NODE },
    { "display-devel-map", 0, false, "use --display-map" },
    { "enable-recovery", 0, false, "use --keep-going" },
    { "disable-recovery", 0, false, "it is the default" },
    { "get-stack-traces", 0, false, "--timeout prints where each process waits" },
    { "report-state-on-timeout", 0, false, "--timeout prints what each process does" },
    { "show-progress", 0, false, "use --verbose" },
    { "leave-session-attached", 0, false, ALWAYS },
    { "no-ready-msg", 0, false, ALWAYS },
    { "prefix", 1, false, "the library is found by the program's own path" },
    { "noprefix", 0, false, "the library is found by the program's own path" },
    { "novm", 0, false, ONE_NODE },
    { "personality", 1, false, "there is one" },
    { "tmpdir", 1, false, "no files are made for a job" },
    { "debug-daemons", 0, false, "there are no daemons; use --verbose" },
    { "stream-buffering", 1, false, "lines arrive when they are complete; for blocks use --buffered" },
    { "report-child-jobs-separately", 0, false, "the first failure decides the exit code" },
    { "do-not-resolve", 0, false, ONE_NODE },
    { "enable-instant-on-support", 0, false, ALWAYS },
    /* Open MPI: refused */
    { "rankfile", 1, true, PLACES },
    { "rf", 1, true, PLACES },
    { "npersocket", 1, true, "use -n, with --map-by socket --bind-to socket" },
    { "cpu-list", 1, true, "use --cpu-set, with --bind-to core" },
    { "slot-list", 1, true, "use --cpu-set, with --bind-to core" },
    { "nolocal", 0, true, "name the machines: --host" },
    { "app", 1, true, "use --configfile, whose lines are the same" },
    { "merge-stderr-to-stdout", 0, true, "use the shell: mpiexec ... 2>&1" },
    { "xml", 0, true, "use --json-events" },
    { "xml-file", 1, true, "use --json-events" },
    { "xterm", 1, true, "start a terminal for each process: mpiexec -n 2 xterm -e ./program" },
    { "debug", 0, true, DEBUGGER },
    { "debugger", 1, true, DEBUGGER },
    { "tv", 0, true, DEBUGGER },
    { "preload-binary", 0, true, "the program must be on all machines" },
    { "preload-files", 1, true, "the files must be on all machines" },
    { "set-cwd-to-session-dir", 0, true, "use --wdir" },
    { "do-not-launch", 0, true, "use --dry-run" },
    { "continuous", 0, true, "use --keep-going" },
    { "max-restarts", 1, true, "processes are not restarted" },
    { "ompi-server", 1, true, SERVERS },
    { "wait-for-server", 0, true, SERVERS },
    { "server-wait-time", 1, true, SERVERS },
    { "dvm", 1, true, ONE_NODE },
    { "dvm-uri", 1, true, ONE_NODE },
    { "add-host", 1, true, "name all machines with --host" },
    { "add-hostfile", 1, true, "name all machines with --hostfile" },
    { "report-pid", 1, true, "use the shell: mpiexec ... & echo $!" },
    { "report-uri", 1, true, "there is no server to connect to" },
    { "bind-to-core", 0, true, "use --bind-to core" },
    { "bind-to-socket", 0, true, "use --bind-to socket" },
    { "bind-to-none", 0, true, "use --bind-to none" },
    { "bysocket", 0, true, "use --map-by socket" },
    { "bycore", 0, true, "use --map-by core" },
    { "runtime-options", 1, true, "use the options of this mpiexec: --keep-going, --timeout" },
    /* MPICH: accepted */
    { "rmk", 1, false, "--launcher auto recognizes Slurm" },
    { "topolib", 1, false, "the kernel's topology is used" },
    { "binding", 1, false, "use --bind-to" },
    { "iface", 1, false, "for the network of the processes set UCX_NET_DEVICES" },
    { "demux", 1, false, "there is one way to wait" },
    { "pmi-port", 0, false, "a job of this mpiexec needs no PMI" },
    { "enable-x", 0, false, "DISPLAY is passed on" },
    { "disable-x", 0, false, "DISPLAY is passed on; use -genvlist" },
    { "print-rank-map", 0, false, "use --display-map" },
    { "exitinfo", 0, false, "failures are always printed" },
    { "silent-abort", 0, false, "use --quiet" },
    { "disable-hostname-propagation", 0, false, ONE_NODE },
    { "localhost", 1, false, ONE_NODE },
    { "order-nodes", 1, false, ONE_NODE },
    { "skip-launch-node", 0, false, ONE_NODE },
    { "gpus-per-proc", 1, false, "processes see all devices" },
    { "print-all-exitcodes", 0, false, "--verbose prints them" },
    /* MPICH: refused */
    { "launcher-exec", 1, true, ONE_NODE },
    { "hostlist", 1, true, "use --host" },
    { "membind", 1, true, "use numactl: mpiexec -n 2 numactl --localalloc ./program" },
    { "envlist", 1, true, "use -genvlist, which is for all programs" },
    { "envnone", 0, true, "use -genvnone, which is for all programs" },
    { "info", 0, true, "use plenum-info" },
    { "nameserver", 1, true, SERVERS },
    { "profile", 0, true, "use perf: mpiexec -n 2 perf record -o perf.%p ./program" },
    { "gdb", 0, true, DEBUGGER },
    { "disable-auto-cleanup", 0, true, "use --keep-going" },
    { "ckpoint-interval", 1, true, NO_CHECKPOINTS },
    { "ckpoint-prefix", 1, true, NO_CHECKPOINTS },
    { "ckpoint-num", 1, true, NO_CHECKPOINTS },
    { "ckpointlib", 1, true, NO_CHECKPOINTS },
};

const struct other *others_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].name) == length && memcmp(others[i].name, name, length) == 0)
            return &others[i];
    return NULL;
}
