/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: host GUEST CYCLES, linked with MPI (then it uses the World all the while) or compiled with -DWITHOUT_MPI.
 * Loads the library, uses it and unloads it, again and again. It must be as small at the end as after some cycles.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../mpi/usage.h"

#ifndef WITHOUT_MPI
#include <mpi.h>
#endif

static int failures;
#define CHECK(condition)                                                                                               \
    ((condition) ? 1 : (failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), 0))

static void cycle(const char *path)
{
    int rank = -1, size = -1, sum = -1;
    void *participant = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(participant))
        exit(1);
    int (*start)(int *, int *) = (int (*)(int *, int *))dlsym(participant, "guest_open");
    int (*add)(int, int *) = (int (*)(int, int *))dlsym(participant, "guest_sum");
    int (*end)(void) = (int (*)(void))dlsym(participant, "guest_close");
    CHECK(start(&rank, &size) == 0);
    CHECK(add(rank, &sum) == 0 && sum == size * (size - 1) / 2);
    CHECK(end() == 0);
    dlclose(participant);
}

/* The World still works between the loads. */
static void own_work(int n)
{
    (void)n;
#ifndef WITHOUT_MPI
    int sum = -1, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n % 10 == 0)
        CHECK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == 0 && sum == n * size);
#else
    CHECK(dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL); /* unloaded with the guest */
#endif
}

int main(int argc, char **argv)
{
    int cycles = argc > 2 ? atoi(argv[2]) : 0;
#ifndef WITHOUT_MPI
    MPI_Init(&argc, &argv);
#endif
    for (int n = 0; n < 30; n++) {
        cycle(argv[1]);
        own_work(n);
    }
    struct usage before = usage_now();
    for (int n = 0; n < cycles; n++) {
        cycle(argv[1]);
        own_work(n);
    }
    struct usage after = usage_now();
    CHECK(after.descriptors == before.descriptors && after.threads == before.threads);
    CHECK(after.mappings <= before.mappings + 2);
    if (!CHECK(after.resident_kib < before.resident_kib + 512))
        fprintf(stderr, "resident %ld -> %ld KiB\n", before.resident_kib, after.resident_kib);
    printf("descriptors %d -> %d, mappings %d -> %d, threads %d -> %d, resident %ld -> %ld KiB\n", before.descriptors,
           after.descriptors, before.mappings, after.mappings, before.threads, after.threads, before.resident_kib,
           after.resident_kib);
#ifndef WITHOUT_MPI
    MPI_Finalize();
#endif
    return failures != 0;
}
