/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON for the fuzzers. An input that begins with '{' is the text itself. Any other is a stream of choices: they make a
 * text of the right form out of the words that the parser knows. */
#ifndef PLENUM_TESTS_FUZZ_JSON_H
#define PLENUM_TESTS_FUZZ_JSON_H

#include "fuzz.h"

enum { FUZZ_JSON_DEPTH = 6, FUZZ_JSON_MAX = 8192 };

struct fuzz_json {
    struct fuzz *from;
    const char *const *words; /* keys and values, NULL at the end */
    unsigned count;
    char *text;
    size_t length;
};

static inline void fuzz_json_put(struct fuzz_json *to, const char *text)
{
    size_t bytes = strlen(text);
    if (to->length + bytes < FUZZ_JSON_MAX) {
        memcpy(to->text + to->length, text, bytes + 1);
        to->length += bytes;
    }
}

static inline void fuzz_json_string(struct fuzz_json *to)
{
    static const char *const odd[] = { "", "\\u0000", "\\u001b[31m", "\\u00e9", "~/", "%s%n", "\\\"", "\\n", "x" };
    unsigned pick = fuzz_byte(to->from);
    fuzz_json_put(to, "\"");
    fuzz_json_put(to, pick < 224 && to->count ? to->words[pick % to->count] : odd[pick % (sizeof odd / sizeof *odd)]);
    if (pick % 16 == 15)
        for (unsigned n = fuzz_byte(to->from); n > 0; n--)
            fuzz_json_put(to, "long ");
    fuzz_json_put(to, "\"");
}

static inline void fuzz_json_value(struct fuzz_json *to, int depth)
{
    char number[64];
    unsigned kind = fuzz_byte(to->from), items;
    if (depth >= FUZZ_JSON_DEPTH)
        kind %= 5;
    switch (kind % 11) {
    case 0:
        snprintf(number, sizeof number, "%lld", (long long)fuzz_number(to->from));
        fuzz_json_put(to, number);
        break;
    case 1: fuzz_json_put(to, fuzz_byte(to->from) % 2 ? "true" : "false"); break;
    case 2: fuzz_json_put(to, fuzz_byte(to->from) % 2 ? "null" : "1e300"); break;
    case 3:
    case 4: fuzz_json_string(to); break;
    case 5:
    case 6:
    case 7:
        items = fuzz_byte(to->from) % 5;
        fuzz_json_put(to, "[");
        for (unsigned i = 0; i < items; i++) {
            fuzz_json_put(to, i ? "," : "");
            fuzz_json_value(to, depth + 1);
        }
        fuzz_json_put(to, "]");
        break;
    default:
        items = fuzz_byte(to->from) % 6;
        fuzz_json_put(to, "{");
        for (unsigned i = 0; i < items; i++) {
            fuzz_json_put(to, i ? ",\n" : "");
            fuzz_json_string(to);
            fuzz_json_put(to, ":");
            fuzz_json_value(to, depth + 1);
        }
        fuzz_json_put(to, "}");
    }
}

/* The text; borrowed until the next call. */
static inline const char *fuzz_json(struct fuzz *from, const char *const words[])
{
    static char text[FUZZ_JSON_MAX + 1];
    struct fuzz_json to = { .from = from, .words = words, .text = text };
    text[0] = '\0';
    while (words[to.count])
        to.count++;
    if (fuzz_left(from) > 0 && *from->at == '{') {
        size_t length = fuzz_left(from) < FUZZ_JSON_MAX ? fuzz_left(from) : FUZZ_JSON_MAX;
        memcpy(text, from->at, length);
        text[length] = '\0';
        return text;
    }
    unsigned items = fuzz_byte(from) % 6;
    fuzz_json_put(&to, "{");
    for (unsigned i = 0; i < items; i++) {
        fuzz_json_put(&to, i ? ",\n" : "");
        fuzz_json_string(&to);
        fuzz_json_put(&to, ":");
        fuzz_json_value(&to, 0);
    }
    fuzz_json_put(&to, "}");
    return text;
}

#endif
