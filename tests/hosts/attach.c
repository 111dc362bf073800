/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: attach ADDRESS RANK SIZE MACHINES HOW [CYCLES]
 *
 * One member of a pool on several machines, which no launcher has started. The members' own means to reach each other
 * are sockets: rank 0 listens at ADDRESS. HOW:
 *
 *     cycles    attach, communicate and detach CYCLES times, and look what is left
 *     death     the last rank is killed while the others wait for it in several ways; then they go on without it
 *     early     the last rank is killed before it makes a communicator
 *     mistakes  what a pool on several machines refuses, and members that fail in a round
 *     versions  all print why they cannot attach
 */
#include <arpa/inet.h>
#include <limits.h>
#include <mpi-ext.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../mpi/usage.h"

enum { PORT = 7711, MOST = 16, LONG = 300000, SETTLE = 5 };
static int rank, size, machines, failures, rounds, round_bytes[3];
static int sockets[MOST]; /* of rank 0: to each other rank; of another: to rank 0, at 0 */

static void check(int good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "rank %d, line %d: %s\n", rank, line, what);
    failures++;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static int check_ok(int code, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    check(code == MPI_SUCCESS, text, line);
    return code == MPI_SUCCESS;
}
#define CHECK_OK(call) check_ok((call), __LINE__)

static void expect(int code, int class, const char *words, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, got = -1;
    MPI_Error_class(code, &got);
    MPI_Error_string(code, text, &length);
    if (got == class && strstr(text, words))
        return;
    fprintf(stderr, "rank %d, line %d: class %d instead of %d, or no \"%s\" in: %s\n", rank, line, got, class, words,
            text);
    failures++;
}
#define EXPECT(code, class, words) expect((code), (class), (words), __LINE__)

/* --- the members' own connection --------------------------------------------------------------------------------- */

static int transfer(int fd, void *data, size_t bytes, int write)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t moved = write ? send(fd, at, bytes, MSG_NOSIGNAL) : recv(fd, at, bytes, 0);
        if (moved <= 0)
            return -1;
        at += moved;
        bytes -= (size_t)moved;
    }
    return 0;
}

static void meet(const char *address)
{
    struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    inet_pton(AF_INET, address, &where.sin_addr);
    if (rank > 0) {
        while (connect(fd, (struct sockaddr *)&where, sizeof where) != 0) {
            close(fd);
            nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
            fd = socket(AF_INET, SOCK_STREAM, 0);
        }
        sockets[0] = fd;
        CHECK(transfer(fd, &rank, sizeof rank, 1) == 0);
        return;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&where, sizeof where) != 0 || listen(fd, MOST) != 0)
        exit(2);
    for (int i = 1; i < size; i++) {
        int from = 0, other = accept(fd, NULL, NULL);
        CHECK(transfer(other, &from, sizeof from, 0) == 0);
        sockets[from] = other;
    }
    close(fd);
}

/* An allgather through rank 0. */
static int gather(const void *mine, void *all, int bytes, void *context)
{
    size_t each = (size_t)bytes;
    int bad = 0;
    if (context && rounds < 3)
        round_bytes[rounds] = bytes;
    rounds += context != NULL;
    memcpy((char *)all + (size_t)rank * each, mine, each);
    if (rank > 0)
        return transfer(sockets[0], (char *)all + (size_t)rank * each, each, 1) ||
               transfer(sockets[0], all, each * (size_t)size, 0);
    for (int i = 1; i < size; i++)
        bad |= transfer(sockets[i], (char *)all + (size_t)i * each, each, 0);
    for (int i = 1; i < size; i++)
        bad |= transfer(sockets[i], all, each * (size_t)size, 1);
    return bad;
}

static void barrier(void)
{
    char mine = 0, all[MOST];
    CHECK(gather(&mine, all, 1, NULL) == 0);
}

/* --- communication ------------------------------------------------------------------------------------------------ */

static int *values; /* [LONG] */

static void short_collectives(MPI_Comm comm, int size_of)
{
    int r, sum = 0, all[MOST], to[MOST], from[MOST];
    MPI_Comm_rank(comm, &r);
    CHECK_OK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size_of * (size_of - 1) / 2);
    CHECK_OK(MPI_Allgather(&r, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size_of; i++) {
        CHECK(all[i] == i);
        to[i] = 100 * r + i;
    }
    CHECK_OK(MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm));
    for (int i = 0; i < size_of; i++)
        CHECK(from[i] == 100 * i + r);
}

