/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that a test makes fail: those of the C library, of text streams, and of plugins. */
#include "unit.h"

#include <errno.h>

#include "core/base/memory_libc.h"
#include "core/base/memory_plugin.h"

static void no_failures(void)
{
    pl_memory_fail_at(0);
}

/* Does the next call, which is the next allocation, fail? */
#define FAILS(call) (errno = 0, pl_memory_fail_at(1), (call) && pl_memory_failed() && errno == ENOMEM)

START_TEST(copies)
{
    char *copy = pl_strndup("plenum", 3);
    UNIT_CHECK(copy && strcmp(copy, "ple") == 0);
    free(copy);
    copy = pl_memdup("a\0b", 3);
    UNIT_CHECK(copy && memcmp(copy, "a\0b", 3) == 0);
    free(copy);
    copy = pl_memdup(NULL, 0);
    UNIT_CHECK(copy);
    free(copy);
    copy = pl_aligned_alloc(4096, 100);
    UNIT_CHECK(copy && (uintptr_t)copy % 4096 == 0);
    free(copy);
    copy = pl_getcwd();
    UNIT_CHECK(copy && copy[0] == '/');
    free(copy);
    UNIT_CHECK(FAILS(!pl_strndup("plenum", 3)));
    UNIT_CHECK(FAILS(!pl_aligned_alloc(64, 64)));
    UNIT_CHECK(FAILS(!pl_getcwd()));
    pl_memory_fail_at(1);
    UNIT_CHECK(!pl_memdup("a", 1) && pl_memory_failed());
}
END_TEST

START_TEST(formatting)
{
    char *text;
    UNIT_CHECK(pl_asprintf(&text, "rank %d of %s", 3, "ocean") == 15 && strcmp(text, "rank 3 of ocean") == 0);
    free(text);
    text = (char *)"old";
    UNIT_CHECK(FAILS(pl_asprintf(&text, "%d", 1) == -1) && !text);
}
END_TEST

START_TEST(lines)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(unit_file("one\ntwo"), "r");
    ck_assert_ptr_nonnull(file);
    UNIT_CHECK(FAILS(pl_getline(&line, &capacity, file) == -1));
    pl_memory_fail_at(0);
    UNIT_CHECK(pl_getline(&line, &capacity, file) == 4 && strcmp(line, "one\n") == 0);
    UNIT_CHECK(pl_getdelim(&line, &capacity, '\0', file) == 3 && strcmp(line, "two") == 0);
    UNIT_CHECK(pl_getline(&line, &capacity, file) == -1);
    free(line);
    fclose(file);
}
END_TEST

/* --- text streams ------------------------------------------------------------------------------------------------- */

START_TEST(text_streams)
{
    char *text = (char *)"old";
    FILE *file = pl_text_open(&text);
    UNIT_CHECK(file && !text);
    UNIT_CHECK(fclose(file) == 0 && text && !text[0]);
    free(text);
    file = pl_text_open(&text);
    UNIT_CHECK(fprintf(file, "%d%c", 12, '\0') == 3 && fflush(file) == 0 && fputs("34", file) >= 0);
    UNIT_CHECK(fclose(file) == 0 && memcmp(text, "12\00034", 6) == 0);
    free(text);
}
END_TEST

static int write_much(FILE *file)
{
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%06d", i);
    return fclose(file);
}

START_TEST(long_texts_without_memory)
{
    bool failed = true;
    int failures = -1;
    for (int n = 1; failed; n++, failures++) {
        char *text;
        pl_memory_fail_at(n);
        FILE *file = pl_text_open(&text);
        int rc = file ? write_much(file) : EOF;
        failed = pl_memory_failed();
        UNIT_CHECK((rc == 0) == (text != NULL));
        UNIT_CHECK(text || failed);
        if (text)
            UNIT_CHECK(strlen(text) == 120000 && strcmp(text + 119994, "019999") == 0);
        free(text);
    }
    UNIT_CHECK(failures > 3);
}
END_TEST

/* --- plugins ------------------------------------------------------------------------------------------------------ */

static bool never(bool failed)
{
    (void)failed;
    return false;
}

/* The exports of a plugin, before and after the library has loaded it. */
START_TEST(plugins_ask_the_library)
{
    _Atomic(pl_memory_question *) exported = never;
    pl_memory_share(NULL);
    pl_memory_share(&exported);
    pl_memory_question *question = atomic_load(&exported);
    UNIT_CHECK(!question(false));
    pl_memory_fail_at(2);
    UNIT_CHECK(!question(false) && question(false) && !question(false));
    pl_memory_fail_at(2);
    free(pl_malloc(1));
    UNIT_CHECK(question(false) && pl_memory_failed());
    UNIT_CHECK(!question(true) && pl_memory_reserve(1));
    UNIT_CHECK(question(true) && !question(true) && !pl_memory_free_reserve());
}
END_TEST

/* The first failure of each takes the reserve, the next one finds none. */
START_TEST(reserves)
{
    void *memory = NULL;
    for (int i = 0; i < 4; i++) {
        for (int again = 0; again < 2; again++) {
            if (!again)
                UNIT_CHECK(pl_memory_reserve(4096));
            pl_memory_fail_at(1);
            switch (i) {
            case 0: memory = pl_malloc(8); break;
            case 1: memory = pl_calloc(1, 8); break;
            case 2: memory = pl_realloc(NULL, 8); break;
            default: memory = pl_strdup("plenum"); break;
            }
            UNIT_CHECK(pl_memory_failed() && (memory == NULL) == (again == 1));
            if (memory && i == 1)
                UNIT_CHECK(memcmp(memory, (char[8]){ 0 }, 8) == 0);
            if (memory && i == 3)
                UNIT_CHECK(strcmp(memory, "plenum") == 0);
            free(memory);
        }
    }
    pl_memory_fail_at(1);
    UNIT_CHECK(!pl_memory_reserve(4096) && !pl_memory_free_reserve());
}
END_TEST

UNIT_MAIN_WITH("memory", NULL, no_failures, copies, formatting, lines, text_streams, long_texts_without_memory,
               plugins_ask_the_library, reserves)
