/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a session that ends before they are closed are closed there; their handles are worth nothing any more. */
#include <dirent.h>

#include "files.h"

/* Of files, also of those in memory. Connections of a network come and go. */
static int descriptors(void)
{
    int count = 0;
    char link[700], first;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        count += readlink(link, &first, 1) == 1 && first == '/';
    }
    if (directory)
        closedir(directory);
    return count;
}

static void session(int left)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_File kept, removed;
    MPI_Offset size;
    char name[700];
    snprintf(name, sizeof name, "%s.gone", files_name);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "files", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    CHECK_OK(MPI_File_open(comm, files_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &kept));
    CHECK_OK(
        MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &removed));
    CHECK_OK(MPI_File_write_ordered(kept, &mtest_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    if (!left) {
        CHECK_OK(MPI_File_close(&kept));
        CHECK_OK(MPI_File_close(&removed));
    }
    CHECK_OK(MPI_Session_finalize(&session));
    if (left) {
        CHECK_CLASS(MPI_File_get_size(kept, &size), MPI_ERR_FILE);
        CHECK_CLASS(MPI_File_close(&removed), MPI_ERR_FILE);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    session(0);
    session(1);
    int before = descriptors();
    for (int i = 0; i < 3; i++)
        session(1);
    CHECK(descriptors() <= before);
    int numbers[64];
    CHECK(files_load(numbers, sizeof numbers) == 4 * mtest_size);
    for (int i = 0; i < mtest_size; i++)
        CHECK(numbers[i] == i);
    files_end();
    MTEST_END;
}
