/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter is a binary search in classic BPF: each inner node is a comparison and a jump to its right half, each leaf
 * compares one address. More addresses than a filter has room for are admitted by their networks of 24, 16 or 8 bits.
 */
#include "plugins/ucx/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/memory.h"

enum {
    FILTER_HEAD = 2,   /* instructions: load the source address, cut off the host's part */
    FILTER_LEAF = 3,   /* ... for each address */
    FILTER_INNER = 2,  /* ... between two halves */
    FILTER_SOURCE = 12 /* offset of the source in an IPv4 header */
};

/* --- sets ------------------------------------------------------------------------------------------------------ */

/* The index of the first address that is not less. */
static size_t addresses_find(const struct pl_ucx_addresses *set, uint32_t address)
{
    size_t first = 0, end = set->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (set->items[middle] < address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bool pl_ucx_addresses_have(const struct pl_ucx_addresses *set, uint32_t address)
{
    size_t at = addresses_find(set, address);
    return at < set->count && set->items[at] == address;
}

bool pl_ucx_addresses_add(struct pl_ucx_addresses *set, uint32_t address, bool *added)
{
    size_t at = addresses_find(set, address);
    if (at < set->count && set->items[at] == address)
        return true;
    uint32_t *item = PL_VEC_INSERT(set, at);
    if (!item)
        return false;
    *item = address;
    *added = true;
    return true;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

/* Copies the addresses, cut to their networks, without duplicates. Returns their number. */
static size_t filter_cut(const struct pl_ucx_addresses *set, uint32_t mask, uint32_t *networks)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        if (count == 0 || networks[count - 1] != (set->items[i] & mask))
            networks[count++] = set->items[i] & mask;
    return count;
}

static size_t filter_search_length(size_t count)
{
    return count * FILTER_LEAF + (count - 1) * FILTER_INNER;
}

/* Writes the search among networks[0..count-1], count > 0. Returns the end. */
static struct sock_filter *filter_search(struct sock_filter *at, const uint32_t *networks, size_t count)
{
    if (count == 1) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, networks[0], 0, 1);
        *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
        *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
        return at;
    }
    size_t left = count / 2;
    *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, networks[left], 0, 1);
    *at++ = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)filter_search_length(left));
    at = filter_search(at, networks, left);
    return filter_search(at, networks + left, count - left);
}

static int filter_attach(int fd, struct sock_filter *code, const struct sock_filter *end)
{
    struct sock_fprog program = { .len = (unsigned short)(end - code), .filter = code };
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 ? 0 : errno;
}

/* Fails with EINVAL or ENOMEM where the kernel has no room for a filter of that many networks. */
static int filter_set_networks(int fd, const uint32_t *networks, size_t count, uint32_t mask)
{
    size_t length = FILTER_HEAD + filter_search_length(count);
    if (length > BPF_MAXINSNS)
        return ENOMEM;
    struct sock_filter *code = pl_malloc(length * sizeof *code), *at = code;
    if (!code)
        return ENOMEM;
    *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + FILTER_SOURCE);
    *at++ = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask);
    at = filter_search(at, networks, count);
    int error = filter_attach(fd, code, at);
    free(code);
    return error;
}

int pl_ucx_filter_set(int fd, const struct pl_ucx_addresses *set)
{
    struct sock_filter nothing[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
    if (set->count == 0)
        return filter_attach(fd, nothing, nothing + 1);
    uint32_t *networks = pl_malloc(set->count * sizeof *networks);
    int error = ENOMEM;
    for (int bits = 0; networks && error == ENOMEM && bits <= 24; bits += 8) {
        uint32_t mask = UINT32_MAX << bits;
        error = filter_set_networks(fd, networks, filter_cut(set, mask, networks), mask);
    }
    free(networks);
    return error;
}