/* Long messages go by rendezvous. */
static void long_messages(MPI_Comm comm, int size_of)
{
    int r, bad = 0;
    MPI_Comm_rank(comm, &r);
    for (int root = 0; root < size_of; root++) {
        for (int i = 0; i < LONG; i++)
            values[i] = r == root ? i * (root + 1) : -1;
        CHECK_OK(MPI_Bcast(values, LONG, MPI_INT, root, comm));
        for (int i = 0; i < LONG; i++)
            bad += values[i] != i * (root + 1);
    }
    for (int i = 0; i < LONG; i++)
        values[i] = i + r;
    CHECK_OK(MPI_Sendrecv_replace(values, LONG, MPI_INT, (r + 1) % size_of, 1, (r + size_of - 1) % size_of, 1, comm,
                                  MPI_STATUS_IGNORE));
    for (int i = 0; i < LONG; i++)
        bad += values[i] != i + (r + size_of - 1) % size_of;
    CHECK(bad == 0);
}

static void session_open(MPI_Session *session, MPI_Group *world)
{
    int members = 0;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
    CHECK_OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", world));
    MPI_Group_size(*world, &members);
    CHECK(members == size);
}

static void session_close(MPI_Session *session, MPI_Group *world)
{
    CHECK_OK(MPI_Group_free(world));
    CHECK_OK(MPI_Session_finalize(session));
}

/* Members of one machine share memory: their communicators have a window of it, and know each other's node. */
static void on_machine(MPI_Comm comm)
{
    MPI_Comm node;
    MPI_Win win;
    int here, first, heads = 0, *mine, *other, unit;
    MPI_Aint bytes;
    CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &here);
    first = here == 0;
    CHECK_OK(MPI_Allreduce(&first, &heads, 1, MPI_INT, MPI_SUM, comm));
    CHECK(heads == machines);
    CHECK_OK(MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, node, (void *)&mine, &win));
    MPI_Win_fence(0, win);
    *mine = 4711 + here;
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&other));
    CHECK(*other == 4711);
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&node));
}

