/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the source for the places in a report, from addr2line, if there is one: the runtime says where something
 * stands in a file that was loaded, "exchange+0x41 in /home/me/ocean(+0x1498)", and needs no debugger for it.
 */
#ifndef PLENUM_MPIEXEC_LINES_H
#define PLENUM_MPIEXEC_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { LINES_MAX = 64 };

struct lines {
    int count;
    struct lines_place {
        const char *file; /* borrowed from the text, not terminated */
        size_t length;
        uint64_t offset;
        const char *behind; /* in the text, where the source may be named */
        char source[80];    /* "ocean.c:120"; "": not known */
    } place[LINES_MAX];
};

/* Finds the places in a text of lines, which is borrowed, and their sources. Takes two seconds at the most. */
void lines_find(struct lines *lines, const char *text);

/* The place in a line of the text; NULL: none whose source is known. */
const struct lines_place *lines_in(const struct lines *lines, const char *line, size_t length);

#endif
