/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has nothing to do with the measured ones. It computes for ON microseconds, sleeps for OFF, and again;
 * with ON 0 it never sleeps. It ends with its parent. usage: stranger ON OFF */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long on = atol(argv[1]);
    struct timespec off = { .tv_nsec = atol(argv[2]) * 1000 };
    volatile double value = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        long start = now_us();
        while (on == 0 || now_us() - start < on)
            for (int i = 0; i < 1000; i++)
                value = value * 1.0000001 + 1e-9;
        nanosleep(&off, NULL);
    }
}
