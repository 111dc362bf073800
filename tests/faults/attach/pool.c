/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools (docs/attach.md): processes that this one forks, and that no launcher started as a job, attach in a directory
 * or by an exchange, compute, detach and attach again; one dies and is replaced. Exit code 0: everything was as it
 * must be. Argument: how often they attach again.
 */
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POOL = 4, VICTIM = 2, CAPACITY = 256 };

/* Shared by all: what goes wrong, and the memory of the exchange. */
static struct shared {
    _Atomic int failed, came, round;
    char places[POOL][CAPACITY];
} * shared;
static char directory[64], other[64];
static int me, times = 20;

static int check(int good, const char *what, int line)
{
    if (!good) {
        fprintf(stderr, "rank %d, line %d: %s\n", me, line, what);
        atomic_fetch_add(&shared->failed, 1);
    }
    return good;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static int check_ok(int code, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return 1;
    MPI_Error_string(code, text, &length);
    return check(0, text, line);
}
#define CHECK_OK(call) check_ok((call), __LINE__)

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* The class, and words that the message must contain. */
static void expect(int code, int class, const char *words, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    if (class_of(code) == class && strstr(text, words))
        return;
    fprintf(stderr, "rank %d, line %d: class %d instead of %d, or no \"%s\" in: %s\n", me, line, class_of(code), class,
            words, text);
    atomic_fetch_add(&shared->failed, 1);
}
#define EXPECT(code, class, words) expect((code), (class), (words), __LINE__)

/* --- members -------------------------------------------------------------------------------------------------------
 * */

static int session_open(MPI_Session *session, MPI_Group *world)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
    CHECK_OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", world));
    return 1;
}

static void session_close(MPI_Session *session, MPI_Group *world)
{
    CHECK_OK(MPI_Group_free(world));
    CHECK_OK(MPI_Session_finalize(session));
}

static void sum(MPI_Comm comm, int rank, int size)
{
    int r = -1, s = -1, mine[2] = { rank + 1, rank * rank }, all[2] = { 0, 0 }, want[2] = { 0, 0 };
    for (int i = 0; i < size; i++) {
        want[0] += i + 1;
        want[1] += i * i;
    }
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &s);
    CHECK(r == rank && s == size);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm));
        CHECK(all[0] == want[0] && all[1] == want[1]);
    }
}

static void compute(int rank)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    session_open(&session, &world);
    if (CHECK_OK(MPI_Comm_create_from_group(world, "test.attach", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))) {
        sum(comm, rank, POOL);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    session_close(&session, &world);
}

static void cycles(int rank)
{
    for (int i = 0; i < times; i++) {
        CHECK_OK(MPIX_Attach(directory, rank, POOL));
        compute(rank);
        if (i % 2)
            compute(rank);
        CHECK_OK(MPIX_Detach());
    }
}

/* An anonymous file, of the process that started all. */
static char memory[64];

static void in_memory(int rank)
{
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPIX_Attach(memory, rank, POOL));
        compute(rank);
        CHECK_OK(MPIX_Detach());
    }
}

static void two_pools(int rank)
{
    CHECK_OK(MPIX_Attach(directory, rank, POOL));
    compute(rank);
    CHECK_OK(MPIX_Detach());
    rank = POOL - 1 - rank;
    CHECK_OK(MPIX_Attach(other, rank, POOL));
    compute(rank);
    CHECK_OK(MPIX_Detach());
}

static void world_model(int rank)
{
    char text[128], library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    snprintf(text, sizeof text, "%s:%d:%d", directory, rank, POOL);
    setenv("PLENUM_ATTACH", text, 1);
    CHECK_OK(MPI_Get_library_version(library, &length));
    CHECK_OK(MPI_Init(NULL, NULL));
    sum(MPI_COMM_WORLD, rank, POOL);
    EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "not attached");
    CHECK_OK(MPI_Finalize());
}

static int exchange(const void *mine, void *all, int bytes, void *context)
{
    int round = atomic_load(&shared->round);
    CHECK(bytes > 0 && bytes <= CAPACITY && *(int *)context == me);
    memcpy(shared->places[me], mine, (size_t)bytes);
    if (atomic_fetch_add(&shared->came, 1) == POOL - 1)
        atomic_fetch_add(&shared->round, 1);
    while (atomic_load(&shared->round) == round)
        sched_yield();
    for (int i = 0; i < POOL; i++)
        memcpy((char *)all + i * bytes, shared->places[i], (size_t)bytes);
    if (atomic_fetch_add(&shared->came, 1) == 2 * POOL - 1) { /* all have read */
        atomic_store(&shared->came, 0);
        atomic_fetch_add(&shared->round, 1);
    }
    while (atomic_load(&shared->round) == round + 1)
        sched_yield();
    return 0;
}