static void use(int cycle)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    session_open(&session, &world);
    if (CHECK_OK(MPI_Comm_create_from_group(world, "attach", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))) {
        short_collectives(comm, size);
        if (cycle % 10 == 0)
            long_messages(comm, size);
        if (cycle % 10 == 0)
            on_machine(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    session_close(&session, &world);
}

/* --- what is left ------------------------------------------------------------------------------------------------- */

static int count_mappings(void)
{
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

static long kilobytes(void)
{
    long kb = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb;
}

static void attach(void)
{
    int on = 1;
    rounds = 0;
    CHECK_OK(MPIX_Attach_exchange(gather, &on, rank, size));
}

static void run_cycle(int number)
{
    attach();
    CHECK(rounds == 3 && round_bytes[0] == round_bytes[1] && round_bytes[2] > round_bytes[1]);
    use(number);
    if (number % 3 == 0)
        use(number);
    CHECK_OK(MPIX_Detach());
}

/* Does this process have more than before, after further cycles? */
static int grows(int first, int cycles)
{
    int fds = usage_entries("/proc/self/fd"), mappings = count_mappings();
    long memory = kilobytes();
    for (int i = 0; i < cycles; i++)
        run_cycle(first + i);
    /* Where its peers compute, a detaching process keeps a connection until it uses MPI again. */
    int least = INT_MAX;
    for (int i = 0; i < SETTLE; i++) {
        barrier();
        attach();
        CHECK_OK(MPIX_Detach());
        barrier();
        int open = usage_entries("/proc/self/fd");
        least = open < least ? open : least;
    }
    int more = least > fds;
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these keep what has been freed */
    more |= count_mappings() > mappings + 4 || kilobytes() > memory + 2048;
#endif
    if (more)
        fprintf(stderr, "rank %d: descriptors %d -> %d, mappings %d -> %d, memory %ld -> %ld kB\n", rank, fds, least,
                mappings, count_mappings(), memory, kilobytes());
    return more;
}

/* What leaks grows each time; what UCX makes late on a busy machine grows once. */
static void run_cycles(int cycles)
{
    enum { TIMES = 4 };
    char more, all[MOST];
    int times = 0, half = cycles / 2, anywhere;
    for (int i = 0; i < half; i++)
        run_cycle(i);
    do {
        anywhere = 0;
        more = (char)grows(half * (times + 1), cycles - half);
        CHECK(gather(&more, all, 1, NULL) == 0);
        for (int i = 0; i < size; i++)
            anywhere |= all[i];
    } while (anywhere && ++times < TIMES);
    CHECK(times < TIMES);
    CHECK(usage_entries("/dev/shm") == 2);
}

/* --- death -------------------------------------------------------------------------------------------------------- */

enum { WAYS = 4 };

/* Waits for the victim, or for one that waits for it. */
static int wait_for(MPI_Comm comm, int way, int victim)
{
    int data = 0, all, code = MPI_SUCCESS;
    MPI_Request request;
    switch (way) {
    case 0: return MPI_Recv(&data, 1, MPI_INT, victim, 5, comm, MPI_STATUS_IGNORE);
    case 1: return MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    case 2:
        while (code == MPI_SUCCESS)
            code = MPI_Allreduce(&data, &all, 1, MPI_INT, MPI_SUM, comm);
        return code;
    default:
        code = MPI_Iallreduce(&data, &all, 1, MPI_INT, MPI_SUM, comm, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void go_on(MPI_Group world, int victim)
{
    MPI_Group living;
    MPI_Comm comm;
    EXPECT(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_PROC_ABORTED, "");
    CHECK_OK(MPI_Group_excl(world, 1, &victim, &living));
    if (CHECK_OK(MPI_Comm_create_from_group(living, "living", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))) {
        short_collectives(comm, size - 1);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    MPI_Group_free(&living);
}

/* One communicator for each way of waiting. */
static void run_death(int early)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm[WAYS];
    char tag[16];
    int victim = size - 1;
    attach();
    session_open(&session, &world);
    for (int way = 0; way < WAYS && !early; way++) {
        snprintf(tag, sizeof tag, "way %d", way);
        CHECK_OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm[way]));
        short_collectives(comm[way], size);
    }
    barrier(); /* UCX 1.13 may abort where a peer dies while it connects */
    if (rank == victim)
        raise(SIGKILL);
    for (int way = 0; way < WAYS && !early; way++) {
        EXPECT(wait_for(comm[way], way, victim), MPI_ERR_PROC_ABORTED, "rank");
        CHECK_OK(MPI_Comm_free(&comm[way]));
    }
    go_on(world, victim);
    session_close(&session, &world);
    CHECK_OK(MPIX_Detach());
    CHECK(usage_entries("/dev/shm") == 2);
}

/* --- mistakes ----------------------------------------------------------------------------------------------------- */

/* Fails in the last rank, after all have exchanged: in the round that the context says. */
static int fail_late(const void *mine, void *all, int bytes, void *context)
{
    int *left = context, rc = gather(mine, all, bytes, NULL);
    if (--*left == 0)
        memset(all, 0, (size_t)bytes);
    return rc;
}

static void run_mistakes(void)
{
    MPI_Session session;
    MPI_Group world;
    for (int round = 1; round <= 3; round++) {
        int left = round;
        EXPECT(MPIX_Attach_exchange(fail_late, &left, rank, size), MPI_ERR_ARG, "does not come from rank 0");
        EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "not attached");
    }
    setenv("PLENUM_TRANSPORT", rank == 1 ? "nonsense" : "auto", 1);
    int on = 1, code = MPIX_Attach_exchange(gather, &on, rank, size), class;
    MPI_Error_class(code, &class);
    CHECK(rank == 1 ? code != MPI_SUCCESS : class == MPI_ERR_OTHER);
    unsetenv("PLENUM_TRANSPORT");
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    attach();
    EXPECT(MPI_Init(NULL, NULL), MPI_ERR_UNSUPPORTED_OPERATION, "no World: use MPI_Session_init");
    session_open(&session, &world);
    EXPECT(MPIX_Session_pset_publish(session, "app://x", world), MPI_ERR_UNSUPPORTED_OPERATION, "pools on one machine");
    EXPECT(MPIX_Detach(), MPI_ERR_OTHER, "in use");
    session_close(&session, &world);
    use(0);
    barrier();
    CHECK_OK(MPIX_Detach());
    CHECK(usage_entries("/dev/shm") == 2);
}

static void run_versions(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, on = 1, code = MPIX_Attach_exchange(gather, &on, rank, size);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    printf("rank %d: %s\n", rank, text);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    rank = atoi(argv[2]);
    size = atoi(argv[3]);
    machines = atoi(argv[4]);
    values = malloc(LONG * sizeof *values);
    meet(argv[1]);
    if (strcmp(argv[5], "cycles") == 0)
        run_cycles(argc > 6 ? atoi(argv[6]) : 10);
    else if (strcmp(argv[5], "mistakes") == 0)
        run_mistakes();
    else if (strcmp(argv[5], "versions") == 0)
        run_versions();
    else
        run_death(strcmp(argv[5], "early") == 0);
    free(values);
    if (rank == 0 && !failures)
        printf("well: %s\n", argv[5]);
    return failures != 0;
}
