/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources that a process holds: descriptors, threads, mappings, memory. */
#ifndef PLENUM_TESTS_USAGE_H
#define PLENUM_TESTS_USAGE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct usage {
    int descriptors, threads, mappings;
    long resident_kib;
};

/* The sanitizers keep freed memory for a while and create mappings, so these figures mean nothing under them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { USAGE_OF_MEMORY = 0 };
#else
enum { USAGE_OF_MEMORY = 1 };
#endif

static inline int usage_entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static inline struct usage usage_now(void)
{
    struct usage now = { usage_entries("/proc/self/fd"), usage_entries("/proc/self/task"), 0, 0 };
    FILE *file = USAGE_OF_MEMORY ? fopen("/proc/self/maps", "r") : NULL;
    for (int c; file && (c = fgetc(file)) != EOF;)
        now.mappings += c == '\n';
    if (file)
        fclose(file);
    file = USAGE_OF_MEMORY ? fopen("/proc/self/statm", "r") : NULL;
    if (file && fscanf(file, "%*d %ld", &now.resident_kib) != 1)
        now.resident_kib = -1;
    if (file)
        fclose(file);
    now.resident_kib *= sysconf(_SC_PAGESIZE) / 1024;
    return now;
}

/* KiB by which a process may still settle. The transports of UCX touch their buffers one after the other: 1.18 keeps
 * 2 MiB more after thousands of messages than after a few, and then no more. */
static inline long usage_settles_kib(void)
{
    return getenv("PLENUM_TRANSPORT") ? 4096 : 512;
}

#endif
