/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of words "key=value" with blanks between them, as the PMI-1 wire has them. */
#ifndef PLENUM_CORE_BASE_WORDS_H
#define PLENUM_CORE_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the value of the first word with this key. False: there is none, or it does not fit. */
bool pl_words_value(const char *line, const char *key, char *value, size_t size);

#endif
