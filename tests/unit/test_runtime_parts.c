/* SPDX-License-Identifier: BSD-3-Clause */
/* The small parts of the runtime: line buffers, environments, blobs, published names, finding programs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "world/runtime/event/lines.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/job/locate.h"
#include "world/runtime/keeper/sweep.h"
#include "world/runtime/pmix/published.h"
#include "world/runtime/runtime_error.h"
#include "world/runtime/vars.h"

/* --- lines ------------------------------------------------------------------------------------------------- */

static char *seen;
static size_t seen_length;
static int chunks, partials;

static void collect(void *arg, const char *held, size_t held_length, const char *fresh, size_t length, bool partial)
{
    ck_assert_ptr_null(arg);
    seen = realloc(seen, seen_length + held_length + length + 1);
    memcpy(seen + seen_length, held ? held : "", held_length);
    memcpy(seen + seen_length + held_length, fresh ? fresh : "", length);
    seen_length += held_length + length;
    seen[seen_length] = '\0';
    chunks++;
    partials += partial;
    if (!partial)
        ck_assert_int_eq(seen[seen_length - 1], '\n');
}

static void forget(void)
{
    free(seen);
    seen = NULL;
    seen_length = 0;
    chunks = partials = 0;
}

/* However a text is cut up, it comes out the same, and whole lines at a time. */
START_TEST(lines_any_cut)
{
    const char *text = "one\ntwo\n\nthree and more\nlast";
    for (size_t cut = 1; cut <= strlen(text); cut++) {
        struct pl_lines lines = { 0 };
        forget();
        for (size_t at = 0; at < strlen(text); at += cut) {
            size_t left = strlen(text) - at;
            pl_lines_feed(&lines, text + at, left < cut ? left : cut, collect, NULL);
        }
        ck_assert_int_eq(partials, 0);
        pl_lines_end(&lines, collect, NULL);
        ck_assert_str_eq(seen, text);
        ck_assert_int_eq(partials, 1);
    }
    forget();
}
END_TEST

START_TEST(lines_very_long)
{
    struct pl_lines lines = { 0 };
    enum { CHUNK = 65536, CHUNKS = 40 };
    char *chunk = malloc(CHUNK);
    memset(chunk, 'x', CHUNK);
    forget();
    for (int i = 0; i < CHUNKS; i++) {
        pl_lines_feed(&lines, chunk, CHUNK, collect, NULL);
        ck_assert_uint_le(lines.length, PL_LINE_MAX);
    }
    pl_lines_end(&lines, collect, NULL);
    ck_assert_uint_eq(seen_length, (size_t)CHUNK * CHUNKS);
    ck_assert_int_gt(partials, 1);
    free(chunk);
    forget();
}
END_TEST

START_TEST(lines_nothing)
{
    struct pl_lines lines = { 0 };
    forget();
    pl_lines_end(&lines, collect, NULL);
    ck_assert_int_eq(chunks, 0);
}
END_TEST

/* --- environments ------------------------------------------------------------------------------------------ */

START_TEST(vars_order)
{
    char *environment[] = { (char *)"A=1", (char *)"B=2=3", (char *)"junk", (char *)"A=4", NULL };
    struct pl_vars vars = { 0 }, changes = { 0 };
    ck_assert(pl_vars_import(&vars, environment));
    ck_assert_uint_eq(vars.count, 2);
    ck_assert_str_eq(pl_vars_get(&vars, "A"), "4");
    ck_assert_str_eq(pl_vars_get(&vars, "B"), "2=3");
    ck_assert(pl_vars_set(&changes, "A", NULL));
    ck_assert(pl_vars_set(&changes, "AB", ""));
    ck_assert(pl_vars_format(&changes, "C", "%d", 7));
    ck_assert(pl_vars_apply(&vars, &changes));
    ck_assert_ptr_null(pl_vars_get(&vars, "A"));
    ck_assert(pl_vars_has(&vars, "A"));
    ck_assert_str_eq(pl_vars_get(&vars, "AB"), "");
    ck_assert_str_eq(pl_vars_get(&vars, "C"), "7");
    ck_assert(!pl_vars_has(&vars, "D"));
    pl_vars_fini(&vars);
    pl_vars_fini(&changes);
}
END_TEST

/* --- blobs ------------------------------------------------------------------------------------------------- */

/* Of many variables each is found by an index, before and after one is removed, and when a name comes again. */
START_TEST(vars_many)
{
    enum { MANY = 10000 };
    char name[32], value[32];
    struct pl_vars vars = { 0 };
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "NAME_%d", i);
            ck_assert(pl_vars_format(&vars, name, "%d", i + round));
        }
    ck_assert_uint_eq(vars.count, MANY);
    ck_assert_uint_gt(vars.slots, 2 * vars.count);
    pl_vars_remove(&vars, "NAME_17");
    ck_assert(!pl_vars_has(&vars, "NAME_17") && pl_vars_has(&vars, "NAME_9999"));
    ck_assert(pl_vars_set(&vars, "LAST", NULL));
    ck_assert_uint_eq(vars.count, MANY);
    ck_assert_uint_gt(vars.slots, 2 * vars.count);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "NAME_%d", i);
        snprintf(value, sizeof value, "%d", i + 1);
        const char *got = pl_vars_get(&vars, name);
        ck_assert(i == 17 ? !got : got && strcmp(got, value) == 0);
    }
    ck_assert(pl_vars_has(&vars, "LAST") && !pl_vars_has(&vars, "NAME_") && !pl_vars_has(&vars, "NAME_10000"));
    pl_vars_fini(&vars);
}
END_TEST

