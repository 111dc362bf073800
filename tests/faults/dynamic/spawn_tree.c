/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that spawns one process of this program: spawn_tree PART. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void be_child(MPI_Comm parent, const char *part)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(part, "abort") == 0)
        MPI_Abort(parent, 9);
    MPI_Comm_disconnect(&parent);
    if (strcmp(part, "stay") == 0 || strcmp(part, "parent-dies") == 0) {
        puts("staying");
        fflush(stdout);
        pause();
    } else if (strcmp(part, "crash") == 0) {
        kill(getpid(), SIGKILL);
    } else if (strcmp(part, "outlive") == 0) {
        usleep(300000);
        puts("late");
    }
    MPI_Finalize();
    exit(strcmp(part, "code") == 0 ? 3 : 0);
}

/* Spawns once for each line of standard input, and says how that went. */
static void ask_for_lines(char *program)
{
    char *arguments[] = { "code 0", NULL }, line[16];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    puts("ready");
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin)) {
        MPI_Comm inter = MPI_COMM_NULL;
        char text[MPI_MAX_ERROR_STRING] = "spawned";
        int length,
            code = MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
        if (code)
            MPI_Error_string(code, text, &length);
        else
            MPI_Comm_disconnect(&inter);
        puts(text);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    char *arguments[] = { argv[1], NULL };
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent, argv[1]);
    if (strcmp(argv[1], "ask") == 0) {
        ask_for_lines(argv[0]);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    if (strcmp(argv[1], "abort") != 0)
        MPI_Comm_disconnect(&inter);
    if (strcmp(argv[1], "stay") == 0 || strcmp(argv[1], "crash") == 0 || strcmp(argv[1], "abort") == 0)
        pause();
    if (strcmp(argv[1], "parent-dies") == 0) {
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
