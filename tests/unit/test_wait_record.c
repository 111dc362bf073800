/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports from pages that hold anything: nothing is read outside of them, and every sentence ends. Symbols of
 * programs, of files that are not programs, and from a symbolizer that fails. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "unit.h"
#include "world/runtime/job.h"
#include "world/runtime/keeper/keeper_link.h"
#include "world/runtime/report/find.h"
#include "world/runtime/report/read.h"
#include "world/runtime/report/report_json.h"
#include "world/runtime/report/text.h"

enum { SIZE = 3 };

/* A job of three ranks that wait, whose pages the test fills in. */
static struct plenum_job job;
static struct pl_rank ranks[SIZE];
static struct pl_job_segment description;
static struct pl_job_shared *shared;

static struct pl_job_record *page(int rank)
{
    return pl_job_record(&description, shared, rank);
}

static void make(void)
{
    size_t pages = (sizeof *shared + SIZE * sizeof(struct pl_job_rank) + 4095) / 4096 * 4096;
    free(shared);
    shared = aligned_alloc(4096, pages + SIZE * PL_RECORD_BYTES);
    ck_assert_ptr_nonnull(shared);
    memset(shared, 0, pages + SIZE * PL_RECORD_BYTES);
    description = (struct pl_job_segment){ .size = SIZE, .records = pages, .report = 1, .tenants = 1 };
    job = (struct plenum_job){ .desc.size = SIZE, .segment = &description, .shared = shared, .ranks = ranks };
    for (int r = 0; r < SIZE; r++) {
        shared->ranks[r].owner = shared->ranks[r].process = getpid();
        page(r)->answered = 1;
    }
}

/* The report as text and as JSON, to be freed. */
static char *report(char **json)
{
    struct pl_report made;
    char *text = NULL;
    size_t size;
    ck_assert(pl_report_read(&job, &made) && pl_report_arrange(&made));
    pl_report_find(&made);
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    pl_report_write(&made, out);
    fclose(out);
    *json = pl_report_json(&made, 1);
    ck_assert_ptr_nonnull(*json);
    pl_report_fini(&made);
    return text;
}

static void put_wait(int rank, enum pl_item_what what, int awaited)
{
    struct pl_job_record *to = page(rank);
    to->item[to->items++] = (struct pl_job_item){
        .kind = PL_ITEM_WAIT,
        .what = what,
        .peer = awaited,
        .tag = 7,
        .awaited = { awaited },
        .awaited_count = 1,
        .range_count = 1,
        .range = { { 0, SIZE - 1 } },
        .object = "ocean",
        .session = "World",
        .waited = 1500000000,
    };
}

static void expect(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text);
}

START_TEST(chains)
{
    char *json;
    make();
    put_wait(0, PL_WHAT_RECV, 1);
    put_wait(1, PL_WHAT_RECV, 2);
    char *text = report(&json);
    expect(text, "likely: ranks 0-1 wait in MPI on ocean, ultimately for rank 2; rank 2 is not waiting in MPI\n");
    expect(json, "\"awaited\":[1]");
    free(text);
    free(json);
    put_wait(2, PL_WHAT_RECV, 1);
    text = report(&json);
    expect(text, "likely: ranks 1-2 wait for each other: rank 1 for rank 2 (MPI, tag 7 on ocean), rank 2 for rank 1 "
                 "(MPI, tag 7 on ocean)\n");
    expect(text, "for 1.5 s");
    free(text);
    free(json);
}
END_TEST

/* A wait for a nonblocking collective names the collective. */
START_TEST(waits_of_collectives)
{
    char *json;
    make();
    put_wait(0, PL_WHAT_COLLECTIVE, 1);
    put_wait(1, PL_WHAT_COLLECTIVE, 0);
    page(1)->item[page(1)->items - 1].tag = 8; /* it counts them otherwise */
    snprintf(page(1)->item[page(1)->items - 1].call, sizeof page(1)->item[0].call, "MPI_Ibarrier");
    char *text = report(&json);
    expect(text, "likely: ranks 0-1 wait for each other: rank 0 for rank 1 (MPI on ocean), rank 1 for rank 0 "
                 "(MPI on ocean, of MPI_Ibarrier)\n");
    free(text);
    free(json);
}
END_TEST

START_TEST(waits_for_itself)
{
    char *json;
    make();
    put_wait(1, PL_WHAT_RECV, 1);
    char *text = report(&json);
    expect(text, "likely: rank 1 waits for itself: rank 1 for rank 1 (MPI, tag 7 on ocean)\n");
    free(text);
    free(json);
}
END_TEST

