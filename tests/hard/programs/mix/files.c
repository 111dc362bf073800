/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: explicit offsets, views, the shared pointer. Each rank knows the contents. */
#include "mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 2, BYTES = 1 << 18, RECORD = 40 };

static struct file {
    bool used;
    MPI_File file;
    MPI_Comm comm;
    int size, rank;
    int shared; /* the shared pointer */
    unsigned char bytes[BYTES];
} files[FILES];

static void file_open(struct file *f)
{
    struct comm *c = plan_comm(false);
    char name[256];
    f->used = true;
    f->comm = MPI_COMM_NULL;
    f->size = c->sizes[0];
    f->rank = c->rank;
    f->shared = 0;
    memset(f->bytes, 0, BYTES);
    if (c->comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_dup(c->comm, &f->comm));
    const char *directory = getenv("MIX_DIRECTORY");
    snprintf(name, sizeof name, "%s/mix-%d-%d", directory ? directory : "/tmp", (int)getpid(), mix.step);
    OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, f->comm));
    OK(MPI_File_open(c->comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &f->file));
    OK(MPI_File_set_size(f->file, BYTES));
}

static void file_close(struct file *f)
{
    f->used = false;
    if (f->comm == MPI_COMM_NULL)
        return;
    OK(MPI_File_close(&f->file));
    OK(MPI_Comm_free(&f->comm));
}

/* Enters bytes of data into the model. */
static void model_fill(struct file *f, int at, int bytes, uint64_t id)
{
    struct area area;
    area_make(&area, (size_t)bytes);
    area_fill(&area, 0, (size_t)bytes, id, 0, true, false);
    memcpy(f->bytes + at, area_at(&area, 0), (size_t)bytes);
    area_free(&area);
}

/* Memory of which `bytes` bytes are written, in a layout of this rank. */
static void source_make(struct area *area, struct layout *l, int bytes, uint64_t id)
{
    const struct base byte = { MPI_BYTE, 1 };
    layout_make(l, &byte, (size_t)bytes);
    area_make(area, l->span);
    layout_fill(l, area, (size_t)bytes, id, true, true);
}

/* Each rank writes a part of its own, at once. */
static void write_parts(struct file *f)
{
    int part = BYTES / f->size / 8 * 8, at[RANKS], bytes[RANKS];
    unsigned way = plan_below(4);
    uint64_t id = mix_hash(mix.plan);
    for (int r = 0; r < f->size; r++) {
        bytes[r] = (int)plan_length((size_t)part / 2 < 70000 ? (size_t)part / 2 : 70000);
        at[r] = r * part + (int)plan_below((unsigned)(part - bytes[r]));
        model_fill(f, at[r], bytes[r], id + (uint64_t)r);
    }
    if (f->comm == MPI_COMM_NULL)
        return;
    struct area area;
    struct layout l;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int count;
    source_make(&area, &l, bytes[f->rank], id + (uint64_t)f->rank);
    void *from = area_at(&area, 0);
    MPI_Offset offset = at[f->rank];
    if (way == 0)
        OK(MPI_File_write_at_all(f->file, offset, from, l.count, l.type, &status));
    else if (way == 1)
        OK(MPI_File_write_at(f->file, offset, from, l.count, l.type, &status));
    else if (way == 2)
        OK(MPI_File_iwrite_at(f->file, offset, from, l.count, l.type, &request));
    else
        OK(MPI_File_iwrite_at_all(f->file, offset, from, l.count, l.type, &request));
    if (way >= 2)
        OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    if (count != bytes[f->rank])
        fail("file: wrote %d bytes, not %d", count, bytes[f->rank]);
    layout_free(&l);
    area_check(&area, "written", mix.step);
    area_free(&area);
}

