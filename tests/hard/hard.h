/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the attacks in C share: their arguments and their random numbers. attack.py says what an attack is.
 *
 *     // rounds: 200 20000
 *     static void sums_round(struct hard *h) { ... HARD_CHECK(h, sum == 6); ... }
 *     int main(int argc, char **argv) { return hard_main(argc, argv, sums_round); }
 */
#ifndef PLENUM_TESTS_HARD_H
#define PLENUM_TESTS_HARD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct hard {
    const char *build;
    unsigned long rounds, seed, round; /* round: 0 .. rounds - 1 */
    uint64_t state;                    /* of the random numbers; each round begins with one of its own */
};

static inline uint64_t hard_random(struct hard *h)
{
    uint64_t x = h->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* 0 .. below - 1 */
static inline uint64_t hard_below(struct hard *h, uint64_t below)
{
    return hard_random(h) % below;
}

#define HARD_CHECK(h, condition)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: round %lu, seed %lu: not so: %s\n", __FILE__, __LINE__, (h)->round, (h)->seed,     \
                    #condition);                                                                                       \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

/* Runs all rounds, for main() to return. */
static inline int hard_main(int argc, char **argv, void (*round)(struct hard *h))
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s BUILD-DIRECTORY ROUNDS SEED\n", argv[0]);
        return 2;
    }
    struct hard h = { .build = argv[1], .rounds = strtoul(argv[2], NULL, 10), .seed = strtoul(argv[3], NULL, 10) };
    for (; h.round < h.rounds; h.round++) {
        h.state = h.seed * 1000003 + h.round;
        round(&h);
    }
    printf("ok\n");
    return EXIT_SUCCESS;
}

#endif
