/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does not depend on the language of the program, which setlocale() chooses: in Turkish, "I" is not the capital of
 * "i", and words in another case are not recognized.
 */
#ifndef PLENUM_CORE_BASE_PLAIN_LOCALE_H
#define PLENUM_CORE_BASE_PLAIN_LOCALE_H

#include <locale.h>
#include <stdbool.h>

/* The calling thread in the locale "C", between enter and leave: other libraries read their settings then. */
struct pl_plain_locale {
    locale_t plain, before;
};

/* Without memory for the locale the thread keeps its own. */
static inline struct pl_plain_locale pl_plain_locale_enter(void)
{
    struct pl_plain_locale scope = { .plain = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
    if (scope.plain)
        scope.before = uselocale(scope.plain);
    return scope;
}

static inline void pl_plain_locale_leave(struct pl_plain_locale *scope)
{
    if (!scope->plain)
        return;
    uselocale(scope->before);
    freelocale(scope->plain);
}

static inline char pl_plain_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether two words of ASCII are the same when capitals count as small letters. */
static inline bool pl_plain_same(const char *a, const char *b)
{
    for (; pl_plain_lower(*a) == pl_plain_lower(*b); a++, b++)
        if (!*a)
            return true;
    return false;
}

#endif
