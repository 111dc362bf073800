/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of attribute keys, of attributes of one object, of keys of one info object, of error codes, and of handles
 * of performance variables. They are set, replaced, read, listed, copied and removed in any order, and made again.
 */
/* ranks: 1 2 */
#include "mtest.h"
#include "pattern.h"

enum { MANY = 5000 };

static int order[MANY], keyvals[MANY], codes[MANY];
static long deleted, copied;

static void shuffle(uint64_t seed)
{
    for (int i = 0; i < MANY; i++) {
        int k = (int)(pattern_random(&seed) % (unsigned)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

static int copy_more(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    *(void **)out = (char *)in + 1;
    *flag = (int)(intptr_t)extra % 3 != 0;
    copied++;
    return MPI_SUCCESS;
}

static int count_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void expect_value(MPI_Comm comm, int i, int there, intptr_t wanted)
{
    void *value = NULL;
    int flag = -1;
    CHECK_OK(MPI_Comm_get_attr(comm, keyvals[i], &value, &flag));
    CHECK(flag == there && (!there || (intptr_t)value == wanted));
}

static void attributes(void)
{
    MPI_Comm comm, copy;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    for (int time = 0; time < 2; time++) { /* the second time numbers are used again */
        deleted = copied = 0;
        shuffle(17 + (uint64_t)time);
        for (int i = 0; i < MANY; i++)
            CHECK_OK(MPI_Comm_create_keyval(copy_more, count_deleted, &keyvals[i], (void *)(intptr_t)i));
        for (int i = 0; i < MANY; i++)
            CHECK_OK(MPI_Comm_set_attr(comm, keyvals[order[i]], (void *)(intptr_t)(order[i] * 4)));
        for (int i = 0; i < MANY; i += 2)
            CHECK_OK(MPI_Comm_set_attr(comm, keyvals[i], (void *)(intptr_t)(i * 4 + 2)));
        CHECK(deleted == MANY / 2);
        CHECK_OK(MPI_Comm_dup(comm, &copy));
        CHECK(copied == MANY);
        for (int i = 0; i < MANY; i++) {
            expect_value(comm, order[i], 1, order[i] * 4 + (order[i] % 2 ? 0 : 2));
            expect_value(copy, order[i], order[i] % 3 != 0, order[i] * 4 + (order[i] % 2 ? 1 : 3));
        }
        CHECK_OK(MPI_Comm_free(&copy));
        for (int i = 0; i < MANY / 2; i++) {
            CHECK_OK(MPI_Comm_delete_attr(comm, keyvals[order[i]]));
            expect_value(comm, order[i], 0, 0);
        }
        for (int i = MANY / 2; i < MANY; i++) {
            expect_value(comm, order[i], 1, order[i] * 4 + (order[i] % 2 ? 0 : 2));
            CHECK_OK(MPI_Comm_delete_attr(comm, keyvals[order[i]]));
        }
        for (int i = 0; i < MANY; i++)
            CHECK_OK(MPI_Comm_free_keyval(&keyvals[order[i]]));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

/* --- info --------------------------------------------------------------------------------------------------------- */

static void expect_key(MPI_Info info, int i, const char *wanted)
{
    char key[32], value[32] = "";
    int flag = -1, length = sizeof value;
    snprintf(key, sizeof key, "key %d", i);
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(wanted ? flag && strcmp(value, wanted) == 0 : !flag);
}

static void set_key(MPI_Info info, int i, const char *value)
{
    char key[32];
    snprintf(key, sizeof key, "key %d", i);
    CHECK_OK(MPI_Info_set(info, key, value));
}

static int number_of(MPI_Info info, int n)
{
    char key[MPI_MAX_INFO_KEY] = "";
    int i = -1;
    CHECK_OK(MPI_Info_get_nthkey(info, n, key));
    CHECK(sscanf(key, "key %d", &i) == 1);
    return i;
}

static void info_keys(void)
{
    MPI_Info info, copy;
    char key[32];
    int count = 0;
    shuffle(99);
    CHECK_OK(MPI_Info_create(&info));
    for (int i = 0; i < MANY; i++)
        set_key(info, order[i], i % 2 ? "odd" : "even");
    for (int i = 0; i < MANY; i += 2)
        set_key(info, order[i], "again");
    CHECK_OK(MPI_Info_dup(info, &copy));
    for (int i = 0; i < MANY; i++) {
        expect_key(copy, order[i], i % 2 ? "odd" : "again");
        CHECK(number_of(info, i) == order[i]);
    }
    for (int i = MANY - 1; i >= 0; i -= 3)
        CHECK(number_of(copy, i) == order[i]);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "key %d", order[i]);
        if (i % 3 == 0)
            CHECK_OK(MPI_Info_delete(info, key));
        if (i % 97 == 0) /* the first that is left */
            CHECK(number_of(info, 0) == order[1]);
    }
    CHECK_OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == MANY - (MANY + 2) / 3);
    for (int i = 0, n = 0; i < MANY; i++) {
        expect_key(info, order[i], i % 3 == 0 ? NULL : i % 2 ? "odd" : "again");
        if (i % 3 != 0)
            CHECK(number_of(info, n++) == order[i]);
    }
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Info_free(&info));
}

/* --- error codes -------------------------------------------------------------------------------------------------- */

static void error_codes(void)
{
    int class, got, length, *highest, flag, last = 0;
    char text[32], seen[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Add_error_class(&class));
    for (int time = 0; time < 2; time++) {
        shuffle(5 + (uint64_t)time);
        for (int i = 0; i < MANY; i++) {
            snprintf(text, sizeof text, "code %d", i + time);
            CHECK_OK(MPI_Add_error_code(class, &codes[i]));
            CHECK_OK(MPI_Add_error_string(codes[i], text));
        }
        for (int i = 0; i < MANY; i++) {
            snprintf(text, sizeof text, "code %d", order[i] + time);
            CHECK_OK(MPI_Error_string(codes[order[i]], seen, &length));
            CHECK_OK(MPI_Error_class(codes[order[i]], &got));
            CHECK(strcmp(seen, text) == 0 && got == class);
        }
        CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &highest, &flag));
        CHECK(flag && (time == 0 || *highest == last)); /* numbers are used again */
        last = *highest;
        for (int i = 0; i < MANY; i++) {
            CHECK_OK(MPI_Remove_error_string(codes[order[i]]));
            CHECK_OK(MPI_Remove_error_code(codes[order[i]]));
        }
    }
    CHECK_OK(MPI_Remove_error_class(class));
}

/* --- handles of performance variables ----------------------------------------------------------------------------- */

static void tool_handles(void)
{
    static MPI_T_pvar_handle handles[MANY];
    static MPI_T_pvar_session sessions[MANY];
    int provided, index, count;
    unsigned long value;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index("live_infos", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        CHECK(MPI_T_pvar_session_create(&sessions[i]) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(sessions[i / 2], index, NULL, &handles[i], &count) == MPI_SUCCESS);
    }
    shuffle(3);
    for (int i = 0; i < MANY; i++) {
        int at = order[i];
        CHECK(MPI_T_pvar_read(sessions[at / 2], handles[at], &value) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_read(sessions[MANY - 1 - at / 2], handles[at], &value) == MPI_T_ERR_INVALID_HANDLE);
        CHECK(MPI_T_pvar_handle_free(sessions[at / 2], &handles[at]) == MPI_SUCCESS);
    }
    for (int i = 0; i < MANY; i++)
        CHECK(MPI_T_pvar_session_free(&sessions[order[i]]) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    attributes();
    info_keys();
    error_codes();
    tool_handles();
    MTEST_END;
}