/* In a collective all ranks that do not wait are named, each in its state. */
START_TEST(missing)
{
    char *json;
    make();
    put_wait(0, PL_WHAT_COLLECTIVE, 1);
    page(1)->answered = page(2)->answered = 0;
    ranks[2].ended = true;
    char *text = report(&json);
    expect(text, "likely: rank 0 waits in MPI on ocean; rank 1 is not waiting in MPI; rank 2 has ended\n");
    ranks[2].ended = false;
    free(text);
    text = (free(json), report(&json));
    expect(text, "; ranks 1-2 are not waiting in MPI\n");
    free(text);
    free(json);
}
END_TEST

static void scribble(struct pl_job_record *to, unsigned *seed)
{
    unsigned char *bytes = (unsigned char *)to;
    int how = rand_r(seed) % 3;
    for (size_t i = 0; i < sizeof *to; i++)
        if (how || rand_r(seed) % 64 == 0)
            bytes[i] = (unsigned char)(how == 2 ? 255 : rand_r(seed));
    to->answered = 1;
    for (int i = 0; i < PL_RECORD_ITEMS; i++) /* else few would be of a kind that is checked */
        to->item[i].kind = (uint32_t)rand_r(seed) % PL_ITEM_KINDS;
}

START_TEST(anything)
{
    unsigned seed = 1;
    for (int turn = 0; turn < 60; turn++) {
        char *json, *text;
        make();
        for (int r = 0; r < SIZE; r++)
            scribble(page(r), &seed);
        text = report(&json);
        for (const char *at = text; *at; at++)
            ck_assert(*at == '\n' || ((unsigned char)*at >= ' ' && *at != 127));
        free(text);
        free(json);

        struct pl_job_record *copy = pl_report_copy_page(page(0), SIZE);
        size_t size;
        FILE *out = open_memstream(&text, &size);
        copy->crashed = (uint32_t)rand_r(&seed);
        pl_report_write_crash(&job.symbols, copy, 0, out);
        fclose(out);
        json = pl_report_json_crash(&job.symbols, copy, 0);
        ck_assert_ptr_nonnull(json);
        free(json);
        free(text);
        free(copy);
        pl_symbols_rest(&job.symbols);
    }
    pl_symbols_fini(&job.symbols);
}
END_TEST

/* --- symbols ------------------------------------------------------------------------------------------------ */

/* Starts a keeper, which starts `program`; NULL: the symbolizer of this build. */
static void open_symbols(struct pl_symbols *symbols, const char *program)
{
    static char path[256];
    static struct pl_link link;
    char exe[200];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(length, 0);
    exe[length] = '\0';
    snprintf(path, sizeof path, "%s/../../lib/plenum/symbolizer", dirname(exe));
    *symbols = (struct pl_symbols){ .link = &link, .program = program ? program : path };
    ck_assert_int_eq(pl_link_open(&link), PLENUM_OK);
}

static void close_symbols(struct pl_symbols *symbols)
{
    pl_symbols_fini(symbols);
    pl_link_close(symbols->link);
}

static int known_function(int n)
{
    return n > 0 ? n * known_function(n - 1) : 1;
}

/* Where known_function() is: its file, and its address there. */
static uint64_t find_known(char file[200])
{
    Dl_info info;
    struct link_map *map;
    ssize_t length = readlink("/proc/self/exe", file, 199);
    ck_assert_int_gt(length, 0);
    file[length] = '\0';
    ck_assert_int_eq(known_function(3), 6);
    ck_assert(dladdr1(__extension__(void *) known_function, &info, (void **)&map, RTLD_DL_LINKMAP));
    return (uintptr_t)known_function - map->l_addr;
}

static void expect_known(struct pl_symbols *symbols, const char *file, uint64_t address)
{
    struct pl_symbol found = pl_symbols_find(symbols, file, address + 1, true);
    ck_assert(!symbols->missing);
    ck_assert_str_eq(found.function, "known_function");
    ck_assert_uint_eq(found.into, 1);
    ck_assert_str_eq(strrchr(found.source, '/'), "/test_wait_record.c");
    ck_assert_int_gt(found.line, 0);
}

static atomic_int children;

static void count_child(int signo)
{
    (void)signo;
    children++;
}

/* The embedding program does not hear of the symbolizer, whose end is that of the report. */
START_TEST(symbols_of_a_program)
{
    char file[200];
    struct pl_symbols symbols;
    uint64_t address = find_known(file);
    open_symbols(&symbols, NULL);
    signal(SIGCHLD, count_child);
    ck_assert_ptr_null(pl_symbols_find(&symbols, file, address + 1, false).source);
    expect_known(&symbols, file, address);
    ck_assert(symbols.running);
    pl_symbols_rest(&symbols);
    ck_assert(!symbols.running);
    expect_known(&symbols, file, address);
    ck_assert(!symbols.running);
    if (PL_THREAD_SANITIZER) { /* there the keeper is an ordinary child (keeper_link.c), and the only one */
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), 0);
        ck_assert_int_eq(children, 0);
        close_symbols(&symbols);
    } else {
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD);
        close_symbols(&symbols);
        ck_assert_int_eq(children, 0);
    }
}
END_TEST

