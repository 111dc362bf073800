/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports from pages that hold anything: nothing is read outside of them, and every sentence ends. Symbols of files
 * that are none. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "world/runtime/report/report.h"
#include "world/runtime/runtime.h"

enum { SIZE = 3 };

/* A job of three ranks that wait, whose pages the test fills in. */
static struct plenum_job job;
static struct pl_rank ranks[SIZE];
static struct pl_job_segment *segment;

static struct pl_job_record *page(int rank)
{
    return pl_job_record(segment, rank);
}

static void make(void)
{
    size_t pages = (sizeof *segment + SIZE * sizeof(struct pl_job_rank) + 4095) / 4096 * 4096;
    free(segment);
    segment = aligned_alloc(4096, pages + SIZE * PL_RECORD_BYTES);
    ck_assert_ptr_nonnull(segment);
    memset(segment, 0, pages + SIZE * PL_RECORD_BYTES);
    segment->size = SIZE;
    segment->records = pages;
    segment->report = 1;
    job = (struct plenum_job){ .size = SIZE, .segment = segment, .ranks = ranks };
    for (int r = 0; r < SIZE; r++) {
        segment->ranks[r].owner = getpid();
        page(r)->answered = 1;
    }
}

/* The report as text and as JSON, to be freed. */
static char *report(char **json)
{
    struct pl_report made;
    char *text = NULL;
    size_t size;
    ck_assert(pl_report_read(&job, &made));
    pl_report_find(&made);
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    pl_report_write(&made, out);
    fclose(out);
    *json = pl_report_json(&made);
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
    expect(text, "likely: ranks 0-1 wait in MPI on ocean, in the end for rank 2; rank 2 is not waiting in MPI\n");
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

/* In a collective all who do not wait are named, each as it is. */
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
    for (int i = 0; i < PL_RECORD_ITEMS; i++) /* else few would be of a kind that is looked at */
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

        struct pl_symbols symbols = { 0 };
        struct pl_job_record *copy = pl_report_copy_page(page(0), SIZE);
        size_t size;
        FILE *out = open_memstream(&text, &size);
        copy->crashed = (uint32_t)rand_r(&seed);
        pl_report_write_crash(&symbols, copy, 0, out);
        fclose(out);
        json = pl_report_json_crash(&symbols, copy, 0);
        ck_assert_ptr_nonnull(json);
        free(json);
        free(text);
        free(copy);
        pl_symbols_fini(&symbols);
    }
}
END_TEST

/* --- symbols ------------------------------------------------------------------------------------------------ */

START_TEST(symbols_of_no_program)
{
    struct pl_symbols symbols = { 0 };
    uint64_t into;
    static const char *const files[] = {
        "", "relative", "/", "/dev/zero", "/nowhere", "/etc/passwd", "/proc/self/maps"
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_ptr_null(pl_symbols_find(&symbols, files[i], 0x1000, &into));
    pl_symbols_fini(&symbols);
}
END_TEST

/* This program, whole and then with every part of its headers damaged. */
START_TEST(symbols_of_damaged_files)
{
    static unsigned char head[64];
    char name[192], command[512], self[200];
    struct pl_symbols symbols = { 0 };
    uint64_t into;
    snprintf(name, sizeof name, "%s/damaged", unit_directory());
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(length, 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "cp %s %s", self, name);
    ck_assert_int_eq(system(command), 0);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(pread(fd, head, sizeof head, 0), sizeof head);
    for (size_t i = 0; i < sizeof head; i++) {
        unsigned char damaged = (unsigned char)~head[i];
        ck_assert_int_eq(pwrite(fd, &damaged, 1, (off_t)i), 1);
        pl_symbols_find(&symbols, name, 0x1000, &into);
        pl_symbols_fini(&symbols);
        ck_assert_int_eq(pwrite(fd, &head[i], 1, (off_t)i), 1);
    }
    ck_assert_int_eq(ftruncate(fd, 5000), 0);
    ck_assert_ptr_null(pl_symbols_find(&symbols, name, 0x1000, &into));
    pl_symbols_fini(&symbols);
    close(fd);
}
END_TEST

UNIT_MAIN("report", chains, waits_for_itself, missing, anything, symbols_of_no_program, symbols_of_damaged_files)
