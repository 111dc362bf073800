/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a Matrix Market file in three steps: the header, the list of entries, and the list turned into rows.
 */
#include "matrix.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct reader {
    const char *path;
    FILE *file;
    char *line; /* the current one, without its end */
    size_t capacity;
    long number; /* of the current line, from 1; 0: none yet */
    char *message;
    size_t message_size;
    bool pattern;   /* entries without values: all are 1 */
    bool symmetric; /* one triangle stands for both */
};

/* The entries as the file lists them, counted from 0. */
struct entries {
    int n;
    int64_t count;
    int *row, *column;
    double *value;
};

/* Writes the message, with file and line; returns -1. */
__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *format, ...)
{
    int used = r->number > 0 ? snprintf(r->message, r->message_size, "%s:%ld: ", r->path, r->number)
                             : snprintf(r->message, r->message_size, "%s: ", r->path);
    if (used >= 0 && (size_t)used < r->message_size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r->message + used, r->message_size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return -1;
}

static int fail_memory(struct reader *r, int64_t entries)
{
    r->number = 0;
    return fail(r, "not enough memory for %lld entries", (long long)entries);
}

/* --- lines and words ----------------------------------------------------------------------------------------- */

/* The next line: 1; at the end of the file: 0; on an error: -1. */
static int next_line(struct reader *r)
{
    errno = 0;
    ssize_t length = getline(&r->line, &r->capacity, r->file);
    if (length < 0) {
        if (!ferror(r->file))
            return 0;
        r->number = 0;
        return fail(r, "%s", strerror(errno));
    }
    r->number++;
    if (strlen(r->line) != (size_t)length)
        return fail(r, "a zero byte: this is not a text file");
    while (length > 0 && isspace((unsigned char)r->line[length - 1]))
        r->line[--length] = '\0';
    return 1;
}

/* The same, but skips comments and empty lines. */
static int next_content(struct reader *r)
{
    int found;
    while ((found = next_line(r)) == 1) {
        size_t blank = strspn(r->line, " \t");
        if (r->line[blank] != '\0' && r->line[blank] != '%')
            break;
    }
    return found;
}

static bool word_ends(const char *at)
{
    return *at == '\0' || isspace((unsigned char)*at);
}

static bool take_integer(char **at, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    bool good = end != *at && word_ends(end) && errno == 0;
    *at = end;
    return good;
}

static bool take_real(char **at, double *number)
{
    char *end;
    *number = strtod(*at, &end);
    bool good = end != *at && word_ends(end) && isfinite(*number);
    *at = end;
    return good;
}

static bool all_taken(const char *at)
{
    return at[strspn(at, " \t")] == '\0';
}

/* --- the header ---------------------------------------------------------------------------------------------- */

/* The first line, "%%MatrixMarket matrix coordinate real symmetric". */
static int read_banner(struct reader *r)
{
    char object[32], format[32], field[32], symmetry[32], beyond[2];
    int found = next_line(r);
    if (found < 0)
        return -1;
    if (found == 0)
        return fail(r, "the file is empty");
    if (strncasecmp(r->line, "%%MatrixMarket", 14) != 0)
        return fail(r, "not a Matrix Market file: the first line does not begin with %%%%MatrixMarket");
    if (sscanf(r->line + 14, "%31s %31s %31s %31s %1s", object, format, field, symmetry, beyond) != 4)
        return fail(r, "the first line must have four words after %%%%MatrixMarket");
    if (strcasecmp(object, "matrix") != 0)
        return fail(r, "holds a \"%s\", not a matrix", object);
    if (strcasecmp(format, "coordinate") != 0)
        return fail(r, "format \"%s\": only sparse matrices (coordinate) are read", format);
    r->pattern = strcasecmp(field, "pattern") == 0;
    if (!r->pattern && strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return fail(r, "entries are \"%s\": only real, integer and pattern are read", field);
    r->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    if (!r->symmetric && strcasecmp(symmetry, "general") != 0)
        return fail(r, "the matrix is \"%s\": only general and symmetric are read", symmetry);
    return 0;
}

/* The line "rows columns entries". Sizes that the size of the file rules out are errors. */
static int read_sizes(struct reader *r, struct entries *e)
{
    long long rows, columns, count;
    int found = next_content(r);
    if (found < 0)
        return -1;
    if (found == 0)
        return fail(r, "ends before the line with the sizes");
    char *at = r->line;
    if (!take_integer(&at, &rows) || !take_integer(&at, &columns) || !take_integer(&at, &count) || !all_taken(at))
        return fail(r, "\"%.60s\" is not the line of sizes: rows, columns, entries", r->line);
    if (rows < 1 || columns < 1 || count < 0)
        return fail(r, "%lld rows, %lld columns, %lld entries: sizes must be positive", rows, columns, count);
    if (rows != columns)
        return fail(r, "%lld rows and %lld columns: the matrix is not square", rows, columns);
    if (rows > INT_MAX)
        return fail(r, "%lld rows: at most %d are read", rows, INT_MAX);
    if (count < rows)
        return fail(r, "%lld entries for %lld rows: there must be one at least in every place of the diagonal", count,
                    rows);

    const long long shortest = 4; /* "1 1\n" */
    struct stat status;
    if (fstat(fileno(r->file), &status) == 0 && S_ISREG(status.st_mode) && count > status.st_size / shortest + 1)
        return fail(r, "%lld entries announced: too many for a file of %lld bytes", count, (long long)status.st_size);
    e->n = (int)rows;
    e->count = count;
    return 0;
}

/* --- the entries --------------------------------------------------------------------------------------------- */

static int read_entry(struct reader *r, struct entries *e, int64_t k)
{
    long long row, column;
    double value = 1;
    char *at = r->line;
    if (!take_integer(&at, &row) || !take_integer(&at, &column))
        return fail(r, "\"%.60s\" does not begin with two numbers: row and column", r->line);
    if (!r->pattern) {
        char *text = at + strspn(at, " \t");
        if (*text == '\0')
            return fail(r, "the value is missing");
        if (!take_real(&at, &value))
            return fail(r, "\"%.60s\" is not a finite number", text);
    }
    if (!all_taken(at))
        return fail(r, "more on the line than %s", r->pattern ? "row and column" : "row, column and value");
    if (row < 1 || row > e->n)
        return fail(r, "row %lld is not between 1 and %d", row, e->n);
    if (column < 1 || column > e->n)
        return fail(r, "column %lld is not between 1 and %d", column, e->n);
    if (r->symmetric && column > row)
        return fail(r, "entry (%lld, %lld) is above the diagonal of a symmetric matrix", row, column);
    e->row[k] = (int)(row - 1);
    e->column[k] = (int)(column - 1);
    e->value[k] = value;
    return 0;
}

static int read_entries(struct reader *r, struct entries *e)
{
    size_t count = (size_t)e->count;
    e->row = malloc(count * sizeof *e->row);
    e->column = malloc(count * sizeof *e->column);
    e->value = malloc(count * sizeof *e->value);
    if (!e->row || !e->column || !e->value)
        return fail_memory(r, e->count);

    int found;
    for (int64_t k = 0; k < e->count; k++) {
        found = next_content(r);
        if (found < 0)
            return -1;
        if (found == 0)
            return fail(r, "ends after %lld of the %lld entries announced", (long long)k, (long long)e->count);
        if (read_entry(r, e, k) != 0)
            return -1;
    }
    found = next_content(r);
    if (found > 0)
        return fail(r, "more than the %lld entries announced", (long long)e->count);
    return found;
}

static void entries_free(struct entries *e)
{
    free(e->row);
    free(e->column);
    free(e->value);
}

/* --- rows ---------------------------------------------------------------------------------------------------- */

static bool matrix_allocate(struct matrix *m, int n, int64_t nonzeros)
{
    *m = (struct matrix){ .n = n };
    m->start = calloc((size_t)n + 1, sizeof *m->start);
    m->column = malloc((size_t)nonzeros * sizeof *m->column);
    m->value = malloc((size_t)nonzeros * sizeof *m->value);
    return m->start && m->column && m->value;
}

void matrix_free(struct matrix *matrix)
{
    free(matrix->start);
    free(matrix->column);
    free(matrix->value);
    *matrix = (struct matrix){ 0 };
}

static void put(struct matrix *m, int64_t *next, int row, int column, double value)
{
    int64_t place = next[row]++;
    m->column[place] = column;
    m->value[place] = value;
}

/* start[i + 1] holds the number of nonzeros of row i: turns the numbers into offsets. Returns a copy, for put(). */
static int64_t *lay_out(struct matrix *m)
{
    for (int i = 0; i < m->n; i++)
        m->start[i + 1] += m->start[i];
    int64_t *next = malloc(((size_t)m->n + 1) * sizeof *next);
    if (next)
        memcpy(next, m->start, ((size_t)m->n + 1) * sizeof *next);
    return next;
}

/* Rows from entries, in the order of the file; a symmetric file's entries are mirrored. False: out of memory. */
static bool matrix_assemble(const struct entries *e, bool mirror, struct matrix *m)
{
    int64_t nonzeros = e->count;
    for (int64_t k = 0; mirror && k < e->count; k++)
        nonzeros += e->row[k] != e->column[k];
    if (!matrix_allocate(m, e->n, nonzeros))
        return false;
    for (int64_t k = 0; k < e->count; k++) {
        m->start[e->row[k] + 1]++;
        if (mirror && e->row[k] != e->column[k])
            m->start[e->column[k] + 1]++;
    }
    int64_t *next = lay_out(m);
    for (int64_t k = 0; next && k < e->count; k++) {
        put(m, next, e->row[k], e->column[k], e->value[k]);
        if (mirror && e->row[k] != e->column[k])
            put(m, next, e->column[k], e->row[k], e->value[k]);
    }
    free(next);
    return next != NULL;
}

/* The transpose; its rows are sorted by column, whatever those of `a` are. False: out of memory. */
static bool matrix_transpose(const struct matrix *a, struct matrix *t)
{
    if (!matrix_allocate(t, a->n, a->start[a->n]))
        return false;
    for (int64_t k = 0; k < a->start[a->n]; k++)
        t->start[a->column[k] + 1]++;
    int64_t *next = lay_out(t);
    for (int i = 0; next && i < a->n; i++)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
            put(t, next, a->column[k], i, a->value[k]);
    free(next);
    return next != NULL;
}

/* Adds up neighbours in a row that have the same column. */
static void matrix_sum(struct matrix *m)
{
    int64_t to = 0, from = 0;
    for (int i = 0; i < m->n; i++) {
        int64_t first = to;
        for (; from < m->start[i + 1]; from++) {
            if (to > first && m->column[to - 1] == m->column[from]) {
                m->value[to - 1] += m->value[from];
            } else {
                m->column[to] = m->column[from];
                m->value[to++] = m->value[from];
            }
        }
        m->start[i + 1] = to;
    }
    m->summed = from - to;
}

/* --- what the solver needs ----------------------------------------------------------------------------------- */

static int check_diagonal(struct reader *r, const struct matrix *m)
{
    for (int i = 0; i < m->n; i++) {
        int64_t k = m->start[i];
        while (k < m->start[i + 1] && m->column[k] < i)
            k++;
        if (k == m->start[i + 1] || m->column[k] != i)
            return fail(r, "not positive definite: row %d has no entry on the diagonal", i + 1);
        if (!(m->value[k] > 0))
            return fail(r, "not positive definite: the diagonal of row %d is %g", i + 1, m->value[k]);
    }
    return 0;
}

/* Values added up in another order may differ in their last digits. */
static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* Is the matrix equal to its transpose? */
static int check_symmetry(struct reader *r, const struct matrix *m, const struct matrix *t)
{
    for (int i = 0; i < m->n; i++) {
        int64_t a = m->start[i], b = t->start[i];
        for (; a < m->start[i + 1] && b < t->start[i + 1]; a++, b++) {
            if (m->column[a] == t->column[b] && same(m->value[a], t->value[b]))
                continue;
            int j = m->column[a] < t->column[b] ? m->column[a] : t->column[b];
            return fail(r, "not symmetric: entries (%d, %d) and (%d, %d) differ", i + 1, j + 1, j + 1, i + 1);
        }
        if (a < m->start[i + 1] || b < t->start[i + 1]) {
            int j = a < m->start[i + 1] ? m->column[a] : t->column[b];
            return fail(r, "not symmetric: one of the entries (%d, %d) and (%d, %d) is missing", i + 1, j + 1, j + 1,
                        i + 1);
        }
    }
    return 0;
}

/* The list of entries, made into sorted rows without doubles, and checked. */
static int build(struct reader *r, const struct entries *e, struct matrix *matrix)
{
    struct matrix raw = { 0 }, transposed = { 0 };
    int result = -1;
    if (!matrix_assemble(e, r->symmetric, &raw) || !matrix_transpose(&raw, &transposed) ||
        !matrix_transpose(&transposed, matrix)) {
        fail_memory(r, e->count);
        goto free_both;
    }
    matrix_sum(&transposed);
    matrix_sum(matrix);
    matrix->symmetric = r->symmetric;
    r->number = 0; /* later errors have no line */
    result = check_diagonal(r, matrix);
    if (result == 0 && !r->symmetric)
        result = check_symmetry(r, matrix, &transposed);
free_both:
    matrix_free(&raw);
    matrix_free(&transposed);
    return result;
}

int matrix_read(const char *path, struct matrix *matrix, char *message, size_t size)
{
    struct reader r = { .path = path, .message = message, .message_size = size };
    struct entries e = { 0 };
    *matrix = (struct matrix){ 0 };
    r.file = fopen(path, "r");
    if (!r.file)
        return fail(&r, "%s", strerror(errno));

    int result = read_banner(&r);
    if (result == 0)
        result = read_sizes(&r, &e);
    if (result == 0)
        result = read_entries(&r, &e);
    if (result == 0)
        result = build(&r, &e, matrix);
    if (result != 0)
        matrix_free(matrix);
    entries_free(&e);
    free(r.line);
    fclose(r.file);
    return result;
}
