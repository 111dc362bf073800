/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing files: from the request of a call to runs of bytes. See access.h. */
#include "core/file/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/memory.h"
#include "core/file/two_phase.h"

enum {
    MOST = 1 << 30,      /* bytes in one call of the system */
    BOUNCE = 1 << 20,    /* bytes of the buffer for scattered memory */
    SIEVE = 1 << 19,     /* bytes that are read at once if they contain small runs, ... */
    SIEVE_RUN = 8 << 10, /* ... of at most this many bytes on average, ... */
    SIEVE_GAP = 4 << 10, /* ... and gaps of at most this many, which take the time of one more call */
};

/* --- one range of the file ---------------------------------------------------------------------------------------- */

/* Where the limit is reached the kernel would raise SIGXFSZ. */
static bool file_access_is_beyond(const struct pl_file *file, off_t offset)
{
    return (uint64_t)offset >= file->limit && (uint64_t)offset >= pl_file_limit();
}

int pl_access_run(struct pl_file *file, bool write, MPI_Offset at, void *data, size_t bytes, size_t *moved)
{
    *moved = 0;
    while (*moved < bytes) {
        size_t rest = bytes - *moved < MOST ? bytes - *moved : MOST;
        char *memory = (char *)data + *moved;
        off_t offset = (off_t)at + (off_t)*moved;
        if (write && file_access_is_beyond(file, offset))
            return pl_file_fail(EFBIG, "write to", file->name);
        ssize_t done = write ? pwrite(file->fd, memory, rest, offset) : pread(file->fd, memory, rest, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return pl_file_fail(errno, write ? "write to" : "read from", file->name);
        if (done == 0 && write)
            return pl_fail(MPI_ERR_IO, "cannot write to %s: the system wrote no data and reported no error",
                           file->name);
        if (done == 0)
            break;
        *moved += (size_t)done;
    }
    return MPI_SUCCESS;
}

/* --- one process -------------------------------------------------------------------------------------------------- */

/* Moves the next `bytes` bytes of the stream, run by run, between the file and contiguous memory. */
static int file_access_move_runs(struct pl_file *file, bool write, struct pl_runs *runs, char *data, size_t bytes,
                                 size_t *moved)
{
    MPI_Offset at;
    size_t length, done;
    for (*moved = 0; (length = pl_runs_next(runs, bytes - *moved, &at)) > 0; *moved += done) {
        int rc = pl_access_run(file, write, at, data + *moved, length, &done);
        if (rc || done < length) {
            *moved += done;
            return rc;
        }
    }
    return MPI_SUCCESS;
}

/* A range of the file that is read at once, and the bytes of the stream in it. */
struct sieve {
    MPI_Offset low;
    size_t bytes, wanted;
};

/* The next runs, with the gaps between them, up to a gap that is too long. */
static struct sieve next_sieve(const struct pl_runs *runs)
{
    struct pl_runs ahead = *runs;
    struct sieve sieve = { 0 };
    size_t length;
    MPI_Offset at;
    while ((length = pl_runs_next(&ahead, SIEVE, &at)) > 0) {
        if (sieve.wanted == 0)
            sieve.low = at;
        MPI_Offset from = at - sieve.low, end = from + (MPI_Offset)length;
        if (from < 0 || from > (MPI_Offset)sieve.bytes + SIEVE_GAP || end > SIEVE)
            break;
        sieve.bytes = (size_t)end > sieve.bytes ? (size_t)end : sieve.bytes;
        sieve.wanted += length;
    }
    return sieve;
}

/* All runs, if they are near each other and the gaps are short on average. */
static struct sieve whole_sieve(const struct pl_view *view, const struct pl_span *span)
{
    size_t bytes = (size_t)(span->high - span->low), runs = span->bytes / view->run + 1;
    bool worth = view->ascending && bytes <= SIEVE && (bytes - span->bytes) / runs <= SIEVE_GAP;
    return worth ? (struct sieve){ span->low, bytes, span->bytes } : (struct sieve){ 0 };
}

/* Moves what the file has of the runs in a sieve, of which `there` bytes were read. Returns the bytes moved. */
static size_t move_sieved(const struct sieve *sieve, const char *window, size_t there, struct pl_runs *runs,
                          struct pl_cursor *memory)
{
    char *direct = pl_cursor_direct(memory);
    size_t moved = 0, length, given;
    if (direct && there == sieve->bytes) {
        pl_runs_take(runs, window, sieve->low, direct + memory->done, sieve->wanted);
        memory->done += sieve->wanted;
        return sieve->wanted;
    }
    do {
        MPI_Offset at;
        length = pl_runs_next(runs, sieve->wanted - moved, &at);
        size_t from = (size_t)(at - sieve->low);
        given = there <= from ? 0 : there - from < length ? there - from : length;
        pl_cursor_unpack(memory, window + from, given);
        moved += given;
    } while (given == length && moved < sieve->wanted);
    return moved;
}

/* Reads small runs many at a time. */
static int read_sieved(struct pl_file *file, const struct pl_span *span, struct pl_runs *runs, struct pl_cursor *memory,
                       size_t *moved)
{
    struct sieve whole = whole_sieve(&file->view, span);
    bool ended = false;
    char *window = pl_malloc(whole.wanted ? whole.bytes : SIEVE);
    if (!window)
        return pl_fail_memory("the buffer for reading a file");
    int rc = MPI_SUCCESS;
    for (*moved = 0; *moved < span->bytes && !ended && !rc;) {
        struct sieve sieve = whole.wanted ? whole : next_sieve(runs);
        size_t there, done;
        rc = pl_access_run(file, false, sieve.low, window, sieve.bytes, &there);
        done = rc ? 0 : move_sieved(&sieve, window, there, runs, memory);
        *moved += done;
        ended = done < sieve.wanted;
    }
    free(window);
    return rc;
}

/* Scattered memory, through a buffer. */
static int move_bounced(struct pl_file *file, bool write, struct pl_runs *runs, struct pl_cursor *memory, size_t bytes,
                        size_t *moved)
{
    size_t capacity = bytes < BOUNCE ? bytes : BOUNCE;
    char *bounce = pl_malloc(capacity);
    if (!bounce)
        return pl_fail_memory("the buffer for accessing a file");
    int rc = MPI_SUCCESS;
    bool ended = false;
    for (*moved = 0; *moved < bytes && !ended && !rc;) {
        size_t chunk = bytes - *moved < capacity ? bytes - *moved : capacity, done;
        if (write)
            pl_cursor_pack(memory, bounce, chunk);
        rc = file_access_move_runs(file, write, runs, bounce, chunk, &done);
        if (!write)
            pl_cursor_unpack(memory, bounce, done);
        *moved += done;
        ended = done < chunk;
    }
    free(bounce);
    return rc;
}

static int file_access_move(struct pl_file *file, const struct pl_access *access, size_t *moved)
{
    struct pl_runs runs;
    struct pl_cursor memory = access->memory;
    char *direct = pl_cursor_direct(&memory);
    pl_runs_init(&runs, &file->view, &access->span);
    if (!access->write && file->view.run <= SIEVE_RUN)
        return read_sieved(file, &access->span, &runs, &memory, moved);
    if (direct)
        return file_access_move_runs(file, access->write, &runs, direct, access->span.bytes, moved);
    return move_bounced(file, access->write, &runs, &memory, access->span.bytes, moved);
}

/* --- atomic mode -------------------------------------------------------------------------------------------------- */

/* `type`: F_RDLCK, F_WRLCK or F_UNLCK. The lock belongs to the descriptor; this process's others have their own. */
static int lock_range(const struct pl_file *file, const struct pl_span *span, short type)
{
    struct flock range = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)span->low, .l_len = (off_t)(span->high - span->low)
    };
    while (fcntl(file->fd, F_OFD_SETLKW, &range) != 0)
        if (errno != EINTR)
            return pl_file_fail(errno, "lock a range of", file->name);
    return MPI_SUCCESS;
}

