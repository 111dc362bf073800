/* SPDX-License-Identifier: BSD-3-Clause */
/* What the symbolizer answers: its lines, in pieces, without an end, with anything in them. */
#include "world/runtime/report/symbols.c"

#include "fuzz.h"

FUZZ(NULL, "1c main\n12 /tmp/a.c\n", "ffffffffffffffffffff x\n-1 y\n", "\n\n", "7 MPI_Send")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_symbols symbols = { .running = true };
    int pair[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    FUZZ_CHECK(size == 0 || write(pair[1], data, size) == (ssize_t)size);
    shutdown(pair[1], SHUT_WR);
    symbols.fd = pair[0];
    struct pl_symbol first = pl_symbols_find(&symbols, "/bin/a", 0x1234, true);
    struct pl_symbol second = pl_symbols_find(&symbols, "/bin/b", 0x1234, false);
    if (first.function)
        FUZZ_ONE_LINE(first.function);
    if (first.source)
        FUZZ_ONE_LINE(first.source);
    if (second.function)
        FUZZ_ONE_LINE(second.function);
    FUZZ_CHECK(pl_symbols_find(&symbols, "/bin/a", 0x1234, false).function == first.function);
    pl_symbols_rest(&symbols);
    pl_symbols_fini(&symbols);
    close(pair[1]);
    return 0;
}
