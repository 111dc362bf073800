/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that do not end, each in its own way, and some that crash. usage: hang WHICH */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char *program;

static void cycle(void)
{
    int number;
    MPI_Recv(&number, 1, MPI_INT, 1 - rank, 5 + rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank sends too much to the next one. */
static void ring(void)
{
    static char much[8 << 20];
    MPI_Send(much, sizeof much, MPI_CHAR, (rank + 1) % size, 9, MPI_COMM_WORLD);
}

static void compute(void)
{
    for (volatile unsigned long i = 0;; i++)
        continue;
}

static void barrier(void)
{
    if (rank == size - 1)
        compute();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same when short collectives go through the collective area. */
static void area(void)
{
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    int mine = rank, sum;
    if (rank == size - 1)
        pause();
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* A vector that goes in segments. */
static void vector(void)
{
    enum { COUNT = 1 << 17 };
    static double mine[COUNT], sum[COUNT];
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1)
        pause();
    MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* The collective must not read what other calls have left on the stack. */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile char bytes[20000];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = 0x5a;
}

static void scatter(void)
{
    int mine = 0, all[16] = { 0 };
    for (int i = 0; i < 10; i++)
        MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        pause();
    fill_stack();
    MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void tag(void)
{
    MPI_Comm ocean;
    double wave[3] = { 1, 2, 3 };
    MPI_Request other;
    MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
    MPI_Comm_set_name(ocean, "ocean");
    if (rank == 0) {
        MPI_Send(wave, 3, MPI_DOUBLE, 1, 8, ocean);
        pause();
    }
    MPI_Irecv(wave, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, &other);
    MPI_Recv(wave, 3, MPI_DOUBLE, 0, 7, ocean, MPI_STATUS_IGNORE);
}

/* One has ended properly; the others ask for a word of it again and again, which no error ends. */
static void ended(void)
{
    int flag = rank == 0;
    while (!flag)
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void anybody(void)
{
    int number, index;
    MPI_Request request[2];
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request[1]);
    if (rank == 0)
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    else
        MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Without ever waiting. */
static void polling(void)
{
    int number, flag = 0;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 30, MPI_COMM_WORLD, &request);
    while (!flag)
        if (rank == 0)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Iprobe(0, 31, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static int no_state(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int not_cancelled(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* No thread completes it. */
static void generalized(void)
{
    MPI_Request request;
    MPI_Grequest_start(no_state, nothing, not_cancelled, NULL, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One accepts at a port, the other connects to the other port. */
static void ports(void)
{
    char port[2][MPI_MAX_PORT_NAME];
    MPI_Comm other;
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Open_port(MPI_INFO_NULL, port[i]);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Comm_accept(port[0], MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else
        MPI_Comm_connect(port[1], MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
}

/* One ends with more messages under way than there is room for, to one that takes none. */
static void untaken(void)
{
    static char data[4000];
    MPI_Request request;
    if (rank == 1)
        pause();
    for (int i = 0; i < 5000 && rank == 0; i++) {
        MPI_Isend(data, sizeof data, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

/* The root gathers, the others want a broadcast. */
static void different(void)
{
    int mine = rank, all[16];
    if (rank == 0)
        MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* The ranks of one collective do not agree. Each waits for another: over shared memory the root waits for all. */
static void roots(void)
{
    int mine[8] = { rank }, all[8];
    MPI_Reduce(mine, all, 8, MPI_INT, MPI_SUM, rank == 0 ? 0 : 1, MPI_COMM_WORLD);
    MPI_Reduce(mine, all, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void roots_later(void)
{
    int mine = rank;
    MPI_Request request;
    MPI_Ibcast(&mine, 1, MPI_INT, (rank + 1) % size, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 is in an allreduce that rank 1, which has another operation, is in too; the third does not come. */
static void operations(void)
{
    int mine = rank, all;
    if (rank < 2)
        MPI_Allreduce(&mine, &all, 1, MPI_INT, rank ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Recv(&mine, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void amounts(void)
{
    int mine[4] = { rank }, all[64];
    if (rank < 2)
        MPI_Allgather(mine, rank + 1, MPI_INT, all, rank + 1, MPI_INT, MPI_COMM_WORLD);
    else
        MPI_Recv(mine, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank sends to the right and receives from the right. */
static void wrong_shift(void)
{
    int mine = rank, other, right = (rank + 1) % size;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 6, &other, 1, MPI_INT, right, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *receive(void *from)
{
    int number;
    MPI_Recv(&number, 1, MPI_INT, 1 - rank, *(int *)from, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(void)
{
    static int tags[3] = { 21, 22, 23 };
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, receive, &tags[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

/* Rank 0 does not come. */
static void exchange(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    if (rank == 0)
        pause();
    MPI_Comm_create_from_group(group, "app://atmosphere", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
}

/* In a session, on a communicator of its own. */
static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int number;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "app://land", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_set_name(comm, "land");
    MPI_Comm_rank(comm, &rank);
    MPI_Recv(&number, 1, MPI_INT, 1 - rank, 2, comm, MPI_STATUS_IGNORE);
}

static void *receive_there(void *comm)
{
    static atomic_int tags;
    int number;
    MPI_Recv(&number, 1, MPI_INT, 0, atomic_fetch_add(&tags, 1), *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    return NULL;
}

/* Ten sessions, two threads in each, and beside them an operation that is pending. */
static void sessions(void)
{
    enum { SESSIONS = 10 };
    static MPI_Comm comm[SESSIONS];
    static int number[SESSIONS];
    pthread_t thread[2 * SESSIONS];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    for (int i = 0; i < SESSIONS; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Request request;
        char name[32];
        snprintf(name, sizeof name, "session %d", i);
        MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://SELF", &group);
        MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm[i]);
        MPI_Irecv(&number[i], 1, MPI_INT, 0, 100 + i, comm[i], &request);
    }
    for (int i = 0; i < 2 * SESSIONS; i++)
        pthread_create(&thread[i], NULL, receive_there, &comm[i / 2]);
    for (int i = 0; i < 2 * SESSIONS; i++)
        pthread_join(thread[i], NULL);
}

/* A file whose name is longer than a report shows. Rank 0 does not come. */
static void file(void)
{
    char name[256];
    int maker = getpid();
    MPI_File fh;
    MPI_Bcast(&maker, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/plenum-hang-%d-%0150d-end", maker, 0);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(name);
    if (rank == 0)
        pause();
    MPI_File_set_size(fh, 8);
}

static void window(void)
{
    MPI_Win win;
    void *memory;
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "halo");
    if (rank == 0)
        pause();
    MPI_Win_fence(0, win);
}

/* Rank 2 holds the lock of rank 0, for which rank 0 waits, too. */
static void lock(void)
{
    MPI_Win win;
    void *memory;
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "halo");
    if (rank == 2)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        pause();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

/* Waits for a word of the second of two that it spawns. Of these only the first comes to a barrier. */
static void spawn(void)
{
    MPI_Comm parents, children;
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL) {
        MPI_Comm_spawn(program, (char *[]){ "spawn", NULL }, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Recv(&rank, 1, MPI_INT, 1, 44, children, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        pause();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One that was spawned crashes. */
static void crash_spawned(void)
{
    MPI_Comm parents, children;
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL)
        MPI_Comm_spawn(program, (char *[]){ "crash_spawned", NULL }, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    else if (rank == 1)
        abort();
    pause();
}

static void crash(void)
{
    if (rank == 1)
        *(volatile int *)NULL = 1;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A buffer that is not there: the fault is in the library. */
static void crash_inside(void)
{
    if (rank == 1)
        MPI_Send((void *)64, 100, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The program's file is gone by then. */
static void crash_removed(void)
{
    char file[4096];
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && length > 0) {
        file[length] = '\0';
        unlink(file);
    }
    crash_inside();
}

static void crash_abort(void)
{
    if (rank == 1)
        abort();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A pointer that is not a function. */
static void crash_call(void)
{
    void (*volatile nothing)(void) = NULL;
    if (rank == 1)
        nothing();
    MPI_Barrier(MPI_COMM_WORLD);
}

static volatile int depth;
static int recurse(int n) /* NOLINT: without end on purpose */
{
    volatile char capacity[4096];
    capacity[n % 4096] = (char)n;
    depth++;
    return recurse(n + 1) + capacity[(n + 1) % 4096];
}

static void crash_stack(void)
{
    if (rank == 1)
        recurse(depth);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void own_handler(int signo)
{
    printf("own handler: %d\n", signo);
    fflush(stdout);
    _exit(3);
}

static void handled(void)
{
    signal(SIGSEGV, own_handler);
    if (rank == 1)
        *(volatile int *)NULL = 1;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(void);
    int without_world;
} all[] = {
    { "cycle", cycle, 0 },
    { "ring", ring, 0 },
    { "barrier", barrier, 0 },
    { "area", area, 0 },
    { "scatter", scatter, 0 },
    { "vector", vector, 0 },
    { "tag", tag, 0 },
    { "ended", ended, 0 },
    { "anybody", anybody, 0 },
    { "threads", threads, 0 },
    { "polling", polling, 0 },
    { "generalized", generalized, 0 },
    { "ports", ports, 0 },
    { "untaken", untaken, 0 },
    { "different", different, 0 },
    { "roots", roots, 0 },
    { "roots_later", roots_later, 0 },
    { "operations", operations, 0 },
    { "amounts", amounts, 0 },
    { "wrong_shift", wrong_shift, 0 },
    { "exchange", exchange, 1 },
    { "session", session, 1 },
    { "sessions", sessions, 1 },
    { "file", file, 0 },
    { "window", window, 0 },
    { "lock", lock, 0 },
    { "spawn", spawn, 0 },
    { "crash_spawned", crash_spawned, 0 },
    { "crash", crash, 0 },
    { "crash_inside", crash_inside, 0 },
    { "crash_removed", crash_removed, 0 },
    { "crash_abort", crash_abort, 0 },
    { "crash_call", crash_call, 0 },
    { "crash_stack", crash_stack, 0 },
    { "handled", handled, 0 },
};

int main(int argc, char **argv)
{
    int provided;
    for (size_t i = 0; argc == 2 && i < sizeof all / sizeof *all; i++) {
        if (strcmp(argv[1], all[i].name) != 0)
            continue;
        program = argv[0];
        if (!all[i].without_world) {
            MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            MPI_Comm_size(MPI_COMM_WORLD, &size);
        } else {
            rank = atoi(getenv("PLENUM_RANK"));
        }
        puts("ready");
        fflush(stdout);
        all[i].run();
        if (!all[i].without_world)
            MPI_Finalize();
        return 0;
    }
    return 2;
}
