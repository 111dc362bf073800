/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of job segments accepts a whole one, and refuses every kind of damage. And the cards in them. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/job/card.h"
#include "core/job/process.h"
#include "core/job/segment.h"
#include "plugins/inherited/job_map.h"
#include "unit.h"

enum { SIZE = 3, COOKIE = 0x1234 };

/* A segment with one process set of two ranges and one program, in exactly as many bytes as it needs, so that memory
 * checkers see a read beyond it. */
struct layout {
    struct pl_job_segment *job;
    size_t bytes;
    struct pl_job_pset *pset;
    uint32_t *ranges;
    struct pl_job_app *app;
    char *texts;
};

static struct layout whole;

static void make(void)
{
    static const char texts[] = "\0app://io\0ocean\0--days 30\0/tmp";
    size_t psets = sizeof(struct pl_job_segment);
    size_t ranges = psets + sizeof(struct pl_job_pset), apps = ranges + 4 * sizeof(uint32_t);
    size_t appnum = apps + sizeof(struct pl_job_app), told = appnum + SIZE * sizeof(int32_t);
    size_t text = told + SIZE * sizeof(struct pl_job_told);
    whole.bytes = text + sizeof texts;
    char *base = aligned_alloc(64, (whole.bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(base);
    memset(base, 0, whole.bytes);
    whole.job = (struct pl_job_segment *)base;
    *whole.job = (struct pl_job_segment){
        .magic = PL_JOB_MAGIC,
        .version = PL_JOB_VERSION,
        .size = SIZE,
        .cookie = COOKIE,
        .bytes = whole.bytes,
        .shared_bytes = (sizeof(struct pl_job_shared) + SIZE * sizeof(struct pl_job_rank) + 63) / 64 * 64,
        .tenant_bytes = (sizeof(struct pl_job_shared) + SIZE * sizeof(struct pl_job_rank) + 63) / 64 * 64,
        .tenants = 1,
        .told = (uint32_t)told,
        .psets = (uint32_t)psets,
        .pset_count = 1,
        .appnum = (uint32_t)appnum,
        .apps = (uint32_t)apps,
        .app_count = 1,
        .nspace = "job",
    };
    whole.pset = (struct pl_job_pset *)(base + psets);
    *whole.pset = (struct pl_job_pset){ (uint32_t)text + 1, (uint32_t)ranges, 2 };
    whole.ranges = (uint32_t *)(base + ranges);
    memcpy(whole.ranges, (uint32_t[]){ 0, 0, 2, 2 }, 16);
    whole.app = (struct pl_job_app *)(base + apps);
    *whole.app = (struct pl_job_app){ (uint32_t)text + 10, (uint32_t)text + 16, (uint32_t)text + 26, 0, SIZE };
    whole.texts = base + text;
    memcpy(whole.texts, texts, sizeof texts);
}

static const char *judge(void)
{
    return pl_job_segment_check(whole.job, whole.bytes, COOKIE, 1);
}

#define REFUSED(why) ck_assert_ptr_nonnull(strstr(judge() ? judge() : "(taken)", why))

START_TEST(whole_segment)
{
    make();
    ck_assert_ptr_null(judge());
    ck_assert_ptr_null(pl_job_segment_check(whole.job, whole.bytes, COOKIE, 0));
    ck_assert_ptr_null(pl_job_segment_check(whole.job, whole.bytes, COOKIE, SIZE - 1));
    whole.job->pset_count = 0;
    whole.app->command = whole.app->argv = whole.app->wdir = 0;
    ck_assert_ptr_null(judge());
}
END_TEST

START_TEST(identity)
{
    make();
    ck_assert_ptr_nonnull(pl_job_segment_check(whole.job, whole.bytes, COOKIE + 1, 1));
    ck_assert_ptr_nonnull(pl_job_segment_check(whole.job, whole.bytes, COOKIE, -1));
    ck_assert_ptr_nonnull(pl_job_segment_check(whole.job, whole.bytes, COOKIE, SIZE));
    whole.job->magic++;
    REFUSED("not a job segment");
    whole.job->magic--;
    whole.job->version++;
    REFUSED("version");
}
END_TEST

/* Truncated at every length: refused, and (under a memory checker) nothing behind the end is read. */
START_TEST(truncated)
{
    make();
    for (size_t bytes = 0; bytes < whole.bytes; bytes++) {
        char *copy = aligned_alloc(64, (bytes + 64) / 64 * 64);
        memcpy(copy, whole.job, bytes);
        ck_assert_ptr_nonnull(pl_job_segment_check((struct pl_job_segment *)copy, bytes, COOKIE, 1));
        if (bytes >= sizeof(struct pl_job_segment)) {
            ((struct pl_job_segment *)copy)->bytes = bytes;
            ck_assert_ptr_nonnull(pl_job_segment_check((struct pl_job_segment *)copy, bytes, COOKIE, 1));
        }
        free(copy);
    }
}
END_TEST

START_TEST(impossible_size)
{
    make();
    static const uint32_t sizes[] = { 0, SIZE + 1, 1u << 20, 1u << 25, UINT32_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        whole.job->size = sizes[i];
        ck_assert_ptr_nonnull(judge());
    }
}
END_TEST

/* Pages for fewer ranks than there are, far away, or between two lines; the same for the table of process sets. */
START_TEST(shared_part)
{
    make();
    const uint64_t values[] = { 64, whole.job->tenant_bytes / 64 * 64, 1ull << 40, UINT64_MAX - 63, 32 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        whole.job->records = values[i];
        REFUSED("record pages");
    }
    whole.job->records = 0;
    whole.job->table_capacity = 4096;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        whole.job->table = values[i];
        REFUSED("published process sets");
    }
    whole.job->shared_bytes += 1 << 20;
    whole.job->tenant_bytes += 1 << 20;
    whole.job->table = 64;
    ck_assert_ptr_null(judge());
    static const uint32_t capacities[] = { 0, 63, 65, UINT32_MAX - 63, 1 << 20 };
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        whole.job->table_capacity = capacities[i];
        REFUSED("published process sets");
    }
    whole.job->table = 0;
    whole.job->tenant_bytes = sizeof(struct pl_job_shared) / 64 * 64;
    REFUSED("too short for its ranks");
}
END_TEST