/* Ranks write words in turn, through a view. */
static void write_view(struct file *f)
{
    int words = (int)plan_below(800), at = (int)plan_below(1000), stride = f->size;
    bool reads = plan_below(2);
    uint64_t id = mix_hash(mix.plan);
    for (int r = 0; r < f->size; r++)
        for (int k = 0; k < words; k++) {
            uint32_t word = (uint32_t)mix_hash(id + (uint64_t)(r * 1000 + k));
            memcpy(f->bytes + at + 4 * (k * stride + r), &word, 4);
        }
    if (f->comm == MPI_COMM_NULL)
        return;
    uint32_t given[800], got[800];
    MPI_Datatype word;
    for (int k = 0; k < words; k++)
        given[k] = (uint32_t)mix_hash(id + (uint64_t)(f->rank * 1000 + k));
    OK(MPI_Type_create_resized(MPI_UINT32_T, 0, 4 * stride, &word));
    OK(MPI_Type_commit(&word));
    OK(MPI_File_set_view(f->file, at + 4 * f->rank, MPI_UINT32_T, word, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&word));
    OK(MPI_File_write_all(f->file, given, words, MPI_UINT32_T, MPI_STATUS_IGNORE));
    if (reads) {
        OK(MPI_File_seek(f->file, 0, MPI_SEEK_SET));
        OK(MPI_File_read_all(f->file, got, words, MPI_UINT32_T, MPI_STATUS_IGNORE));
        if (memcmp(given, got, 4 * (size_t)words) != 0)
            fail("file: a view reads other words than it wrote");
    }
    OK(MPI_File_set_view(f->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    f->shared = 0;
}

/* Through the shared pointer: in the order of ranks, or in any order, each record whole. */
static void write_shared(struct file *f)
{
    bool ordered = plan_below(2), seen[RANKS] = { false };
    uint64_t id = mix_hash(mix.plan);
    int bytes[RANKS], at[RANKS], first = (int)plan_below(BYTES / 2), end = first;
    for (int r = 0; r < f->size; r++) {
        bytes[r] = ordered ? (int)plan_length(4097) : RECORD;
        at[r] = end;
        end += bytes[r];
        model_fill(f, at[r], bytes[r], id + (uint64_t)r);
    }
    if (f->comm == MPI_COMM_NULL)
        return;
    struct area area;
    MPI_Offset position;
    unsigned char records[RANKS][RECORD];
    area_make(&area, (size_t)bytes[f->rank]);
    area_fill(&area, 0, (size_t)bytes[f->rank], id + (uint64_t)f->rank, 0, true, true);
    OK(MPI_File_seek_shared(f->file, first, MPI_SEEK_SET));
    if (ordered)
        OK(MPI_File_write_ordered(f->file, area_at(&area, 0), bytes[f->rank], MPI_BYTE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_shared(f->file, area_at(&area, 0), RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f->file));
    OK(MPI_Barrier(f->comm));
    OK(MPI_File_sync(f->file));
    OK(MPI_File_get_position_shared(f->file, &position));
    if (position != end)
        fail("file: the shared pointer is at %d, not %d", (int)position, end);
    for (int r = 0; !ordered && r < f->size; r++) {
        OK(MPI_File_read_at(f->file, first + r * RECORD, records[r], RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int s = 0; s < f->size; s++)
            if (memcmp(records[r], f->bytes + at[s], RECORD) == 0)
                seen[s] = true;
    }
    for (int r = 0; !ordered && r < f->size; r++)
        if (!seen[r])
            fail("file: the record of rank %d is missing", r);
    OK(MPI_Barrier(f->comm));
    if (!ordered && f->rank == 0) /* now in the order that all know */
        OK(MPI_File_write_at(f->file, first, f->bytes + first, end - first, MPI_BYTE, MPI_STATUS_IGNORE));
    area_free(&area);
}

static void read_back(struct file *f)
{
    struct area area;
    struct layout l;
    const struct base byte = { MPI_BYTE, 1 };
    int bytes = (int)own_below(BYTES / 2), at = (int)own_below(BYTES / 2);
    layout_make(&l, &byte, (size_t)bytes);
    area_make(&area, l.span);
    for (int c = 0, from = at; c < l.count; c++)
        for (int b = 0; b < l.blocks; b++) {
            area_put(&area, (size_t)c * l.extent + l.block[b].offset, l.block[b].bytes, f->bytes + from, false, true);
            from += (int)l.block[b].bytes;
        }
    if (mix.step % 2)
        OK(MPI_File_read_at_all(f->file, at, area_at(&area, 0), l.count, l.type, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_read_at(f->file, at, area_at(&area, 0), l.count, l.type, MPI_STATUS_IGNORE));
    area_check(&area, "read from a file", mix.step);
    layout_free(&l);
    area_free(&area);
}

void file_step(void)
{
    struct file *f = &files[plan_below(FILES)];
    unsigned way = plan_below(7);
    if (!f->used) {
        file_open(f);
        return;
    }
    if (way == 0) {
        file_close(f);
        return;
    }
    if (way < 4)
        write_parts(f);
    else if (way == 4)
        write_view(f);
    else
        write_shared(f);
    if (f->comm == MPI_COMM_NULL)
        return;
    OK(MPI_File_sync(f->file));
    OK(MPI_Barrier(f->comm));
    OK(MPI_File_sync(f->file));
    read_back(f);
    OK(MPI_Barrier(f->comm));
}

void files_close(void)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].used)
            file_close(&files[i]);
}
