/* SPDX-License-Identifier: BSD-3-Clause */
/* See address_vector.h. */
#include "core/engine/address_vector.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/job/segment.h"
#include "core/object/group.h"

struct pl_av *pl_av_create(struct pl_group *group)
{
    struct pl_av *av = pl_calloc(1, sizeof *av);
    if (!av) {
        pl_fail_memory("the addresses of a communicator's members");
        return NULL;
    }
    atomic_init(&av->refs, 1);
    av->group = pl_object_retain(group);
    return av;
}

struct pl_av *pl_av_retain(struct pl_av *av)
{
    if (av)
        atomic_fetch_add(&av->refs, 1);
    return av;
}

void pl_av_release(struct pl_av *av)
{
    if (!av || atomic_fetch_sub(&av->refs, 1) != 1)
        return;
    pl_object_release(av->group);
    free(av->begin);
    free(av);
}

static size_t table_size(const struct pl_av *av)
{
    return ((size_t)av->group->size + 1) * sizeof av->begin[0];
}

static unsigned char *cards_of(const struct pl_av *av)
{
    return (unsigned char *)av->begin + table_size(av);
}

int pl_av_open(struct pl_av *av, size_t bytes)
{
    av->begin = bytes <= UINT32_MAX ? pl_malloc(table_size(av) + bytes) : NULL;
    if (!av->begin)
        return pl_fail_memory("the addresses of a communicator's members");
    av->begin[0] = 0;
    return MPI_SUCCESS;
}

void pl_av_add(struct pl_av *av, int member, const void *card, size_t length)
{
    memcpy(cards_of(av) + av->begin[member], card, length);
    av->begin[member + 1] = av->begin[member] + (uint32_t)length;
}

const void *pl_av_card(const struct pl_av *av, int member, size_t *length)
{
    *length = av->begin[member + 1] - av->begin[member];
    return cards_of(av) + av->begin[member];
}

size_t pl_av_size(const struct pl_av *av)
{
    return table_size(av) + av->begin[av->group->size];
}

unsigned char *pl_av_write(const struct pl_av *av, unsigned char *at)
{
    memcpy(at, av->begin, pl_av_size(av));
    return at + pl_av_size(av);
}

int pl_av_read(struct pl_av *av, const unsigned char **at, const unsigned char *end)
{
    int size = av->group->size;
    uint32_t previous = 0, next = 0;
    size_t table = table_size(av), left = (size_t)(end - *at);
    for (int i = 0; left >= table && i <= size; i++, previous = next) {
        memcpy(&next, *at + (size_t)i * sizeof next, sizeof next);
        if (next < previous || next - previous > (i > 0 ? PL_CARD_MAX : 0))
            left = 0;
    }
    if (left < table || left - table < next)
        return pl_fail(MPI_ERR_OTHER, "the addresses of the %d members of a group are damaged", size);
    int rc = pl_av_open(av, next);
    if (rc)
        return rc;
    memcpy(av->begin, *at, table + next);
    *at += table + next;
    return MPI_SUCCESS;
}
