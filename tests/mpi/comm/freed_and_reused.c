/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks of attributes that free the object of the call which runs them. They make another one, which would take the
 * place of one that is gone. The call goes on with the object that it was given.
 */
#include "mtest.h"

enum { REFUSED = 1 << 20 }; /* the attribute's value: its callback frees the object and fails */

static MPI_Comm comm_made = MPI_COMM_NULL;
static MPI_Datatype type_made = MPI_DATATYPE_NULL;
static MPI_Win win_made = MPI_WIN_NULL;
static int memory[2];
static int calls, raised_old, raised_new;

static void comm_old_failed(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raised_old++;
}

static void comm_new_failed(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raised_new++;
}

static void win_old_failed(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    raised_old++;
}

static void win_new_failed(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    raised_new++;
}

static void comm_set_handler(MPI_Comm comm, MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_create_errhandler(function, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static void win_set_handler(MPI_Win win, MPI_Win_errhandler_function *function)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Win_create_errhandler(function, &handler));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static int comm_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Comm own = comm;
    (void)keyval, (void)extra;
    calls++;
    CHECK_OK(MPI_Comm_free(&own));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm_made));
    comm_set_handler(comm_made, comm_new_failed);
    return value ? REFUSED : MPI_SUCCESS;
}

static int comm_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    MPI_Comm own = comm;
    (void)keyval, (void)extra, (void)value, (void)copy;
    calls++;
    CHECK_OK(MPI_Comm_free(&own));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm_made));
    *flag = 0;
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    MPI_Datatype own = type;
    (void)keyval, (void)extra;
    calls++;
    CHECK_OK(MPI_Type_free(&own));
    CHECK_OK(MPI_Type_contiguous(7, MPI_INT, &type_made));
    return value ? REFUSED : MPI_SUCCESS;
}

static int win_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    MPI_Win own = win;
    (void)keyval, (void)extra;
    calls++;
    CHECK_OK(MPI_Win_free(&own));
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win_made));
    win_set_handler(win_made, win_new_failed);
    return value ? REFUSED : MPI_SUCCESS;
}

/* The new communicator is as it was made: of one process, without the attribute. */
static void check_comm_made(int keyval)
{
    void *value;
    int size, found;
    CHECK_OK(MPI_Comm_size(comm_made, &size));
    CHECK_OK(MPI_Comm_get_attr(comm_made, keyval, &value, &found));
    CHECK(size == 1 && !found);
    CHECK_OK(MPI_Comm_free(&comm_made));
}

static MPI_Comm comm_with(int keyval, void *value)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    comm_set_handler(comm, comm_old_failed);
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, value));
    calls = raised_old = raised_new = 0;
    return comm;
}

static void check_raised(int code, int wanted)
{
    CHECK(code == (wanted ? REFUSED : MPI_SUCCESS));
    CHECK(calls == 1 && raised_old == wanted && raised_new == 0);
}

static void try_comm(void)
{
    int keyval;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_delete, &keyval, NULL));
    for (int fails = 0; fails < 2; fails++) {
        void *value = fails ? memory : NULL;
        MPI_Comm comm = comm_with(keyval, value);
        check_raised(MPI_Comm_free(&comm), fails);
        check_comm_made(keyval);
        comm = comm_with(keyval, value);
        check_raised(MPI_Comm_disconnect(&comm), fails);
        check_comm_made(keyval);
        comm = comm_with(keyval, value);
        check_raised(MPI_Comm_delete_attr(comm, keyval), fails);
        check_comm_made(keyval);
        comm = comm_with(keyval, value);
        check_raised(MPI_Comm_set_attr(comm, keyval, memory), fails);
        check_comm_made(keyval);
    }
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static void check_dup(MPI_Comm *dup, int keyval)
{
    int size, sum = 0, one = 1;
    CHECK(calls == 1);
    CHECK_OK(MPI_Comm_size(*dup, &size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *dup));
    CHECK(size == mtest_size && sum == mtest_size);
    CHECK_OK(MPI_Comm_free(dup));
    check_comm_made(keyval);
}

static void try_dup(void)
{
    int keyval;
    MPI_Comm dup;
    MPI_Request request;
    CHECK_OK(MPI_Comm_create_keyval(comm_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_dup(comm_with(keyval, NULL), &dup));
    check_dup(&dup, keyval);
    CHECK_OK(MPI_Comm_dup_with_info(comm_with(keyval, NULL), MPI_INFO_NULL, &dup));
    check_dup(&dup, keyval);
    CHECK_OK(MPI_Comm_idup(comm_with(keyval, NULL), &dup, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_dup(&dup, keyval);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static MPI_Datatype type_with(int keyval, void *value)
{
    MPI_Datatype type;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, keyval, value));
    calls = 0;
    return type;
}

static void check_type_made(int keyval, int code, int fails)
{
    void *value;
    int size, found;
    CHECK(code == (fails ? REFUSED : MPI_SUCCESS) && calls == 1);
    CHECK_OK(MPI_Type_size(type_made, &size));
    CHECK_OK(MPI_Type_get_attr(type_made, keyval, &value, &found));
    CHECK(size == 7 * (int)sizeof(int) && !found);
    CHECK_OK(MPI_Type_free(&type_made));
}

static void try_type(void)
{
    int keyval;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_delete, &keyval, NULL));
    for (int fails = 0; fails < 2; fails++) {
        void *value = fails ? memory : NULL;
        MPI_Datatype type = type_with(keyval, value);
        check_type_made(keyval, MPI_Type_free(&type), fails);
        type = type_with(keyval, value);
        check_type_made(keyval, MPI_Type_delete_attr(type, keyval), fails);
        type = type_with(keyval, value);
        check_type_made(keyval, MPI_Type_set_attr(type, keyval, memory), fails);
    }
    CHECK_OK(MPI_Type_free_keyval(&keyval));
}

static MPI_Win win_with(int keyval, void *value)
{
    MPI_Win win;
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    win_set_handler(win, win_old_failed);
    CHECK_OK(MPI_Win_set_attr(win, keyval, value));
    calls = raised_old = raised_new = 0;
    return win;
}

/* The new window has memory, and no attribute; it is used, and freed. */
static void check_win_made(int keyval)
{
    int found, next = (mtest_rank + 1) % mtest_size, before = (mtest_rank + mtest_size - 1) % mtest_size;
    void *value;
    CHECK_OK(MPI_Win_get_attr(win_made, keyval, &value, &found));
    CHECK(!found);
    CHECK_OK(MPI_Win_fence(0, win_made));
    CHECK_OK(MPI_Put(&mtest_rank, 1, MPI_INT, next, 1, 1, MPI_INT, win_made));
    CHECK_OK(MPI_Win_fence(0, win_made));
    CHECK(memory[1] == before);
    CHECK_OK(MPI_Win_free(&win_made));
}

static void try_win(void)
{
    int keyval;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_delete, &keyval, NULL));
    for (int fails = 0; fails < 2; fails++) {
        void *value = fails ? memory : NULL;
        MPI_Win win = win_with(keyval, value);
        check_raised(MPI_Win_free(&win), fails);
        check_win_made(keyval);
        win = win_with(keyval, value);
        check_raised(MPI_Win_delete_attr(win, keyval), fails);
        check_win_made(keyval);
        win = win_with(keyval, value);
        check_raised(MPI_Win_set_attr(win, keyval, memory), fails);
        check_win_made(keyval);
    }
    CHECK_OK(MPI_Win_free_keyval(&keyval));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    try_comm();
    try_dup();
    try_type();
    try_win();
    MTEST_END;
}