int pl_access_alone(struct pl_file *file, const struct pl_access *access, size_t *moved)
{
    *moved = 0;
    if (access->span.bytes == 0)
        return MPI_SUCCESS;
    if (access->write)
        atomic_store_explicit(&file->dirty, true, memory_order_relaxed);
    if (!file->atomic)
        return file_access_move(file, access, moved);
    pl_lock_take(&file->turn);
    int rc = lock_range(file, &access->span, access->write ? F_WRLCK : F_RDLCK);
    if (rc == MPI_SUCCESS) {
        rc = file_access_move(file, access, moved);
        lock_range(file, &access->span, F_UNLCK);
    }
    pl_lock_drop(&file->turn);
    return rc;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* The data as a number of etypes. The etype MPI_BYTE matches any data, by its size in the file. */
static int count_etypes(const struct pl_file *file, const struct pl_file_io *io, MPI_Offset *etypes)
{
    MPI_Count bytes = io->count * io->type->size; /* checked: it fits */
    const struct pl_view *view = &file->view;
    if (view->etype == PL_TYPE_BYTE && view->file_etype->size == 1 && pl_datarep_converts(view->datarep, io->write))
        return pl_datarep_size(view->datarep, io->count, io->type, etypes);
    *etypes = bytes / file->view.etype->size;
    if (bytes % file->view.etype->size == 0)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_TYPE, "%lld bytes of data are not a multiple of the view's etype of %lld bytes",
                   (long long)bytes, (long long)file->view.etype->size);
}

