/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: this program starts itself as children, which start one grandchild. A program that cannot be started is an
 * error at all members.
 */
/* Spawning: this program starts itself as children, which start one grandchild; what cannot be started is an error at
 * all. */
#include "mtest.h"
#include <limits.h>
#include <strings.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static int sum_over(MPI_Comm comm, int word)
{
    int sum = -1;
    CHECK_OK(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

/* Processes of two jobs create communicators from existing ones, not through their listeners. */
static void check_group(MPI_Comm merged)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_SELF;
    CHECK_OK(MPI_Comm_group(merged, &group));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* its handler, as the group is of no session */
    CHECK_CLASS(MPI_Comm_create_from_group(group, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_create_group(merged, group, 3, &comm));
    CHECK(sum_over(comm, 1) == sum_over(merged, 1));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Group_free(&group));
}

/* The parents' side: all of comm and `expected` children, whose words have the sum `words`. */
static void add_up(MPI_Comm inter, int expected, int words)
{
    MPI_Comm merged;
    int remote = -1, rank, size;
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK(remote == expected);
    CHECK(sum_over(inter, 1) == words);
    CHECK_OK(MPI_Intercomm_merge(inter, 0, &merged));
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK(size == mtest_size + expected && rank == mtest_rank);
    CHECK(sum_over(merged, rank) == size * (size - 1) / 2);
    check_group(merged);
    CHECK_OK(MPI_Comm_disconnect(&merged));
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* The initial handler is the default one, or the one that the parents have requested. */
static void check_errhandler(MPI_Comm comm, int asked)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
    CHECK(handler == (asked ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

/* MPI_INFO_ENV has the name of the initial handler that was requested. */
static void check_errhandler_name(int asked)
{
    char name[64] = "";
    int length = sizeof name, flag = -1;
    CHECK_OK(MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, name, &flag));
    CHECK(flag == asked && (!asked || strcasecmp(name, "mpi_errors_return") == 0));
}

static int child(int argc, char **argv, MPI_Comm parent)
{
    MPI_Comm inter, merged;
    char name[MPI_MAX_OBJECT_NAME], directory[512];
    int length, rank, size, remote, word = atoi(argv[2]), *appnum, flag;
    CHECK_OK(MPI_Comm_get_name(parent, name, &length));
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(flag && *appnum == (word == 20));
    CHECK(argc == 4 && strcmp(argv[3], "two words; \"quoted\"") == 0);
    CHECK(word != 20 || (getcwd(directory, sizeof directory) && strcmp(directory, "/") == 0));
    check_errhandler(MPI_COMM_WORLD, word == 20);
    check_errhandler(MPI_COMM_SELF, word == 20);
    check_errhandler(parent, word == 20);
    check_errhandler_name(word == 20);
    MPI_Comm_remote_size(parent, &remote);
    CHECK(sum_over(parent, word) == remote);
    CHECK_OK(MPI_Intercomm_merge(parent, 1, &merged));
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK(sum_over(merged, rank) == size * (size - 1) / 2);
    check_group(merged);
    CHECK_OK(MPI_Comm_disconnect(&merged));
    CHECK_OK(MPI_Comm_disconnect(&parent));
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    if (word == 7) { /* one generation more */
        char *arguments[] = { "child", "8", argv[3], NULL };
        CHECK_OK(MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        add_up(inter, 1, 8);
    }
    MTEST_END;
}

static void check_failure(const char *command, int class)
{
    MPI_Comm inter = MPI_COMM_SELF;
    int codes[3] = { -1, -1, -1 }, root = mtest_size - 1;
    CHECK_CLASS(MPI_Comm_spawn(command, MPI_ARGV_NULL, 3, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), class);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; i < 3; i++)
        CHECK(codes[i] == MPI_ERR_SPAWN);
}

/* Fewer than maxprocs, as the list of acceptable numbers allows. */
static void check_soft(char *command, char *word)
{
    MPI_Comm inter;
    MPI_Info infos[2];
    char *first[] = { "child", "10", word, NULL }, *second[] = { "child", "20", word, NULL };
    int codes[6] = { -1, -1, -1, -1, -1, -1 }, root = mtest_size - 1;
    for (int i = 0; i < 2; i++)
        MPI_Info_create(&infos[i]);
    MPI_Info_set(infos[0], "soft", "7,1:4:2 , 2");
    MPI_Info_set(infos[1], "soft", "9:1:-7");
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "mpi_initial_errhandler", "mpi_errors_return");
    char absolute[4096];
    CHECK(realpath(command, absolute) != NULL);
    CHECK_OK(MPI_Comm_spawn_multiple(2, (char *[]){ absolute, absolute }, (char **[]){ first, second }, (int[]){ 2, 4 },
                                     infos, root, MPI_COMM_WORLD, &inter, codes));
    for (int i = 0; i < 6; i++)
        CHECK(codes[i] == (i < 4 ? MPI_SUCCESS : MPI_ERR_SPAWN));
    add_up(inter, 4, 2 * 10 + 2 * 20);

    MPI_Info_set(infos[0], "soft", "2:1");
    CHECK_CLASS(MPI_Comm_spawn(command, first, 4, infos[0], root, MPI_COMM_WORLD, &inter, codes),
                mtest_rank == root ? MPI_ERR_INFO_VALUE : MPI_ERR_SPAWN);
    MPI_Info_set(infos[0], "soft", "0,5:8");
    CHECK_CLASS(MPI_Comm_spawn(command, first, 4, infos[0], root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    for (int i = 0; i < 2; i++)
        MPI_Info_free(&infos[i]);
}

/* More commands than one message carries; one of them cannot be started. */
static void check_many(char *command)
{
    enum { COMMANDS = 70 };
    MPI_Comm inter;
    MPI_Info infos[COMMANDS];
    char *commands[COMMANDS];
    int maxprocs[COMMANDS], codes[2 * COMMANDS + 1], root = mtest_size - 1;
    for (int i = 0; i < COMMANDS; i++) {
        commands[i] = i == COMMANDS - 1 ? "./there is no such program" : command;
        maxprocs[i] = 1 + i % 2;
        infos[i] = MPI_INFO_NULL;
    }
    memset(codes, 0x77, sizeof codes);
    CHECK_CLASS(MPI_Comm_spawn_multiple(COMMANDS, commands, MPI_ARGVS_NULL, maxprocs, infos, root, MPI_COMM_WORLD,
                                        &inter, codes),
                MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; i <= 2 * COMMANDS; i++)
        CHECK(codes[i] == (i < 3 * COMMANDS / 2 ? MPI_ERR_SPAWN : 0x77777777));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (argc > 1)
        return child(argc, argv, parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    char *arguments[] = { "child", "7", "two words; \"quoted\"", NULL };
    int codes[CHILDREN] = { -1, -1 }, root = mtest_size - 1;
    CHECK_OK(MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes));
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    add_up(inter, CHILDREN, 7 * CHILDREN);
    check_soft(argv[0], arguments[2]);

    /* Two programs, the second one in another directory; by the last rank alone. */
    char absolute[4096];
    CHECK(realpath(argv[0], absolute) != NULL);
    char *commands[] = { argv[0], absolute };
    char *first[] = { "child", "10", arguments[2], NULL }, *second[] = { "child", "20", arguments[2], NULL };
    char **argvs[] = { first, second };
    MPI_Info infos[2] = { MPI_INFO_NULL };
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "host", "localhost");
    MPI_Info_set(infos[1], "mpi_initial_errhandler", "MPI_Errors_Return");
    CHECK_OK(MPI_Comm_spawn_multiple(2, commands, argvs, (int[]){ 1, 2 }, infos, root, MPI_COMM_WORLD, &inter,
                                     MPI_ERRCODES_IGNORE));
    add_up(inter, 3, 10 + 2 * 20);
    MPI_Info_set(infos[1], "mpi_initial_errhandler", "mpi_errors_wishful");
    CHECK_CLASS(MPI_Comm_spawn(argv[0], first, 1, infos[1], root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_ERR_INFO_VALUE);
    MPI_Info_delete(infos[1], "mpi_initial_errhandler");
    MPI_Info_set(infos[1], "host", "nowhere.invalid");
    CHECK_CLASS(MPI_Comm_spawn(argv[0], first, 1, infos[1], root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    MPI_Info_free(&infos[1]);

    check_failure("./there is no such program", MPI_ERR_SPAWN);
    check_failure("/etc/passwd", MPI_ERR_SPAWN);
    check_many(argv[0]);
    check_failure("true", MPI_ERR_SPAWN); /* ends without MPI */
    CHECK_CLASS(MPI_Comm_spawn(argv[0], first, -1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                mtest_rank == root ? MPI_ERR_ARG : MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn(argv[0], first, 0, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn_multiple(0, argv, MPI_ARGVS_NULL, &(int){ 1 }, infos, root, MPI_COMM_WORLD, &inter,
                                        MPI_ERRCODES_IGNORE),
                mtest_rank == root ? MPI_ERR_ARG : MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn(NULL, first, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                mtest_rank == root ? MPI_ERR_ARG : MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn(argv[0], first, 1, MPI_INFO_NULL, mtest_size, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_ROOT);
    infos[0] = infos[1] = MPI_INFO_NULL; /* more processes than an int counts */
    CHECK_CLASS(MPI_Comm_spawn_multiple(2, (char *[]){ argv[0], argv[0] }, MPI_ARGVS_NULL, (int[]){ INT_MAX, INT_MAX },
                                        infos, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    MTEST_END;
}
