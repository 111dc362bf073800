/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/inherited/job_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/config.h"
#include "core/base/error.h"

struct pl_inherited pl_inherited;

static int inherited_bad(const char *text, const char *why)
{
    return pl_fail(MPI_ERR_OTHER, "%s=%s does not name this process's job: %s; unset it to start alone", PL_JOB_ENV,
                   text, why);
}

/* The bytes of a file; 0: an error, recorded. */
static uint64_t inherited_bytes_of(int fd, const char *text)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        return (uint64_t)st.st_size;
    inherited_bad(text, "the descriptor is not an open file (containers and other commands between mpiexec and the "
                        "program must pass on descriptors)");
    return 0;
}

/* NULL: an error, recorded. */
static void *inherited_map_file(int fd, int how, uint64_t from, size_t bytes, const char *text)
{
    void *at = mmap(NULL, bytes, how, MAP_SHARED, fd, (off_t)from);
    if (at != MAP_FAILED)
        return at;
    inherited_bad(text, strerror(errno));
    return NULL;
}

void pl_inherited_unmap(void)
{
    if (pl_inherited.shared && pl_inherited.shared != pl_inherited.common)
        munmap(pl_inherited.shared, pl_inherited.job->tenant_bytes);
    if (pl_inherited.common)
        munmap(pl_inherited.common, pl_inherited.job->tenant_bytes);
    if (pl_inherited.job)
        munmap((void *)pl_inherited.job, pl_inherited.job_bytes);
    pl_inherited.job = NULL;
    pl_inherited.common = pl_inherited.shared = NULL;
    free(pl_inherited.neighbours);
    pl_inherited.neighbours = NULL;
}

/* The descriptor may mean something else by now: the length must be the
 * stated one. */
struct pl_job_shared *pl_inherited_map_part(int tenant, const char *text)
{
    uint64_t bytes = inherited_bytes_of(pl_inherited.job->shared_fd, text);
    if (bytes && bytes != pl_inherited.job->shared_bytes)
        inherited_bad(text, "its shared part does not have the length that it states");
    if (bytes != pl_inherited.job->shared_bytes)
        return NULL;
    return inherited_map_file(pl_inherited.job->shared_fd, PROT_READ | PROT_WRITE,
                              (uint64_t)tenant * pl_inherited.job->tenant_bytes, pl_inherited.job->tenant_bytes, text);
}

int pl_inherited_map(int *rank)
{
    const char *text = secure_getenv(PL_JOB_ENV);
    if (!text)
        return PL_UNREACHABLE;
    int fd, end = 0;
    unsigned long long cookie;
    if (sscanf(text, "%d:%16llx:%d%n", &fd, &cookie, rank, &end) != 3 || text[end] != '\0')
        return inherited_bad(text, "it is not <descriptor>:<cookie>:<rank>");
    pl_inherited.job_bytes = inherited_bytes_of(fd, text);
    pl_inherited.job =
        pl_inherited.job_bytes ? inherited_map_file(fd, PROT_READ, 0, pl_inherited.job_bytes, text) : NULL;
    if (!pl_inherited.job)
        return MPI_ERR_OTHER;
    const char *why = pl_job_segment_check(pl_inherited.job, pl_inherited.job_bytes, cookie, *rank);
    if (!why && !pl_inherited.job->told)
        why = "it is the memory of a pool";
    if (why)
        inherited_bad(text, why);
    else
        pl_inherited.common = pl_inherited_map_part(0, text);
    if (pl_inherited.common)
        return MPI_SUCCESS;
    pl_inherited_unmap();
    return MPI_ERR_OTHER;
}
