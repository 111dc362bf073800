/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy of error handlers is immutable and has a reference count: a thread that reads it keeps it while another
 * closes it. Locking: `lock` protects `current` and the count; `present` avoids the lock while there is no policy.
 */
#include "core/object/errhandler_policy.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/words.h"
#include "core/object/errhandler.h"

enum { STEPS_MAX = 8, WHERE_MAX = 128 };

struct step {
    bool own;              /* the handler that applies without a policy */
    struct pl_named named; /* else */
};

struct rule {
    const char *name;      /* a pattern, in the JSON text; NULL: any */
    const json_t *kinds;   /* a name or an array of names; NULL: any */
    const json_t *classes; /* likewise */
    int steps;
    struct step step[STEPS_MAX];
};

struct policy {
    int refs;
    int rules;
    struct pl_json json; /* the rules point into it */
    struct rule rule[];
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct policy *current;
static _Atomic bool present;

static const char *const kinds[] = { "communicator", "session", "window", "file", "none", NULL };

/* --- reading ------------------------------------------------------------------------------------------------- */

static bool is_kind(const char *word)
{
    return pl_words_find(kinds, word) >= 0;
}

static bool is_class(const char *word)
{
    return pl_error_class_from_name(word) != MPI_ERR_UNKNOWN || strcmp(word, "MPI_ERR_UNKNOWN") == 0;
}

static bool is_step(const char *word)
{
    return strcmp(word, "own") == 0 || pl_named_valid(word);
}

/* Checks that the value is a valid word, or a list of at least one. */
static int check_words(const struct pl_json *json, const char *where, const json_t *value, bool (*valid)(const char *),
                       const char *allowed)
{
    char place[WHERE_MAX], index[24];
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (count == 0)
        return pl_json_fail(json, MPI_ERR_ARG, where, "the list is empty");
    for (size_t i = 0; i < count; i++) {
        const json_t *word = json_is_array(value) ? json_array_get(value, i) : value;
        snprintf(place, sizeof place, "%s", where);
        snprintf(index, sizeof index, "%zu", i);
        if (json_is_array(value))
            pl_json_enter(place, sizeof place, index);
        if (!json_is_string(word))
            return pl_json_fail(json, MPI_ERR_ARG, place, "must be a text: %s", allowed);
        if (!valid(json_string_value(word)))
            return pl_json_fail(json, MPI_ERR_ARG, place, "\"%.60s\" is not %s", json_string_value(word), allowed);
    }
    return MPI_SUCCESS;
}

static int open_steps(const struct pl_json *json, const char *where, const json_t *value, struct rule *rule)
{
    char why[PL_DETAIL_MAX];
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (count > STEPS_MAX)
        return pl_json_fail(json, MPI_ERR_ARG, where, "%zu handlers, at most %d are possible", count, STEPS_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        struct step *step = &rule->step[i];
        step->own = strcmp(name, "own") == 0;
        int rc = step->own ? MPI_SUCCESS : pl_named_open(name, &step->named);
        if (rc) {
            strcpy(why, pl_error_detail(NULL));
            return pl_json_fail(json, rc, where, "%s", why);
        }
        rule->steps++;
    }
    return MPI_SUCCESS;
}

static int errhandler_policy_read_rule(const struct pl_json *json, const char *where, const json_t *value,
                                       struct rule *rule)
{
    static const char *const allowed[] = { "kind", "name", "class", "handler", NULL };
    const json_t *name = json_object_get(value, "name"), *handler = json_object_get(value, "handler");
    char place[4][WHERE_MAX];
    for (int i = 0; i < 4; i++) {
        snprintf(place[i], WHERE_MAX, "%s", where);
        pl_json_enter(place[i], WHERE_MAX, allowed[i]);
    }
    if (!json_is_object(value))
        return pl_json_fail(json, MPI_ERR_ARG, where, "a rule must be an object, {...}");
    int rc = pl_json_keys(json, where, value, allowed);
    rule->kinds = json_object_get(value, "kind");
    rule->classes = json_object_get(value, "class");
    rule->name = json_string_value(name);
    if (!rc && name && !rule->name)
        rc = pl_json_fail(json, MPI_ERR_ARG, place[1], "must be a text, a pattern of names of objects");
    if (!rc && !handler)
        rc = pl_json_fail(json, MPI_ERR_ARG, where, "the rule has no \"handler\"");
    if (!rc && rule->kinds)
        rc = check_words(json, place[0], rule->kinds, is_kind, "communicator, session, window, file or none");
    if (!rc && rule->classes)
        rc = check_words(json, place[2], rule->classes, is_class, "the name of an error class, as MPI_ERR_RANK");
    if (!rc)
        rc = check_words(json, place[3], handler, is_step, "a handler: own, " PL_NAMED_ALLOWED);
    return rc ? rc : open_steps(json, place[3], handler, rule);
}

static void errhandler_policy_destroy(struct policy *policy)
{
    for (int i = 0; i < policy->rules; i++)
        for (int s = 0; s < policy->rule[i].steps; s++)
            pl_named_close(&policy->rule[i].step[s].named);
    pl_json_close(&policy->json);
    free(policy);
}

/* `json` is stolen. */
static int errhandler_policy_build(struct pl_json *json, struct policy **made)
{
    static const char *const allowed[] = { "rules", NULL };
    char where[WHERE_MAX], index[24];
    const json_t *rules = json_object_get(json->root, "rules");
    int rc = pl_json_keys(json, "", json->root, allowed);
    if (!rc && !json_is_array(rules))
        rc = pl_json_fail(json, MPI_ERR_ARG, rules ? "rules" : "", "\"rules\" must be an array, [...]");
    struct policy *policy = rc ? NULL : pl_calloc(1, sizeof *policy + json_array_size(rules) * sizeof *policy->rule);
    if (!rc && !policy)
        rc = pl_fail_memory("the policy of error handlers");
    if (rc) {
        pl_json_close(json);
        return rc;
    }
    policy->refs = 1;
    policy->json = *json;
    for (size_t i = 0; !rc && i < json_array_size(rules); i++) {
        snprintf(where, sizeof where, "rules");
        snprintf(index, sizeof index, "%zu", i);
        pl_json_enter(where, sizeof where, index);
        policy->rules++;
        rc = errhandler_policy_read_rule(&policy->json, where, json_array_get(rules, i), &policy->rule[i]);
    }
    if (rc)
        errhandler_policy_destroy(policy);
    else
        *made = policy;
    return rc;
}

/* --- the current one ----------------------------------------------------------------------------------------- */

static struct policy *retain_current(void)
{
    if (!atomic_load_explicit(&present, memory_order_relaxed))
        return NULL;
    pl_lock_take(&lock);
    struct policy *policy = current;
    if (policy)
        policy->refs++;
    pl_lock_drop(&lock);
    return policy;
}

static void errhandler_policy_release(struct policy *policy)
{
    if (!policy)
        return;
    pl_lock_take(&lock);
    bool last = --policy->refs == 0;
    pl_lock_drop(&lock);
    if (last)
        errhandler_policy_destroy(policy);
}

static void errhandler_policy_replace(struct policy *policy)
{
    pl_lock_take(&lock);
    struct policy *old = current;
    current = policy;
    atomic_store(&present, policy != NULL);
    pl_lock_drop(&lock);
    errhandler_policy_release(old);
}

int pl_errhandler_policy_open(void)
{
    const char *path = pl_config_text("errhandlers");
    struct pl_json json;
    struct policy *policy = NULL;
    int rc = *path ? pl_json_open(path, &json) : MPI_SUCCESS;
    if (!rc && *path)
        rc = errhandler_policy_build(&json, &policy);
    errhandler_policy_replace(policy);
    return rc;
}

void pl_errhandler_policy_close(void)
{
    errhandler_policy_replace(NULL);
}

/* --- applying ------------------------------------------------------------------------------------------------ */

static bool has_word(const json_t *words, const char *word)
{
    if (!words)
        return true;
    if (json_is_string(words))
        return strcmp(json_string_value(words), word) == 0;
    for (size_t i = 0; i < json_array_size(words); i++)
        if (strcmp(json_string_value(json_array_get(words, i)), word) == 0)
            return true;
    return false;
}

static const struct rule *errhandler_policy_find(const struct policy *policy, const struct pl_raised *raised)
{
    char name[MPI_MAX_OBJECT_NAME];
    struct plenum_error_report error;
    pl_errhandler_describe(raised, name, &error);
    for (int i = 0; i < policy->rules; i++) {
        const struct rule *rule = &policy->rule[i];
        if (has_word(rule->kinds, error.kind) && has_word(rule->classes, error.class_name) &&
            (!rule->name || fnmatch(rule->name, name, 0) == 0))
            return rule;
    }
    return NULL;
}

bool pl_errhandler_policy_apply(const struct pl_raised *raised, struct pl_errhandler *own)
{
    struct policy *policy = retain_current();
    const struct rule *rule = policy ? errhandler_policy_find(policy, raised) : NULL;
    for (int i = 0; rule && i < rule->steps; i++) {
        if (rule->step[i].own)
            pl_errhandler_invoke(own, raised);
        else
            pl_errhandler_invoke_named(&rule->step[i].named, raised);
    }
    errhandler_policy_release(policy);
    return rule != NULL;
}
