/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes a program in which system calls fail, as in a container with a strict filter:
 *
 *     deny ERRNO CALL[,CALL...] PROGRAM [ARGUMENT...]
 *
 * ERRNO is EPERM or ENOSYS. The program's children inherit the filter. Exit code 77: there are no filters here, or no
 * such call on this kind of machine.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name)                                                                                                     \
    {                                                                                                                  \
#name, SYS_##name                                                                                              \
    }

static const struct {
    const char *name;
    long number;
} calls[] = {
    CALL(accept4),
    CALL(bind),
    CALL(chdir),
    CALL(clock_nanosleep),
    CALL(clone),
    CALL(clone3),
    CALL(close_range),
    CALL(connect),
    CALL(dup),
    CALL(dup3),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(eventfd2),
    CALL(execveat),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(fadvise64),
    CALL(fallocate),
    CALL(flock),
    CALL(ftruncate),
    CALL(getcwd),
    CALL(getdents64),
    CALL(getrandom),
    CALL(getsockname),
    CALL(getsockopt),
    CALL(ioctl),
    CALL(kill),
    CALL(listen),
    CALL(lseek),
    CALL(madvise),
    CALL(membarrier),
    CALL(memfd_create),
    CALL(mincore),
    CALL(mkdirat),
    CALL(mlock),
    CALL(mremap),
    CALL(pidfd_getfd),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pipe2),
    CALL(ppoll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(ptrace),
    CALL(readlinkat),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_yield),
    CALL(sendmsg),
    CALL(sendto),
    CALL(setpgid),
    CALL(setsockopt),
    CALL(shutdown),
    CALL(sigaltstack),
    CALL(signalfd4),
    CALL(socket),
    CALL(socketpair),
    CALL(statfs),
    CALL(sysinfo),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(uname),
    CALL(unlinkat),
    CALL(waitid),
#ifdef __x86_64__
    CALL(access),
    CALL(dup2),
    CALL(getrlimit),
    CALL(mkdir),
    CALL(poll),
    CALL(readlink),
    CALL(unlink),
    CALL(vfork),
#endif
};

static long number_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)
            return calls[i].number;
    return -1;
}

static void list(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        puts(calls[i].name);
}

int main(int argc, char *argv[])
{
    struct sock_filter program[200] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
    unsigned short used = 1;
    if (argc < 4) {
        list();
        return 0;
    }
    unsigned error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
    for (const char *at = argv[2]; *at;) {
        size_t length = strcspn(at, ",");
        long number = number_of(at, length);
        if (number < 0)
            return 77;
        program[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
        program[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
        at += length + (at[length] == ',');
    }
    program[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = { used, program };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("deny");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
