/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of failure mitigation share: checks, deaths in known order, and an end that tells the runner. A
 * process prints "dies" right before it dies and "good" when it ends well, so the runner (test_ulfm) can count both.
 */
#ifndef PLENUM_TESTS_ULFM_H
#define PLENUM_TESTS_ULFM_H

#include <mpi-ext.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { TAG_THROUGH = 9001, TAG_NEVER, MOST = 64 };

static int rank = -1, size;
static unsigned gone; /* the ranks that kill_ranks() has seen die */
static _Atomic int failed;

static inline void expect_at(int line, int good, const char *format, ...)
{
    char text[600];
    va_list list;
    if (good)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    failed = 1;
    fprintf(stderr, "rank %d, line %d: %s\n", rank, line, text);
}

static inline int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static inline int is_at(int line, int code, int wanted, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class = class_of(code);
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    expect_at(line, class == wanted, "%s: class %d instead of %d: %s", what, class, wanted, text);
    return class;
}

#define EXPECT(condition)  expect_at(__LINE__, !!(condition), "%s", #condition)
#define IS(call, wanted)   is_at(__LINE__, (call), (wanted), #call)
#define OK(call)           IS(call, MPI_SUCCESS)
#define FAILS(call)        IS(call, MPIX_ERR_PROC_FAILED)
#define REVOKED(call)      IS(call, MPIX_ERR_REVOKED)
#define ENDS(call, wanted) IS(finished((call), &request), wanted) /* a call that starts `request` */

/* The code of a call that starts a request: its own, or that of the wait. */
static inline int finished(int code, MPI_Request *request)
{
    return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int end(void)
{
    OK(MPI_Finalize());
    if (!failed)
        puts("good");
    return failed;
}

static inline void die(void)
{
    (void)!write(STDOUT_FILENO, "dies\n", 5);
    raise(SIGKILL);
}

static inline int is_in(unsigned ranks, int one)
{
    return ranks >> one & 1;
}

/*
 * The ranks of the World whose bit is set in `victims` die, after every other living one has come here. The others
 * return when they know of it.
 */
static inline void kill_ranks(unsigned victims)
{
    int word = rank, dies = is_in(victims, rank);
    for (int other = 0; other < size; other++)
        if (is_in(gone, other))
            continue;
        else if (dies && !is_in(victims, other))
            MPI_Recv(&word, 1, MPI_INT, other, TAG_THROUGH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (!dies && is_in(victims, other))
            OK(MPI_Send(&word, 1, MPI_INT, other, TAG_THROUGH, MPI_COMM_WORLD));
    if (dies)
        die();
    for (int other = 0; other < size; other++)
        if (is_in(victims, other))
            FAILS(MPI_Recv(&word, 1, MPI_INT, other, TAG_NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    gone |= victims;
}

/* The number of processes of a group, which is freed. */
static inline int group_size_of(MPI_Group *group)
{
    int count = -1;
    OK(MPI_Group_size(*group, &count));
    OK(MPI_Group_free(group));
    return count;
}

static inline int failures_of(MPI_Comm comm)
{
    MPI_Group group = MPI_GROUP_NULL;
    OK(MPIX_Comm_get_failed(comm, &group));
    return group_size_of(&group);
}

/* Acknowledges all known failures. */
static inline int acknowledge(MPI_Comm comm)
{
    int count = -1;
    OK(MPIX_Comm_ack_failed(comm, MOST, &count));
    return count;
}

/* `part` has the ranks of `whole`, in this order, without those in `without`. */
static inline void expect_living(MPI_Comm whole, MPI_Comm part, unsigned without)
{
    MPI_Group all, some;
    int among, of, ranks[MOST], found[MOST], next = 0;
    OK(MPI_Comm_size(whole, &of));
    OK(MPI_Comm_size(part, &among));
    OK(MPI_Comm_group(whole, &all));
    OK(MPI_Comm_group(part, &some));
    for (int i = 0; i < among; i++)
        ranks[i] = i;
    OK(MPI_Group_translate_ranks(some, among, ranks, all, found));
    for (int i = 0; i < of; i++)
        if (!is_in(without, i)) {
            expect_at(__LINE__, next < among && found[next] == i, "rank %d of what is left is not %d", next, i);
            next++;
        }
    expect_at(__LINE__, next == among, "%d are left instead of %d", among, next);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
}

/* Every rank of `comm` works with every other one: a sum, and a ring of long messages. */
static inline void expect_works(MPI_Comm comm)
{
    enum { LONG = 20000 };
    static int out[LONG], in[LONG];
    int me, all, sum = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    EXPECT(sum == all * (all - 1) / 2);
    for (int i = 0; i < LONG; i++)
        out[i] = me * LONG + i;
    int from = (me + all - 1) % all;
    OK(MPI_Sendrecv(out, LONG, MPI_INT, (me + 1) % all, 5, in, LONG, MPI_INT, from, 5, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < LONG; i++)
        if (in[i] != from * LONG + i) {
            expect_at(__LINE__, 0, "element %d of a message from %d is %d", i, from, in[i]);
            break;
        }
}

/* xorshift: not 0 at first. */
static inline uint32_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1dull >> 32);
}

static inline void on_alarm(int number)
{
    (void)number;
    die();
}

/* Those in `victims` die within 65 ms, in most runs much sooner. Drawn for each rank, so that all draw alike. */
static inline void die_soon(uint64_t *state, unsigned victims)
{
    int most = 1 << (5 + random_next(state) % 11);
    for (int one = 0; one < size; one++) {
        struct itimerval timer = { .it_value.tv_usec = 1 + random_next(state) % most };
        if (one != rank || !is_in(victims, rank))
            continue;
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

/* A communicator of these ranks of the World; MPI_COMM_NULL with an error of that class. */
static inline MPI_Comm make_of(MPI_Comm parent, unsigned members, int tag, int *class)
{
    MPI_Group all, some;
    MPI_Comm made = MPI_COMM_NULL;
    int count = 0, ranks[MOST];
    for (int i = 0; i < size; i++)
        if (is_in(members, i))
            ranks[count++] = i;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, count, ranks, &some));
    *class = class_of(MPI_Comm_create_group(parent, some, tag, &made));
    EXPECT((*class == MPI_SUCCESS) == (made != MPI_COMM_NULL));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&all));
    return made;
}

#endif
