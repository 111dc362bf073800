/* SPDX-License-Identifier: BSD-3-Clause */
/* plugins/pmi/mapping.c and pmi_wire.c: which ranks a launcher's mapping puts on a node; words of an answer. */
#include <stdlib.h>

#include "core/base/words.h"
#include "plugins/pmi/mapping.h"
#include "plugins/pmi/pmi_wire.h"
#include "unit.h"

START_TEST(mappings)
{
    static const struct {
        const char *mapping;
        int rank, size, count;
        const char *local;
    } cases[] = {
        { "(vector,(0,1,1))", 1, 3, 3, "0,1,2" },           /* the block repeats on its node */
        { "(vector,(0,2,2))", 1, 4, 2, "0,1" },             /* blocks */
        { "(vector,(0,2,2))", 2, 4, 2, "2,3" },             /* of the other node */
        { "(vector,(0,2,1))", 2, 5, 3, "0,2,4" },           /* in turn */
        { "(vector,(0,1,2),(1,1,1))", 2, 3, 1, "2" },       /* nodes of different sizes */
        { "(vector,(0,1,2),(1,1,1))", 0, 6, 4, "0,1,3,4" }, /* and again */
        { "(vector,(3,2,1),(0,3,1))", 1, 5, 1, "1" },       /* nodes in any order */
        { "(vector,(0,1,1000000))", 4, 5, 5, "0,1,2,3,4" }, /* more space than ranks */
        { "(vector,(0,1,0))", 0, 2, 0, NULL },              /* nonsense */
        { "(vector,(0,0,1))", 0, 2, 0, NULL },
        { "(vector,(0,1,1)", 1, 2, 2, "0,1" },
        { "(vector,(0,1,1),(x))", 1, 2, 0, NULL },
        { "(vector,)", 0, 2, 0, NULL },
        { "(list,(0,1,1))", 0, 2, 0, NULL },
        { "", 0, 2, 0, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = 0;
        char *local = pl_pmi_mapping_local(cases[i].mapping, cases[i].rank, cases[i].size, &count);
        if (!cases[i].local) {
            ck_assert_msg(!local, "%s: %s", cases[i].mapping, local);
            continue;
        }
        ck_assert_msg(local, "%s is a mapping", cases[i].mapping);
        ck_assert_str_eq(local, cases[i].local);
        ck_assert_int_eq(count, cases[i].count);
        free(local);
    }
}
END_TEST

START_TEST(words)
{
    char value[8];
    long number;
    ck_assert(pl_words_value("cmd=get_result rc=0  value=a=b", "value", value, sizeof value));
    ck_assert_str_eq(value, "a=b");
    ck_assert(pl_words_value("cmd=x value=", "value", value, sizeof value));
    ck_assert_str_eq(value, "");
    ck_assert(!pl_words_value("cmd=x myvalue=1", "value", value, sizeof value));
    ck_assert(!pl_words_value("cmd=x value=12345678", "value", value, sizeof value));
    ck_assert(pl_pmi_wire_number("cmd=x rc=-1", "rc", &number));
    ck_assert_int_eq(number, -1);
    ck_assert(!pl_pmi_wire_number("cmd=x rc=1x", "rc", &number));
    ck_assert(!pl_pmi_wire_number("", "rc", &number));
    ck_assert(!pl_pmi_wire_refused("cmd=x rc=0 info=ok"));
    ck_assert(!pl_pmi_wire_refused("cmd=finalize_ack"));
    ck_assert(pl_pmi_wire_refused("cmd=x rc=1"));
    ck_assert(pl_pmi_wire_refused("cmd=x info=fail"));
}
END_TEST

UNIT_MAIN("pmi", mappings, words)