/* Where the access begins. The pointer that it uses advances to its end. */
static int file_access_begin(struct pl_file *file, const struct pl_file_io *io, MPI_Offset etypes, MPI_Offset *offset)
{
    MPI_Offset end;
    *offset = io->offset;
    if (io->position == PL_FILE_SHARED)
        return io->collective ? pl_pointer_add_ordered(file, etypes, offset) : pl_pointer_add(file, etypes, offset);
    if (io->position == PL_FILE_AT)
        return MPI_SUCCESS;
    pl_lock_take(&file->lock);
    *offset = file->position;
    bool fits = !__builtin_add_overflow(*offset, etypes, &end);
    if (fits)
        file->position = end;
    pl_lock_drop(&file->lock);
    return fits ? MPI_SUCCESS
                : pl_fail(MPI_ERR_ARG, "the individual file pointer is at etype %lld and cannot advance by %lld more",
                          (long long)*offset, (long long)etypes);
}

static int carry_out(struct pl_file *file, const struct pl_file_io *io, const struct pl_access *access, int error,
                     size_t *moved)
{
    if (io->collective && io->position != PL_FILE_SHARED)
        return pl_access_together(file, access, error, moved);
    return error ? error : pl_access_alone(file, access, moved);
}

/* Data that the file represents differently is converted in memory, as a whole. */
static int access_converted(struct pl_file *file, const struct pl_file_io *io, struct pl_access *access, int error,
                            MPI_Count *bytes)
{
    const struct pl_datarep *datarep = file->view.datarep;
    size_t moved = 0, native = 0;
    void *image = pl_malloc(access->span.bytes ? access->span.bytes : 1);
    if (!image && !error)
        error = pl_fail_memory("the buffer for converting data of a file");
    if (!error && io->write)
        error = pl_datarep_write(datarep, io->buf, io->count, io->type, image, access->span.bytes);
    if (error)
        access->span = (struct pl_span){ 0 };
    pl_cursor_init(&access->memory, image, (MPI_Count)access->span.bytes, PL_TYPE_BYTE);
    int rc = carry_out(file, io, access, error, &moved);
    if (!rc && !io->write)
        rc = pl_datarep_read(datarep, io->buf, io->count, io->type, image, moved, &native);
    free(image);
    *bytes = rc == MPI_SUCCESS && io->write ? io->count * io->type->size : (MPI_Count)native;
    return rc;
}

int pl_file_access(struct pl_file *file, const struct pl_file_io *io, int error, MPI_Count *bytes)
{
    struct pl_access access = { .write = io->write };
    MPI_Offset etypes = 0, offset = 0;
    int rc = error ? error : count_etypes(file, io, &etypes);
    int begun = rc && !io->collective ? rc : file_access_begin(file, io, etypes, &offset);
    rc = rc ? rc : begun;
    if (rc == MPI_SUCCESS)
        rc = pl_view_span(&file->view, offset, etypes, &access.span);
    *bytes = 0;
    if (pl_datarep_converts(file->view.datarep, io->write))
        return access_converted(file, io, &access, rc, bytes);
    pl_cursor_init(&access.memory, io->buf, rc ? 0 : io->count, rc ? PL_TYPE_BYTE : io->type);
    size_t moved = 0;
    rc = carry_out(file, io, &access, rc, &moved);
    *bytes = (MPI_Count)moved;
    return rc;
}
