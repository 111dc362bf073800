/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damage to all memory that this process shares with others: it is found in /proc/self/maps, and every memory file of
 * Plenum that the process has open is mapped once more. So the damage knows nothing of the layout. Words that are not
 * zero are hit more often than others.
 */
#ifndef HARD_DAMAGE_H
#define HARD_DAMAGE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DAMAGE_AREAS = 64,
    DAMAGE_KINDS = 6,
    DAMAGE_SCAN = 512, /* words among which one that is not zero is chosen */
};

struct damage_area {
    unsigned char *at;
    size_t bytes;
};

struct damage {
    uint64_t state; /* of the random numbers */
    int areas;
    struct damage_area area[DAMAGE_AREAS];
};

static inline uint64_t damage_random(struct damage *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline size_t damage_below(struct damage *d, size_t limit)
{
    return damage_random(d) % limit;
}

static inline void damage_add(struct damage *d, void *at, size_t bytes)
{
    if (d->areas < DAMAGE_AREAS && bytes >= 4096)
        d->area[d->areas++] = (struct damage_area){ at, bytes };
}

/* A memory file of this name, or a file of this name in a directory. */
static inline bool damage_is_file(const char *link, const char *name)
{
    size_t length = strlen(name);
    const char *slash = strrchr(link, '/');
    if (slash && strcmp(slash + 1, name) == 0)
        return true;
    return strncmp(link, "/memfd:", 7) == 0 && strncmp(link + 7, name, length) == 0 &&
           (link[7 + length] == '\0' || link[7 + length] == ' ');
}

/* The memory files of this name that are open in this process, and may be written. */
static inline void damage_add_files(struct damage *d, const char *name)
{
    char path[300], link[300];
    struct stat st;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        int fd = atoi(e->d_name);
        if (!damage_is_file(link, name) || fstat(fd, &st) != 0)
            continue;
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED)
            damage_add(d, at, (size_t)st.st_size);
    }
    if (dir)
        closedir(dir);
}

/* What is mapped and writable of such files, those of other processes, too. Each is mapped once more, since the library
 * may unmap its own. */
static inline void damage_add_mappings(struct damage *d, const char *name)
{
    char line[600], rights[8], link[300];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %299s", &from, &to, rights, link) != 4 || rights[1] != 'w' ||
            rights[3] != 's' || !damage_is_file(link, name))
            continue;
        void *again = mremap((void *)from, 0, to - from, MREMAP_MAYMOVE);
        if (again != MAP_FAILED)
            damage_add(d, again, to - from);
    }
    if (maps)
        fclose(maps);
}

/* Of a large area the front, where its control words are, is chosen more often. */
static inline unsigned char *damage_place(struct damage *d, size_t *left)
{
    struct damage_area *area = &d->area[damage_below(d, (size_t)d->areas)];
    size_t bytes = area->bytes;
    while (bytes > 8192 && damage_below(d, 3) == 0)
        bytes /= 8;
    size_t offset = damage_below(d, bytes) / 4 * 4;
    if (damage_below(d, 4) != 0) /* pages that were never written stay untouched mostly */
        for (size_t i = 0; i < DAMAGE_SCAN; i++) {
            size_t at = (offset + 4 * i) % bytes / 4 * 4;
            if (*(uint32_t *)(area->at + at)) {
                offset = at;
                break;
            }
        }
    *left = area->bytes - offset;
    return area->at + offset;
}

static inline uint32_t damage_extreme(struct damage *d, uint32_t now)
{
    static const uint32_t extreme[] = { 0, 1, 2, 63, 64, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, ~0u };
    size_t i = damage_below(d, sizeof extreme / sizeof *extreme + 4);
    if (i < sizeof extreme / sizeof *extreme)
        return extreme[i];
    return i % 2 ? now + 1 + (uint32_t)damage_below(d, 64) : now ^ 1u << damage_below(d, 32);
}

/* One stroke, of a few words or a range. */
static inline void damage_strike(struct damage *d)
{
    size_t left, count = 1 + damage_below(d, 24);
    switch (damage_below(d, DAMAGE_KINDS)) {
    case 0: /* random words */
    case 1:
        for (; count > 0; count--)
            *(volatile uint32_t *)damage_place(d, &left) = (uint32_t)damage_random(d);
        break;
    case 2: /* extreme values, and values a little off */
    case 3:
        for (; count > 0; count--) {
            volatile uint32_t *word = (volatile uint32_t *)damage_place(d, &left);
            *word = damage_extreme(d, *word);
        }
        break;
    case 4: { /* a range of one byte */
        unsigned char *to = damage_place(d, &left);
        memset(to, (int)damage_random(d), 1 + damage_below(d, left < 4096 ? left : 4096));
        break;
    }
    default: { /* data that belongs elsewhere */
        size_t more;
        unsigned char *from = damage_place(d, &more), *to = damage_place(d, &left);
        memmove(to, from, 1 + damage_below(d, left < more ? left : more) % 1024);
    }
    }
}

#endif
