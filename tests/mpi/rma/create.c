/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: all flavors and their attributes, names, keyvals, error handlers, hints, groups. */
#include <stdint.h>

#include "rma.h"

static int deleted[3], handled;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval;
    CHECK(win != MPI_WIN_NULL);
    CHECK(extra == (void *)deleted);
    deleted[*(int *)value]++;
    return MPI_SUCCESS;
}

static void on_error(MPI_Win *win, int *code, ...)
{
    CHECK(*win != MPI_WIN_NULL);
    CHECK(*code == MPI_ERR_OTHER);
    handled++;
}

static void check_attributes(MPI_Win win, int flavor, const void *base, MPI_Aint size, int disp_unit)
{
    void *value = NULL;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &found));
    CHECK(found && value == base);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &found));
    CHECK(found && *(MPI_Aint *)value == size);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &found));
    CHECK(found && *(int *)value == disp_unit);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &found));
    CHECK(found && *(int *)value == flavor);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &found));
    CHECK(found && (*(int *)value == MPI_WIN_UNIFIED || *(int *)value == MPI_WIN_SEPARATE));
}

static void check_name(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME] = "before";
    int length = -1;
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 0 && name[0] == '\0');
    CHECK_OK(MPI_Win_set_name(win, "halo of the ocean"));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 17 && strcmp(name, "halo of the ocean") == 0);
    CHECK_OK(MPI_Win_set_name(win, ""));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 0 && name[0] == '\0');
}

static void check_group(MPI_Win win, MPI_Comm comm)
{
    MPI_Group of_win, of_comm;
    int result = -1;
    CHECK_OK(MPI_Win_get_group(win, &of_win));
    CHECK_OK(MPI_Comm_group(comm, &of_comm));
    CHECK_OK(MPI_Group_compare(of_win, of_comm, &result));
    CHECK(result == MPI_IDENT);
    CHECK_OK(MPI_Group_free(&of_win));
    CHECK_OK(MPI_Group_free(&of_comm));
}

/* Returns with one attribute left, 2, which freeing the window deletes. */
static void set_attributes(MPI_Win win, int keyval, int other)
{
    static int zero = 0, one = 1, two = 2;
    void *value = NULL;
    int found = -1;
    memset(deleted, 0, sizeof deleted);
    CHECK_OK(MPI_Win_get_attr(win, keyval, &value, &found));
    CHECK(!found);
    CHECK_OK(MPI_Win_set_attr(win, keyval, &zero));
    CHECK_OK(MPI_Win_set_attr(win, keyval, &one)); /* replaces it */
    CHECK(deleted[0] == 1 && deleted[1] == 0);
    CHECK_OK(MPI_Win_get_attr(win, keyval, &value, &found));
    CHECK(found && value == &one);
    CHECK_OK(MPI_Win_delete_attr(win, keyval));
    CHECK(deleted[1] == 1);
    CHECK_OK(MPI_Win_get_attr(win, keyval, &value, &found));
    CHECK(!found);
    CHECK_OK(MPI_Win_set_attr(win, keyval, &two));
    CHECK_OK(MPI_Win_set_attr(win, other, &handled));
}

static void check_errhandlers(MPI_Win win)
{
    MPI_Errhandler mine, got;
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Win_create_errhandler(on_error, &mine));
    CHECK_OK(MPI_Win_set_errhandler(win, mine));
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == mine);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&mine)); /* the window still has it */
    handled = 0;
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    CHECK(handled == 1);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
}

static void check_window(MPI_Win *win, int flavor, const void *base, MPI_Aint size, int disp_unit, MPI_Comm comm)
{
    int keyval, other;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, deleted));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
    check_attributes(*win, flavor, base, size, disp_unit);
    check_name(*win);
    check_group(*win, comm);
    check_errhandlers(*win);
    set_attributes(*win, keyval, other);
    CHECK_OK(MPI_Win_free_keyval(&keyval));
    CHECK_OK(MPI_Win_free_keyval(&other));
    CHECK(keyval == MPI_KEYVAL_INVALID && other == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Win_free(win));
    CHECK(*win == MPI_WIN_NULL);
    CHECK(deleted[2] == 1);
}

static void flavors(MPI_Comm comm)
{
    MPI_Aint size = 1000 * (mtest_rank + 1);
    int unit = 1 << mtest_rank % 5;
    char *base = NULL, *memory = malloc((size_t)size);
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, size, unit, MPI_INFO_NULL, comm, &win));
    check_window(&win, MPI_WIN_FLAVOR_CREATE, memory, size, unit, comm);
    CHECK_OK(MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, &base, &win));
    memset(base, 1, (size_t)size);
    CHECK((size_t)base % sizeof(void *) == 0);
    check_window(&win, MPI_WIN_FLAVOR_ALLOCATE, base, size, unit, comm);
    if (window_can_share(comm)) {
        CHECK_OK(MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, comm, &base, &win));
        memset(base, 1, (size_t)size);
        check_window(&win, MPI_WIN_FLAVOR_SHARED, base, size, unit, comm);
    }
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    check_window(&win, MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1, comm);
    /* Windows without any memory, and with memory only at other ranks. */
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win));
    check_window(&win, MPI_WIN_FLAVOR_CREATE, NULL, 0, 1, comm);
    CHECK_OK(MPI_Win_create(mtest_rank ? memory : NULL, mtest_rank ? size : 0, unit, MPI_INFO_NULL, comm, &win));
    check_window(&win, MPI_WIN_FLAVOR_CREATE, mtest_rank ? memory : NULL, mtest_rank ? size : 0, unit, comm);
    MPI_Aint own = mtest_rank % 2 ? size : 0; /* a rank that allocates nothing has no address */
    CHECK_OK(MPI_Win_allocate(own, unit, MPI_INFO_NULL, comm, &base, &win));
    CHECK((base == NULL) == (own == 0));
    check_window(&win, MPI_WIN_FLAVOR_ALLOCATE, base, own, unit, comm);
    if (window_can_share(comm)) {
        char *queried = memory;
        MPI_Aint bytes = -1;
        int got = -1;
        CHECK_OK(MPI_Win_allocate_shared(own, unit, MPI_INFO_NULL, comm, &base, &win));
        CHECK((base == NULL) == (own == 0));
        CHECK_OK(MPI_Win_shared_query(win, 0, &bytes, &got, &queried));
        CHECK(bytes == 0 && got == 1 && queried == NULL);
        check_window(&win, MPI_WIN_FLAVOR_SHARED, base, own, unit, comm);
        CHECK_OK(MPI_Win_allocate_shared(0, unit, MPI_INFO_NULL, comm, &base, &win));
        queried = memory;
        CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &got, &queried)); /* the first with memory: none */
        CHECK(base == NULL && bytes == 0 && queried == NULL);
        check_window(&win, MPI_WIN_FLAVOR_SHARED, base, 0, unit, comm);
    }
    free(memory);
}

