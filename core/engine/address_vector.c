/* SPDX-License-Identifier: BSD-3-Clause */
/* Books of addresses. */
#include "core/engine/address_vector.h"

#include "core/base/error.h"
#include "core/object/group.h"
#include "core/job/segment.h"
#include "core/base/memory.h"

struct pl_book *pl_book_create(struct pl_group *group)
{
    struct pl_book *book = pl_calloc(1, sizeof *book);
    if (!book) {
        pl_fail_memory("the addresses of a communicator's members");
        return NULL;
    }
    atomic_init(&book->refs, 1);
    book->group = pl_object_retain(group);
    return book;
}

struct pl_book *pl_book_retain(struct pl_book *book)
{
    if (book)
        atomic_fetch_add(&book->refs, 1);
    return book;
}

void pl_book_release(struct pl_book *book)
{
    if (!book || atomic_fetch_sub(&book->refs, 1) != 1)
        return;
    pl_object_release(book->group);
    free(book->begin);
    free(book);
}

static size_t table_size(const struct pl_book *book)
{
    return ((size_t)book->group->size + 1) * sizeof book->begin[0];
}

static unsigned char *cards_of(const struct pl_book *book)
{
    return (unsigned char *)book->begin + table_size(book);
}

int pl_book_open(struct pl_book *book, size_t bytes)
{
    book->begin = bytes <= UINT32_MAX ? pl_malloc(table_size(book) + bytes) : NULL;
    if (!book->begin)
        return pl_fail_memory("the addresses of a communicator's members");
    book->begin[0] = 0;
    return MPI_SUCCESS;
}

void pl_book_add(struct pl_book *book, int member, const void *card, size_t length)
{
    memcpy(cards_of(book) + book->begin[member], card, length);
    book->begin[member + 1] = book->begin[member] + (uint32_t)length;
}

const void *pl_book_card(const struct pl_book *book, int member, size_t *length)
{
    *length = book->begin[member + 1] - book->begin[member];
    return cards_of(book) + book->begin[member];
}

size_t pl_book_size(const struct pl_book *book)
{
    return table_size(book) + book->begin[book->group->size];
}

unsigned char *pl_book_write(const struct pl_book *book, unsigned char *at)
{
    memcpy(at, book->begin, pl_book_size(book));
    return at + pl_book_size(book);
}

int pl_book_read(struct pl_book *book, const unsigned char **at, const unsigned char *end)
{
    int size = book->group->size;
    uint32_t previous = 0, next = 0;
    size_t table = table_size(book), left = (size_t)(end - *at);
    for (int i = 0; left >= table && i <= size; i++, previous = next) {
        memcpy(&next, *at + (size_t)i * sizeof next, sizeof next);
        if (next < previous || next - previous > (i > 0 ? PL_CARD_MAX : 0))
            left = 0;
    }
    if (left < table || left - table < next)
        return pl_fail(MPI_ERR_OTHER, "the addresses of the %d members of a group are damaged", size);
    int rc = pl_book_open(book, next);
    if (rc)
        return rc;
    memcpy(book->begin, *at, table + next);
    *at += table + next;
    return MPI_SUCCESS;
}
