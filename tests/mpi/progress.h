/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress threads of this process, known by their name: how many there are, and which signals they block. */
#ifndef PLENUM_TESTS_PROGRESS_H
#define PLENUM_TESTS_PROGRESS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `blocked`: of the last one, as a mask; NULL: not asked for. */
static inline int progress_threads_blocking(unsigned long long *blocked)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[300], line[300] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        int found = file && fgets(line, sizeof line, file) && strcmp(line, "Name:\tplenum-progress\n") == 0;
        while (found && blocked && fgets(line, sizeof line, file))
            if (strncmp(line, "SigBlk:", 7) == 0)
                *blocked = strtoull(line + 7, NULL, 16);
        if (file)
            fclose(file);
        count += found;
    }
    if (dir)
        closedir(dir);
    return count;
}

static inline int progress_threads(void)
{
    return progress_threads_blocking(NULL);
}

#endif
