/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking, comparing and showing names of process sets. See pset_name.h. */
#include "core/base/pset_name.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static char pset_name_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Bytes of the scheme; 0: the name does not begin with one. */
static size_t scheme_length(const char *name)
{
    size_t n = 0;
    if (!is_letter(name[0]))
        return 0;
    while (is_letter(name[n]) || is_digit(name[n]) || (name[n] && strchr("+-.", name[n])))
        n++;
    return strncmp(name + n, "://", 3) == 0 ? n : 0;
}

/* Length of the case-insensitive part. */
static size_t caseless_length(const char *name)
{
    size_t scheme = scheme_length(name);
    return scheme ? scheme + 3 + strcspn(name + scheme + 3, "/?#") : 0;
}

const char *pl_pset_name_check(const char *name)
{
    static const char others[] = "-._~:/?#[]@!$&'()*+,;=";
    size_t length = strnlen(name, PL_PSET_NAME_MAX + 1);
    if (length == 0)
        return "is empty; a process set is named by a URI such as app://ocean";
    if (length > PL_PSET_NAME_MAX)
        return "is longer than 1023 bytes";
    size_t scheme = scheme_length(name);
    if (!scheme)
        return "is not a URI with a scheme, such as app://ocean";
    if (!name[scheme + 3])
        return "has nothing after its scheme";
    for (const char *c = name + scheme + 3; *c; c++) {
        bool escape = *c == '%' && is_hex(c[1]) && is_hex(c[2]);
        if (!escape && !is_letter(*c) && !is_digit(*c) && !strchr(others, *c))
            return "has a character that a URI must not have; a space is written %20";
    }
    return NULL;
}

bool pl_pset_name_same(const char *a, const char *b)
{
    size_t caseless = caseless_length(a);
    if (caseless != caseless_length(b))
        return false;
    for (size_t i = 0; i < caseless; i++)
        if (pset_name_lower(a[i]) != pset_name_lower(b[i]))
            return false;
    return strcmp(a + caseless, b + caseless) == 0;
}

bool pl_pset_name_has_scheme(const char *name, const char *scheme)
{
    size_t length = scheme_length(name), i = 0;
    while (i < length && pset_name_lower(name[i]) == pset_name_lower(scheme[i]))
        i++;
    return length > 0 && i == length && scheme[i] == '\0';
}

const char *pl_pset_name_show(const char *name, char *shown, size_t size)
{
    size_t n = 0;
    for (; name[n] && n + 1 < size; n++)
        shown[n] = (unsigned char)name[n] < ' ' || (unsigned char)name[n] >= 127 ? '?' : name[n];
    shown[n] = '\0';
    if (name[n] && n >= 3)
        memcpy(shown + n - 3, "...", 3);
    return shown;
}