static int no_exchange(const void *mine, void *all, int bytes, void *context)
{
    (void)mine, (void)context;
    memset(all, 0, (size_t)(POOL * bytes));
    return *(int *)context;
}

static void exchanged(int rank)
{
    int zero = 0, seven = 7, before = dup(2), after;
    close(before);
    EXPECT(MPIX_Attach_exchange(no_exchange, &zero, rank, POOL), MPI_ERR_ARG, "does not come from rank 0");
    EXPECT(MPIX_Attach_exchange(no_exchange, &seven, rank, POOL), MPI_ERR_OTHER, "returned 7");
    close(after = dup(2));
    CHECK(after == before); /* the memory of rank 0 is closed */
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPIX_Attach_exchange(exchange, &rank, rank, POOL));
        compute(rank);
        CHECK_OK(MPIX_Detach());
    }
}

/* --- death -------------------------------------------------------------------------------------------------------- */

static const char *how; /* where the others wait when the victim dies */

static void wait_for_victim(MPI_Comm comm, int rank)
{
    static int large[1 << 16]; /* not sent before it is received */
    int data = 0, all = 0, code = MPI_SUCCESS;
    MPI_Status status;
    MPI_Request request;
    if (strcmp(how, "recv") == 0)
        code = MPI_Recv(&data, 1, MPI_INT, VICTIM, 5, comm, &status);
    else if (strcmp(how, "any") == 0)
        code = MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    else if (strcmp(how, "probe") == 0)
        code = MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    else if (strcmp(how, "ring") == 0) /* of the others: each waits for a living one, and gives up */
        code = MPI_Recv(&data, 1, MPI_INT, (rank + 3) % POOL, 5, comm, &status);
    else if (strcmp(how, "send") == 0) /* to a living process, which may have given up its receives as well */
        for (int i = 0; i < 2 || code == MPI_SUCCESS; i++)
            code =
                i < 2 ? MPI_Send(large, 1 << 16, MPI_INT, (rank + 1 + (rank == 1)) % POOL, 5, comm) : MPI_Barrier(comm);
    else if (strcmp(how, "iallreduce") == 0) {
        code = MPI_Iallreduce(&data, &all, 1, MPI_INT, MPI_SUM, comm, &request);
        code = code ? code : MPI_Wait(&request, &status);
    } else if (strcmp(how, "board") == 0) {
        while (code == MPI_SUCCESS)
            code = MPI_Allreduce(&data, &all, 1, MPI_INT, MPI_SUM, comm);
    } else
        code = MPI_Barrier(comm);
    EXPECT(code, MPI_ERR_PROC_ABORTED, "rank 2");
    EXPECT(MPI_Recv(&data, 1, MPI_INT, 0, 6, comm, &status), MPI_ERR_PROC_ABORTED, "rank 2");
    EXPECT(MPI_Barrier(comm), MPI_ERR_PROC_ABORTED, "rank 2");
}