START_TEST(blob_offsets)
{
    struct pl_blob b = { 0 };
    int error;
    char text[16] = "";
    pl_blob_add(&b, NULL, 100);
    uint32_t word = pl_blob_text(&b, "hello");
    uint32_t numbers = pl_blob_add(&b, (uint32_t[]){ 1, 2, 3 }, 12);
    uint32_t big = pl_blob_add(&b, NULL, 5000);
    ck_assert_uint_eq(numbers % 8, 0);
    ck_assert_uint_eq(big % 64, 0);
    ck_assert_str_eq(pl_blob_at(&b, word), "hello");
    ck_assert_uint_eq(((uint32_t *)pl_blob_at(&b, numbers))[2], 3);
    int fd = pl_blob_file(&b, "test", PL_BLOB_SEALS, &error);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, text, 6, word), 6);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_ne(ftruncate(fd, 0), 0);
    close(fd);
    b.failed = true;
    ck_assert_int_eq(pl_blob_file(&b, "test", PL_BLOB_SEALS, &error), -1);
    ck_assert_int_eq(error, PLENUM_ERR_MEMORY);
    ck_assert_uint_eq(pl_blob_text(&b, "more"), 0);
    ck_assert_ptr_null(pl_blob_at(&b, word));
    pl_blob_fini(&b);
}
END_TEST

/* --- published names --------------------------------------------------------------------------------------- */

static bool publish(struct pl_names *names, const char *nspace, uint32_t rank, enum pl_name_scope scope,
                    enum pl_name_life life, bool *duplicate)
{
    struct pl_name name = { .key = (char *)"key", .rank = rank, .scope = scope, .life = life, .value = strdup(nspace) };
    snprintf(name.nspace, sizeof name.nspace, "%s", nspace);
    return pl_names_publish(names, &name, duplicate);
}

START_TEST(names_scopes)
{
    struct pl_names names = { { &names.all, &names.all }, free };
    bool duplicate;
    ck_assert(publish(&names, "a", 0, PL_NAME_NSPACE, PL_NAME_JOB, &duplicate));
    ck_assert_ptr_null(pl_names_find(&names, "key", "b", 0));
    ck_assert_ptr_nonnull(pl_names_find(&names, "key", "a", 5));
    ck_assert(!publish(&names, "a", 1, PL_NAME_NSPACE, PL_NAME_JOB, &duplicate));
    ck_assert(duplicate);
    ck_assert(publish(&names, "b", 1, PL_NAME_NSPACE, PL_NAME_SERVER, &duplicate));
    ck_assert_str_eq(pl_names_find(&names, "key", "b", 0)->value, "b");
    ck_assert(publish(&names, "c", 3, PL_NAME_PROCESS, PL_NAME_JOB, &duplicate));
    ck_assert_ptr_null(pl_names_find(&names, "key", "c", 2));
    ck_assert_ptr_nonnull(pl_names_find(&names, "key", "c", 3));
    pl_names_end_job(&names, "a");
    pl_names_end_job(&names, "b");
    ck_assert_ptr_null(pl_names_find(&names, "key", "a", 0));
    ck_assert_ptr_nonnull(pl_names_find(&names, "key", "b", 0));
    ck_assert(publish(&names, "d", 0, PL_NAME_ALL, PL_NAME_JOB, &duplicate));
    ck_assert_str_eq(pl_names_find(&names, "key", "x", 0)->value, "d");
    pl_names_end_job(&names, NULL);
    ck_assert(pl_list_empty(&names.all));
}
END_TEST

/* --- finding programs -------------------------------------------------------------------------------------- */

static const char *base;

static void make_tree(void)
{
    char path[192];
    base = unit_directory();
    snprintf(path, sizeof path, "%s/run", base);
    close(open(path, O_CREAT | O_WRONLY, 0755));
    snprintf(path, sizeof path, "%s/data", base);
    close(open(path, O_CREAT | O_WRONLY, 0644));
    snprintf(path, sizeof path, "%s/sub", base);
    mkdir(path, 0755);
}

