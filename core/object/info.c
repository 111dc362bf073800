/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects. Locking: an info's lock protects its pairs; each pair is in one info. */
#include "core/object/info.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/table.h"

enum { MANY = 32 }; /* pairs that are found by hash */

struct pair {
    struct pl_list link;
    struct pl_table_node by_key;
    char *value;
    char key[];
};

/* --- pairs --------------------------------------------------------------------------------------------------- */

static struct pair *pair_create(const char *key, const char *value)
{
    struct pair *pair = pl_malloc(sizeof *pair + strlen(key) + 1);
    if (!pair)
        return NULL;
    pair->value = pl_strdup(value);
    if (!pair->value) {
        free(pair);
        return NULL;
    }
    strcpy(pair->key, key);
    pl_list_init(&pair->link);
    pl_table_node_init(&pair->by_key);
    return pair;
}

static void pair_free(struct pair *pair)
{
    if (!pair)
        return;
    free(pair->value);
    free(pair);
}

static uint64_t pair_hash(const char *key)
{
    return pl_hash_text(PL_HASH_BEGIN, key);
}

static struct pair *info_find_locked(struct pl_info *info, const char *key)
{
    if (info->by_key) {
        PL_TABLE_EACH_OF(pair, info->by_key, pair_hash(key), struct pair, by_key)
            if (strcmp(pair->key, key) == 0)
                return pair;
        return NULL;
    }
    PL_LIST_EACH(pair, &info->pairs, struct pair, link)
        if (strcmp(pair->key, key) == 0)
            return pair;
    return NULL;
}

static void info_append_locked(struct pl_info *info, struct pair *pair)
{
    pl_list_append(&info->pairs, &pair->link);
    info->count++;
    if (info->by_key)
        pl_table_insert(info->by_key, &pair->by_key, pair_hash(pair->key));
    else if (info->count > MANY && (info->by_key = pl_calloc(1, sizeof *info->by_key)) != NULL)
        PL_LIST_EACH(each, &info->pairs, struct pair, link)
            pl_table_insert(info->by_key, &each->by_key, pair_hash(each->key));
}

static void info_remove_locked(struct pl_info *info, struct pair *pair)
{
    pl_list_remove(&pair->link);
    info->count--;
    info->nth = NULL;
    if (info->by_key)
        pl_table_remove(info->by_key, &pair->by_key);
}

