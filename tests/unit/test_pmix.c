/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMIx bootstrap alone, under a server: the program starts itself again below Open MPI's mpirun, and is skipped
 * without one. To run it under another server, pass the argument "rank": srun --mpi=pmix -n 4 test_pmix rank
 *
 * The ranks synchronize through cards, which are what they test: each writes the number of its phase into its card, and
 * waits for the other ranks' cards.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/job/process.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank %d: %s failed; last error: %s\n", __FILE__, __LINE__, place.rank, #condition, \
                    detail);                                                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const struct pl_bootstrap_ops *ops;
static struct pl_identity place;
static char detail[512];

__attribute__((format(printf, 2, 3))) static int fail(int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return class;
}

static void quiet(const char *subsystem, int level, const char *format, ...)
{
    (void)subsystem, (void)level, (void)format;
}

static void tenant_name(uint32_t number, char *name)
{
    (void)number;
    name[0] = '\0'; /* the program's own copy */
}

static const struct pl_bootstrap_host host = { .fail = fail, .log = quiet, .tenant = tenant_name };

static char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

static void load(void)
{
    char exe[PATH_MAX], path[PATH_MAX + 64];
    snprintf(exe, sizeof exe, "%s", own_path());
    snprintf(path, sizeof path, "%s/../../lib/plenum/pmix.so", dirname(exe));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    ops = dlsym(handle, PL_BOOTSTRAP_SYMBOL);
    CHECK(ops && ops->abi == PL_BOOTSTRAP_ABI);
    ops->attach(&host);
}

/* --- a rank ---------------------------------------------------------------------------------------------------- */

static void publish(enum pl_card_slot slot, int phase)
{
    char card[PL_CARD_MAX];
    memset(card, 'x', sizeof card);
    snprintf(card, sizeof card, "%d:%d", place.rank, phase);
    CHECK(ops->publish(slot, card, sizeof card) == MPI_SUCCESS);
}

/* Looks the card up until its rank has reached the phase. */
static void wait_for(int rank, enum pl_card_slot slot, int phase)
{
    char card[PL_CARD_MAX];
    for (;;) {
        size_t length = 0;
        int rc = ops->lookup(rank, slot, card, &length), owner = -1, found = -1;
        if (rc == PL_AGAIN) {
            usleep(100);
            continue;
        }
        CHECK(rc == MPI_SUCCESS);
        CHECK(length == sizeof card && card[sizeof card - 1] == 'x');
        CHECK(sscanf(card, "%d:%d", &owner, &found) == 2 && owner == rank);
        if (found >= phase)
            return;
    }
}

static void wait_for_all(enum pl_card_slot slot, int phase)
{
    for (int rank = 0; rank < place.size; rank++)
        wait_for(rank, slot, phase);
}

static int descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* A child with this process's environment does not get its rank. */
static void check_child(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        execl(own_path(), own_path(), "child", (char *)NULL);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void reopen(void)
{
    uint32_t generation = place.generation;
    ops->close();
    place = (struct pl_identity){ .rank = -1 };
    CHECK(ops->open(&place) == MPI_SUCCESS);
    CHECK(place.generation == generation);
}

static int as_rank(int generation)
{
    int phase = generation * 100, open_descriptors = 0;
    alarm(120);
    load();
    CHECK(ops->open(&place) == MPI_SUCCESS);
    CHECK(place.size > 1 && place.rank >= 0 && place.rank < place.size);
    CHECK(place.local_size >= 1 && place.local_size <= place.size);
    CHECK(place.slots >= 1 && place.nspace[0]);
    if (getenv("PMIX_SERVER_TMPDIR"))
        CHECK(place.generation == (uint32_t)generation);

    if (place.rank == place.size - 1)
        usleep(200000); /* the other ranks look it up before it exists */
    publish(PL_CARD_WORLD, phase);
    wait_for_all(PL_CARD_WORLD, phase);
    check_child();
    for (int cycle = 0; cycle < 10; cycle++) { /* listeners that open again and again */
        publish(PL_CARD_LISTENER, ++phase);
        wait_for_all(PL_CARD_LISTENER, phase);
        reopen();
        if (cycle == 1)
            open_descriptors = descriptors();
    }
    CHECK(descriptors() <= open_descriptors);
    /* the last card stays until all ranks have read it */
    publish(PL_CARD_LISTENER, ++phase);
    wait_for_all(PL_CARD_LISTENER, phase);
    publish(PL_CARD_LISTENER, ++phase);
    wait_for_all(PL_CARD_LISTENER, phase);
    CHECK(ops->publish(PL_CARD_WORLD, NULL, 0) == MPI_SUCCESS);
    ops->close();
    return 0;
}

static int as_child(void)
{
    load();
    return ops->open(&place) == MPI_ERR_OTHER ? 0 : 1;
}

/* --- the launch ------------------------------------------------------------------------------------------------ */

static int run(const char *format, ...)
{
    char command[4 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const char *find_mpirun(void)
{
    static const char *const names[] = { "mpirun.openmpi", "mpirun" };
    for (int i = 0; i < 2; i++)
        if (run("%s --version 2>/dev/null | grep -q 'Open MPI'", names[i]) == 0)
            return names[i];
    return NULL;
}

/* The results of open() in a process that no PMIx server has launched. */
static void check_without_server(void)
{
    static const char *const names[] = { "PMIX_NAMESPACE", "PMIX_RANK", "PLENUM_JOB" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    load();
    CHECK(ops->open(&place) == PL_UNREACHABLE);
}

/* A server that is gone. In a process of its own, since PMIx_Init() loses memory when it fails. */
static int as_orphan(void)
{
    load();
    CHECK(ops->open(&place) == MPI_ERR_OTHER);
    CHECK(strstr(detail, "no PMIx server answers for rank 2") && strstr(detail, "PLENUM_ALONE=1"));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return as_child();
    if (argc > 1 && strcmp(argv[1], "orphan") == 0)
        return as_orphan();
    if (argc > 1 && strcmp(argv[1], "rank") == 0)
        return as_rank(argc > 2 ? atoi(argv[2]) : 1);

    check_without_server();
    CHECK(run("PMIX_NAMESPACE=gone PMIX_RANK=2 '%s' orphan", own_path()) == 0);
    const char *mpirun = find_mpirun();
    if (!mpirun) {
        puts("the part under a server was skipped: Open MPI's mpirun is not installed");
        return 77;
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    /* Two programs in succession in the same ranks, where the server shares memory with them, and where it does not. */
    int failed = 0;
    for (int shared = 1; shared >= 0; shared--)
        failed |= run("%s timeout 200 %s --oversubscribe -n 3 sh -c '\"%s\" rank 1 && \"%s\" rank 2'",
                      shared ? "" : "PMIX_MCA_gds=hash", mpirun, own_path(), own_path());
    return failed != 0;
}
