/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fuzzers share. A fuzzer is a program for one parser of bytes that come from outside, tests/fuzz/<parser>.c,
 * built by clang with libFuzzer and the sanitizers: `make fuzz SECONDS=60 ONLY=json`, tests/fuzz/run.
 *
 *     FUZZ(start, "a valid text", "another");   // start(): once, may be NULL; the texts are the first inputs
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { ... FUZZ_CHECK(...); return 0; }
 *
 * An input is the text itself, or a stream of choices (struct fuzz). From these a fuzzer builds a valid message and
 * then damages it, because random bytes never get past the first check.
 */
#ifndef PLENUM_TESTS_FUZZ_H
#define PLENUM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A message is one line of printable text, and says something. */
#define FUZZ_ONE_LINE(message)                                                                                         \
    do {                                                                                                               \
        const char *said_ = (message);                                                                                 \
        for (const char *at_ = said_; *at_; at_++)                                                                     \
            if ((unsigned char)*at_ < ' ' || *at_ == 127) {                                                            \
                fprintf(stderr, "%s:%d: control character %d in: %s\n", __FILE__, __LINE__, *at_, said_);              \
                abort();                                                                                               \
            }                                                                                                          \
        FUZZ_CHECK(*said_);                                                                                            \
    } while (0)

/* `--seeds DIRECTORY` writes the first inputs there. */
static inline int fuzz_initialize(int argc, char **argv, void (*start)(void), const char *const seed[])
{
    char path[4096];
    if (argc != 3 || strcmp(argv[1], "--seeds") != 0) {
        if (start)
            start();
        return 0;
    }
    for (int i = 0; seed[i]; i++) {
        snprintf(path, sizeof path, "%s/seed-%d", argv[2], i);
        FILE *file = fopen(path, "w");
        if (!file || fputs(seed[i], file) < 0 || fclose(file) != 0) {
            perror(path);
            exit(EXIT_FAILURE);
        }
    }
    exit(EXIT_SUCCESS);
}

#define FUZZ(start, ...)                                                                                               \
    int LLVMFuzzerInitialize(int *argc, char ***argv)                                                                  \
    {                                                                                                                  \
        static const char *const seeds[] = { __VA_ARGS__, NULL };                                                      \
        return fuzz_initialize(*argc, *argv, start, seeds);                                                            \
    }

/* A stream of choices; zeros when it has ended. */
struct fuzz {
    const uint8_t *at, *end;
};

static inline struct fuzz fuzz_begin(const uint8_t *data, size_t size)
{
    return (struct fuzz){ data, data + size };
}

static inline size_t fuzz_left(const struct fuzz *from)
{
    return (size_t)(from->end - from->at);
}

static inline unsigned fuzz_byte(struct fuzz *from)
{
    return from->at < from->end ? *from->at++ : 0;
}

static inline uint64_t fuzz_bits(struct fuzz *from, int bytes)
{
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++)
        bits = bits << 8 | fuzz_byte(from);
    return bits;
}

/* 0 .. below - 1, at most 65536 */
static inline unsigned fuzz_below(struct fuzz *from, unsigned below)
{
    return below <= 1 ? 0 : (unsigned)fuzz_bits(from, below > 256 ? 2 : 1) % below;
}

/* A number near the places where mistakes are. */
static inline uint64_t fuzz_number(struct fuzz *from)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0xffff,
                                      0x10000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff };
    unsigned kind = fuzz_byte(from);
    if (kind < 128)
        return kind;
    if (kind < 192)
        return edges[kind % (sizeof edges / sizeof *edges)] + fuzz_byte(from) % 5 - 2;
    return fuzz_bits(from, 1 << kind % 4);
}

/* The rest of the input in memory of exactly its size, and a NUL behind it; for free(). */
static inline char *fuzz_rest(struct fuzz *from)
{
    size_t length = fuzz_left(from);
    char *text = malloc(length + 1);
    memcpy(text, length ? (const char *)from->at : "", length);
    text[length] = '\0';
    from->at = from->end;
    return text;
}

/* Changes a few bytes of a message, or cuts it; its new length. */
static inline size_t fuzz_damage(struct fuzz *from, unsigned char *message, size_t length)
{
    for (unsigned n = fuzz_byte(from) % 4; n > 0 && length > 0; n--) {
        size_t at = fuzz_bits(from, 2) % length;
        switch (fuzz_byte(from) % 4) {
        case 0: message[at] = (unsigned char)fuzz_byte(from); break;
        case 1: message[at] ^= (unsigned char)(1u << fuzz_byte(from) % 8); break;
        case 2: memset(message + at, 0xff, length - at < 8 ? length - at : 8); break;
        case 3: length = at; break;
        }
    }
    return length;
}

/* The path of a file in memory with these bytes, until the next call. */
static inline const char *fuzz_file(const void *data, size_t length)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, length, 0) == (ssize_t)length);
    return path;
}

#endif
