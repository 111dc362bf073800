/* SPDX-License-Identifier: BSD-3-Clause */
/* plugins/pmi/copies.c: any number of copies of the library in a process have names that differ. */
#include <check.h>

/* A copy knows the file by its own descriptor, so that this program can play several copies. */
#include "plugins/pmi/copies.c"
#include "unit.h"

enum { COPIES = 12 };

START_TEST(names_differ)
{
    char name[COPIES][PL_TENANT_NAME];
    int fd[COPIES];
    for (int i = 0; i < COPIES; i++) {
        copies_fd = -1;
        ck_assert(pl_pmi_copies_open(i == 0));
        pl_pmi_copies_enter(name[i]);
        fd[i] = copies_fd;
    }
    for (int i = 0; i < COPIES; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(name[i], name[k]);
    for (int i = 0; i < COPIES; i++)
        close(fd[i]);
}
END_TEST

/* The first copy that opens it makes the file; without one there is nothing to open. */
START_TEST(no_file)
{
    copies_fd = -1;
    ck_assert(!pl_pmi_copies_open(false));
    char name[PL_TENANT_NAME], expected[PL_TENANT_NAME];
    pl_tenant_name(1, expected);
    pl_pmi_copies_enter(name);
    ck_assert_str_eq(name, expected);
}
END_TEST

UNIT_MAIN("copies over PMI", names_differ, no_file)
