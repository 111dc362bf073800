/* SPDX-License-Identifier: BSD-3-Clause */
/* See preflight.h. */
#include "api/mpiexec/preflight.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SHM_MEGABYTES = 256 };

/* Plenum's own memory files have no names and do not need /dev/shm. UCX, PMIx and the programs may need it. */
static void preflight_check_shm(struct run *run)
{
    struct statvfs shm;
    char what[128] = "";
    if (statvfs("/dev/shm", &shm) != 0)
        snprintf(what, sizeof what, "there is no /dev/shm (%s)", strerror(errno));
    else if (access("/dev/shm", W_OK) != 0)
        snprintf(what, sizeof what, "/dev/shm cannot be written (%s)", strerror(errno));
    else if ((unsigned long long)shm.f_bavail * shm.f_frsize >> 20 < SHM_MEGABYTES)
        snprintf(what, sizeof what, "/dev/shm has %llu MiB free",
                 (unsigned long long)shm.f_bavail * shm.f_frsize >> 20);
    if (what[0])
        run_say(run,
                "note: %s: ranks on this machine communicate through anonymous memory, which does not need it; UCX, if "
                "selected, uses the network",
                what);
}

static int preflight_ptrace_scope(void)
{
    int scope = 0;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file) {
        if (fscanf(file, "%d", &scope) != 1)
            scope = 0;
        fclose(file);
    }
    return scope;
}

static void preflight_check_cma(struct run *run)
{
    char from = 1, to = 0;
    struct iovec local = { &to, 1 }, remote = { &from, 1 };
    const char *why = NULL;
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1)
        why = errno == ENOSYS ? "the kernel has no process_vm_readv" : "the sandbox forbids process_vm_readv";
    else if (preflight_ptrace_scope() > 0 && geteuid() != 0)
        why = "kernel.yama.ptrace_scope is not 0";
    if (why)
        run_say(run, "note: no kernel-assisted copies (CMA): %s; long messages go through shared memory", why);
}

static void preflight_check_hostname(struct run *run)
{
    char name[256] = "";
    struct addrinfo *found = NULL;
    gethostname(name, sizeof name - 1);
    int err = getaddrinfo(name, NULL, NULL, &found);
    if (err)
        run_say(run, "note: cannot resolve the name of this machine, \"%s\" (%s); Plenum does not need it", name,
                gai_strerror(err));
    else
        freeaddrinfo(found);
}

void preflight_say(struct run *run)
{
    preflight_check_shm(run);
    preflight_check_cma(run);
    preflight_check_hostname(run);
}
