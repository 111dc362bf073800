/* SPDX-License-Identifier: BSD-3-Clause */
/* See rules_file.h. Locking: the process's lock is held while the table is read and dropped; in between it is
 * constant. */
#include "core/coll/rules_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/coll/agree.h"
#include "core/coll/select.h"
#include "core/coll/traits.h"

enum { WHERE_SIZE = 128, FILE_RULES_MAX = 1000 };

static struct {
    struct pl_coll_rule *rules;
    int count;
} tables[PL_COLL_KINDS];
static uint32_t settings;

const struct pl_coll_rule *pl_coll_rules(enum pl_coll_kind kind, int *count)
{
    *count = tables[kind].count;
    return tables[kind].rules;
}

bool pl_coll_has_rules(enum pl_coll_kind kind)
{
    return tables[kind].count > 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* A whole number from 0 on; a string may end with K, M or G. */
static bool parse_bytes(const json_t *value, size_t *bytes)
{
    const char *text = json_string_value(value), *unit;
    char *end;
    long long number = json_integer_value(value);
    if (!text) {
        *bytes = (size_t)number;
        return json_is_integer(value) && number >= 0;
    }
    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || errno || *text < '0' || *text > '9')
        return false;
    static const char units[] = "KMG";
    if (*end && (unit = strchr(units, *end)) != NULL) {
        end++;
        if (__builtin_mul_overflow(number, 1LL << 10 * (unit - units + 1), &number))
            return false;
    }
    *bytes = (size_t)number;
    return *end == '\0';
}

static int fail_at(const struct pl_json *json, const char *where, const char *key, const char *what)
{
    char place[WHERE_SIZE];
    snprintf(place, sizeof place, "%s", where);
    pl_json_enter(place, sizeof place, key);
    return pl_json_fail(json, MPI_ERR_ARG, place, "%s", what);
}

static int fail_algorithm(const struct pl_json *json, const char *where, enum pl_coll_kind kind, const json_t *value)
{
    char what[256];
    snprintf(what, sizeof what, "must name an algorithm of %s", pl_coll_traits[kind].name);
    for (size_t i = 0; i < pl_config_count; i++)
        if (strcmp(pl_config_table[i].name, pl_coll_traits[kind].variable) ==
            0) /* its choices are "auto|first|second" */
            snprintf(what, sizeof what, "\"%.40s\" is not an algorithm of %s; there are %s",
                     json_is_string(value) ? json_string_value(value) : "?", pl_coll_traits[kind].name,
                     strchr(pl_config_table[i].choices, '|') + 1);
    return value ? fail_at(json, where, "algorithm", what)
                 : pl_json_fail(json, MPI_ERR_ARG, where, "the rule has no \"algorithm\"");
}

static int coll_table_read_rule(const struct pl_json *json, const char *where, enum pl_coll_kind kind,
                                const json_t *value, struct pl_coll_rule *rule)
{
    static const char *const allowed[] = { "ranks", "bytes", "algorithm", NULL };
    const json_t *ranks = json_object_get(value, "ranks"), *bytes = json_object_get(value, "bytes");
    const json_t *algorithm = json_object_get(value, "algorithm");
    *rule = (struct pl_coll_rule){ INT_MAX, SIZE_MAX, NULL };
    if (!json_is_object(value))
        return pl_json_fail(json, MPI_ERR_ARG, where, "a rule must be an object, {...}");
    int rc = pl_json_keys(json, where, value, allowed);
    if (rc)
        return rc;
    if (ranks && (!json_is_integer(ranks) || json_integer_value(ranks) < 1 || json_integer_value(ranks) > INT_MAX))
        return fail_at(json, where, "ranks",
                       "must be a whole number from 1 on: the largest number of ranks for which the rule applies");
    if (ranks)
        rule->ranks = (int)json_integer_value(ranks);
    if (bytes && !parse_bytes(bytes, &rule->bytes))
        return fail_at(json, where, "bytes",
                       "must be a whole number from 0 on, or a string that ends with K, M or G: the most bytes for "
                       "which the rule applies");
    if (json_is_string(algorithm))
        rule->algorithm = pl_coll_named(kind, json_string_value(algorithm));
    return rule->algorithm ? MPI_SUCCESS : fail_algorithm(json, where, kind, algorithm);
}