/* More tenants than there is room for, or parts that no machine could map. */
START_TEST(tenants)
{
    make();
    uint64_t part = whole.job->tenant_bytes;
    static const uint32_t numbers[] = { 0, 2, PL_JOB_TENANTS + 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        whole.job->tenants = numbers[i];
        REFUSED("too short for its tenants");
    }
    whole.job->tenants = PL_JOB_TENANTS;
    whole.job->shared_bytes = PL_JOB_TENANTS * part;
    ck_assert_ptr_null(judge());
    const uint64_t parts[] = { part + 1, part + 64, UINT64_MAX / 64 * 64 };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        whole.job->tenant_bytes = parts[i];
        REFUSED("too short for its tenants");
    }
}
END_TEST

START_TEST(name_without_end)
{
    make();
    memset(whole.job->nspace, 'x', sizeof whole.job->nspace);
    REFUSED("name");
    memset(whole.job->nspace, 0, sizeof whole.job->nspace);
    REFUSED("name");
}
END_TEST

/* Every offset and count, with values that lie outside, wrap around, or are not aligned. */
START_TEST(offsets)
{
    make();
    uint32_t *const fields[] = {
        &whole.job->psets,     &whole.job->pset_count, &whole.job->appnum,  &whole.job->apps,
        &whole.job->app_count, &whole.pset->name,      &whole.pset->ranges, &whole.pset->count,
        &whole.app->command,   &whole.app->argv,       &whole.app->wdir,    &whole.job->told,
    };
    const uint32_t values[] = { (uint32_t)whole.bytes, (uint32_t)whole.bytes + 4, UINT32_MAX, UINT32_MAX - 3,
                                1u << 31 };
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        uint32_t before = *fields[f];
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            *fields[f] = values[v];
            ck_assert_msg(judge() != NULL, "field %zu with %u was taken", f, values[v]);
        }
        *fields[f] = before;
    }
    whole.job->psets++;
    REFUSED("outside");
    whole.job->psets--;
    whole.pset->name = 0;
    REFUSED("name");
}
END_TEST

START_TEST(texts_without_end)
{
    make();
    whole.texts[30] = 'x';
    memset(whole.texts + 26, 'x', whole.bytes - (size_t)(whole.texts + 26 - (char *)whole.job));
    REFUSED("text");
    whole.app->wdir = 0;
    ck_assert_ptr_null(judge());
    whole.pset->name = (uint32_t)whole.bytes - 1;
    REFUSED("name of a process set");
}
END_TEST

START_TEST(members_outside)
{
    make();
    whole.ranges[3] = SIZE;
    REFUSED("members");
    whole.ranges[3] = 1;
    whole.ranges[2] = 2;
    REFUSED("members");
    whole.ranges[3] = 2;
    whole.app->first = SIZE + 1;
    REFUSED("ranks");
    whole.app->first = 1;
    REFUSED("ranks");
    whole.app->count = UINT32_MAX;
    REFUSED("ranks");
}
END_TEST

