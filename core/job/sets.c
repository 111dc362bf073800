/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer holds the number of bytes used (8), then the sets. A set is: bytes of the entry, a multiple of 8 (4);
 * number of ranges (4); version (8); the ranges; the name, NUL-terminated, with zeros up to the end of the entry.
 */
#include "core/job/sets.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"

enum {
    COPIES = 1000, /* of the table, to get one that did not change meanwhile */
    TRIES = 2000,  /* to change a set */
    AT_ONCE = 8,   /* of them without a pause */
    YIELDS = 1000, /* of them with a yield; then a millisecond of sleep each */
};

struct entry {
    uint32_t bytes, count;
    uint64_t version;
    uint32_t ranges[];
};

static const char out_of_memory[] = "out of memory for the process sets";
static const char damaged[] = "the job's table of process sets is damaged";

static _Atomic uint64_t *job_sets_buffer_of(const struct pl_job_table *table, uint64_t current)
{
    return (_Atomic uint64_t *)((char *)(table->memory + 1) + (current & 255) * table->capacity);
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

/* Copies the current buffer word by word, since it may be overwritten meanwhile; then the copy is discarded. Processes
 * that change sets without a pause make it give up. */
static const char *job_sets_copy(const struct pl_job_table *table, uint64_t **words, uint64_t *current)
{
    for (int tries = 0; tries < COPIES; tries++) {
        *current = atomic_load_explicit(&table->memory->current, memory_order_acquire);
        if ((*current & 255) >= PL_JOB_BUFFERS)
            return damaged;
        const _Atomic uint64_t *from = job_sets_buffer_of(table, *current);
        uint64_t used = atomic_load_explicit(from, memory_order_acquire);
        bool possible = used % 8 == 0 && used <= table->capacity - 8;
        size_t count = possible ? 1 + used / 8 : 1;
        *words = pl_malloc(count * 8);
        if (!*words)
            return out_of_memory;
        for (size_t i = 0; i < count; i++)
            (*words)[i] = atomic_load_explicit(&from[i], memory_order_acquire);
        (*words)[0] = used;
        bool whole = atomic_load_explicit(&table->memory->current, memory_order_acquire) == *current;
        if (whole && possible)
            return NULL;
        free(*words);
        if (whole)
            return damaged;
    }
    return "the job's process sets change too fast to be read";
}

/* NULL, or what is wrong with an entry at which `left` bytes are left. */
static const char *job_sets_check_entry(const struct entry *e, uint64_t left, uint32_t size)
{
    if (left < sizeof *e || e->bytes % 8 || e->bytes > left || e->bytes < sizeof *e)
        return damaged;
    if (e->count > (e->bytes - sizeof *e) / 8)
        return damaged;
    const char *name = (const char *)(e->ranges + 2 * (size_t)e->count);
    size_t space = e->bytes - sizeof *e - 8 * (size_t)e->count;
    if (space == 0 || !memchr(name, '\0', space) || pl_pset_name_check(name))
        return damaged;
    for (uint32_t i = 0; i < e->count; i++)
        if (e->ranges[2 * i] > e->ranges[2 * i + 1] || e->ranges[2 * i + 1] >= size)
            return damaged;
    return NULL;
}

const char *pl_job_sets_open(const struct pl_job_table *table, struct pl_job_sets *sets)
{
    uint64_t *words, current;
    *sets = (struct pl_job_sets){ .count = 0 };
    const char *wrong = job_sets_copy(table, &words, &current);
    if (wrong)
        return wrong;
    int most = (int)(words[0] / sizeof(struct entry)) + 1;
    sets->memory = words;
    sets->version = current >> 8;
    sets->set = pl_malloc((size_t)most * sizeof *sets->set);
    if (!sets->set)
        wrong = out_of_memory;
    const char *at = (const char *)(words + 1), *end = at + words[0];
    while (!wrong && at < end) {
        const struct entry *e = (const struct entry *)at;
        wrong = job_sets_check_entry(e, (uint64_t)(end - at), table->size);
        if (wrong)
            break;
        sets->set[sets->count++] = (struct pl_job_set){
            .name = (const char *)(e->ranges + 2 * (size_t)e->count),
            .version = e->version,
            .ranges = e->ranges,
            .count = e->count,
        };
        at += e->bytes;
    }
    if (wrong)
        pl_job_sets_close(sets);
    return wrong;
}

void pl_job_sets_close(struct pl_job_sets *sets)
{
    free(sets->set);
    free(sets->memory);
    *sets = (struct pl_job_sets){ .count = 0 };
}

const struct pl_job_set *pl_job_sets_find(const struct pl_job_sets *sets, const char *name)
{
    for (int i = 0; i < sets->count; i++)
        if (pl_pset_name_same(sets->set[i].name, name))
            return &sets->set[i];
    return NULL;
}

/* --- changing --------------------------------------------------------------------------------------------------- */

static bool job_sets_process_lives(pid_t pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

/* Takes a buffer that is neither current nor taken; -1: there is none now. */
static int job_sets_take_buffer(const struct pl_job_table *table)
{
    int32_t self = (int32_t)getpid();
    for (int i = 0; i < PL_JOB_BUFFERS; i++) {
        int32_t owner = atomic_load(&table->memory->owner[i]);
        if (owner != 0 && job_sets_process_lives(owner))
            continue;
        if ((atomic_load(&table->memory->current) & 255) == (unsigned)i ||
            !atomic_compare_exchange_strong(&table->memory->owner[i], &owner, self))
            continue;
        /* Its owner, and no other process, may have made it current before this one took it. */
        if ((atomic_load(&table->memory->current) & 255) != (unsigned)i)
            return i;
        atomic_store(&table->memory->owner[i], 0);
    }
    return -1;
}

static void job_sets_pause(int tries)
{
    if (tries < YIELDS)
        sched_yield();
    else
        pl_clock_sleep_ns(PL_NS_PER_MS);
}

/* The next table, in private memory. */
struct draft {
    uint64_t *words; /* [0] is the bytes used */
    size_t used;     /* bytes behind the first word */
};

static void job_sets_add_entry(struct draft *draft, const struct pl_job_set *set)
{
    struct entry *e = (struct entry *)((char *)(draft->words + 1) + draft->used);
    size_t ranges = 8 * (size_t)set->count, name = strlen(set->name) + 1;
    size_t bytes = (sizeof *e + ranges + name + 7) / 8 * 8;
    memset((char *)e + bytes - 8, 0, 8);
    e->bytes = (uint32_t)bytes;
    e->count = set->count;
    e->version = set->version;
    memcpy(e->ranges, set->ranges, ranges);
    memcpy((char *)e->ranges + ranges, set->name, name);
    draft->used += bytes;
}

static bool job_sets_is_unchanged(const struct pl_job_set *set, const uint32_t *ranges, uint32_t count)
{
    return set->count == count && memcmp(set->ranges, ranges, 8 * (size_t)count) == 0;
}

/* A draft with space for these sets and `more` bytes; false: out of memory. */
static bool job_sets_begin_draft(const struct pl_job_sets *sets, size_t more, struct draft *draft)
{
    size_t bytes = more;
    for (int i = 0; i < sets->count; i++)
        bytes += sizeof(struct entry) + 8 * (size_t)sets->set[i].count + strlen(sets->set[i].name) + 8;
    *draft = (struct draft){ .words = pl_malloc(8 + bytes) };
    return draft->words != NULL;
}

static const char *job_sets_end_draft(struct draft *draft, uint32_t capacity)
{
    draft->words[0] = draft->used;
    if (draft->used <= capacity - 8)
        return NULL;
    free(draft->words);
    return "the job's table of process sets is full; withdraw some, or give sets with shorter names and fewer ranges";
}

/* The next table: with `set` in place of the set of its name, or without it. */
static const char *job_sets_make_draft(const struct pl_job_sets *now, const struct pl_job_set *set, uint32_t capacity,
                                       struct draft *draft)
{
    if (!job_sets_begin_draft(now, sizeof(struct entry) + 8 * (size_t)set->count + strlen(set->name) + 8, draft))
        return out_of_memory;
    bool placed = !set->ranges;
    for (int i = 0; i < now->count; i++) {
        bool same = pl_pset_name_same(now->set[i].name, set->name);
        if (!same)
            job_sets_add_entry(draft, &now->set[i]);
        else if (set->ranges)
            job_sets_add_entry(draft, set);
        placed |= same;
    }
    if (!placed)
        job_sets_add_entry(draft, set);
    return job_sets_end_draft(draft, capacity);
}

/* A reader that reads one of these words in a formerly current buffer sees, by its release, that the buffer is current
 * no more. */
static void job_sets_write(const struct pl_job_table *table, int buffer, const struct draft *draft)
{
    _Atomic uint64_t *to = job_sets_buffer_of(table, (uint64_t)buffer);
    for (size_t i = 0; i < 1 + draft->used / 8; i++)
        atomic_store_explicit(&to[i], draft->words[i], memory_order_release);
}

/* Writes the draft into a buffer that this process has taken and makes it current, unless a set was changed since
 * `base`. */
static bool job_sets_commit(const struct pl_job_table *table, int buffer, const struct draft *draft, uint64_t base)
{
    job_sets_write(table, buffer, draft);
    uint64_t next = ((base >> 8) + 1) << 8 | (uint64_t)buffer;
    bool committed = atomic_compare_exchange_strong(&table->memory->current, &base, next);
    atomic_store(&table->memory->owner[buffer], 0);
    return committed;
}

enum outcome { DONE, AGAIN, WRONG };

static enum outcome job_sets_try_change(const struct pl_job_table *table, struct pl_job_set *set, uint64_t *version,
                                        const char **wrong)
{
    struct pl_job_sets now;
    struct draft draft;
    uint64_t base = atomic_load(&table->memory->current);
    *wrong = pl_job_sets_open(table, &now);
    if (*wrong)
        return WRONG;
    enum outcome outcome = AGAIN;
    const struct pl_job_set *old = pl_job_sets_find(&now, set->name);
    set->version = *version = now.version + 1;
    if (now.version != base >> 8) {
        outcome = AGAIN;
    } else if (!set->ranges && !old) {
        *wrong = "it is not published";
    } else if (old && set->ranges && job_sets_is_unchanged(old, set->ranges, set->count)) {
        *version = now.version;
        outcome = DONE;
    } else if ((*wrong = job_sets_make_draft(&now, set, table->capacity, &draft)) == NULL) {
        int buffer = job_sets_take_buffer(table);
        if (buffer >= 0 && job_sets_commit(table, buffer, &draft, base))
            outcome = DONE;
        free(draft.words);
    }
    pl_job_sets_close(&now);
    return *wrong ? WRONG : outcome;
}

const char *pl_job_sets_change(const struct pl_job_table *table, const char *name, const uint32_t *ranges,
                               uint32_t count, uint64_t *version)
{
    const char *wrong = NULL;
    struct pl_job_set set = { .name = name, .ranges = ranges, .count = count };
    for (int tries = 0; tries < TRIES; tries++) {
        enum outcome outcome = job_sets_try_change(table, &set, version, &wrong);
        if (outcome != AGAIN)
            return wrong;
        if (tries > AT_ONCE)
            job_sets_pause(tries);
    }
    return "too many processes publish process sets at the same time";
}

const char *pl_job_sets_replace(const struct pl_job_table *table, const struct pl_job_sets *sets)
{
    struct draft draft;
    if (!job_sets_begin_draft(sets, 0, &draft))
        return out_of_memory;
    for (int i = 0; i < sets->count; i++)
        job_sets_add_entry(&draft, &sets->set[i]);
    const char *wrong = job_sets_end_draft(&draft, table->capacity);
    if (wrong)
        return wrong;
    int buffer = (int)((atomic_load(&table->memory->current) + 1) % PL_JOB_BUFFERS);
    job_sets_write(table, buffer, &draft);
    atomic_store(&table->memory->current, sets->version << 8 | (uint64_t)buffer);
    free(draft.words);
    return NULL;
}