int pl_info_check_key(const char *key)
{
    if (!key)
        return pl_fail(MPI_ERR_INFO_KEY, "key is NULL");
    if (!*key)
        return pl_fail(MPI_ERR_INFO_KEY, "key is empty");
    if (strlen(key) >= MPI_MAX_INFO_KEY)
        return pl_fail(MPI_ERR_INFO_KEY, "key \"%.32s...\" has %zu characters; at most %d are allowed", key,
                       strlen(key), MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

static int check_value(const char *key, const char *value)
{
    if (!value)
        return pl_fail(MPI_ERR_INFO_VALUE, "the value of key \"%s\" is NULL", key);
    if (strlen(value) >= MPI_MAX_INFO_VAL)
        return pl_fail(MPI_ERR_INFO_VALUE, "the value of key \"%s\" has %zu characters; at most %d are allowed", key,
                       strlen(value), MPI_MAX_INFO_VAL - 1);
    return MPI_SUCCESS;
}

/* --- info objects -------------------------------------------------------------------------------------------- */

struct pl_info *pl_info_create(void)
{
    struct pl_info *info = pl_object_create(PL_INFO);
    if (!info)
        return NULL;
    pl_lock_init(&info->lock, PL_RANK_OBJECT, true);
    pl_list_init(&info->pairs);
    return info;
}

struct pl_info *pl_info_dup(struct pl_info *info)
{
    struct pl_info *copy = pl_info_create();
    if (!copy)
        return NULL;
    bool complete = true;
    pl_lock_take(&info->lock);
    PL_LIST_EACH(from, &info->pairs, struct pair, link) {
        struct pair *pair = pair_create(from->key, from->value);
        if (!pair) {
            complete = false;
            break;
        }
        info_append_locked(copy, pair);
    }
    pl_lock_drop(&info->lock);
    if (complete)
        return copy;
    pl_fail_memory("a copy of an info object");
    pl_handle_drop(copy);
    return NULL;
}

void pl_info_destroy(void *object)
{
    struct pl_info *info = object;
    if (info->by_key)
        pl_table_fini(info->by_key);
    free(info->by_key);
    for (struct pl_list *node; (node = pl_list_pop(&info->pairs));)
        pair_free(PL_CONTAINER(node, struct pair, link));
    pl_lock_fini(&info->lock);
}

/* A new key is a new pair; else the new value replaces the old one inside the pair. */
int pl_info_set(struct pl_info *info, const char *key, const char *value)
{
    int err = pl_info_check_key(key);
    if (err || (err = check_value(key, value)))
        return err;
    struct pair *made = pair_create(key, value);
    if (!made)
        return pl_fail_memory("an info value");
    pl_lock_take(&info->lock);
    struct pair *pair = info_find_locked(info, key);
    if (pair) {
        char *old = pair->value;
        pair->value = made->value;
        made->value = old;
    } else {
        info_append_locked(info, made);
        made = NULL;
    }
    pl_lock_drop(&info->lock);
    pair_free(made);
    return MPI_SUCCESS;
}

int pl_info_delete(struct pl_info *info, const char *key)
{
    int err = pl_info_check_key(key);
    if (err)
        return err;
    pl_lock_take(&info->lock);
    struct pair *pair = info_find_locked(info, key);
    if (pair)
        info_remove_locked(info, pair);
    pl_lock_drop(&info->lock);
    pair_free(pair);
    return pair ? MPI_SUCCESS : pl_fail(MPI_ERR_INFO_NOKEY, "info has no key \"%s\"", key);
}

int pl_info_get(struct pl_info *info, const char *key, char **value)
{
    *value = NULL;
    if (!info)
        return MPI_SUCCESS;
    pl_lock_take(&info->lock);
    struct pair *pair = info_find_locked(info, key);
    if (pair)
        *value = pl_strdup(pair->value);
    pl_lock_drop(&info->lock);
    return !pair || *value ? MPI_SUCCESS : pl_fail_memory("the value of an info key");
}

bool pl_info_read(struct pl_info *info, const char *key, char *value, size_t capacity, size_t *length)
{
    pl_lock_take(&info->lock);
    struct pair *pair = info_find_locked(info, key);
    if (pair) {
        *length = strlen(pair->value);
        if (capacity > 0)
            snprintf(value, capacity, "%s", pair->value);
    }
    pl_lock_drop(&info->lock);
    return pair != NULL;
}

/* strtod() depends on the locale's decimal point. */
static bool read_seconds(const char *text, long *milliseconds)
{
    enum { LONGEST = 1 << 30 }; /* seconds: 34 years */
    const char *at = text;
    long seconds = 0, part = 0, unit = 1000, rest = 0;
    for (; *at >= '0' && *at <= '9' && seconds <= LONGEST; at++)
        seconds = seconds * 10 + (*at - '0');
    if (at == text || seconds > LONGEST)
        return false;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            part += unit * (*at - '0');
            rest |= unit == 0 && *at != '0';
        }
    *milliseconds = seconds * 1000 + part + rest;
    return *at == '\0';
}

int pl_info_seconds(struct pl_info *info, const char *key, long *milliseconds)
{
    long read;
    char *text;
    int rc = pl_info_get(info, key, &text);
    if (!text)
        return rc;
    if (read_seconds(text, &read))
        *milliseconds = read;
    else
        rc = pl_fail(MPI_ERR_INFO_VALUE, "info key %s is \"%.60s\": it must be a number of seconds, 0 or more", key,
                     text);
    free(text);
    return rc;
}

bool pl_info_alignment(const char *value, size_t *alignment)
{
    char *end;
    *alignment = strtoul(value, &end, 10);
    return end != value && !*end && *alignment > 0 && *alignment <= 1ul << 30 && (*alignment & (*alignment - 1)) == 0;
}

int pl_info_count(struct pl_info *info)
{
    pl_lock_take(&info->lock);
    int count = info->count;
    pl_lock_drop(&info->lock);
    return count;
}

/* Programs ask for all of them in turn: the search goes on from the last one. */
bool pl_info_nth(struct pl_info *info, int n, char key[MPI_MAX_INFO_KEY])
{
    pl_lock_take(&info->lock);
    bool found = n >= 0 && n < info->count;
    if (found) {
        bool on = info->nth && info->nth_number <= n;
        struct pl_list *node = on ? info->nth : info->pairs.next;
        for (int at = on ? info->nth_number : 0; at < n; at++)
            node = node->next;
        info->nth = node;
        info->nth_number = n;
        strcpy(key, PL_CONTAINER(node, struct pair, link)->key); /* pl_info_check_key() has checked that it fits */
    }
    pl_lock_drop(&info->lock);
    return found;
}
