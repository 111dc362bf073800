/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory_libc.h. */
#include "core/base/memory_libc.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/vec.h"

static bool allocation_fails(void)
{
    bool failed = pl_memory_fails();
    if (failed)
        errno = ENOMEM;
    return failed;
}

void *pl_aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory;
    if (allocation_fails())
        return NULL;
    errno = posix_memalign(&memory, alignment, bytes);
    return errno ? NULL : memory;
}

char *pl_strndup(const char *text, size_t max)
{
    return allocation_fails() ? NULL : strndup(text, max);
}

void *pl_memdup(const void *data, size_t bytes)
{
    void *copy = pl_malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, data, bytes);
    return copy;
}

int pl_vasprintf(char **text, const char *format, va_list arguments)
{
    int length = allocation_fails() ? -1 : vasprintf(text, format, arguments);
    if (length < 0)
        *text = NULL;
    return length;
}

int pl_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = pl_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

ssize_t pl_getdelim(char **line, size_t *capacity, int delimiter, FILE *file)
{
    return allocation_fails() ? -1 : getdelim(line, capacity, delimiter, file);
}

ssize_t pl_getline(char **line, size_t *capacity, FILE *file)
{
    return pl_getdelim(line, capacity, '\n', file);
}

char *pl_getcwd(void)
{
    return allocation_fails() ? NULL : getcwd(NULL, 0);
}

/* --- text streams ----------------------------------------------------------------------------------------------- */

/* open_memstream() would allocate where no test can make it fail. */
struct text_stream {
    char **result;
    PL_VEC(char);
    bool failed;
};

static ssize_t text_stream_write(void *cookie, const char *data, size_t bytes)
{
    struct text_stream *text = cookie;
    text->failed = text->failed || !PL_VEC_RESERVE(text, bytes);
    if (text->failed) {
        errno = ENOMEM;
        return 0; /* an error, to a stream with a cookie */
    }
    memcpy(text->items + text->count, data, bytes);
    text->count += bytes;
    return (ssize_t)bytes;
}

static int text_stream_close(void *cookie)
{
    struct text_stream *text = cookie;
    bool whole = text_stream_write(text, "", 1) == 1;
    *text->result = whole ? PL_VEC_TAKE(text) : NULL;
    PL_VEC_FINI(text);
    free(text);
    return whole ? 0 : EOF;
}

FILE *pl_text_open(char **result)
{
    *result = NULL;
    struct text_stream *text = pl_calloc(1, sizeof *text);
    if (!text)
        return NULL;
    text->result = result;
    FILE *file =
        fopencookie(text, "w", (cookie_io_functions_t){ .write = text_stream_write, .close = text_stream_close });
    if (!file)
        free(text);
    return file;
}