/* Until the victim's replacement has come. */
static void compute_again(MPI_Group world, int rank)
{
    MPI_Comm comm;
    int code;
    do
        code = MPI_Comm_create_from_group(world, "test.attach.again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    while (class_of(code) == MPI_ERR_PROC_ABORTED);
    if (!CHECK_OK(code))
        return;
    sum(comm, rank, POOL);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void bereaved(int rank)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    CHECK_OK(MPIX_Attach(directory, rank, POOL));
    session_open(&session, &world);
    if (strcmp(how, "meet") == 0) {
        if (rank == VICTIM)
            raise(SIGKILL);
    } else {
        CHECK_OK(MPI_Comm_create_from_group(world, "test.attach", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        sum(comm, rank, POOL);
        atomic_fetch_add(&shared->came, 1);
        while (rank == VICTIM && atomic_load(&shared->came) < POOL) /* its messages have arrived */
            sched_yield();
        if (rank == VICTIM)
            raise(SIGKILL);
        wait_for_victim(comm, rank);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    compute_again(world, rank);
    session_close(&session, &world);
    CHECK_OK(MPIX_Detach());
}

static void replacement(int rank)
{
    MPI_Session session;
    MPI_Group world;
    CHECK_OK(MPIX_Attach(directory, rank, POOL));
    session_open(&session, &world);
    compute_again(world, rank);
    session_close(&session, &world);
    CHECK_OK(MPIX_Detach());
}

/* --- mistakes
 * ------------------------------------------------------------------------------------------------------- */

static void damage(const char *text, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/plenum-pool", directory);
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

static void mistakes(int rank)
{
    MPI_Session session;
    MPI_Group world;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    EXPECT(MPIX_Attach(NULL, 0, POOL), MPI_ERR_ARG, "directory");
    EXPECT(MPIX_Attach("", 0, POOL), MPI_ERR_ARG, "directory");
    EXPECT(MPIX_Attach_exchange(NULL, NULL, 0, POOL), MPI_ERR_ARG, "exchange");
    EXPECT(MPIX_Attach(directory, 4, POOL), MPI_ERR_RANK, "rank is 4");
    EXPECT(MPIX_Attach(directory, -1, POOL), MPI_ERR_RANK, "rank is -1");
    EXPECT(MPIX_Attach(directory, 0, 0), MPI_ERR_ARG, "size is 0");
    EXPECT(MPIX_Attach("/nonexistent", 0, 1), MPI_ERR_OTHER, "/nonexistent/plenum-pool");
    EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "not attached");
    damage("something else", 0644);
    EXPECT(MPIX_Attach(directory, 0, 1), MPI_ERR_OTHER, "0644");
    damage("something else", 0600); /* of dead processes: none is attached */
    CHECK_OK(MPIX_Attach(directory, 0, POOL));
    EXPECT(MPIX_Attach(directory, 1, POOL), MPI_ERR_OTHER, "attached to a pool already");
    pid_t child = fork();
    if (child == 0) {
        EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "forked");
        char text[100];
        snprintf(text, sizeof text, "%s:0:4", directory);
        execl("/proc/self/exe", "attach", "environment", text, (char *)NULL);
    }
    waitpid(child, &length, 0);
    CHECK(WIFEXITED(length) && WEXITSTATUS(length) == 0);
    session_open(&session, &world);
    EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "in use");
    session_close(&session, &world);
    CHECK_OK(MPIX_Detach());
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    EXPECT(MPIX_Attach(directory, rank, 1), MPI_ERR_OTHER, "in use");
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPIX_Attach(directory, rank, 1)); /* in use no more */
    CHECK_OK(MPIX_Detach());
    CHECK_OK(MPI_Get_library_version(library, &length));
}

/* A program whose PLENUM_ATTACH names a rank that is taken, or is invalid. */
static int told_by_environment(const char *taken)
{
    const char *texts[] = { taken, "", ":0:1", "/tmp:0", "/tmp:x:1", "/tmp:1:1", "/tmp:0:1 " };
    MPI_Session session;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("PLENUM_ATTACH", texts[i], 1);
        int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        if (i == 0)
            EXPECT(code, MPI_ERR_OTHER, "belongs to process");
        else if (i == 5)
            EXPECT(code, MPI_ERR_RANK, "rank is 1");
        else
            EXPECT(code, MPI_ERR_ARG, "DIRECTORY:RANK:SIZE");
    }
    return atomic_load(&shared->failed) != 0;
}

/* --- the parent
 * ------------------------------------------------------------------------------------------------------ */

static pid_t start(void (*member)(int), int rank)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    me = rank;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    member(rank);
    _exit(0);
}

static void run(const char *what, void (*member)(int), int members)
{
    pid_t pid[POOL];
    int status, dead = 0;
    for (int i = 0; i < members; i++)
        pid[i] = start(member, i);
    for (int left = members; left > 0; left--) {
        pid_t ended = wait(&status);
        if (member == bereaved && ended == pid[VICTIM] && !dead++) {
            CHECK(WIFSIGNALED(status));
            pid[VICTIM] = start(replacement, VICTIM);
            left++;
        } else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK(rmdir(directory) == 0 && mkdir(directory, 0700) == 0); /* nothing is left in it */
    CHECK(rmdir(other) == 0 && mkdir(other, 0700) == 0);
    if (atomic_load(&shared->failed))
        fprintf(stderr, "that was: %s\n", what);
}

int main(int argc, char **argv)
{
    static const char *const deaths[] = { "meet",    "recv",       "any",   "probe", "ring",
                                          "barrier", "iallreduce", "board", "send" };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    if (argc > 2 && strcmp(argv[1], "environment") == 0)
        return told_by_environment(argv[2]);
    if (argc > 1)
        times = atoi(argv[1]);
    snprintf(directory, sizeof directory, "/tmp/test-attach.XXXXXX");
    snprintf(other, sizeof other, "/tmp/test-attach.XXXXXX");
    if (!mkdtemp(directory) || !mkdtemp(other))
        return 1;
    unsetenv("PLENUM_JOB");
    run("mistakes", mistakes, 1);
    run("cycles", cycles, POOL);
    int fd = memfd_create("pool", MFD_CLOEXEC);
    snprintf(memory, sizeof memory, "/proc/%d/fd/%d", (int)getpid(), fd);
    CHECK(fd >= 0 && fchmod(fd, 0600) == 0);
    run("memory", in_memory, POOL);
    close(fd);
    run("two pools", two_pools, POOL);
    run("the World", world_model, POOL);
    run("exchange", exchanged, POOL);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        how = deaths[i];
        atomic_store(&shared->came, 0);
        run(how, bereaved, POOL);
    }
    rmdir(directory);
    rmdir(other);
    printf("%d failures\n", atomic_load(&shared->failed));
    return atomic_load(&shared->failed) != 0;
}