START_TEST(locate_programs)
{
    char *file, path[192];
    make_tree();
    snprintf(path, sizeof path, "/nonexistent::%s", base);
    ck_assert_int_eq(pl_locate_program("run", "/", NULL, path, &file), PLENUM_OK);
    ck_assert_ptr_nonnull(strstr(file, "/run"));
    free(file);
    ck_assert_int_eq(pl_locate_program("./run", base, NULL, NULL, &file), PLENUM_OK);
    free(file);
    ck_assert_int_eq(pl_locate_program("run", "/", base, "/bin", &file), PLENUM_OK);
    free(file);
    ck_assert_int_eq(pl_locate_program("sh", "/", NULL, NULL, &file), PLENUM_OK);
    free(file);
    ck_assert_int_eq(pl_locate_program("run", base, NULL, "/bin", &file), PLENUM_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(plenum_error(), "write ./run"));
    ck_assert_int_eq(pl_locate_program("data", "/", NULL, base, &file), PLENUM_ERR_NOT_EXECUTABLE);
    ck_assert_int_eq(pl_locate_program("./data", base, NULL, NULL, &file), PLENUM_ERR_NOT_EXECUTABLE);
    ck_assert_int_eq(pl_locate_program("./sub", base, NULL, NULL, &file), PLENUM_ERR_NOT_EXECUTABLE);
    ck_assert_ptr_nonnull(strstr(plenum_error(), "directory"));
    ck_assert_int_eq(pl_locate_program("./none", base, NULL, NULL, &file), PLENUM_ERR_NOT_FOUND);
}
END_TEST

START_TEST(locate_directories)
{
    char *directory, path[192];
    make_tree();
    ck_assert_int_eq(pl_locate_wdir(NULL, &directory), PLENUM_OK);
    ck_assert_int_eq(directory[0], '/');
    free(directory);
    ck_assert_int_eq(pl_locate_wdir(base, &directory), PLENUM_OK);
    free(directory);
    ck_assert_int_eq(pl_locate_wdir("/nonexistent", &directory), PLENUM_ERR_WDIR);
    snprintf(path, sizeof path, "%s/data", base);
    ck_assert_int_eq(pl_locate_wdir(path, &directory), PLENUM_ERR_WDIR);
    ck_assert_ptr_nonnull(strstr(plenum_error(), "Not a directory"));
}
END_TEST

/* --- finding the processes of a job ------------------------------------------------------------------------ */

/* The mark may lie anywhere in the environment, also across the chunks in which it is read. */
START_TEST(sweep_finds_mark)
{
    const uint64_t cookie = 0x00c0ffee12345678;
    for (int padding = 4050; padding < 4100; padding++) {
        int ready[2], hold[2];
        ck_assert_int_eq(pipe(ready) | pipe(hold), 0);
        pid_t child = fork();
        if (child == 0) {
            char *filler = malloc((size_t)padding + 3), text[64], *env[] = { filler, text, NULL };
            memset(filler, 'x', (size_t)padding + 2);
            memcpy(filler, "F=", 2);
            filler[padding + 2] = '\0';
            snprintf(text, sizeof text, "PLENUM_JOB=99:%016lx:0", (unsigned long)cookie);
            dup2(ready[1], 1);
            dup2(hold[0], 0);
            close(hold[1]);
            execle("/bin/sh", "sh", "-c", "echo; read x", NULL, env);
            _exit(1);
        }
        char byte;
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        ck_assert_msg(pl_sweep_belongs(child, cookie), "padding %d", padding);
        ck_assert(!pl_sweep_belongs(child, cookie + 1));
        close(hold[1]);
        close(hold[0]);
        close(ready[0]);
        close(ready[1]);
        waitpid(child, NULL, 0);
    }
    ck_assert(!pl_sweep_belongs(getpid(), cookie));
    ck_assert(!pl_sweep_belongs(0x7ffffff0, cookie));
}
END_TEST

/* --- events as JSON ---------------------------------------------------------------------------------------- */

/* What is UTF-8 stays as it is, beside each byte that is not. */
START_TEST(json_bytes)
{
#define NOT "\xef\xbf\xbd"
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },     /* of two bytes */
        { "\xc3\xbc\xff!", "\xc3\xbc" NOT "!" },            /* never in UTF-8 */
        { "\xe2\x82\xac\xe2\x82", "\xe2\x82\xac" NOT NOT }, /* of three, and cut */
        { "\xf0\x9f\x98\x80\x80", "\xf0\x9f\x98\x80" NOT }, /* of four, and one too many */
        { "\xc0\xaf\xe0\x9f\xbf", NOT NOT NOT NOT NOT },    /* in more bytes than it takes */
        { "\xed\xa0\x80x", NOT NOT NOT "x" },               /* half a pair */
        { "\xf4\x90\x80\x80\xf5", NOT NOT NOT NOT NOT },    /* more than there is */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plenum_event event = { .kind = PLENUM_EVENT_OUTPUT, .stream = 1, .text = cases[i].text };
        event.length = strlen(event.text);
        char *line = plenum_event_json(&event), expected[64];
        snprintf(expected, sizeof expected, "\"text\":\"%s\"", cases[i].expected);
        ck_assert_ptr_nonnull(line);
        ck_assert_msg(strstr(line, expected), "case %zu: %s", i, line);
        free(line);
    }
#undef NOT
}
END_TEST

UNIT_MAIN("runtime parts", lines_any_cut, lines_very_long, lines_nothing, vars_order, vars_many, blob_offsets,
          names_scopes, locate_programs, locate_directories, sweep_finds_mark, json_bytes)
