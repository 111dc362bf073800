/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing the hints of files. See hints.h. */
#include "core/file/hints.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/coll/collective.h"
#include "core/engine/instance.h"
#include "core/file/file.h"
#include "core/object/alloc_kinds.h"
#include "core/object/info.h"

static const char *const words[] = { "automatic", "enable", "disable", NULL }; /* enum pl_file_buffering */

enum { BUFFER = 1 << 20, BUFFER_LEAST = 4096, BUFFER_MOST = 1 << 30 };

/* One aggregator for each core that this process may use, since each is busy copying. */
void pl_file_hints_default(struct pl_file *file)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    file->hints = (struct pl_file_hints){
        .nodes = count < file->comm->size ? count : file->comm->size,
        .buffer = BUFFER,
    };
}

static void file_hints_read_number(struct pl_info *info, const char *key, long low, long high, long *number)
{
    char value[32], *end;
    size_t length;
    if (!pl_info_read(info, key, value, sizeof value, &length))
        return;
    errno = 0;
    long read = strtol(value, &end, 10);
    if (errno == 0 && end != value && *end == '\0' && read >= low)
        *number = read < high ? read : high;
}

static void file_hints_read_buffering(struct pl_info *info, const char *key, enum pl_file_buffering *buffering)
{
    char value[16];
    size_t length;
    if (!pl_info_read(info, key, value, sizeof value, &length))
        return;
    int which = pl_words_find(words, value);
    if (which >= 0)
        *buffering = (enum pl_file_buffering)which;
}

/* The standard's hint, which is for both directions. */
static void file_hints_read_both(struct pl_info *info, struct pl_file_hints *hints)
{
    char value[8];
    size_t length;
    if (!pl_info_read(info, "collective_buffering", value, sizeof value, &length))
        return;
    if (strcmp(value, "true") == 0)
        hints->reading = hints->writing = PL_FILE_ENABLE;
    else if (strcmp(value, "false") == 0)
        hints->reading = hints->writing = PL_FILE_DISABLE;
}

static int file_hints_keep_kinds(struct pl_file *file, struct pl_info *info)
{
    char *kinds;
    int rc = pl_info_get(info, PL_ALLOC_KINDS_ASSERT_KEY, &kinds);
    if (!kinds)
        return rc;
    struct pl_info *made = pl_info_create();
    rc = made ? pl_info_set(made, PL_ALLOC_KINDS_ASSERT_KEY, kinds) : MPI_ERR_NO_MEM;
    free(kinds);
    if (rc) {
        pl_object_release(made);
        return rc;
    }
    pl_object_release(file->info);
    file->info = made;
    return MPI_SUCCESS;
}

int pl_file_hints_set(struct pl_file *file, struct pl_info *info)
{
    struct pl_file_hints hints = file->hints;
    int kept = info ? file_hints_keep_kinds(file, info) : MPI_SUCCESS;
    if (info && file->comm->rank == 0) {
        long nodes = hints.nodes, buffer = (long)hints.buffer;
        file_hints_read_number(info, "cb_nodes", 1, file->comm->size, &nodes);
        file_hints_read_number(info, "cb_buffer_size", BUFFER_LEAST, BUFFER_MOST, &buffer);
        hints.nodes = (int)nodes;
        hints.buffer = buffer;
        file_hints_read_both(info, &hints);
        file_hints_read_buffering(info, "romio_cb_read", &hints.reading);
        file_hints_read_buffering(info, "romio_cb_write", &hints.writing);
    }
    int rc = pl_bcast(file->comm, &hints, sizeof hints, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS)
        file->hints = hints;
    return rc ? rc : kept;
}

static int file_hints_put_number(struct pl_info *info, const char *key, long long number)
{
    char value[32];
    snprintf(value, sizeof value, "%lld", number);
    return pl_info_set(info, key, value);
}

int pl_file_hints_get(struct pl_file *file, struct pl_info *used)
{
    int rc = pl_alloc_kinds_use(file->comm->instance->info, file->info, used);
    if (rc == MPI_SUCCESS)
        rc = file_hints_put_number(used, "cb_nodes", file->hints.nodes);
    if (rc == MPI_SUCCESS)
        rc = file_hints_put_number(used, "cb_buffer_size", file->hints.buffer);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(used, "romio_cb_read", words[file->hints.reading]);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(used, "romio_cb_write", words[file->hints.writing]);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(used, "romio_ds_read", "automatic");
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(used, "romio_ds_write", "disable");
    return rc;
}
