/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: host PROCESSES LIBRARY[,LIBRARY...] [HOW...]
 *
 * An application that uses an MPI, any or none (-DWITHOUT_MPI), and loads libraries that have their own. It uses its
 * own between all calls to them. With -DLINKED one of them is linked as well. HOW:
 *
 *     local, global, deepbind, namespace   how the libraries are loaded; local is the default
 *     cycles=N      loads, uses and unloads the libraries N times, and counts descriptors, mappings and memory
 *     kilobytes=N   that the cycles may leave; 512 is the default
 *     before        uses them before MPI_Init, too
 *     after         uses them after MPI_Finalize, too
 *     threads       uses its own MPI in another thread at the same time
 *     nothing       does not use its own MPI at all
 *     one           loads, uses and unloads one library after the other
 *     fork          forks a child between the calls, which does nothing
 *     descriptors   closes all descriptors of the process above standard error between the calls
 *     directory     changes its working directory between the calls
 *     unfinished    unloads the libraries in the middle of a session, several times
 */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef WITHOUT_MPI
#include <mpi.h>
#endif

#ifdef LINKED
#include "solver.h"
#endif

enum { LIBRARIES = 100 };
static struct library {
    const char *file;
    void *handle;
    int (*solve)(int);
} libraries[LIBRARIES];
static int library_count, processes, failures, how_to_load = RTLD_LOCAL;
static long allowed = 512;
static char *heap_end; /* at the beginning */
static int before, after, threads, nothing, namespaces, one, unfinished, forks, closes, moves, cycles;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "host: %s: %s\n", what, why);
    failures++;
}

static void load(struct library *l)
{
    l->handle = namespaces ? dlmopen(LM_ID_NEWLM, l->file, RTLD_NOW) : dlopen(l->file, RTLD_NOW | how_to_load);
    if (!l->handle) {
        fail("dlopen", dlerror());
        exit(1);
    }
    *(void **)&l->solve = dlsym(l->handle, "solver_solve");
    if (!l->solve) {
        fail("dlsym", dlerror());
        exit(1);
    }
#ifdef LINKED
    l->solve = solver_solve;
#endif
}

/* All libraries, the odd processes in another order when they are loaded. */
static void load_all(int rank)
{
    for (int i = 0; i < library_count; i++)
        load(&libraries[rank % 2 ? library_count - 1 - i : i]);
}

static void unload_all(void)
{
    for (int i = 0; i < library_count; i++)
        if (dlclose(libraries[i].handle) != 0)
            fail("dlclose", dlerror());
}

static void solve_all(void)
{
    for (int i = 0; i < library_count; i++)
        if (libraries[i].solve(processes) < 0)
            fail(libraries[i].file, "did not solve");
}

static void solve_one_by_one(void)
{
    for (int i = 0; i < library_count; i++) {
        load(&libraries[i]);
        if (libraries[i].solve(processes) < 0)
            fail(libraries[i].file, "did not solve");
        dlclose(libraries[i].handle);
    }
}

static void leave_unfinished(int rank)
{
    for (int round = 0; round < 20; round++) {
        load_all(rank);
        for (int i = 0; i < library_count; i++) {
            int (*begin)(int);
            *(void **)&begin = dlsym(libraries[i].handle, "solver_begin");
            if (!begin || begin(processes) < 0)
                fail(libraries[i].file, "did not begin");
        }
        unload_all();
        load_all(rank);
        solve_all();
        unload_all();
    }
}

static int host_rank(void)
{
    static const char *const names[] = { "PLENUM_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK" };
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

static void use_own(void)
{
#ifndef WITHOUT_MPI
    int rank, size, sum = -1;
    if (nothing)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != processes)
        fail("MPI_COMM_WORLD", "has another size");
    if (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) || sum != size * (size - 1) / 2)
        fail("MPI_Allreduce", "the host's own sum is wrong");
#endif
}

#ifndef WITHOUT_MPI
/* As often in all processes. */
static void *use_own_for_long(void *unused)
{
    for (int i = 0; i < 500; i++)
        use_own();
    return unused;
}
#endif

/* --- what a cycle leaves behind ---------------------------------------------------------------------------------- */

static long count_descriptors(void)
{
    long count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static long count_lines(const char *path)
{
    long count = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

/* In memory, and of address space outside the heap. A heap that was once larger keeps its addresses, so that its pages
 * tell what is in use, after malloc() has given back the free ones. */
static long kilobytes(void)
{
    malloc_trim(0);
    long kb = -((char *)sbrk(0) - heap_end) / 1024, one;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &one) == 1 || sscanf(line, "VmSize: %ld", &one) == 1)
            kb += one;
    fclose(file);
    return kb;
}

