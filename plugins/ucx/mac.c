/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash (Aumasson and Bernstein, 2012): two rounds for each word of data, four at the end of each half of the code. */
#include "plugins/ucx/mac.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

struct mac_state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t mac_read(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

static void mac_write(unsigned char *at, uint64_t word)
{
    word = htole64(word);
    memcpy(at, &word, sizeof word);
}

static uint64_t mac_rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mac_rounds(struct mac_state *s, int rounds)
{
    while (rounds-- > 0) {
        s->v0 += s->v1;
        s->v1 = mac_rotate(s->v1, 13) ^ s->v0;
        s->v0 = mac_rotate(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = mac_rotate(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = mac_rotate(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = mac_rotate(s->v1, 17) ^ s->v2;
        s->v2 = mac_rotate(s->v2, 32);
    }
}

static void mac_add(struct mac_state *s, uint64_t word)
{
    s->v3 ^= word;
    mac_rounds(s, 2);
    s->v0 ^= word;
}

void pl_ucx_mac(const unsigned char key[PL_UCX_KEY], const void *data, size_t length, unsigned char mac[PL_UCX_MAC])
{
    const unsigned char *at = data;
    uint64_t k0 = mac_read(key), k1 = mac_read(key + 8);
    struct mac_state s = { k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du ^ 0xee, k0 ^ 0x6c7967656e657261u,
                           k1 ^ 0x7465646279746573u };
    unsigned char last[8] = { 0 };
    size_t rest = length % 8;
    for (; at < (const unsigned char *)data + (length - rest); at += 8)
        mac_add(&s, mac_read(at));
    memcpy(last, at, rest);
    last[7] = (unsigned char)length;
    mac_add(&s, mac_read(last));
    s.v2 ^= 0xee;
    mac_rounds(&s, 4);
    mac_write(mac, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
    s.v1 ^= 0xdd;
    mac_rounds(&s, 4);
    mac_write(mac + 8, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
}

bool pl_ucx_mac_equal(const unsigned char a[PL_UCX_MAC], const unsigned char b[PL_UCX_MAC])
{
    unsigned different = 0;
    for (int i = 0; i < PL_UCX_MAC; i++)
        different |= (unsigned)(a[i] ^ b[i]);
    return different == 0;
}
