/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts made fit for a terminal: what stays, what is escaped, and how a text that does not fit ends. */
#include <string.h>

#include "core/base/visible.h"
#include "unit.h"

START_TEST(characters)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "plain ~ text \\", "plain ~ text \\" },
        { "gr\xc3\xbc\xc3\x9f dich \xe2\x82\xac \xf0\x9f\x98\x80",
          "gr\xc3\xbc\xc3\x9f dich \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "\033[2J\a\r\n\t\177", "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f" },
        { "\x9b"
          "2J \xc2\x9b"
          "2J",
          "\\x9b2J \\xc2\\x9b2J" },                                /* C1 in eight bits, and as UTF-8 */
        { "\xc0\x9b \xe0\x80\x9b", "\\xc0\\x9b \\xe0\\x80\\x9b" }, /* longer than necessary */
        { "\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80" }, /* no characters */
        { "\xe2\x82", "\\xe2\\x82" },                                                /* cut off by the end */
        { "\xff\xfe\x80", "\\xff\\xfe\\x80" },
    };
    char out[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pl_visible(out, sizeof out, cases[i][0]);
        ck_assert_str_eq(out, cases[i][1]);
        pl_visible(out, sizeof out, cases[i][1]);
        ck_assert_str_eq(out, cases[i][1]);
    }
}
END_TEST

/* Whole characters and escapes only, and a sign where the text is cut; nothing behind the end. */
START_TEST(ends)
{
    char out[20];
    for (size_t size = 0; size < 12; size++) {
        memset(out, '#', sizeof out);
        pl_visible(out, size,
                   "a\033\xc3\xbc"
                   "b");
        if (size > 0)
            ck_assert_str_eq(out, size < 2   ? ""
                                  : size < 4 ? "a"
                                  : size < 5 ? "..."
                                  : size < 9 ? "a..."
                                             : "a\\x1b\xc3\xbc"
                                               "b");
        ck_assert_int_eq(out[size], '#');
    }
}
END_TEST

UNIT_MAIN("visible", characters, ends)
