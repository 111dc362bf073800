/* SPDX-License-Identifier: BSD-3-Clause */
/* For test_files: fails in one of several ways, by name, and prints the outcome. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;

static const char *class_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length, class;
    MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    return text;
}

/* The name of the error stands in parentheses at the end. */
static void say(const char *what, int code)
{
    const char *text = class_of(code), *name = strrchr(text, '(');
    printf("%s %d %s\n", what, rank, code == MPI_SUCCESS ? "ok" : name ? name : text);
    fflush(stdout);
}

static MPI_File open_file(const char *name, int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    int rc = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &fh);
    say("open", rc);
    return fh;
}

/* Interleaved bytes, so that some processes write for others. */
static void set_interleaved(MPI_File fh)
{
    MPI_Datatype every;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * size, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(fh, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
    MPI_Type_free(&every);
}

/*
 * Writes more than fits, by all processes together, then by each; what fits is written and read. A file size limit also
 * applies to shared memory, so that is created before.
 */
static void fill(const char *name, int ints, int limited)
{
    int *data = calloc((size_t)ints, sizeof *data), small[4] = { 1, 2, 3, rank }, back[4];
    MPI_File fh = open_file(name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (fh == MPI_FILE_NULL)
        return;
    set_interleaved(fh);
    if (limited) {
        struct rlimit limit = { 1 << 16, 1 << 16 };
        MPI_File_write_at_all(fh, 0, data, ints, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_set_size(fh, 0);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    say("together", MPI_File_write_at_all(fh, 0, data, ints, MPI_INT, MPI_STATUS_IGNORE));
    say("alone", MPI_File_write_at(fh, 0, data, ints, MPI_INT, MPI_STATUS_IGNORE));
    say("small", MPI_File_write_at_all(fh, 0, small, 4, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    int rc = MPI_File_read_at_all(fh, 0, back, 4, MPI_INT, MPI_STATUS_IGNORE);
    say(rc || memcmp(back, small, sizeof back) == 0 ? "back" : "wrong", rc);
    say("allocated", MPI_File_preallocate(fh, (MPI_Offset)ints * size * 8));
    MPI_File_close(&fh);
    free(data);
}

/* One process is killed while the others are in collective writes with it. */
static void die(const char *name, int victim)
{
    enum { INTS = 1 << 16 };
    static int data[INTS];
    MPI_File fh = open_file(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    set_interleaved(fh);
    for (int i = 0; i < 100000; i++) {
        if (i == 20 && rank == victim)
            raise(SIGKILL);
        if (MPI_File_write_at_all(fh, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        MPI_File_write_ordered(fh, data, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    printf("outlived %d\n", rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File fh;
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 4 && strcmp(argv[4], "nobody") == 0 && seteuid(65534) != 0)
        perror("seteuid");
    if (argc > 3 && strcmp(argv[1], "fill") == 0)
        fill(argv[2], atoi(argv[3]), argc > 4);
    else if (argc > 3 && strcmp(argv[1], "die") == 0)
        die(argv[2], atoi(argv[3]));
    else if (argc > 3 && (fh = open_file(argv[2], atoi(argv[3]))) != MPI_FILE_NULL)
        MPI_File_close(&fh);
    MPI_Finalize();
    return 0;
}
