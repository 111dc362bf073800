/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows and one-sided operations refuse, each with its error class, through the window's error handler; the
 * window stays usable. */
#include <stdint.h>

#include "rma.h"

enum { WORDS = 16, BYTES = WORDS * sizeof(int) };

static int handled, target, value = 5, result = -1;
static MPI_Request request;

static void count(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
    handled++;
}

static void user_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)length;
    (void)type;
}

static int put(MPI_Win win, int rank, MPI_Aint at, int count)
{
    static int words[2 * WORDS];
    return MPI_Put(words, count, MPI_INT, rank, at, count, MPI_INT, win);
}

static void creation(void)
{
    MPI_Win win = MPI_WIN_NULL;
    int memory[WORDS];
    void *base = &memory;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(memory, BYTES, 0, MPI_INFO_NULL, MPI_COMM_SELF, &win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create(memory, BYTES, -4, MPI_INFO_NULL, MPI_COMM_SELF, &win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_allocate(BYTES, 0, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_allocate_shared(BYTES, -1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create_dynamic((MPI_Info)(uintptr_t)0x12345670, MPI_COMM_SELF, &win), MPI_ERR_INFO);
    CHECK(win == MPI_WIN_NULL);
}

/* Handles that are not windows, and the handle of a freed window. */
static void no_window(MPI_Win win)
{
    int done = 0;
    void *found;
    CHECK_CLASS(put(win, 0, 0, 1), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_test(win, &done), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_sync(win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_attach(win, &value, 4), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &done), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_set_name(win, "x"), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_WIN);
}

/* Operations outside epochs, and calls that end an epoch that has not begun. */
static void no_epoch(MPI_Win win)
{
    int done = 0;
    CHECK_CLASS(put(win, target, 0, 1), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, target, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, target, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    int code = MPI_Rget(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request), length;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "call MPI_Win_lock or MPI_Win_lock_all") && !strstr(text, "fence")); /* no other epoch will do */
    CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local(target, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(win, &done), MPI_ERR_RMA_SYNC);
    CHECK(result == -1 && !done);
}

/* A fence that no operation has followed ends nothing and begins nothing; one that has begun an epoch does. */
static void after_fence(MPI_Win win, MPI_Group group)
{
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_post(group, 0, win));
    CHECK_OK(MPI_Win_start(group, 0, win));
    CHECK_OK(put(win, target, 0, 1));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(put(win, target, 0, 1));
    CHECK_CLASS(MPI_Win_post(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* An epoch for this rank does not serve for another. */
static void own_alone(MPI_Win win, MPI_Group group)
{
    MPI_Group own;
    CHECK_OK(MPI_Group_incl(group, 1, &mtest_rank, &own));
    CHECK_OK(MPI_Win_post(own, 0, win));
    CHECK_OK(MPI_Win_start(own, 0, win));
    CHECK_OK(put(win, mtest_rank, 0, 1));
    if (mtest_size > 1)
        CHECK_CLASS(put(win, target, 0, 1), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_OK(MPI_Group_free(&own));
}

/* Epochs within epochs. */
static void wrong_epoch(MPI_Win *win)
{
    MPI_Win copy = *win;
    MPI_Group group;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, *win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(*win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK(copy == *win);
    if (mtest_size > 1) { /* the next rank is not locked */
        CHECK_CLASS(put(*win, (target + 1) % mtest_size, 0, 1), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_flush((target + 1) % mtest_size, *win), MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Win_unlock(target, *win));
    CHECK_OK(MPI_Win_lock_all(0, *win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(target, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(*win));

    CHECK_OK(MPI_Win_get_group(*win, &group));
    CHECK_OK(MPI_Win_post(group, 0, *win));
    CHECK_CLASS(MPI_Win_post(group, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(group, 0, *win));
    CHECK_CLASS(MPI_Win_start(group, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(target, *win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, *win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, *win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(*win));
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, *win), MPI_ERR_RMA_SYNC); /* it is still exposed */
    CHECK_OK(MPI_Win_wait(*win));
    after_fence(*win, group);
    own_alone(*win, group);
    CHECK_OK(MPI_Group_free(&group));
}

static void arguments(MPI_Win win)
{
    int mixed_lengths[] = { 1, 1 };
    MPI_Aint mixed_places[] = { 0, 4 };
    MPI_Datatype mixed_types[] = { MPI_INT, MPI_FLOAT }, mixed, pair, early, apart;
    const int zeros[2] = { 0 };
    MPI_Op mine;
    MPI_Type_create_struct(2, mixed_lengths, mixed_places, mixed_types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){ -8 }, MPI_INT, &early);
    MPI_Type_commit(&early);
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Op_create(user_op, 1, &mine);
    CHECK_CLASS(MPI_Win_lock(77, target, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, mtest_size, 0, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_lock_all(1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_fence(1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Win_test(win, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_CLASS(put(win, mtest_size, 0, 1), MPI_ERR_RANK);
    CHECK_CLASS(put(win, -7, 0, 1), MPI_ERR_RANK);
    CHECK_CLASS(put(win, target, 0, -1), MPI_ERR_COUNT);
    CHECK_CLASS(put(win, target, WORDS, 1), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(win, target, 0, WORDS + 1), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(win, target, -1, 1), MPI_ERR_DISP);
    CHECK_CLASS(put(win, target, INTPTR_MAX, 1), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(win, target, INTPTR_MIN, 1), MPI_ERR_DISP);
    CHECK_CLASS(put(win, target, (MPI_Aint)1 << 62, 1), MPI_ERR_RMA_RANGE); /* 0 in 64 bits, in units of 4 bytes */
    CHECK_OK(MPI_Put(zeros, 2, MPI_INT, target, WORDS - 3, 1, apart, win));
    CHECK_CLASS(MPI_Put(zeros, 2, MPI_INT, target, WORDS - 2, 1, apart, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, 0, 2, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get(&result, 1, MPI_INT, target, 0, 2, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 2, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, 1, 1, early, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(&result, 1, MPI_INT, target, WORDS, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, target, WORDS, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Put(&value, 2, MPI_INT, target, 0, 1, pair, win), MPI_ERR_TYPE); /* not committed */
    CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, mine, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_FLOAT, target, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, mixed, target, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_FLOAT, target, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Accumulate(&value, 0, MPI_FLOAT, target, 0, 0, MPI_INT, MPI_SUM, win)); /* nothing of either */
    CHECK_OK(MPI_Get_accumulate(&value, 0, MPI_FLOAT, &result, 0, MPI_BYTE, target, 0, 0, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Raccumulate(&value, 0, MPI_FLOAT, target, 0, 0, MPI_INT, MPI_BAND, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Rget_accumulate(NULL, 0, MPI_FLOAT, NULL, 0, MPI_BYTE, target, 0, 0, mixed, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Put(NULL, 0, MPI_FLOAT, target, 0, 0, MPI_INT, win));
    CHECK_OK(MPI_Get(NULL, 0, MPI_FLOAT, target, 0, 0, MPI_INT, win));
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, mixed, target, 0, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, target, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, mixed, target, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK(result == -1);
    MPI_Op_free(&mine);
    MPI_Type_free(&mixed);
    MPI_Type_free(&pair);
    MPI_Type_free(&early);
    MPI_Type_free(&apart);
}

/* An active request of an operation must not be freed or cancelled. (That of a completed operation is not active.) */
static void requests(MPI_Win win)
{
    MPI_Status status;
    MPI_Request copy;
    int got = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_OK(MPI_Rget(&got, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request));
    copy = request;
    if (window_by_messages() && mtest_size > 1) {
        CHECK_CLASS(MPI_Request_free(&copy), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Start(&copy), MPI_ERR_REQUEST);
    }
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Win_unlock(target, win));
    CHECK(got == 0);
}

static void attributes(MPI_Win win)
{
    int comm_keyval;
    void *found;
    CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_BASE, &value), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_delete_attr(win, MPI_WIN_SIZE), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &found, &result), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL));
    CHECK_CLASS(MPI_Win_set_attr(win, comm_keyval, &value), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_free_keyval(&comm_keyval));
    CHECK_CLASS(MPI_Win_set_name(win, NULL), MPI_ERR_ARG);
}

/* MPI_Win_complete has waited for the data of a get, so it reports that there is none, once. */
static void started(MPI_Win dynamic)
{
    MPI_Group world, to, from;
    int in, source = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &to);
    MPI_Group_incl(world, 1, &source, &from);
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Win_post(from, 0, dynamic));
        CHECK_OK(MPI_Win_start(to, 0, dynamic));
        int failed = round == 0 ? MPI_Get(&in, 1, MPI_INT, target, 64, 1, MPI_INT, dynamic) : MPI_SUCCESS;
        int ended = MPI_Win_complete(dynamic);
        CHECK_CLASS(failed ? failed : ended, round == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        CHECK_OK(MPI_Win_wait(dynamic));
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&world);
}

static void flavors(MPI_Win fixed)
{
    static char memory[100];
    MPI_Win dynamic;
    MPI_Aint at, size;
    int unit, in;
    void *base;
    MPI_Get_address(memory, &at);
    CHECK_CLASS(MPI_Win_attach(fixed, memory, sizeof memory), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(fixed, memory), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    CHECK_OK(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_shared_query(dynamic, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_attach(dynamic, memory, -1), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_detach(dynamic, memory), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(dynamic, (void *)(UINTPTR_MAX - 15), 4096), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(dynamic, memory, 0)); /* no memory overlaps none */
    CHECK_OK(MPI_Win_attach(dynamic, memory, 0));
    CHECK_CLASS(MPI_Win_detach(dynamic, memory + 1), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_detach(dynamic, memory));
    CHECK_OK(MPI_Win_detach(dynamic, memory));
    CHECK_CLASS(MPI_Win_detach(dynamic, memory), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(dynamic, memory, 50));
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 20, 50), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(dynamic, memory, 50), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(dynamic, memory + 60, 10));
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 55, 6), MPI_ERR_RMA_ATTACH); /* by its end, which is in the next */
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 55, 40), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 65, 1), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(dynamic, memory + 50, 10)); /* just between the two */
    CHECK_OK(MPI_Win_detach(dynamic, memory + 50));
    CHECK_OK(MPI_Win_detach(dynamic, memory + 60));
    CHECK_CLASS(MPI_Win_detach(dynamic, memory + 1), MPI_ERR_RMA_ATTACH);
    /* Memory that the target has not attached: the next call that waits for the target reports it, once. Addresses
     * differ between ranks, but no rank has attached the first page. */
    CHECK_OK(MPI_Win_lock_all(0, dynamic));
    for (int round = 0; round < 2; round++) {
        int failed = MPI_Put(&value, 1, MPI_INT, target, 64, 1, MPI_INT, dynamic);
        if (failed == MPI_SUCCESS)
            failed = MPI_Win_flush(target, dynamic);
        CHECK_CLASS(failed, MPI_ERR_RMA_RANGE);
        CHECK_OK(MPI_Win_flush(target, dynamic));
        failed = MPI_Get(&in, 1, MPI_INT, target, 64, 1, MPI_INT, dynamic);
        if (failed == MPI_SUCCESS)
            failed = MPI_Win_flush_local(target, dynamic);
        CHECK_CLASS(failed, MPI_ERR_RMA_RANGE);
        CHECK_OK(MPI_Win_flush(target, dynamic));
        failed = MPI_Rget(&in, 1, MPI_INT, target, 64, 1, MPI_INT, dynamic, &request);
        if (failed == MPI_SUCCESS)
            failed = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_CLASS(failed, MPI_ERR_RMA_RANGE);
    }
    const MPI_Count huge = ((MPI_Count)1 << 62) + 1; /* 4 times this is 4 in 64 bits */
    CHECK_CLASS(MPI_Put_c(&value, 1, MPI_INT, target, 64, huge, MPI_INT, dynamic), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(memory, 50, MPI_CHAR, mtest_rank, at + 1, 50, MPI_CHAR, dynamic), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock_all(dynamic));
    started(dynamic);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&dynamic));
}

/* A window that was promised to see no locks. */
static void without_locks(void)
{
    int memory[WORDS] = { 0 };
    MPI_Info info;
    MPI_Win win;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
    CHECK_OK(MPI_Win_create(memory, BYTES, sizeof(int), info, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, target, 2, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(memory[2] == value);
    CHECK_OK(MPI_Win_free(&win));
}

/* Each error calls the window's handler once. */
static void handler(MPI_Win win)
{
    MPI_Errhandler mine;
    CHECK_OK(MPI_Win_create_errhandler(count, &mine));
    CHECK_OK(MPI_Win_set_errhandler(win, mine));
    CHECK_OK(MPI_Errhandler_free(&mine));
    handled = 0;
    CHECK_CLASS(put(win, target, 0, 1), MPI_ERR_RMA_SYNC);
    CHECK(handled == 1);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(77, target, 0, win), MPI_ERR_LOCKTYPE);
    CHECK(handled == 3);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    target = (mtest_rank + 1) % mtest_size;
    creation();
    without_locks();
    no_window(MPI_WIN_NULL);
    no_window((MPI_Win)(uintptr_t)0x7654321080);
    for (int allocate = 0; allocate < 2; allocate++) {
        int memory[WORDS] = { 0 }, *base = memory;
        MPI_Win win, freed;
        if (allocate)
            CHECK_OK(MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        else
            CHECK_OK(MPI_Win_create(memory, BYTES, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        memset(base, 0, BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
        no_epoch(win);
        wrong_epoch(&win);
        arguments(win);
        attributes(win);
        if (!allocate && mtest_size > 1)
            requests(win);
        flavors(win);
        handler(win);
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK(base[0] == 0 && base[1] == 0 && base[WORDS - 1] == 0);
        CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
        CHECK_OK(MPI_Put(&mtest_rank, 1, MPI_INT, target, 3, 1, MPI_INT, win));
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win), MPI_ERR_RMA_SYNC);
        freed = win;
        CHECK_CLASS(MPI_Win_free(&freed), MPI_ERR_RMA_SYNC); /* the epoch has not ended */
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK(base[3] == (mtest_rank + mtest_size - 1) % mtest_size);
        freed = win;
        CHECK_OK(MPI_Win_free(&win));
        no_window(freed);
    }
    MTEST_END;
}
