/* SPDX-License-Identifier: BSD-3-Clause */
/* See attach_rounds.h. */
#include "core/job/attach_rounds.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/boot_id.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/version.h"

/* The upper byte is PL_WIRE_MARK. */
#define ROUNDS_MAGIC 0x32444e454c50ull

/* What a member gives in the third round. */
struct rounds_address {
    struct pl_attach_member member;
    struct pl_far_card card;
};

/* --- one round ---------------------------------------------------------------------------------------------------- */

static int rounds_fail_damaged(int rank)
{
    return pl_fail(MPI_ERR_ARG, "the exchange callback has damaged what rank %d told", rank);
}

static int rounds_check_member(const struct pl_attach_rounds *m, const struct pl_attach_member *member, int rank,
                               size_t bytes)
{
    uint64_t magic = le64toh(member->magic);
    unsigned numbers = (unsigned)(magic >> 62), version = magic >> 56 & 63;
    bool plenum = (magic & UINT64_MAX >> 8) == ROUNDS_MAGIC;
    if (plenum && numbers != PL_NUMBERS)
        return pl_fail(MPI_ERR_OTHER,
                       "rank %d of the pool stores numbers as %s does, and this process as %s does: all processes of a "
                       "pool must run on one kind of processor",
                       rank, pl_numbers_name(numbers), pl_numbers_name(PL_NUMBERS));
    if (plenum && version != PL_WIRE_VERSION)
        return pl_fail(MPI_ERR_OTHER,
                       "rank %d of the pool has another version of Plenum: its messages are of version %u, and those "
                       "of this library (%s) of version %u; all processes must load the same one",
                       rank, version, PL_VERSION, PL_WIRE_VERSION);
    if (!plenum || member->rank != rank || member->size != m->mine.size)
        return pl_fail(
            MPI_ERR_ARG,
            "element %d of the exchange callback's result does not come from rank %d of %d: the callback must "
            "gather %zu bytes of each process, in the order of ranks",
            rank, rank, m->mine.size, bytes);
    return MPI_SUCCESS;
}

/* What members give is `bytes` long and begins with a struct pl_attach_member. The user's code brings it, so it is
 * checked. */
static int rounds_round(const struct pl_attach_rounds *m, const void *mine, void *all, size_t bytes)
{
    int result = m->exchange(mine, all, (int)bytes, m->context);
    if (result != 0)
        return pl_fail(MPI_ERR_OTHER, "the exchange callback returned %d, not 0 for success", result);
    for (int i = 0; i < m->mine.size; i++) {
        int rc = rounds_check_member(m, (const void *)((const char *)all + (size_t)i * bytes), i, bytes);
        if (rc)
            return rc;
    }
    if (memcmp((const char *)all + (size_t)m->mine.rank * bytes, mine, sizeof m->mine) != 0)
        return rounds_fail_damaged(m->mine.rank);
    for (int i = 0; i < m->mine.size; i++) {
        int error = ((const struct pl_attach_member *)(const void *)((const char *)all + (size_t)i * bytes))->error;
        if (error)
            return i == m->mine.rank ? error
                                     : pl_fail(MPI_ERR_OTHER, "rank %d of the pool cannot enter it: %s", i,
                                               pl_error_class_text(error));
    }
    return MPI_SUCCESS;
}

/* Space for all rounds: a member that found none later could not take part, and the others would wait for it. */
static int rounds_first(struct pl_attach_rounds *m)
{
    m->all = pl_calloc((size_t)m->mine.size, sizeof *m->all);
    m->come = pl_calloc((size_t)m->mine.size, sizeof(struct rounds_address));
    if (!m->all || !m->come)
        return pl_fail_memory("the members of a pool");
    return rounds_round(m, &m->mine, m->all, sizeof m->mine);
}

/* What the members did after the first round depends on the machines that it told. */
static int rounds_check_machines(const struct pl_attach_rounds *m, const struct pl_attach_member *now)
{
    for (int i = 0; i < m->mine.size; i++)
        if (memcmp(now[i].machine, m->all[i].machine, sizeof now[i].machine) != 0)
            return rounds_fail_damaged(i);
    return MPI_SUCCESS;
}

static int rounds_second(struct pl_attach_rounds *m)
{
    int rc = rounds_round(m, &m->mine, m->come, sizeof m->mine);
    if (rc == MPI_SUCCESS)
        rc = rounds_check_machines(m, m->come);
    if (rc == MPI_SUCCESS)
        memcpy(m->all, m->come, (size_t)m->mine.size * sizeof *m->all);
    return rc;
}

/* --- machines ----------------------------------------------------------------------------------------------------- */

static int rounds_read_machine(char machine[44])
{
    if (!*pl_boot_id())
        return pl_fail(MPI_ERR_OTHER, "cannot tell this machine from others: /proc/sys/kernel/random/boot_id cannot be "
                                      "read");
    strcpy(machine, pl_boot_id());
    return MPI_SUCCESS;
}

