/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the symbolizer: any words, addresses and paths. Each has one line as its answer. What libdw reads in a
 * damaged file is not tried here: for that the symbolizer is a process of its own. */
int symbolizer_main(void);
#define main symbolizer_main
#include "plugins/symbolizer/symbolizer.c"
#undef main

#include "fuzz.h"

enum { QUESTIONS_MAX = 8 };

static const char *const paths[] = { "/bin/true", "/bin/true", "/nonexistent", "/", "", "/dev/null", "/etc/passwd" };

FUZZ(NULL, "name 1234 /bin/true", "line 1234 /bin/true", "name ffffffffffffffffffff /", "line  0x /x",
     "names 1 /bin/true")

static void ask(const char *question)
{
    FILE *before = stdout;
    char *answer = NULL;
    size_t length;
    stdout = open_memstream(&answer, &length);
    symbolizer_answer(question);
    fclose(stdout);
    stdout = before;
    for (size_t i = 0; i < length; i++)
        FUZZ_CHECK((unsigned char)answer[i] >= ' ' && answer[i] != 127);
    FUZZ_CHECK(length < FUNCTION_MAX + 2 * SOURCE_MAX + 40);
    free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    char question[64];
    for (int i = 0; i < QUESTIONS_MAX && fuzz_left(&from) > 0; i++) {
        const char *path = paths[fuzz_byte(&from) % (sizeof paths / sizeof *paths)];
        uint64_t address = fuzz_byte(&from) % 2 ? fuzz_bits(&from, 2) : fuzz_number(&from);
        snprintf(question, sizeof question, "%s %llx %s", fuzz_byte(&from) % 2 ? "name" : "line",
                 (unsigned long long)address, path);
        fuzz_damage(&from, (unsigned char *)question, 1 + strcspn(question, "/")); /* no further paths */
        question[sizeof question - 1] = '\0';
        ask(question);
    }
    return 0;
}
