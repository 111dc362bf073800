/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A limit on the size of files (RLIMIT_FSIZE) that not even the library's memory files fit into: what needs one fails,
 * the program goes on, and all of it works once the limit is gone.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "mtest.h"

static char path[256];
static MPI_File file;

static void limit_files(int limited)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limited ? 0 : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void is_class(int code, int wanted, int line)
{
    int class = MPI_SUCCESS;
    if (code)
        MPI_Error_class(code, &class);
    if (class != wanted)
        printf("line %d: class %d instead of %d\n", line, class, wanted);
    CHECK(class == wanted);
}

static void publish(const char *port, int limited)
{
    char name[64], found[MPI_MAX_PORT_NAME] = "";
    snprintf(name, sizeof name, "plenum short files %d", (int)getpid());
    is_class(MPI_Publish_name(name, MPI_INFO_NULL, port), limited ? MPI_ERR_NO_MEM : MPI_SUCCESS, __LINE__);
    is_class(MPI_Lookup_name(name, MPI_INFO_NULL, found), limited ? MPI_ERR_NAME : MPI_SUCCESS, __LINE__);
    CHECK(strcmp(found, limited ? "" : port) == 0);
    if (!limited)
        CHECK_OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
}

static void spawn(char *program, int limited)
{
    MPI_Comm children = MPI_COMM_NULL;
    char *arguments[] = { "child", NULL };
    is_class(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE),
             limited ? MPI_ERR_SPAWN : MPI_SUCCESS, __LINE__);
    int value = 0;
    if (children != MPI_COMM_NULL) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE));
        CHECK(value == 47);
        CHECK_OK(MPI_Comm_disconnect(&children));
    }
}

static void make_file(void)
{
    snprintf(path, sizeof path, "%s/plenum_short_files_%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (mtest_rank == 0) {
        FILE *out = fopen(path, "w");
        CHECK(out != NULL);
        for (int i = 0; i < mtest_size; i++)
            CHECK(fwrite(&i, sizeof i, 1, out) == 1);
        CHECK(fclose(out) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank alone needs no file for the pointer. */
static void read_shared(int limited)
{
    int value = -1, sum = 0;
    is_class(MPI_File_read_shared(file, &value, sizeof value, MPI_BYTE, MPI_STATUS_IGNORE),
             limited && mtest_size > 1 ? MPI_ERR_NO_SPACE : MPI_SUCCESS, __LINE__);
    CHECK((value >= 0) == (!limited || mtest_size == 1) && value < mtest_size);
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(value < 0 || sum == mtest_size * (mtest_size - 1) / 2);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MTEST_INIT(argc, argv);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int value = 47;
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, parent));
        CHECK_OK(MPI_Comm_disconnect(&parent));
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    make_file();
    limit_files(1);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int limited = 1; limited >= 0; limited--) {
        limit_files(limited);
        publish(port, limited);
        if (mtest_rank == 0)
            spawn(argv[0], limited);
        read_shared(limited);
        MPI_Barrier(MPI_COMM_WORLD);
        if (mtest_size == 1)
            CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    }
    CHECK_OK(MPI_File_close(&file));
    if (mtest_rank == 0)
        unlink(path);
    CHECK_OK(MPI_Close_port(port));
    MTEST_END;
}
