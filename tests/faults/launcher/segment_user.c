/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launched process that uses its job segment as the MPI library does, for the launcher's tests.
 *
 *     check                 verifies the segment and prints what is in it
 *     leave STATE CODE      stores a state (1: initialized, 2: finalized) and exits
 *     abort CODE [OBJECT [MESSAGE]]  fills in the abort record and exits; the other ranks wait
 *     claim                 claims the abort record but never completes it, and exits with 5
 *     damage                overwrites the whole abort record with noise, and exits with 6
 * With RANK=n in the environment only rank n does so; the others wait to be ended.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/job/segment.h"

static const struct pl_job_segment *job;
static struct pl_job_shared *shared;
static int rank;

static void require(bool good, int code, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    exit(code);
}

static void attach(void)
{
    int fd;
    uint64_t cookie;
    struct stat st;
    const char *place = getenv(PL_JOB_ENV);
    require(place && sscanf(place, "%d:%16" SCNx64 ":%d", &fd, &cookie, &rank) == 3 && fstat(fd, &st) == 0, 90,
            "no job segment");
    job = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    require(job != MAP_FAILED, 91, "cannot map the job segment");
    const char *wrong = pl_job_segment_check(job, (size_t)st.st_size, cookie, rank);
    require(!wrong, 91, wrong);
    require(ftruncate(fd, 0) != 0 && ftruncate(job->shared_fd, 0) != 0, 92, "the job segment can be truncated");
    require(mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED &&
                pwrite(fd, "", 1, 0) != 1,
            93, "the description can be written");
    shared = mmap(NULL, job->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->shared_fd, 0);
    require(shared != MAP_FAILED && fstat(job->shared_fd, &st) == 0 && (uint64_t)st.st_size == job->shared_bytes, 94,
            "no shared part");
}

static const char *text(uint32_t offset)
{
    return offset ? (const char *)job + offset : "-";
}

static void show(void)
{
    const struct pl_job_pset *pset = (const void *)((const char *)job + job->psets);
    const struct pl_job_app *app = (const void *)((const char *)job + job->apps);
    const int32_t *appnum = (const void *)((const char *)job + job->appnum);
    printf("rank %d of %u, program %d, universe %u, slots %u\n", rank, job->size, appnum[rank], job->universe,
           job->slots);
    for (uint32_t i = 0; rank == 0 && i < job->app_count; i++)
        printf("program %u: %s | %s | %s | %u+%u\n", i, text(app[i].command), text(app[i].argv), text(app[i].wdir),
               app[i].first, app[i].count);
    for (uint32_t i = 0; rank == 0 && i < job->pset_count; i++) {
        const uint32_t *range = (const void *)((const char *)job + pset[i].ranges);
        printf("set %s:", text(pset[i].name));
        for (uint32_t r = 0; r < pset[i].count; r++)
            printf(" %u-%u", range[2 * r], range[2 * r + 1]);
        putchar('\n');
    }
}

static void leave_abort(int code, const char *object, const char *message)
{
    uint32_t free_ = 0;
    atomic_store(&shared->ranks[rank].state, PL_PROCESS_ABORTED);
    if (!atomic_compare_exchange_strong(&shared->abort.claimed, &free_, 1))
        pause();
    shared->abort.rank = rank;
    shared->abort.code = code;
    snprintf(shared->abort.object, sizeof shared->abort.object, "%s", object);
    snprintf(shared->abort.message, sizeof shared->abort.message, "%s", message);
    atomic_store_explicit(&shared->abort.set, 1, memory_order_release);
    _exit(code & 255);
}

int main(int argc, char *argv[])
{
    attach();
    const char *only = getenv("RANK"), *what = argc > 1 ? argv[1] : "check";
    if (only && atoi(only) != rank)
        for (;;)
            pause();
    if (strcmp(what, "leave") == 0 && argc > 3) {
        atomic_store(&shared->ranks[rank].state, (uint32_t)atoi(argv[2]));
        return atoi(argv[3]);
    }
    if (strcmp(what, "abort") == 0 && argc > 2)
        leave_abort(atoi(argv[2]), argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
    if (strcmp(what, "claim") == 0) {
        atomic_store(&shared->abort.claimed, 1);
        return 5;
    }
    if (strcmp(what, "damage") == 0) {
        memset(&shared->abort, 0x9b, sizeof shared->abort);
        return 6;
    }
    show();
    return 0;
}
