/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads on one handle: by offsets, by the pointers that they share, nonblocking; and each with a file of its own. */
/* ranks: 1 2 3 */
#include <pthread.h>

#include "files.h"

enum { THREADS = 4, RECORDS = 40, INTS = 6 };

static MPI_File fh, one;

static void *work(void *argument)
{
    int thread = *(int *)argument, record[INTS], back[INTS];
    MPI_Request request;
    MPI_Status status;
    MPI_File own;
    char name[700];
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < INTS; k++)
            record[k] = (mtest_rank * THREADS + thread) * RECORDS + i;
        CHECK_OK(MPI_File_write_shared(fh, record, INTS, MPI_INT, &status));
        CHECK_OK(MPI_File_write(one, record, INTS, MPI_INT, &status));
        MPI_Offset place = ((MPI_Offset)(thread + 1) * RECORDS + i) * 1000 * INTS;
        CHECK_OK(MPI_File_iwrite_at(one, place, record, INTS, MPI_INT, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_File_read_at(one, place, back, INTS, MPI_INT, &status));
        CHECK(memcmp(record, back, sizeof back) == 0);
    }
    snprintf(name, sizeof name, "%s.%d.%d", files_name, mtest_rank, thread);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                               MPI_INFO_NULL, &own));
        CHECK_OK(MPI_File_write_all(own, record, INTS, MPI_INT, &status));
        CHECK_OK(MPI_File_read_at_all(own, 0, back, INTS, MPI_INT, &status));
        CHECK(memcmp(record, back, sizeof back) == 0);
        CHECK_OK(MPI_File_close(&own));
    }
    return NULL;
}

/* Every record is there once, and whole. */
static void verify(const int *all, int first, int count)
{
    int *seen = calloc((size_t)count, sizeof *seen);
    for (int i = 0; i < count; i++) {
        int number = all[i * INTS] - first, whole = number >= 0 && number < count;
        for (int k = 1; k < INTS; k++)
            whole = whole && all[i * INTS + k] == all[i * INTS];
        CHECK(whole && seen[number]++ == 0);
    }
    free(seen);
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    pthread_t threads[THREADS];
    int numbers[THREADS], each = THREADS * RECORDS, count = each * mtest_size;
    char name[700];
    files_begin();
    fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    snprintf(name, sizeof name, "%s.%d", files_name, mtest_rank);
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &one));
    CHECK_OK(MPI_File_set_atomicity(one, mtest_rank % 2));
    CHECK_OK(MPI_File_set_view(one, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int *all = malloc((size_t)(count * INTS) * sizeof *all);
    CHECK(files_load(all, (size_t)(count * INTS) * sizeof *all) == (long)(count * INTS) * 4);
    verify(all, 0, count);
    CHECK_OK(MPI_File_read_at(one, 0, all, each * INTS, MPI_INT, MPI_STATUS_IGNORE));
    verify(all, mtest_rank * each, each);
    free(all);
    CHECK_OK(MPI_File_close(&one));
    CHECK_OK(MPI_File_close(&fh));
    files_end();
    MTEST_END;
}
