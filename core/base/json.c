/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON files, and the line of a value. Jansson does not record lines, so the line of a mistake is found by walking the
 * text along the path to the value. The text is known to be well-formed then.
 */
#include "core/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/words.h"

enum { LONGEST = 16 << 20, KEY_SIZE = 512 };

static int read_all(int fd, char *text, size_t size, const char *path)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, text + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pl_fail_errno(MPI_ERR_ARG, "%s: cannot be read", path);
        if (n == 0)
            return pl_fail(MPI_ERR_ARG, "%s: was truncated while it was read", path);
        at += (size_t)n;
    }
    return MPI_SUCCESS;
}

static int json_read_file(const char *path, char **text, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = MPI_SUCCESS;
    if (fd < 0)
        return pl_fail_errno(MPI_ERR_ARG, "%s: cannot be opened", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        rc = pl_fail(MPI_ERR_ARG, "%s: is not a regular file", path);
    else if (st.st_size > LONGEST)
        rc = pl_fail(MPI_ERR_ARG, "%s: has %lld bytes; at most %d are allowed", path, (long long)st.st_size, LONGEST);
    *size = rc ? 0 : (size_t)st.st_size;
    *text = rc ? NULL : pl_malloc(*size + 1);
    if (!rc && !*text)
        rc = pl_fail_memory("a JSON file");
    if (!rc)
        rc = read_all(fd, *text, *size, path);
    close(fd);
    if (rc)
        free(*text);
    else
        (*text)[*size] = '\0';
    return rc;
}

int pl_json_open(const char *path, struct pl_json *json)
{
    json_error_t error;
    size_t size = 0;
    *json = (struct pl_json){ .path = path };
    int rc = json_read_file(path, &json->text, &size);
    if (rc)
        return rc;
    json->root = json_loadb(json->text, size, JSON_REJECT_DUPLICATES, &error);
    if (!json->root)
        rc = pl_fail(MPI_ERR_ARG, "%s:%d: column %d: %s", path, error.line, error.column, error.text);
    else if (!json_is_object(json->root))
        rc = pl_fail(MPI_ERR_ARG, "%s:1: the top-level value must be an object, {...}", path);
    if (rc)
        pl_json_close(json);
    return rc;
}

void pl_json_close(struct pl_json *json)
{
    json_decref(json->root);
    free(json->text);
    *json = (struct pl_json){ .path = json->path };
}

/* --- lines ----------------------------------------------------------------------------------------------------- */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* The end of a string that begins at p. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* The end of a value that begins at p. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        else if (depth == 0)
            return p + strcspn(p, ",]} \t\r\n");
        p++;
    } while (*p && depth > 0);
    return p;
}

/* Whether the string in the text at p is this key. Jansson decodes the escapes. */
static bool is_key(const char *p, const char *key)
{
    json_t *text = json_loadb(p, (size_t)(skip_string(p) - p), JSON_DECODE_ANY, NULL);
    bool same = text && strcmp(json_string_value(text), key) == 0;
    json_decref(text);
    return same;
}

/* The member `key`, or the element of that index, of the container at p, or NULL. */
static const char *json_member(const char *p, const char *key)
{
    bool object = *p == '{';
    long index = 0;
    if (!object && *p != '[')
        return NULL;
    for (p = skip_space(p + 1); *p && *p != '}' && *p != ']'; p = skip_space(p), index++) {
        const char *name = p;
        if (object)
            p = skip_space(skip_space(skip_string(p)) + 1); /* the colon */
        if (object ? is_key(name, key) : index == strtol(key, NULL, 10))
            return p;
        p = skip_space(skip_value(p));
        p += *p == ',';
    }
    return NULL;
}

/* Splits the next key off the path and decodes its escapes. */
static const char *json_next_key(const char *where, char key[KEY_SIZE])
{
    size_t n = 0;
    for (; *where && *where != '/'; where++) {
        char c = *where;
        if (c == '~' && (where[1] == '0' || where[1] == '1'))
            c = *++where == '0' ? '~' : '/';
        if (n < KEY_SIZE - 1)
            key[n++] = c;
    }
    key[n] = '\0';
    return *where ? where + 1 : where;
}

int pl_json_line(const struct pl_json *json, const char *where)
{
    char key[KEY_SIZE];
    const char *p = skip_space(json->text);
    int line = 1;
    while (*where) {
        where = json_next_key(where, key);
        const char *q = json_member(p, key);
        if (!q)
            break;
        p = q;
    }
    for (const char *c = json->text; c < p; c++)
        line += *c == '\n';
    return line;
}

int pl_json_fail(const struct pl_json *json, int class, const char *where, const char *format, ...)
{
    char text[PL_DETAIL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pl_fail(class, "%s:%d: %s%s%s", json->path, pl_json_line(json, where), where, *where ? ": " : "", text);
}

void pl_json_enter(char *where, size_t size, const char *key)
{
    size_t n = strlen(where);
    if (n && n + 1 < size)
        where[n++] = '/';
    for (; *key && n + 2 < size; key++) {
        if (*key == '~' || *key == '/') {
            where[n++] = '~';
            where[n++] = *key == '~' ? '0' : '1';
        } else {
            where[n++] = *key;
        }
    }
    where[n] = '\0';
}

int pl_json_keys(const struct pl_json *json, const char *where, const json_t *object, const char *const allowed[])
{
    char list[256] = "", place[256];
    for (void *at = json_object_iter((json_t *)object); at; at = json_object_iter_next((json_t *)object, at)) {
        const char *key = json_object_iter_key(at);
        if (pl_words_find(allowed, key) >= 0)
            continue;
        for (int i = 0; allowed[i]; i++) {
            size_t n = strlen(list);
            snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", allowed[i]);
        }
        snprintf(place, sizeof place, "%s", where);
        pl_json_enter(place, sizeof place, key);
        return pl_json_fail(json, MPI_ERR_ARG, place, "this key is not known; allowed are %s", list);
    }
    return MPI_SUCCESS;
}
