/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that are left at MPI_Finalize, and freed there by callbacks of their attributes, or of MPI_COMM_SELF's. */
#include "mtest.h"

enum { WINDOWS = 4, WORDS = 4096 };

static int frees, others;

/* The window can still be used. */
static void use(MPI_Win win)
{
    int word = 77, *memory, found;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &memory, &found));
    CHECK(found);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Put(&word, 1, MPI_INT, 0, WORDS - 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(memory[WORDS - 1] == 77);
    memory[WORDS - 1] = 0;
}

static int free_own(MPI_Win win, int keyval, void *value, void *extra)
{
    MPI_Win own = win;
    (void)keyval, (void)value, (void)extra;
    frees++;
    use(own);
    CHECK_OK(MPI_Win_free(&own));
    CHECK(own == MPI_WIN_NULL);
    return MPI_SUCCESS;
}

static int note_other(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    others++;
    use(win);
    return MPI_SUCCESS;
}

static int free_of_self(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Win win = value;
    (void)comm, (void)keyval, (void)extra;
    frees++;
    use(win);
    CHECK_OK(MPI_Win_free(&win));
    return MPI_SUCCESS;
}

static MPI_Win make(int i)
{
    int *memory;
    MPI_Win win;
    if (i % 2 == 0) {
        static int own[WINDOWS][WORDS];
        CHECK_OK(MPI_Win_create(own[i], sizeof own[i], sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win));
    } else {
        CHECK_OK(MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win));
    }
    return win;
}

int main(int argc, char **argv)
{
    int before, own, after, of_self;
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_other, &before, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_own, &own, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_other, &after, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_of_self, &of_self, NULL));
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win win = make(i);
        CHECK_OK(MPI_Win_set_attr(win, before, NULL));
        CHECK_OK(MPI_Win_set_attr(win, own, NULL));
        CHECK_OK(MPI_Win_set_attr(win, after, NULL));
    }
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, of_self, make(0)));
    CHECK_OK(MPI_Finalize());
    CHECK(frees == WINDOWS + 1 && others == 2 * WINDOWS);
    MTEST_END;
}
