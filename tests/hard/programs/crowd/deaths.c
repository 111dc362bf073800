/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deaths SEED EPOCHS DIRECTORY alone|spawns [verbose]: random operations among processes some of which die at random
 * moments. The others go on: they revoke, agree, shrink, and spawn more. An operation that succeeds has the right data.
 * One that fails says MPIX_ERR_PROC_FAILED or MPIX_ERR_REVOKED, and only if the plan lets a member die. To be run with
 * mpiexec --with-ft ulfm. A process prints "dies" or, in the end, "good".
 *
 * An epoch is a few operations. A process that gets an error revokes the communicators and goes to the next agreement;
 * if that has failed or a flag is 0, the processes shrink the communicator and begin the next epoch.
 */
#include "deaths.h"

#include <signal.h>
#include <sys/time.h>

struct crowd crowd;
struct deaths deaths;
static const char *directory;
static char **arguments;
static uint64_t history; /* of all agreements */

/* --- how a process dies ------------------------------------------------------------------------------------------- */

static void die(void)
{
    signal(SIGALRM, SIG_IGN); /* else it may die twice */
    (void)!write(STDOUT_FILENO, "dies\n", 5);
    switch (mix(crowd.seed + (uint64_t)crowd.me) % 6) {
    case 0: _exit(0);
    case 1: _exit(3);
    case 2: signal(SIGTERM, SIG_DFL); raise(SIGTERM); /* fall through */
    default: raise(SIGKILL);
    }
}

static void on_alarm(int number)
{
    (void)number;
    die();
}

