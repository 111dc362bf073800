/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress threads of this process, known by their name: how many there are, and what they do. */
#ifndef PLENUM_TESTS_PROGRESS_H
#define PLENUM_TESTS_PROGRESS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct progress_seen {
    int threads;
    unsigned long long blocked; /* signals of the last one, as a mask */
    char state;                 /* of the last one: S sleeps, R runs */
};

/* Reads the rest of a thread's status. */
static inline void progress_read(FILE *file, struct progress_seen *seen)
{
    char line[300];
    seen->threads++;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "SigBlk:", 7) == 0)
            seen->blocked = strtoull(line + 7, NULL, 16);
        else if (strncmp(line, "State:\t", 7) == 0)
            seen->state = line[7];
}

static inline struct progress_seen progress_look(void)
{
    struct progress_seen seen = { 0 };
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[300], line[300] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(line, sizeof line, file) && strcmp(line, "Name:\tplenum-progress\n") == 0)
            progress_read(file, &seen);
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    return seen;
}

static inline int progress_threads(void)
{
    return progress_look().threads;
}

#endif
