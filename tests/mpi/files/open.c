/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing: modes, what may not be opened, sizes, deletion, error handlers, queries. */
#include "files.h"

static MPI_File fh;

static int try_open(const char *name, int amode)
{
    fh = MPI_FILE_NULL;
    return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &fh);
}

static void bad_modes(void)
{
    static const int bad[] = {
        0,
        MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_RDWR,
        MPI_MODE_RDONLY | MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_EXCL,
        MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL,
        MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_CREATE,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_CLASS(try_open(files_name, bad[i]), MPI_ERR_AMODE);
    if (mtest_size > 1)
        CHECK_CLASS(try_open(files_name, mtest_rank ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDWR),
                    MPI_ERR_NOT_SAME);
    CHECK(access(files_name, F_OK) != 0);
}

/* All ranks say why, not only the one that tried. */
static void refused(const char *name, int amode, const char *why)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, code = try_open(name, amode);
    CHECK(code != MPI_SUCCESS);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, why) != NULL);
    CHECK(strstr(text, "cannot open") != NULL);
}

static void no_pipe(void)
{
    MPI_Barrier(MPI_COMM_WORLD); /* no rank deletes it meanwhile */
    if (mtest_rank == 0)
        CHECK(mkfifo(files_name, 0600) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(try_open(files_name, MPI_MODE_RDONLY), MPI_ERR_UNSUPPORTED_OPERATION);
    refused(files_name, MPI_MODE_RDONLY, "it is not seekable");
    refused(files_name, MPI_MODE_RDWR, "it is not seekable");
    files_remove();
}

static void bad_names(void)
{
    char longer[6000], inside[700];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    snprintf(inside, sizeof inside, "%s/no/such", files_directory);
    CHECK_CLASS(try_open(files_name, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(try_open(files_name, MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(try_open(inside, MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(try_open(longer, MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE);
    refused(inside, MPI_MODE_RDWR | MPI_MODE_CREATE, "No such file or directory");
    refused(longer, MPI_MODE_RDWR | MPI_MODE_CREATE, "File name too long");
    refused(files_directory, MPI_MODE_RDONLY, "Is a directory");
    refused(files_directory, MPI_MODE_RDWR, "Is a directory");
    CHECK_CLASS(MPI_File_delete(files_name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void life(void)
{
    char text[] = "0123456789";
    MPI_Offset size = -1;
    CHECK_OK(try_open(files_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL));
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 0);
    CHECK_OK(MPI_File_set_size(fh, 100));
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 100);
    CHECK_OK(MPI_File_preallocate(fh, 50)); /* no less than before */
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 100);
    CHECK_OK(MPI_File_preallocate(fh, 200));
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 200);
    CHECK_OK(MPI_File_set_size(fh, 10));
    CHECK(MPI_File_set_size(fh, -1) != MPI_SUCCESS);
    if (mtest_size > 1)
        CHECK(MPI_File_set_size(fh, mtest_rank) != MPI_SUCCESS);
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(fh, 0, text, 10, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(fh));
    CHECK_OK(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL);
    char back[16] = "";
    CHECK(files_load(back, sizeof back) == 10 && memcmp(back, text, 10) == 0);
    CHECK_CLASS(try_open(files_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    CHECK_OK(try_open(files_name, MPI_MODE_RDWR | MPI_MODE_CREATE)); /* it is there: what is in it stays */
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 10);
    CHECK_OK(MPI_File_close(&fh));
}

static void directions(void)
{
    char text[4] = "abc";
    MPI_Offset size;
    CHECK_OK(try_open(files_name, MPI_MODE_RDONLY));
    CHECK_CLASS(MPI_File_write(fh, text, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(fh, 4), MPI_ERR_READ_ONLY);
    CHECK_OK(MPI_File_read(fh, text, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(memcmp(text, "012", 3) == 0);
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(try_open(files_name, MPI_MODE_WRONLY));
    CHECK_CLASS(MPI_File_read(fh, text, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(try_open(files_name, MPI_MODE_WRONLY | MPI_MODE_APPEND));
    MPI_Offset at = -1, shared = -1;
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK_OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(at == 10 && shared == 10);
    CHECK_OK(MPI_File_write_at_all(fh, 10 + mtest_rank, text, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_get_size(fh, &size));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 10 + mtest_size);
    CHECK_OK(MPI_File_close(&fh));
}

static void removal(void)
{
    CHECK_OK(try_open(files_name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    CHECK(access(files_name, F_OK) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_close(&fh));
    CHECK(access(files_name, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(try_open(files_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN));
    CHECK_OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_delete(files_name, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(files_name, F_OK) != 0);
}

/* Every process for itself, in an order of its own, and more than one handle on one file. */
static void alone(void)
{
    char name[700], text[8] = "";
    MPI_File two = MPI_FILE_NULL;
    snprintf(name, sizeof name, "%s.%d", files_name, mtest_rank);
    for (int i = 0; i <= mtest_rank; i++) {
        CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
        CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &two));
        CHECK_OK(MPI_File_write(fh, "hello", 5, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read(two, text, 5, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(strcmp(text, "hello") == 0);
        CHECK_OK(MPI_File_close(&fh));
        CHECK_OK(MPI_File_close(&two));
        CHECK(access(name, F_OK) != 0);
    }
}

static int called;

static void count_call(MPI_File *file, int *code, ...)
{
    called += *file == fh && *code != MPI_SUCCESS;
}

static void queries(void)
{
    int amode = 0, flag = -1, result = -1, length;
    char name[700], text[MPI_MAX_ERROR_STRING];
    MPI_Group group, world;
    MPI_Errhandler handler;
    snprintf(name, sizeof name, "ufs:%s", files_name);
    CHECK_OK(try_open(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE));
    CHECK_OK(MPI_File_get_amode(fh, &amode));
    CHECK(amode == (MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE));
    CHECK_OK(MPI_File_get_group(fh, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 0);
    CHECK_OK(MPI_File_get_errhandler(fh, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_create_errhandler(count_call, &handler));
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK(MPI_File_seek(fh, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    CHECK(called == 1);
    int code = MPI_File_write_at(fh, -5, text, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS && called == 2);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_OK(MPI_File_close(&fh));
    CHECK_CLASS(MPI_File_get_amode(MPI_FILE_NULL, &amode), MPI_ERR_FILE);
}

/* A file does not see the attributes of the communicator. */
static int copied;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int keyval;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, NULL);
    CHECK_OK(MPI_File_open(comm, files_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&comm); /* the file has one of its own */
    CHECK_OK(MPI_File_write_at_all(fh, mtest_rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
    files_remove();
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    bad_modes();
    bad_names();
    no_pipe();
    life();
    directions();
    removal();
    alone();
    queries();
    attributes();
    files_end();
    MTEST_END;
}
