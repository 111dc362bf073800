/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls with a mistake on one process, for which no other waits: opening and setting the view fail on all,
 * reading and writing succeed on the others.
 */
#include "files.h"

enum { BLOCK = 100 };

static MPI_File fh;
static int wrong; /* this process makes the mistakes */
static MPI_Datatype uncommitted;
static MPI_Info freed;

static int try_open(int amode, MPI_Info info)
{
    fh = MPI_FILE_NULL;
    return MPI_File_open(MPI_COMM_WORLD, wrong == 2 ? NULL : files_name, amode, info, &fh);
}

static void fails(int code, int class)
{
    if (wrong)
        CHECK_CLASS(code, class);
    else
        CHECK(code != MPI_SUCCESS);
}

static void opening(void)
{
    int all = MPI_MODE_RDWR | MPI_MODE_CREATE;
    fails(try_open(all, wrong ? freed : MPI_INFO_NULL), MPI_ERR_INFO);
    fails(try_open(all | (wrong ? 1 << 20 : 0), MPI_INFO_NULL), mtest_size > 1 ? MPI_ERR_NOT_SAME : MPI_ERR_AMODE);
    wrong *= 2;
    fails(try_open(all, MPI_INFO_NULL), MPI_ERR_ARG);
    wrong /= 2;
    CHECK(access(files_name, F_OK) != 0);
    CHECK_OK(try_open(all, MPI_INFO_NULL));
}

/* At the process that made the mistake the message names the argument. */
static void says(int code, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(!wrong || strstr(text, words));
}

static void views(void)
{
    MPI_Datatype good = MPI_INT, bad = wrong ? uncommitted : MPI_INT;
    int code = MPI_File_set_view(fh, 0, bad, good, "native", MPI_INFO_NULL);
    fails(code, MPI_ERR_TYPE);
    says(code, "etype is not committed");
    code = MPI_File_set_view(fh, 0, good, wrong ? MPI_DATATYPE_NULL : good, "native", MPI_INFO_NULL);
    fails(code, MPI_ERR_TYPE);
    says(code, "filetype is MPI_DATATYPE_NULL");
    fails(MPI_File_set_view(fh, 0, good, bad, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    fails(MPI_File_set_view(fh, wrong ? -5 : 0, good, good, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    fails(MPI_File_set_view(fh, 0, good, good, wrong ? "runes" : "native", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    fails(MPI_File_set_view(fh, 0, good, good, wrong ? NULL : "native", MPI_INFO_NULL), MPI_ERR_ARG);
    fails(MPI_File_set_view(fh, 0, good, good, "native", wrong ? freed : MPI_INFO_NULL), MPI_ERR_INFO);
    if (mtest_size > 1) {
        CHECK_CLASS(MPI_File_set_view(fh, 0, good, good, wrong ? "external32" : "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_seek_shared(fh, 0, wrong ? MPI_SEEK_END : MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    }
    MPI_Offset disp = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    CHECK_OK(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep));
    CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(datarep, "native") == 0);
    CHECK_CLASS(MPI_File_set_info(fh, wrong ? freed : MPI_INFO_NULL), wrong ? MPI_ERR_INFO : MPI_SUCCESS);
    fails(MPI_File_set_size(fh, wrong ? -1 : 10), mtest_size > 1 ? MPI_ERR_NOT_SAME : MPI_ERR_ARG);
    fails(MPI_File_preallocate(fh, wrong ? -1 : 10), mtest_size > 1 ? MPI_ERR_NOT_SAME : MPI_ERR_ARG);
}

static void expect(int code, int class)
{
    CHECK_CLASS(code, wrong ? class : MPI_SUCCESS);
}

/* Each writes a block, and reads it; with the mistakes that a call can have. */
static void access_all(char *datarep, MPI_Info info)
{
    char out[BLOCK], in[BLOCK];
    MPI_Status status;
    int count = -1;
    MPI_Offset at = (MPI_Offset)mtest_rank * BLOCK;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_CHAR, MPI_CHAR, datarep, info));
    memset(out, 'a' + mtest_rank, BLOCK);
    expect(MPI_File_write_at_all(fh, at, out, wrong ? -3 : BLOCK, MPI_CHAR, &status), MPI_ERR_COUNT);
    expect(MPI_File_write_at_all(fh, wrong ? -1 : at, out, BLOCK, MPI_CHAR, &status), MPI_ERR_ARG);
    expect(MPI_File_read_at_all(fh, at, in, BLOCK, wrong ? uncommitted : MPI_CHAR, &status), MPI_ERR_TYPE);
    if (!wrong) {
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == BLOCK && memcmp(in, out, BLOCK) == 0);
    }
    CHECK_OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    expect(MPI_File_write_all(fh, wrong ? NULL : out, BLOCK, MPI_CHAR, &status), MPI_ERR_BUFFER);
    expect(MPI_File_read_at_all_begin(fh, at, in, BLOCK, wrong ? MPI_DATATYPE_NULL : MPI_CHAR), MPI_ERR_TYPE);
    expect(MPI_File_read_at_all_end(fh, in, &status), MPI_ERR_IO);

    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    expect(MPI_File_write_ordered(fh, out, wrong ? -3 : BLOCK, MPI_CHAR, &status), MPI_ERR_COUNT);
    MPI_Offset shared = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(shared == (MPI_Offset)(mtest_size - 1) * BLOCK);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static char native[] = "native", external[] = "external32";
    MTEST_INIT(argc, argv);
    files_begin();
    MPI_Type_contiguous(3, MPI_INT, &uncommitted);
    MPI_Info buffering; /* before the one whose handle is to stay that of no info */
    MPI_Info_create(&buffering);
    MPI_Info_set(buffering, "romio_cb_write", "enable");
    MPI_Info_set(buffering, "romio_cb_read", "enable");
    MPI_Info_create(&freed);
    MPI_Info again = freed;
    MPI_Info_free(&again);
    for (int who = 0; who<mtest_size; who += mtest_size> 1 ? mtest_size - 1 : 1) {
        wrong = mtest_rank == who;
        opening();
        views();
        access_all(native, MPI_INFO_NULL);
        access_all(external, MPI_INFO_NULL);
        access_all(native, buffering);
        CHECK_OK(MPI_File_close(&fh));
        files_remove();
    }
    MPI_Info_free(&buffering);
    MPI_Type_free(&uncommitted);
    files_end();
    MTEST_END;
}
