/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of files share: a directory of their own, a file in it, and what bytes are there. */
#ifndef PLENUM_TESTS_FILES_H
#define PLENUM_TESTS_FILES_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mtest.h"

static char files_directory[512], files_name[600];

/* A new directory, the same for all; files_name is a file that is to be there. */
static inline void files_begin(void)
{
    if (mtest_rank == 0) {
        const char *where = getenv("TMPDIR");
        snprintf(files_directory, sizeof files_directory, "%s/plenum-files-XXXXXX", where ? where : "/tmp");
        CHECK(mkdtemp(files_directory) != NULL);
    }
    MPI_Bcast(files_directory, sizeof files_directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(files_name, sizeof files_name, "%s/data", files_directory);
}

/* Nothing else may be left in it. */
static inline void files_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0) {
        unlink(files_name);
        CHECK(rmdir(files_directory) == 0);
    }
}

static inline MPI_File files_open(int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, amode, MPI_INFO_NULL, &fh));
    return fh;
}

static inline void files_remove(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0)
        unlink(files_name);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The whole file without MPI, at most `capacity` bytes; its size. With barriers: what all have done so far is there. */
static inline long files_load(void *data, size_t capacity)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(files_name, O_RDONLY);
    long size = fd < 0 ? -1 : (long)read(fd, data, capacity);
    if (fd >= 0)
        close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    return size;
}

/* The file with these bytes, without MPI. */
static inline void files_store(const void *data, size_t bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_rank == 0) {
        int fd = open(files_name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        CHECK(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline int files_count(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    CHECK_OK(MPI_Get_count(status, type, &count));
    return count;
}

#endif
