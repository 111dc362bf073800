/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user's callback of MPIX_Attach_exchange() brings: members of one machine or of several, with errors, of
 * another version, in another order, and damaged, while an allocation fails. A process enters the pool, or gets an
 * error in one line; nothing stays open. */
#include "fuzz.h"

#include <fcntl.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/job/attach_far.h"
#include "core/job/attach_rounds.h"

enum { SIZE = 3 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static struct fuzz *input;
static struct pl_seat other; /* the memory that another member has made */
static uint64_t cookie;
static int rounds;

static int exchange(const void *mine, void *all, int bytes, void *context)
{
    const bool *remote = context;
    const struct pl_attach_member *own = mine;
    rounds++;
    for (int i = 0; i < SIZE; i++) {
        struct pl_attach_member *member = (void *)((char *)all + (size_t)i * (size_t)bytes);
        memcpy(member, mine, (size_t)bytes);
        if (i == own->rank)
            continue;
        member->rank = i;
        member->fd = other.fd;
        member->cookie = i == 0 ? cookie : own->cookie + (uint64_t)i;
        member->error = fuzz_byte(input) % 16 == 15 ? (int)(fuzz_number(input) % 80) : 0;
        if (remote[i])
            member->machine[0] = 'x';
    }
    if (fuzz_byte(input) % 4 == 3)
        fuzz_damage(input, all, (size_t)bytes * SIZE);
    return fuzz_byte(input) % 16 == 15 ? (int)fuzz_number(input) : 0;
}

static void tell(struct pl_attach_rounds *m, const struct pl_seat *seat)
{
    static const unsigned char card[PL_CARD_MAX];
    unsigned char copy[PL_CARD_MAX];
    size_t length = fuzz_below(input, sizeof card + 1);
    if (pl_rounds_tell(m, m->entered, card, length, seat->far) != MPI_SUCCESS) {
        FUZZ_ONE_LINE(pl_error_detail(&(int){ 0 }));
        return;
    }
    for (int i = 0; i < SIZE; i++)
        FUZZ_CHECK(pl_far_card(seat->far, i, copy, &length) == MPI_SUCCESS && length <= sizeof copy);
}

static int next_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_seat seat = { .fd = -1, .rank = -1 };
    bool remote[SIZE];
    struct pl_attach_rounds m = { .exchange = exchange, .context = remote };
    int descriptor = next_descriptor();
    input = &from;
    rounds = 0;
    cookie = fuzz_number(&from);
    for (int i = 0; i < SIZE; i++)
        remote[i] = fuzz_byte(input) % 2;
    FUZZ_CHECK(pl_seat_make(SIZE, cookie, &other) == MPI_SUCCESS);
    pl_memory_fail_at((int)fuzz_below(&from, 12));
    int err = pl_rounds_hold(&m, (int)fuzz_below(&from, SIZE), SIZE, &seat);
    FUZZ_CHECK(rounds <= 2);
    if (err)
        FUZZ_ONE_LINE(pl_error_detail(&(int){ 0 }));
    else if (pl_rounds_is_far(&m))
        tell(&m, &seat);
    else
        FUZZ_CHECK(seat.rank == m.mine.rank);
    pl_memory_fail_at(0);
    pl_rounds_end(&m);
    pl_seat_leave(&seat);
    pl_seat_leave(&other);
    FUZZ_CHECK(next_descriptor() == descriptor);
    return 0;
}
