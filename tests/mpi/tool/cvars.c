/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables (MPI-5.0 section 15.3.6): the configuration. All are described and read. Those that are writable
 * are written, and later objects follow the new value, even against the environment.
 */
/* ranks: 1 2 4 */
#include "mtest.h"

static int index_of(const char *name)
{
    int index = -1;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    return index;
}

static MPI_T_cvar_handle handle_of(const char *name, int *count)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_handle_alloc(index_of(name), NULL, &handle, count) == MPI_SUCCESS);
    return handle;
}

/* Every variable: its name leads back to it, and its value has the declared type. */
static void test_all(void)
{
    int number = 0, index = -1;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number > 20);
    for (int i = 0; i < number; i++) {
        char name[64], help[512], text[8192];
        int name_length = sizeof name, help_length = sizeof help, verbosity = 0, bind = 0, scope = 0, count = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum none;
        MPI_T_cvar_handle handle;
        CHECK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &none, help, &help_length, &bind, &scope) ==
              MPI_SUCCESS);
        CHECK(name_length == (int)strlen(name) + 1 && help_length == (int)strlen(help) + 1 && help_length > 5);
        CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC && none == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT);
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS);
        CHECK(type == MPI_CHAR ? count > 1 && count <= (int)sizeof text : count == 1);
        memset(text, 'x', sizeof text);
        CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS);
        CHECK(type == MPI_INT || type == MPI_COUNT || (type == MPI_CHAR && memchr(text, 0, (size_t)count)));
        if (scope == MPI_T_SCOPE_READONLY)
            CHECK(MPI_T_cvar_write(handle, text) == MPI_T_ERR_CVAR_SET_NEVER);
        else
            CHECK(MPI_T_cvar_write(handle, text) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
}

/* Strings are cut to the size of the buffer; the length is that of the whole string. */
static void test_texts(void)
{
    int index = index_of("shm_ring"), length = 4;
    char name[16] = "????????";
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(name, "shm") == 0 && name[4] == '?' && length == sizeof "shm_ring");
    length = 0;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(name, "shm") == 0 && length == sizeof "shm_ring");
    CHECK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(length == sizeof "shm_ring");
}

static void test_mistakes(void)
{
    int count, index;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, foreign = (MPI_T_cvar_handle)&index;
    CHECK(MPI_T_cvar_get_index("shm_rin", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index(NULL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_read(foreign, &count) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_write(foreign, &count) == MPI_T_ERR_INVALID_HANDLE);
    handle = handle_of("meet_timeout", &count);
    CHECK(MPI_T_cvar_read(handle, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(handle, &(MPI_Count){ -1 }) == MPI_T_ERR_INVALID);
    handle = handle_of("coll_bcast", &count);
    CHECK(MPI_T_cvar_write(handle, "magic") == MPI_T_ERR_INVALID);
}

/* A later session is strict, whatever the environment says, and the next one is not. */
static void test_strict(void)
{
    int count, strict = -1, flag = 0, length;
    char text[16];
    MPI_T_cvar_handle handle = handle_of("strict", &count);
    for (int wanted = 1; wanted >= 0; wanted--) {
        MPI_Session session;
        MPI_Info info;
        CHECK(MPI_T_cvar_write(handle, &wanted) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_read(handle, &strict) == MPI_SUCCESS && strict == wanted);
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session)); /* the configuration is read again */
        CHECK_OK(MPI_Session_get_info(session, &info));
        length = sizeof text;
        CHECK_OK(MPI_Info_get_string(info, "plenum_strict", &length, text, &flag));
        CHECK(flag && strcmp(text, wanted ? "true" : "false") == 0);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    CHECK(MPI_T_cvar_write(handle, &(int){ 7 }) == MPI_T_ERR_INVALID);
}

/* The algorithms of a collective, one after the other, all with the same result. */
static void test_algorithms(void)
{
    static const char *const names[] = {
        "linear", "ring", "recursive_doubling", "rabenseifner", "reduce_bcast", "auto"
    };
    int count;
    char now[8192];
    MPI_T_cvar_handle handle = handle_of("coll_allreduce", &count);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int own[100], sum[100];
        CHECK(MPI_T_cvar_write(handle, names[i]) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_read(handle, now) == MPI_SUCCESS && strcmp(now, names[i]) == 0);
        for (int k = 0; k < 100; k++)
            own[k] = mtest_rank + k;
        CHECK_OK(MPI_Allreduce(own, sum, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int k = 0; k < 100; k++)
            CHECK(sum[k] == mtest_size * (mtest_size - 1) / 2 + mtest_size * k);
    }
}

int main(int argc, char **argv)
{
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    test_all();    /* before MPI_Init */
    test_strict(); /* sessions that come and go before it: each reads the configuration anew */
    MTEST_INIT(argc, argv);
    test_texts();
    test_mistakes();
    test_strict();
    test_algorithms();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MTEST_END;
}