static void die_soon(void)
{
    struct itimerval timer = { .it_value.tv_usec = 1 + own_below(1 << (4 + own_below(11))) };
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The epoch in which a process dies; process 0 or 1 never does. */
static int end_of(int process)
{
    uint64_t draw = mix(crowd.seed * 31 + (uint64_t)process);
    bool lives = process == (int)(crowd.seed % 2) || draw % 8 < 3;
    return lives ? 1 << 30 : 1 + (int)(draw >> 8 & 0xffff) % (deaths.epochs - 1);
}

bool may_fail(void)
{
    for (int r = 0; r < deaths.all.size; r++)
        if (end_of(deaths.all.who[r]) <= deaths.epoch)
            return true;
    return false;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static void give_up(void)
{
    deaths.trouble = true;
    OK(MPIX_Comm_revoke(deaths.all.comm));
    for (int i = 0; i < deaths.subs; i++)
        if (deaths.sub[i].comm != MPI_COMM_NULL)
            OK(MPIX_Comm_revoke(deaths.sub[i].comm));
}

bool went_well(int code, const char *call, int line)
{
    int class = class_of(code);
    if (class == MPI_SUCCESS)
        return true;
    if (crowd.verbose)
        fprintf(stderr, "%d: epoch %d: line %d: %s: %s\n", crowd.me, deaths.epoch, line, call, words_of(code));
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED && class != MPIX_ERR_PROC_FAILED_PENDING)
        FAIL("at line %d: %s: class %d: %s", line, call, class, words_of(code));
    if (!may_fail())
        FAIL("at line %d: none has died, but %s: %s", line, call, words_of(code));
    give_up();
    return false;
}

bool requests_end(int n, MPI_Request *requests)
{
    MPI_Status statuses[64];
    bool good = true;
    int code = MPI_Waitall(n, requests, statuses);
    if (code == MPI_SUCCESS)
        return true;
    for (int i = 0; i < n; i++) {
        int error = class_of(code) == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code;
        if (class_of(error) != MPI_ERR_PENDING)
            good = went_well(error, "MPI_Waitall", __LINE__) && good;
    }
    EXPECT(!good); /* and all is revoked, so each other one ends, too */
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            int class = class_of(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            EXPECT(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED);
        }
    return false;
}

bool all_went_well(void)
{
    MPI_Request request;
    int flag = !deaths.trouble, code;
    if (mix(history) % 3) { /* alike for all, wherever they come from */
        code = MPIX_Comm_agree(deaths.all.comm, &flag);
    } else {
        OK(MPIX_Comm_iagree(deaths.all.comm, &flag, &request));
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int class = class_of(code);
    if (class != MPI_SUCCESS && (class != MPIX_ERR_PROC_FAILED || !may_fail()))
        FAIL("an agreement: class %d: %s", class, words_of(code));
    EXPECT(flag == 0 || flag == 1);
    EXPECT(flag == 0 || !deaths.trouble);
    history = mix(history + (uint64_t)flag + (class ? 2 : 0));
    deaths.agreed_on_trouble = class || !flag;
    return !deaths.agreed_on_trouble;
}

/* --- epochs ------------------------------------------------------------------------------------------------------- */

static void set_comm(MPI_Comm comm)
{
    deaths.all.comm = comm;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(comm, &deaths.all.size));
    OK(MPI_Comm_rank(comm, &deaths.all.rank));
}

void sub_add(MPI_Comm comm)
{
    struct circle *sub = &deaths.sub[deaths.subs++];
    MPI_Group group[2];
    int ranks[MOST], found[MOST];
    sub->comm = comm;
    if (comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(comm, &sub->size));
    OK(MPI_Comm_rank(comm, &sub->rank));
    OK(MPI_Comm_group(comm, &group[0]));
    OK(MPI_Comm_group(deaths.all.comm, &group[1]));
    for (int r = 0; r < sub->size; r++)
        ranks[r] = r;
    OK(MPI_Group_translate_ranks(group[0], sub->size, ranks, group[1], found));
    for (int r = 0; r < sub->size; r++)
        sub->who[r] = deaths.all.who[found[r]];
    OK(MPI_Group_free(&group[0]));
    OK(MPI_Group_free(&group[1]));
}

/* Which processes are left: no living one may be missing. */
static void shrink(void)
{
    MPI_Comm old = deaths.all.comm, left;
    MPI_Group group[2];
    MPI_Request request;
    int ranks[MOST], found[MOST], who[MOST], size = deaths.all.size, next = 0;
    if (plan_below(2))
        OK(MPIX_Comm_revoke(old));
    if (plan_below(2)) {
        OK(MPIX_Comm_shrink(old, &left));
    } else {
        OK(MPIX_Comm_ishrink(old, &left, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_group(old, &group[0]));
    OK(MPI_Comm_group(left, &group[1]));
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    OK(MPI_Group_translate_ranks(group[0], size, ranks, group[1], found));
    OK(MPI_Group_free(&group[0]));
    OK(MPI_Group_free(&group[1]));
    for (int r = 0; r < size; r++) {
        if (found[r] == MPI_UNDEFINED && end_of(deaths.all.who[r]) > deaths.epoch)
            FAIL("process %d was left out, but lives", deaths.all.who[r]);
        if (found[r] != MPI_UNDEFINED)
            EXPECT(found[r] == next);
        if (found[r] != MPI_UNDEFINED)
            who[next++] = deaths.all.who[r];
    }
    set_comm(left);
    EXPECT(next == deaths.all.size && who[deaths.all.rank] == crowd.me);
    memcpy(deaths.all.who, who, sizeof who);
    if (plan_below(4))
        OK(MPI_Comm_free(&old));
}

/* What the spawned processes must know. */
struct state {
    int epoch, size, born, first, who[MOST];
    uint64_t history;
};

static void take_state(MPI_Comm merged)
{
    struct state state = { deaths.epoch, deaths.all.size, deaths.born, deaths.first, { 0 }, history };
    memcpy(state.who, deaths.all.who, sizeof state.who);
    OK(MPI_Bcast(&state, sizeof state, MPI_BYTE, 0, merged));
    set_comm(merged);
    for (int r = state.size; r < deaths.all.size; r++)
        state.who[r] = state.born + r - state.size;
    memcpy(deaths.all.who, state.who, sizeof state.who);
    deaths.epoch = state.epoch;
    deaths.born = state.born + deaths.all.size - state.size;
    deaths.first = state.first;
    history = state.history;
    crowd.me = deaths.all.who[deaths.all.rank];
    crowd.own = mix(crowd.seed + (uint64_t)crowd.me + 1);
}

/* More processes, in an epoch in which none dies. */
static void spawn(void)
{
    MPI_Comm inter, merged, old = deaths.all.comm;
    int n = 1 + plan_below(2), root = plan_below(deaths.all.size);
    deaths.epoch++;
    bool quiet = !may_fail();
    deaths.epoch--;
    while (end_of(deaths.born) <= deaths.epoch + 1 || end_of(deaths.born + n - 1) <= deaths.epoch + 1)
        deaths.born++; /* these die too early */
    if (!quiet || deaths.all.size + n > MOST || deaths.born + n > 1000)
        return;
    OK(MPI_Comm_spawn(arguments[0], arguments + 1, n, MPI_INFO_NULL, root, old, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Intercomm_merge(inter, 0, &merged));
    OK(MPI_Comm_free(&inter));
    take_state(merged);
    OK(MPI_Comm_free(&old));
}

static void end_subs(void)
{
    while (deaths.subs > 0) /* a broken one is freed as any other */
        if (deaths.sub[--deaths.subs].comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&deaths.sub[deaths.subs].comm));
}

/* Begins the dying of this process, if it is its time. */
static void maybe_die(int operation)
{
    int end = end_of(crowd.me);
    if (end < deaths.epoch)
        die();
    if (end != deaths.epoch || operation != (int)(mix(crowd.seed + 77 * (uint64_t)crowd.me) % 3))
        return;
    if (mix(crowd.seed + 99 * (uint64_t)crowd.me) % 3 == 0)
        die();
    die_soon();
}

static void one_epoch(void)
{
    uint64_t base = mix(crowd.seed) + (uint64_t)deaths.epoch * 1000000;
    crowd.plan = base;
    int operations = 1 + plan_below(6), spawns = plan_below(4) == 0 || deaths.epoch == 0;
    deaths.trouble = deaths.agreed_on_trouble = false;
    for (int i = 0; i < operations && !deaths.trouble && !deaths.agreed_on_trouble; i++) {
        crowd.step = deaths.epoch * 10 + i;
        crowd.plan = base + 1000 * (uint64_t)(i + 1);
        maybe_die(i);
        one_operation(directory);
    }
    crowd.plan = base + 100;
    maybe_die(3);
    bool well = !deaths.agreed_on_trouble && all_went_well();
    crowd.plan = base + 200;
    end_subs();
    if (!well)
        shrink();
    else if (spawns && strcmp(arguments[4], "spawns") == 0)
        spawn();
}

/* All have agreed alike, and all that live work together. */
static void check_all(void)
{
    uint64_t all[MOST];
    crowd.plan = mix(crowd.seed + 5);
    for (;;) {
        deaths.trouble = false;
        bool well = went_well(MPI_Allgather(&history, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, deaths.all.comm),
                              "the last", __LINE__);
        for (int r = 0; well && r < deaths.all.size; r++)
            EXPECT(all[r] == history);
        if (all_went_well() && !may_fail())
            break;
        shrink();
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, merged;
    if (argc < 5)
        return 2;
    arguments = argv;
    crowd.seed = strtoull(argv[1], NULL, 10);
    deaths.epochs = atoi(argv[2]);
    directory = argv[3];
    crowd.verbose = argc > 5 && strcmp(argv[5], "verbose") == 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_get_parent(&parent));
    if (parent == MPI_COMM_NULL) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &merged));
        OK(MPI_Comm_size(merged, &deaths.born));
        deaths.first = deaths.born;
        EXPECT(deaths.born <= MOST && deaths.epochs > 1);
        set_comm(merged);
        for (int r = 0; r < deaths.all.size; r++)
            deaths.all.who[r] = r;
        crowd.me = deaths.all.rank;
        crowd.own = mix(crowd.seed + (uint64_t)crowd.me + 1);
    } else {
        OK(MPI_Intercomm_merge(parent, 1, &merged));
        OK(MPI_Comm_free(&parent));
        take_state(merged);
        deaths.epoch++;
    }
    for (; deaths.epoch < deaths.epochs; deaths.epoch++)
        one_epoch();
    maybe_die(-1);
    check_all();
    OK(MPI_Finalize());
    puts("good");
    return 0;
}