START_TEST(symbols_of_no_program)
{
    struct pl_symbols symbols;
    static const char *const files[] = {
        "", "relative", "/", "/dev/zero", "/nowhere", "/etc/passwd", "/proc/self/maps", "/two\nlines"
    };
    open_symbols(&symbols, NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct pl_symbol found = pl_symbols_find(&symbols, files[i], 0x1000, true);
        ck_assert(!found.function && !found.source && !symbols.missing);
    }
    close_symbols(&symbols);
}
END_TEST

/* This program with its headers damaged, and with anything damaged. The symbolizer may end; then it starts anew. */
START_TEST(symbols_of_damaged_files)
{
    static unsigned char head[64];
    char name[192], command[512], file[200];
    struct pl_symbols symbols;
    uint64_t address = find_known(file);
    unsigned seed = 1;
    open_symbols(&symbols, NULL);
    snprintf(name, sizeof name, "%s/damaged", unit_directory());
    snprintf(command, sizeof command, "cp %s %s", file, name);
    ck_assert_int_eq(system(command), 0);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    ck_assert_int_eq(pread(fd, head, sizeof head, 0), sizeof head);
    for (size_t i = 0; i < sizeof head; i++) {
        unsigned char damaged = (unsigned char)~head[i];
        ck_assert_int_eq(pwrite(fd, &damaged, 1, (off_t)i), 1);
        pl_symbols_find(&symbols, name, address + 1, true);
        pl_symbols_fini(&symbols);
        ck_assert_int_eq(pwrite(fd, &head[i], 1, (off_t)i), 1);
    }
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 100; i++) {
            unsigned char damaged = (unsigned char)rand_r(&seed);
            ck_assert_int_eq(pwrite(fd, &damaged, 1, 64 + rand_r(&seed) % (size - 64)), 1);
        }
        pl_symbols_find(&symbols, name, address + 1, true);
        pl_symbols_fini(&symbols);
    }
    ck_assert_int_eq(ftruncate(fd, 5000), 0);
    ck_assert_ptr_null(pl_symbols_find(&symbols, name, address + 1, true).source);
    pl_symbols_rest(&symbols); /* the next report, with all its time */
    expect_known(&symbols, file, address);
    close_symbols(&symbols);
    close(fd);
}
END_TEST

/* Stands for a symbolizer. */
static const char *make_program(const char *text)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/program", unit_directory());
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "#!/bin/sh\n%s\n", text);
    ck_assert_int_eq(fchmod(fileno(out), 0700), 0);
    fclose(out);
    return path;
}

START_TEST(symbolizer_missing)
{
    static const char *const programs[] = { "/nowhere", "/bin/true", "/etc/passwd" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct pl_symbols symbols;
        open_symbols(&symbols, programs[i]);
        ck_assert_ptr_null(pl_symbols_find(&symbols, "/bin/true", 0x1000, true).function);
        ck_assert(symbols.missing);
        close_symbols(&symbols);
    }
}
END_TEST

/* A file at which it ends costs that file its names, and no other. */
START_TEST(symbolizer_ends)
{
    struct pl_symbols symbols;
    open_symbols(&symbols, make_program("echo ready; while read kind address path; do [ $path != /bad ] || exit; "
                                        "echo \"7 $kind\001$path\"; done"));
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_null(pl_symbols_find(&symbols, "/bad", 0x1000, true).function);
    struct pl_symbol found = pl_symbols_find(&symbols, "/good", 0x1000, true);
    ck_assert_str_eq(found.function, "name?/good");
    ck_assert_str_eq(found.source, "line?/good");
    ck_assert_int_eq(found.line, 7);
    ck_assert(!symbols.missing);
    close_symbols(&symbols);
}
END_TEST

START_TEST(symbolizer_hangs)
{
    struct pl_symbols symbols;
    open_symbols(&symbols, make_program("echo ready; exec sleep 1000"));
    int64_t start = pl_clock_ms();
    for (int i = 0; i < 10; i++) {
        char file[20];
        snprintf(file, sizeof file, "/file%d", i);
        ck_assert_ptr_null(pl_symbols_find(&symbols, file, 0x1000, true).function);
    }
    ck_assert_int_lt(pl_clock_ms() - start, 20000);
    close_symbols(&symbols);
}
END_TEST

UNIT_MAIN("report", chains, waits_of_collectives, waits_for_itself, missing, anything, symbols_of_a_program,
          symbols_of_no_program, symbols_of_damaged_files, symbolizer_missing, symbolizer_ends, symbolizer_hangs)
