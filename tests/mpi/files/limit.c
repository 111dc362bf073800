/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A file that reaches the limit of its process (ulimit -f): an error, where the kernel would end the process. */
#include <sys/resource.h>

#include "files.h"

enum { LIMIT = 1 << 20, PART = 300000 };

static unsigned char data[PART], back[PART];

/* Before the file is opened. */
static void set_limit(struct rlimit *before)
{
    getrlimit(RLIMIT_FSIZE, before);
    struct rlimit low = { .rlim_cur = LIMIT, .rlim_max = before->rlim_max };
    CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
}

static void one_process(const char *name)
{
    MPI_File fh;
    MPI_Offset size;
    struct rlimit before;
    set_limit(&before);
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    for (int i = 0; i < 3; i++) {
        memset(data, 'a' + i, PART);
        CHECK_OK(MPI_File_write(fh, data, PART, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    CHECK_CLASS(MPI_File_write(fh, data, PART, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == LIMIT); /* what there was room for */
    CHECK_CLASS(MPI_File_write_at(fh, LIMIT, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_write_at_all(fh, 9 * LIMIT, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_set_size(fh, LIMIT + 1), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_preallocate(fh, LIMIT + 1), MPI_ERR_NO_SPACE);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_File_read_at(fh, i * PART, back, PART, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(back[0] == 'a' + i && memcmp(back, back + 1, PART - 1) == 0);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0); /* a limit that was raised counts at once */
    CHECK_OK(MPI_File_write_at(fh, LIMIT, data, PART, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_size(fh, 2 * LIMIT));
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    if (mtest_rank == 0)
        one_process(files_name);
    files_end();
    MTEST_END;
}
