/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory allocation kinds: lists like "system,mpi:alloc_mem:win_allocate", of kinds with their restrictors. A buffer
 * may be any memory that the processor reads and writes: allocated by malloc() and the like, or by MPI.
 */
#include "core/object/alloc_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/object/info.h"

#define ALWAYS "mpi,system"

/* The next word of *at, where words are separated by `separator`, and its length without surrounding blanks. */
static const char *next_word(const char **at, char separator, size_t *length)
{
    const char *word = *at, *end = strchr(word, separator);
    *at = end ? end + 1 : word + strlen(word);
    *length = (size_t)((end ? end : *at) - word);
    while (*length > 0 && *word == ' ')
        word++, --*length;
    while (*length > 0 && word[*length - 1] == ' ')
        --*length;
    return word;
}

static bool alloc_kinds_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Is this kind, with its restrictors, supported? */
static bool alloc_kinds_known(const char *kind, size_t length)
{
    const char *colon = memchr(kind, ':', length);
    size_t name = colon ? (size_t)(colon - kind) : length;
    if (!alloc_kinds_is(kind, name, "mpi"))
        return alloc_kinds_is(kind, length, "system");
    while (colon) {
        const char *word = colon + 1, *end = kind + length;
        colon = memchr(word, ':', (size_t)(end - word));
        size_t size = (size_t)((colon ? colon : end) - word);
        if (!alloc_kinds_is(word, size, "alloc_mem") && !alloc_kinds_is(word, size, "win_allocate") &&
            !alloc_kinds_is(word, size, "win_allocate_shared"))
            return false;
    }
    return true;
}

static bool alloc_kinds_listed(const char *kind, size_t length, const char *list)
{
    while (*list) {
        size_t size;
        const char *word = next_word(&list, ',', &size);
        bool same = size == length && memcmp(word, kind, length) == 0;
        bool wider = size < length && kind[size] == ':' && memcmp(word, kind, size) == 0;
        if (size > 0 && (same || wider))
            return true;
    }
    return false;
}

bool pl_alloc_kinds_within(const char *part, const char *whole)
{
    while (*part) {
        size_t length;
        const char *kind = next_word(&part, ',', &length);
        if (length > 0 && !alloc_kinds_listed(kind, length, whole))
            return false;
    }
    return true;
}

int pl_alloc_kinds_grant(struct pl_info *info, const char *wanted)
{
    char *list = pl_malloc(sizeof ALWAYS + (wanted ? strlen(wanted) : 0) + 1);
    if (!list)
        return pl_fail_memory("the memory allocation kinds");
    size_t used = sizeof ALWAYS - 1;
    memcpy(list, ALWAYS, sizeof ALWAYS);
    while (wanted && *wanted) {
        size_t length;
        const char *kind = next_word(&wanted, ',', &length);
        bool plain = alloc_kinds_is(kind, length, "mpi") || alloc_kinds_is(kind, length, "system");
        if (length == 0 || plain || !alloc_kinds_known(kind, length) || used + length + 1 >= MPI_MAX_INFO_VAL)
            continue;
        list[used++] = ',';
        memcpy(list + used, kind, length);
        list[used += length] = '\0';
    }
    int rc = pl_info_set(info, PL_ALLOC_KINDS_KEY, list);
    free(list);
    return rc;
}

int pl_alloc_kinds_use(struct pl_info *granted, struct pl_info *asked, struct pl_info *used)
{
    char *kinds, *asserted = NULL;
    int rc = pl_info_get(granted, PL_ALLOC_KINDS_KEY, &kinds);
    rc = rc ? rc : pl_info_get(asked, PL_ALLOC_KINDS_ASSERT_KEY, &asserted);
    if (rc == MPI_SUCCESS && !asserted) /* the session's assertion holds for its objects */
        rc = pl_info_get(granted, PL_ALLOC_KINDS_ASSERT_KEY, &asserted);
    if (rc) {
        free(kinds);
        return rc;
    }
    if (kinds && asserted && pl_alloc_kinds_within(asserted, kinds)) {
        rc = pl_info_set(used, PL_ALLOC_KINDS_ASSERT_KEY, asserted);
        rc = rc ? rc : pl_info_set(used, PL_ALLOC_KINDS_KEY, asserted);
    } else if (kinds) {
        rc = pl_info_set(used, PL_ALLOC_KINDS_KEY, kinds);
    }
    free(kinds);
    free(asserted);
    return rc;
}