/* Random damage anywhere must never lead outside; the verdict does not matter. */
START_TEST(random_damage)
{
    make();
    char *keep = malloc(whole.bytes);
    memcpy(keep, whole.job, whole.bytes);
    srand(1);
    for (int i = 0; i < 20000; i++) {
        unsigned char *bytes = (unsigned char *)whole.job;
        for (int j = 0; j < 1 + i % 4; j++) {
            size_t at = (size_t)rand() % 2 ? (size_t)rand() % 64 : (size_t)rand() % whole.bytes;
            if (at >= 24 || at < 8) /* leave most of the identity, or nothing else is reached */
                bytes[at] = (unsigned char)rand();
        }
        whole.job->magic = PL_JOB_MAGIC;
        judge();
        memcpy(whole.job, keep, whole.bytes);
    }
    free(keep);
}
END_TEST

/* --- cards --------------------------------------------------------------------------------------------------- */

enum { CARDS = 20000 };

static struct pl_job_card card;
static _Atomic int cards_written;

/* One after the other, of many lengths, each full of its own number. */
static void *write_cards(void *unused)
{
    unsigned char data[PL_CARD_MAX];
    for (uint32_t n = 1; n <= CARDS; n++) {
        memset(data, (int)(n & 0xff), sizeof data);
        pl_job_card_write(&card, n, data, PL_CARD_MAX - n % 64);
        for (_Atomic uint32_t i = 0; i < n % 512; i++) /* it stays for a while */
            continue;
        if (n % 8 == 0)
            pl_job_card_withdraw(&card);
    }
    atomic_store(&cards_written, 1);
    return unused;
}

/* A reader gets a whole card or none while they change. */
START_TEST(cards_that_change)
{
    unsigned char data[PL_CARD_MAX];
    size_t length = 0;
    pthread_t writer;
    ck_assert_uint_eq(pl_job_card_read(&card, data, &length), 0);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_cards, NULL), 0);
    while (!atomic_load(&cards_written)) {
        uint32_t number = pl_job_card_read(&card, data, &length);
        if (number == 0)
            continue;
        UNIT_CHECK(length == PL_CARD_MAX - number % 64);
        for (size_t i = 0; i < length; i++)
            UNIT_CHECK(data[i] == (number & 0xff));
    }
    pthread_join(writer, NULL);
    ck_assert_uint_eq(pl_job_card_read(&card, data, &length), CARDS % 8 ? CARDS : 0);
    pl_job_card_write(&card, 5, "card", 5);
    ck_assert_uint_eq(pl_job_card_read(&card, data, &length), 5);
    ck_assert(length == 5 && memcmp(data, "card", 5) == 0);
    card.length = PL_CARD_MAX + 1;
    ck_assert_uint_eq(pl_job_card_read(&card, data, &length), 0);
}
END_TEST

/* However many programs a script has started, and cards they have written, the next card is there and has a number that
 * the one before it in its slot has not. */
START_TEST(many_cards)
{
    extern const struct pl_bootstrap_ops pl_bootstrap_inherited;
    static const uint32_t claims[] = { 1, 0xffff, 0x10000, PL_CARD_CLAIM, PL_CARD_CLAIM + 1, UINT32_MAX };
    static const uint32_t written[] = { 0, 0xfe, 0xfffe, 0x1fffe, 0xfffffffe };
    struct pl_job_segment description = { .hosts = 1 };
    static struct pl_job_rank rank;
    unsigned char data[PL_CARD_MAX];
    size_t length;
    pl_inherited = (struct pl_inherited){ .job = &description, .own = &rank };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        for (size_t k = 0; k < sizeof written / sizeof *written; k++)
            for (int slot = 0; slot < PL_CARD_SLOTS; slot++) {
                uint32_t before = 0;
                pl_inherited.generation = claims[i];
                atomic_store(&rank.cards, written[k]);
                for (int n = 0; n < 4; n++) {
                    ck_assert_int_eq(pl_bootstrap_inherited.publish((enum pl_card_slot)slot, "card", 5), MPI_SUCCESS);
                    uint32_t number = pl_job_card_read(&rank.card[slot], data, &length);
                    ck_assert_uint_ne(number, before);
                    if (slot == PL_CARD_WORLD)
                        ck_assert_uint_eq(number & PL_CARD_CLAIM, claims[i] & PL_CARD_CLAIM);
                    before = number;
                }
            }
    pl_inherited = (struct pl_inherited){ .job = NULL };
}
END_TEST

UNIT_MAIN("job", whole_segment, identity, truncated, impossible_size, name_without_end, shared_part, tenants, offsets,
          texts_without_end, members_outside, random_damage, cards_that_change, many_cards)
