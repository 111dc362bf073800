/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that others wait for in vain. Each that waits says in one line how its operation ended, and lives on.
 *
 * usage: unable HOW WHAT            the last rank is absent; the others wait for it
 *        unable HOW spawn N FIRST   N processes of which the last is absent are spawned, by MPI_Comm_spawn_multiple
 *                                   after FIRST others (0: by MPI_Comm_spawn)
 *
 * HOW: "exit", "exit3", "kill": without MPI_Init; "argument", "limit", "value": its MPI_Init fails, by its arguments,
 * for lack of descriptors, or by a wrong variable. It then lives on until all others have been told, or exits with 0
 * ("-exit") or 3 ("-exit3"). "-again": it calls MPI_Init again at once, so that none is told of the failure; "-late":
 * when all have been told. "dies": it initializes MPI, says its pid, and waits to be killed; the others begin to wait
 * for it then.
 *
 * Environment: PLACE, an empty directory; PARENTS, how many processes spawn; FATAL: their errors are fatal.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *how, *place;
static int rank, size;

/* --- what has happened elsewhere ---------------------------------------------------------------------------------- */

static const char *mark_path(const char *what, int number)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s-%d", place, what, number);
    return path;
}

static void mark_set(const char *what, int number)
{
    close(open(mark_path(what, number), O_CREAT | O_WRONLY, 0600));
}

static void mark_await(const char *what, int number)
{
    while (access(mark_path(what, number), F_OK) != 0)
        usleep(1000);
}

static void say(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "fine";
    int length;
    if (code)
        MPI_Error_string(code, text, &length);
    printf("%s %d: %s\n", what, rank, text);
    fflush(stdout);
}

/* --- the absent process ------------------------------------------------------------------------------------------- */

static int is_how(const char *word)
{
    return strncmp(how, word, strlen(word)) == 0;
}

static int fail_to_init(void)
{
    struct rlimit before, none;
    int code;
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    if (is_how("limit"))
        setrlimit(RLIMIT_NOFILE, &none);
    if (is_how("value"))
        setenv("PLENUM_TRANSPORT", "nonsense", 1);
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, is_how("argument") ? NULL : &(int){ 0 });
    setrlimit(RLIMIT_NOFILE, &before);
    return code;
}

/* Returns if MPI is initialized. `waiting`: processes that wait for this one. */
static void be_absent(int waiting)
{
    if (is_how("kill"))
        kill(getpid(), SIGKILL);
    if (is_how("exit"))
        exit(is_how("exit3") ? 3 : 0);
    if (is_how("dies")) {
        MPI_Init(NULL, NULL);
        printf("pid %d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    say("absent", fail_to_init());
    if (strstr(how, "-exit"))
        exit(strstr(how, "-exit3") ? 3 : 0);
    for (int r = 0; r < waiting && !strstr(how, "-again"); r++)
        mark_await("told", r);
    if (strstr(how, "-late"))
        say("late", MPI_Init(NULL, NULL));
    if (!strstr(how, "-again"))
        exit(0);
    say("again", MPI_Init(NULL, NULL));
    mark_set("init", 0);
}

/* --- those that wait ---------------------------------------------------------------------------------------------- */

static int wait_in(const char *what)
{
    static char buffer[1 << 20];
    int last = size - 1, done = 0, code = 0, length = strcmp(what, "long") == 0 ? (int)sizeof buffer : 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm made;
    MPI_Win win;
    void *memory;
    if (strcmp(what, "recv") == 0)
        return MPI_Recv(buffer, 1, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "any") == 0) /* of two ranks */
        return MPI_Recv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "probe") == 0)
        return MPI_Probe(last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "irecv") == 0) {
        code = MPI_Irecv(buffer, 1, MPI_CHAR, last, 0, MPI_COMM_WORLD, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "ssend") == 0)
        return MPI_Ssend(buffer, 1, MPI_CHAR, last, 0, MPI_COMM_WORLD);
    if (strcmp(what, "send") == 0 || strcmp(what, "long") == 0) {
        code = MPI_Isend(buffer, length, MPI_CHAR, last, 0, MPI_COMM_WORLD, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "barrier") == 0)
        return MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "allreduce") == 0)
        return MPI_Allreduce(&rank, &done, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "ibarrier") == 0) {
        code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (code == MPI_SUCCESS && !done)
            code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return code;
    }
    if (strcmp(what, "dup") == 0)
        return MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (strcmp(what, "window") == 0)
        return MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    return MPI_ERR_ARG;
}

static int spawn(char **argv)
{
    char *arguments[] = { argv[1], argv[2], argv[3], argv[4], "child", NULL }, **all[] = { arguments, arguments };
    int n = atoi(argv[3]), first = atoi(argv[4]);
    MPI_Comm inter = MPI_COMM_NULL;
    if (first == 0)
        return MPI_Comm_spawn(argv[0], arguments, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return MPI_Comm_spawn_multiple(2, (char *[]){ argv[0], argv[0] }, all, (int[]){ first, n },
                                   (MPI_Info[]){ MPI_INFO_NULL, MPI_INFO_NULL }, 0, MPI_COMM_WORLD, &inter,
                                   MPI_ERRCODES_IGNORE);
}

int main(int argc, char **argv)
{
    how = argv[1];
    place = getenv("PLACE");
    rank = atoi(getenv("PLENUM_RANK"));
    size = atoi(getenv("PLENUM_SIZE"));
    int spawns = argc == 5, child = argc > 5, told = child ? atoi(getenv("PARENTS")) : size - 1;
    if (rank == size - 1 && (child || !spawns)) {
        setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 0);
        be_absent(told);
    } else {
        MPI_Init(NULL, NULL);
    }
    if (child) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, getenv("FATAL") ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
    if (!spawns && strstr(how, "-again"))
        mark_await("init", 0);
    if (is_how("dies"))
        mark_await("dead", 0);
    if (spawns || !strstr(how, "-again") || rank < size - 1)
        say("told", spawns ? spawn(argv) : wait_in(argv[2]));
    else
        for (int r = 0; r < size - 1; r++)
            MPI_Send("x", 1, MPI_CHAR, r, 0, MPI_COMM_WORLD);
    mark_set("told", rank);
    for (int r = 0; r < (spawns ? size : size - 1); r++) /* a rank that finalizes is absent, too */
        while (access(mark_path("told", r), F_OK) != 0)
            MPI_Iprobe(0, 0, MPI_COMM_SELF, &(int){ 0 }, MPI_STATUS_IGNORE); /* progress: others are to be told */
    MPI_Finalize();
    return 0;
}
