/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4-128 against the vectors of its authors, and codes that differ in one bit. */
#include "unit.h"

#include "plugins/ucx/mac.h"

static const unsigned char key[PL_UCX_KEY] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Of the data 0, 1, 2, ... of each length. */
START_TEST(vectors)
{
    static const char *const codes[] = { "a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
                                         "8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51" };
    for (unsigned length = 0; length < sizeof codes / sizeof *codes; length++) {
        unsigned char mac[PL_UCX_MAC];
        char text[2 * PL_UCX_MAC + 1];
        pl_ucx_mac(key, key, length, mac);
        for (int i = 0; i < PL_UCX_MAC; i++)
            sprintf(text + 2 * i, "%02x", mac[i]);
        ck_assert_str_eq(text, codes[length]);
    }
}
END_TEST

START_TEST(every_bit_counts)
{
    unsigned char data[104] = "a message", first[PL_UCX_MAC], mac[PL_UCX_MAC];
    pl_ucx_mac(key, data, sizeof data, first);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        pl_ucx_mac(key, data, sizeof data, mac);
        ck_assert(!pl_ucx_mac_equal(first, mac));
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    pl_ucx_mac(key, data, sizeof data - 1, mac);
    ck_assert(!pl_ucx_mac_equal(first, mac));
    pl_ucx_mac(key, data, sizeof data, mac);
    ck_assert(pl_ucx_mac_equal(first, mac));
    for (int bit = 0; bit < PL_UCX_MAC * 8; bit++) {
        mac[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert(!pl_ucx_mac_equal(first, mac));
        mac[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}
END_TEST

UNIT_MAIN("mac", vectors, every_bit_counts)