/* Each rank's memory has the alignment that it asks for, here more than a page and not the same for all. In a
 * contiguous window only the first rank's has. */
static void alignments(MPI_Comm comm, int shared, const char *noncontiguous)
{
    enum { BYTES = 1000 };
    int next = (mtest_rank + 1) % mtest_size, before = (mtest_rank + mtest_size - 1) % mtest_size, found = 0;
    long alignment = 16384L << mtest_rank % 3 * 2;
    char text[MPI_MAX_INFO_VAL], *base = NULL, out[BYTES];
    int length = sizeof text;
    MPI_Info info, used;
    MPI_Win win;
    snprintf(text, sizeof text, "%ld", alignment);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous));
    CHECK_OK(shared ? MPI_Win_allocate_shared(BYTES, 1, info, comm, &base, &win)
                    : MPI_Win_allocate(BYTES, 1, info, comm, &base, &win));
    CHECK_OK(MPI_Info_free(&info));
    if (!shared || noncontiguous[0] == 't' || mtest_rank == 0) {
        CHECK((uintptr_t)base % (uintptr_t)alignment == 0);
        CHECK_OK(MPI_Win_get_info(win, &used));
        CHECK_OK(MPI_Info_get_string(used, "mpi_minimum_memory_alignment", &length, text, &found));
        CHECK(found && strtol(text, NULL, 10) == alignment);
        CHECK_OK(MPI_Info_free(&used));
    }
    memset(base, 1, BYTES);
    memset(out, 10 + mtest_rank, sizeof out);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(out, BYTES - 2, MPI_CHAR, next, 1, BYTES - 2, MPI_CHAR, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < BYTES; i++)
        CHECK(base[i] == (i == 0 || i == BYTES - 1 ? 1 : 10 + before));
    if (shared) {
        char *there = NULL;
        MPI_Aint size = 0;
        int unit = 0;
        CHECK_OK(MPI_Win_shared_query(win, next, &size, &unit, &there));
        CHECK(size == BYTES && there && there[0] == 1 && there[1] == 10 + mtest_rank && there[BYTES - 1] == 1);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

static void expect(MPI_Info info, const char *key, const char *value)
{
    char got[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, got, &found));
    if (found && strcmp(got, value) != 0)
        mtest_check(0, __FILE__, __LINE__, key, got);
}

/* A hint that is returned has the value that was set. */
static void hints(MPI_Comm comm)
{
    static const char *const pairs[][2] = {
        { "no_locks", "true" },  { "accumulate_ordering", "none" }, { "accumulate_ops", "same_op" },
        { "same_size", "true" }, { "same_disp_unit", "true" },
    };
    MPI_Info info, got;
    MPI_Win win;
    char *base;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "nobody_knows_this", "true"));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        CHECK_OK(MPI_Info_set(info, pairs[i][0], pairs[i][1]));
    CHECK_OK(MPI_Win_allocate(100, 1, info, comm, &base, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_get_info(win, &got));
    CHECK(got != MPI_INFO_NULL);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        expect(got, pairs[i][0], pairs[i][1]);
    CHECK_OK(MPI_Win_set_info(win, got));
    CHECK_OK(MPI_Info_free(&got));
    CHECK_OK(MPI_Win_free(&win));
}

/* A window outlives its communicator. */
static void parts(void)
{
    MPI_Comm half, copy;
    MPI_Win win, other;
    char *base;
    int *mine, size, one_more = mtest_rank + 1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 2, -mtest_rank, &half));
    CHECK_OK(MPI_Comm_dup(half, &copy));
    MPI_Comm_size(half, &size);
    CHECK_OK(MPI_Win_allocate((MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, copy, &mine, &win));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &other));
    CHECK_OK(MPI_Win_fence(0, win));
    *mine = 0;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++)
        CHECK_OK(MPI_Accumulate(&one_more, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    int sum = 0;
    for (int i = mtest_rank % 2; i < mtest_size; i += 2)
        sum += i + 1;
    check_group(win, half);
    check_group(other, MPI_COMM_SELF);
    CHECK_OK(MPI_Win_free(&other));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    flavors(MPI_COMM_WORLD);
    hints(MPI_COMM_WORLD);
    alignments(MPI_COMM_WORLD, 0, "false");
    if (window_can_share(MPI_COMM_WORLD)) {
        alignments(MPI_COMM_WORLD, 1, "false");
        alignments(MPI_COMM_WORLD, 1, "true");
    }
    parts();
    MTEST_END;
}