static int read_kind(const struct pl_json *json, enum pl_coll_kind kind, const json_t *rules)
{
    char where[WHERE_SIZE], index[24];
    size_t count = json_array_size(rules);
    if (!json_is_array(rules) || count == 0 || count > FILE_RULES_MAX)
        return pl_json_fail(json, MPI_ERR_ARG, pl_coll_traits[kind].name, "must be an array of 1 to %d rules, [...]",
                            FILE_RULES_MAX);
    tables[kind].rules = pl_calloc(count, sizeof *tables[kind].rules);
    if (!tables[kind].rules)
        return pl_fail_memory("the table of collectives");
    tables[kind].count = (int)count;
    int rc = MPI_SUCCESS;
    for (size_t i = 0; rc == MPI_SUCCESS && i < count; i++) {
        snprintf(where, sizeof where, "%s", pl_coll_traits[kind].name);
        snprintf(index, sizeof index, "%zu", i);
        pl_json_enter(where, sizeof where, index);
        rc = coll_table_read_rule(json, where, kind, json_array_get(rules, i), &tables[kind].rules[i]);
    }
    return rc;
}

static int coll_table_read_file(const char *path)
{
    const char *allowed[PL_COLL_KINDS + 1] = { NULL };
    struct pl_json json;
    for (int kind = 0; kind < PL_COLL_KINDS; kind++)
        allowed[kind] = pl_coll_traits[kind].name;
    int rc = pl_json_open(path, &json);
    if (rc)
        return rc;
    rc = pl_json_keys(&json, "", json.root, allowed);
    for (int kind = 0; rc == MPI_SUCCESS && kind < PL_COLL_KINDS; kind++)
        if (json_object_get(json.root, allowed[kind]))
            rc = read_kind(&json, (enum pl_coll_kind)kind, json_object_get(json.root, allowed[kind]));
    pl_json_close(&json);
    return rc;
}

/* --- the number that processes compare ---------------------------------------------------------------------------- */

/* The algorithm that is forced from outside. The number leaves out what a tool writes while the process runs: other
 * processes have their numbers by then, and the tool must write the same everywhere. */
static const struct pl_algorithm *forced_outside(enum pl_coll_kind kind)
{
    if (!pl_config_written())
        return pl_coll_forced(kind); /* known already */
    return pl_coll_named(kind, pl_config_given(pl_coll_traits[kind].variable));
}

static uint32_t number_of_settings(void)
{
    uint64_t sum = PL_HASH_BEGIN;
    bool area = pl_config_bool("coll_shm"), fast = area && !pl_coll_agreeing;
    sum = pl_hash_bytes(sum, &area, sizeof area);
    sum = pl_hash_bytes(sum, &pl_coll_agreeing, sizeof pl_coll_agreeing);
    for (int kind = 0; kind < PL_COLL_KINDS; kind++) {
        const struct pl_algorithm *forced = forced_outside((enum pl_coll_kind)kind);
        fast &= !forced && tables[kind].count == 0;
        sum = pl_hash_bytes(sum, &kind, sizeof kind);
        if (forced)
            sum = pl_hash_text(sum, forced->name);
        for (int i = 0; i < tables[kind].count; i++) {
            const struct pl_coll_rule *rule = &tables[kind].rules[i];
            sum = pl_hash_bytes(sum, &rule->ranks, sizeof rule->ranks);
            sum = pl_hash_bytes(sum, &rule->bytes, sizeof rule->bytes);
            sum = pl_hash_text(sum, rule->algorithm->name);
        }
    }
    uint32_t folded = (uint32_t)(sum ^ sum >> 32);
    return fast ? 0 : folded ? folded : 1;
}

uint32_t pl_coll_settings(void)
{
    return settings;
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

int pl_coll_rules_open(void)
{
    const char *path = pl_config_text("coll_table");
    pl_coll_rules_close();
    pl_coll_agreeing = pl_config_given_bool("strict"); /* what a tool writes is for this process alone */
    int rc = *path ? coll_table_read_file(path) : MPI_SUCCESS;
    if (rc)
        pl_coll_rules_close();
    else
        settings = number_of_settings();
    return rc;
}

void pl_coll_rules_close(void)
{
    for (int kind = 0; kind < PL_COLL_KINDS; kind++) {
        free(tables[kind].rules);
        tables[kind].rules = NULL;
        tables[kind].count = 0;
    }
    settings = 0;
}
