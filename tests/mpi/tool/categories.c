/* SPDX-License-Identifier: BSD-3-Clause */
/* Categories (MPI-5.0 section 15.3.9): every variable is in exactly one, and none is empty. */
/* ranks: 1 */
#include "mtest.h"

enum { CAPACITY = 256 };

/* Counts each index in `indices`; an invalid index is a failure. */
static void note(const int *indices, int count, int number, int *seen)
{
    for (int i = 0; i < count; i++)
        if (CHECK(indices[i] >= 0 && indices[i] < number))
            seen[indices[i]]++;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int provided, number = 0, cvars = 0, pvars = 0, index = -1, stamp = -1, events = -1;
    int indices[CAPACITY], control[CAPACITY] = { 0 }, performance[CAPACITY] = { 0 };
    CHECK(MPI_T_category_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_num(&number) == MPI_SUCCESS && number > 0);
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_SUCCESS && MPI_T_pvar_get_num(&pvars) == MPI_SUCCESS);
    CHECK(cvars <= CAPACITY && pvars <= CAPACITY);
    for (int i = 0; i < number; i++) {
        char name[64], help[256];
        int name_length = sizeof name, help_length = sizeof help, nc = -1, np = -1, subcategories = -1;
        CHECK(MPI_T_category_get_info(i, name, &name_length, help, &help_length, &nc, &np, &subcategories) ==
              MPI_SUCCESS);
        CHECK(name_length == (int)strlen(name) + 1 && help_length > 1 && nc + np > 0 && subcategories == 0);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_category_get_num_events(i, &events) == MPI_SUCCESS && events == 0);
        CHECK(MPI_T_category_get_cvars(i, nc, indices) == MPI_SUCCESS);
        note(indices, nc, cvars, control);
        CHECK(MPI_T_category_get_pvars(i, np, indices) == MPI_SUCCESS);
        note(indices, np, pvars, performance);
        indices[0] = indices[1] = -7;
        CHECK(MPI_T_category_get_cvars(i, nc ? 1 : 0, indices) == MPI_SUCCESS && indices[1] == -7); /* what has room */
        CHECK(MPI_T_category_get_categories(i, 0, NULL) == MPI_SUCCESS);
    }
    for (int i = 0; i < cvars; i++)
        CHECK(control[i] == 1);
    for (int i = 0; i < pvars; i++)
        CHECK(performance[i] == 1);
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS && stamp == 0);
    CHECK(MPI_T_category_get_index("nonsense", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_index(NULL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_index("nonsense", NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_cvars(number, 0, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_cvars(0, -1, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MTEST_END;
}