struct usage {
    long descriptors, mappings, memory;
};

static struct usage usage_now(void)
{
    return (struct usage){ count_descriptors(), count_lines("/proc/self/maps"), kilobytes() };
}

static long smaller(long a, long b)
{
    return a < b ? a : b;
}

static struct usage usage_least(struct usage a, struct usage b)
{
    return (struct usage){ smaller(a.descriptors, b.descriptors), smaller(a.mappings, b.mappings),
                           smaller(a.memory, b.memory) };
}

static struct usage usage_most(struct usage a, struct usage b)
{
    struct usage least = usage_least(a, b);
    return (struct usage){ a.descriptors + b.descriptors - least.descriptors, a.mappings + b.mappings - least.mappings,
                           a.memory + b.memory - least.memory };
}

/* A session whose peers are late leaves its worker of UCX to the next session. So the most of three cycles is compared
 * with the least of the last three, each of which has what all earlier ones leaked. */
static void run_cycles(int rank)
{
    struct usage first = { 0 }, last = { LONG_MAX, LONG_MAX, LONG_MAX };
    int settled = cycles / 5 + 1;
    for (int i = 0; i < 10; i++)
        use_own(); /* a communicator has more memory after some collectives */
    for (int i = 0; i < cycles; i++) {
        load_all(rank);
        solve_all();
        unload_all();
        use_own();
        if (i >= settled && i < settled + 3)
            first = usage_most(first, usage_now());
        else if (i >= cycles - 3)
            last = usage_least(last, usage_now());
    }
    /* Allocators of other libraries may keep some; a leak of one page a cycle shows in the long form. */
    fprintf(stderr, "host: cycles %d to %d: descriptors %ld -> %ld, mappings %ld -> %ld, memory %ld kB %+ld kB\n",
            settled, cycles, first.descriptors, last.descriptors, first.mappings, last.mappings, last.memory,
            last.memory - first.memory);
    failures += last.descriptors > first.descriptors || last.mappings > first.mappings + 4 ||
                last.memory - first.memory > allowed;
}

static void disturb(void)
{
    if (moves && chdir("/") != 0)
        fail("chdir", "/");
    for (int fd = STDERR_FILENO + 1; closes && fd < 4096; fd++)
        close(fd);
    pid_t child = forks ? fork() : -1;
    if (child == 0)
        _exit(0);
    if (forks && waitpid(child, NULL, 0) != child)
        fail("fork", "no child");
}

static void run(int rank)
{
    if (one) {
        solve_one_by_one();
        return;
    }
    if (unfinished)
        leave_unfinished(rank);
    load_all(rank);
    if (before)
        solve_all();
#ifndef WITHOUT_MPI
    int level;
    pthread_t thread;
    if (!nothing)
        MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (threads)
        pthread_create(&thread, NULL, use_own_for_long, NULL);
#endif
    for (int i = 0; i < 3; i++) {
        if (!threads)
            use_own();
        solve_all();
        disturb();
    }
#ifndef WITHOUT_MPI
    if (threads)
        pthread_join(thread, NULL);
#endif
    if (!threads)
        use_own();
    if (cycles) {
        unload_all();
        run_cycles(rank);
        load_all(rank);
    }
#ifndef WITHOUT_MPI
    if (!nothing)
        MPI_Finalize();
#endif
    if (after)
        solve_all();
    unload_all();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    heap_end = sbrk(0);
    processes = atoi(argv[1]);
    for (char *file = strtok(argv[2], ","); file && library_count < LIBRARIES; file = strtok(NULL, ","))
        libraries[library_count++].file = file;
    for (int i = 3; i < argc; i++) {
        how_to_load = strcmp(argv[i], "global") == 0     ? RTLD_GLOBAL
                      : strcmp(argv[i], "deepbind") == 0 ? RTLD_DEEPBIND
                                                         : how_to_load;
        namespaces |= strcmp(argv[i], "namespace") == 0;
        before |= strcmp(argv[i], "before") == 0;
        after |= strcmp(argv[i], "after") == 0;
        threads |= strcmp(argv[i], "threads") == 0;
        nothing |= strcmp(argv[i], "nothing") == 0;
        one |= strcmp(argv[i], "one") == 0;
        forks |= strcmp(argv[i], "fork") == 0;
        closes |= strcmp(argv[i], "descriptors") == 0;
        moves |= strcmp(argv[i], "directory") == 0;
        unfinished |= strcmp(argv[i], "unfinished") == 0;
        sscanf(argv[i], "cycles=%d", &cycles);
        sscanf(argv[i], "kilobytes=%ld", &allowed);
    }
    run(host_rank());
    if (failures == 0 && host_rank() == 0)
        printf("well\n");
    return failures != 0;
}
