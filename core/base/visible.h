/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that a user, a file or a peer may have chosen, made fit for one line of a terminal or a log. */
#ifndef PLENUM_CORE_BASE_VISIBLE_H
#define PLENUM_CORE_BASE_VISIBLE_H

#include <stddef.h>

/* Bytes of the UTF-8 character that `text` [length] begins with; 0: it begins with none. */
size_t pl_utf8_length(const char *text, size_t length);

/*
 * Copies `text` to `out` [size], with a NUL. A text that does not fit is cut, and then ends with "..." if `size` is at
 * least 4. Characters that a terminal may obey, and bytes that are not UTF-8, are written as \xNN. Other UTF-8 is kept.
 * `text` and `out` must not overlap.
 */
void pl_visible(char *out, size_t size, const char *text);

/* Appends ": REASON" to `text`, which is in `size` bytes. A text that leaves too little room is cut, and then ends with
 * "..." before the reason. */
void pl_visible_add_reason(char *text, size_t size, const char *reason);

#endif
