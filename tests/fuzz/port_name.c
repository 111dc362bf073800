/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ports. A name that was made is read as it was made; a name that was changed is refused. */
#include "fuzz.h"

#include "core/base/error.h"
#include "sessions/port/name.h"

FUZZ(NULL, "plenum:00000000:00", "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_port_name name;
    if (size > 0 && data[0] != 1) {
        char *text = fuzz_rest(&from);
        if (pl_port_name_parse(text, &name) != MPI_SUCCESS)
            FUZZ_ONE_LINE(pl_error_detail(NULL));
        free(text);
        return 0;
    }
    unsigned char card[PL_CARD_MAX];
    char text[MPI_MAX_PORT_NAME], changed[MPI_MAX_PORT_NAME];
    fuzz_byte(&from);
    uint64_t port = fuzz_number(&from);
    size_t length = fuzz_below(&from, PL_CARD_MAX + 1);
    for (size_t i = 0; i < length; i++)
        card[i] = (unsigned char)fuzz_byte(&from);
    bool far = fuzz_byte(&from) % 2;
    pl_port_name_format(port, far, card, length, text);
    FUZZ_CHECK(pl_port_name_parse(text, &name) == MPI_SUCCESS);
    FUZZ_CHECK(name.port == port && name.card_length == length && memcmp(name.card, card, length) == 0);
    FUZZ_CHECK(name.process.pid == getpid() && name.far == far);
    memcpy(changed, text, sizeof text);
    changed[fuzz_below(&from, (unsigned)strlen(text))] = (char)fuzz_byte(&from);
    FUZZ_CHECK((pl_port_name_check(changed) == MPI_SUCCESS) == (strcmp(text, changed) == 0));
    return 0;
}
