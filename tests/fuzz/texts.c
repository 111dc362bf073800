/* SPDX-License-Identifier: BSD-3-Clause */
/* Short texts of programs: names of process sets, the info key "soft", names of files, chunks of output. */
#include "fuzz.h"

#include "api/plenum.h"
#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "mpi.h"
#include "world/runtime/event/lines.h"
#include "world/spawn.h"

#include <jansson.h>

FUZZ(NULL, "mpi://WORLD", "2:8:2,16", "app://a/b", "1:2147483647:2147483646", "-5:-1", "line\nline\n")

static void check_name(const char *name)
{
    char shown[40];
    pl_pset_name_show(name, shown, sizeof shown);
    FUZZ_CHECK(strlen(shown) < sizeof shown);
    for (const char *at = shown; *at; at++)
        FUZZ_CHECK(*at >= ' ' && *at != 127);
    if (!pl_pset_name_check(name))
        FUZZ_CHECK(pl_pset_name_same(name, name) && strlen(name) <= PL_PSET_NAME_MAX);
}

static void check_soft(const char *text)
{
    int number = -1, rc = pl_spawn_soft(text, 9, &number);
    if (rc == MPI_SUCCESS)
        FUZZ_CHECK(number >= 1 && number <= 9);
    else
        FUZZ_ONE_LINE(pl_error_detail(NULL));
}

static size_t emitted;

static void emit(void *arg, const char *held, size_t held_length, const char *fresh, size_t length, bool partial)
{
    (void)arg, (void)held, (void)fresh;
    FUZZ_CHECK(partial || (length > 0 ? fresh[length - 1] == '\n' : held[held_length - 1] == '\n'));
    emitted += held_length + length;
}

static void check_lines(struct fuzz from)
{
    struct pl_lines lines = { 0 };
    size_t fed = 0;
    emitted = 0;
    while (fuzz_left(&from) > 0) {
        size_t n = fuzz_byte(&from);
        n = n < fuzz_left(&from) ? n : fuzz_left(&from);
        if (n > 0)
            pl_lines_feed(&lines, (const char *)from.at, n, emit, NULL);
        fed += n;
        from.at += n;
    }
    pl_lines_end(&lines, emit, NULL);
    FUZZ_CHECK(emitted == fed);
}

static void check_event(const uint8_t *data, size_t size, const char *text)
{
    struct plenum_event event = { .kind = PLENUM_EVENT_OUTPUT, .rank = 1, .text = (const char *)data, .length = size };
    int kind = size > 0 ? data[0] % 16 : 0;
    event.kind = (enum plenum_event_kind)kind;
    event.text = size > 0 ? kind == PLENUM_EVENT_OUTPUT ? (const char *)data : text : NULL;
    event.length = kind == PLENUM_EVENT_OUTPUT ? size : strlen(text);
    event.object = kind == PLENUM_EVENT_ERROR ? text : NULL;
    event.code = (int)size;
    char *line = plenum_event_json(&event), words[64];
    json_t *value = line ? json_loads(line, JSON_ALLOW_NUL, NULL) : NULL;
    FUZZ_CHECK(value && !strchr(line, '\n'));
    json_decref(value);
    free(line);
    plenum_event_describe(&event, words, sizeof words);
    FUZZ_CHECK(strlen(words) < sizeof words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    char *text = fuzz_rest(&from);
    check_name(text);
    check_soft(text);
    check_lines(fuzz_begin(data, size));
    check_event(data, size, text);
    free(text);
    return 0;
}
