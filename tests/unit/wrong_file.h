/* SPDX-License-Identifier: BSD-3-Clause */
/* Invalid files of the user: the contents, and how the error message begins and ends. */
#ifndef PLENUM_TESTS_WRONG_FILE_H
#define PLENUM_TESTS_WRONG_FILE_H

#include "unit.h"

#include <string.h>

#include "core/base/error.h"

struct wrong_file {
    const char *text;
    int line; /* 0: the message has none */
    const char *why;
};

/* Was the last error "PATH:LINE: ... why ..."? */
static inline void wrong_file_expect(const struct wrong_file *wrong, const char *path)
{
    char place[300];
    const char *detail = pl_error_detail(NULL);
    snprintf(place, sizeof place, "%s:%d: ", path, wrong->line);
    ck_assert_msg((!wrong->line || strncmp(detail, place, strlen(place)) == 0) && strstr(detail, wrong->why), "%s: %s",
                  wrong->text, detail);
}

#endif