static bool rounds_same_machine(const struct pl_attach_rounds *m, int a, int b)
{
    return memcmp(m->all[a].machine, m->all[b].machine, sizeof m->all[a].machine) == 0;
}

bool pl_rounds_is_far(const struct pl_attach_rounds *m)
{
    for (int i = 1; i < m->mine.size; i++)
        if (!rounds_same_machine(m, i, 0))
            return true;
    return false;
}

/* The lowest rank of this machine. */
static int rounds_head(const struct pl_attach_rounds *m)
{
    int head = 0;
    while (!rounds_same_machine(m, head, m->mine.rank))
        head++;
    return head;
}

static int rounds_create_far(const struct pl_attach_rounds *m, struct pl_seat *seat)
{
    bool *local = pl_malloc((size_t)m->mine.size * sizeof *local);
    if (!local)
        return pl_fail_memory("the ranks of a pool");
    for (int i = 0; i < m->mine.size; i++)
        local[i] = rounds_same_machine(m, i, m->mine.rank);
    seat->far = pl_far_create(local, m->mine.size);
    free(local);
    return seat->far ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* --- the rounds --------------------------------------------------------------------------------------------------- */

static int rounds_begin(struct pl_attach_rounds *m, int rank, int size, struct pl_seat *seat)
{
    m->mine = (struct pl_attach_member){
        .magic = htole64(ROUNDS_MAGIC | (uint64_t)PL_WIRE_MARK << 56), .rank = rank, .size = size, .pid = getpid()
    };
    int rc = rounds_read_machine(m->mine.machine);
    if (rc == MPI_SUCCESS && getrandom(&m->mine.cookie, sizeof m->mine.cookie, 0) != sizeof m->mine.cookie)
        rc = pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a pool");
    if (rc == MPI_SUCCESS && rank == 0)
        rc = pl_seat_make(size, m->mine.cookie, seat);
    m->mine.fd = seat->fd;
    m->mine.error = rc;
    return rounds_first(m);
}

static int rounds_enter(const struct pl_attach_rounds *m, struct pl_seat *seat)
{
    int head = rounds_head(m), rc = MPI_SUCCESS;
    if (head != m->mine.rank)
        rc = pl_seat_open(m->all[head].pid, m->all[head].fd, m->mine.size, m->all[0].cookie, seat);
    return rc ? rc : pl_seat_claim(seat, m->mine.rank);
}

static int rounds_second_far(struct pl_attach_rounds *m, struct pl_seat *seat)
{
    if (m->mine.rank != 0 && rounds_head(m) == m->mine.rank)
        m->mine.error = pl_seat_make(m->mine.size, m->all[0].cookie, seat);
    m->mine.fd = seat->fd;
    int rc = rounds_second(m);
    if (rc)
        return rc;
    m->entered = rounds_enter(m, seat);
    if (m->entered == MPI_SUCCESS)
        m->entered = rounds_create_far(m, seat);
    return MPI_SUCCESS;
}

int pl_rounds_hold(struct pl_attach_rounds *m, int rank, int size, struct pl_seat *seat)
{
    int rc = rounds_begin(m, rank, size, seat);
    if (rc)
        return rc;
    if (pl_rounds_is_far(m))
        return rounds_second_far(m, seat);
    m->mine.error = rounds_enter(m, seat);
    return rounds_second(m);
}

static int rounds_take_cards(const struct pl_attach_rounds *m, const struct rounds_address *all, struct pl_far *far)
{
    struct pl_far_card *cards = pl_calloc((size_t)m->mine.size, sizeof *cards);
    if (!cards)
        return pl_fail_memory("the addresses of a pool");
    for (int i = 0; i < m->mine.size; i++) {
        cards[i] = all[i].card;
        if (cards[i].length <= PL_CARD_MAX)
            continue;
        free(cards);
        return pl_fail(MPI_ERR_ARG, "the exchange callback has damaged the address of rank %d", i);
    }
    pl_far_set_cards(far, cards);
    return MPI_SUCCESS;
}

int pl_rounds_tell(struct pl_attach_rounds *m, int result, const void *card, size_t length, struct pl_far *far)
{
    struct rounds_address mine = { .member = m->mine };
    mine.member.error = result;
    if (result == MPI_SUCCESS) {
        mine.card.length = (uint32_t)length;
        memcpy(mine.card.data, card, length);
    }
    int rc = rounds_round(m, &mine, m->come, sizeof mine);
    return rc ? rc : rounds_take_cards(m, m->come, far);
}

void pl_rounds_end(struct pl_attach_rounds *m)
{
    free(m->all);
    free(m->come);
    m->all = NULL;
    m->come = NULL;
}
