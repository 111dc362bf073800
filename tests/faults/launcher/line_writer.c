/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes COUNT lines "rank number sum xxx" of different lengths, in pieces that end anywhere; with a second argument
 * also to standard error. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    static const char filler[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    int rank = atoi(getenv("PLENUM_RANK")), count = argc > 1 ? atoi(argv[1]) : 1;
    setvbuf(stdout, NULL, _IOFBF, 1000 + 97 * (size_t)rank);
    setvbuf(stderr, NULL, _IOFBF, 1000);
    for (int i = 0; i < count; i++) {
        printf("%d %d %d %.*s\n", rank, i, rank + i, i % 60, filler);
        if (argc > 2)
            fprintf(stderr, "%d %d %d %.*s\n", rank, i, rank + i, i % 60, filler);
    }
    return fflush(stdout) != 0 || fflush(stderr) != 0;
}
