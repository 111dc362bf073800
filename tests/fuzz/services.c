/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of published names of another process: entries of any state and owner, texts with and without an end, files
 * of any length. What a search hands on has the name that was asked for, and texts that end. */
#include "fuzz.h"

#include <errno.h>

#include "core/job/services_file.c"

enum { WRITTEN_MAX = 6 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02")

static unsigned seen, most;

static bool see(void *context, const struct pl_service_entry *entry)
{
    const char *name = context;
    FUZZ_CHECK(strcmp(entry->name, name) == 0 && entry->state != PL_SERVICE_FREE && entry->owner == (int)getpid());
    FUZZ_CHECK(strlen(entry->value) < PL_SERVICE_VALUE_MAX);
    return ++seen < most;
}

static void put_text(struct fuzz *from, char *text, size_t size, const char *valid_text)
{
    if (fuzz_byte(from) % 8 == 7)
        memset(text, 'x', size); /* no end */
    else
        snprintf(text, size, "%s%s", valid_text, fuzz_byte(from) % 4 ? "" : "x");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct fuzz from = fuzz_begin(data, size);
    char name[] = "a name";
    struct search search = { .name = name, .see = see, .context = name, .pid = getpid() };
    if (fd < 0)
        fd = memfd_create(FILE_NAME, MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    for (int i = 0; i < WRITTEN_MAX && fuzz_left(&from) > 0; i++) {
        static struct pl_service_entry entry;
        entry = (struct pl_service_entry){
            .state = fuzz_byte(&from) % 8 ? fuzz_byte(&from) % 3 : (uint32_t)fuzz_number(&from),
            .owner = fuzz_byte(&from) % 8 ? getpid() : (int32_t)fuzz_number(&from),
            .ticket = fuzz_number(&from),
            .runtime = fuzz_byte(&from),
            .restricted = fuzz_number(&from),
        };
        put_text(&from, entry.name, sizeof entry.name, name);
        put_text(&from, entry.value, sizeof entry.value, "a port");
        size_t bytes = fuzz_byte(&from) % 16 ? sizeof entry : fuzz_below(&from, sizeof entry);
        FUZZ_CHECK(pwrite(fd, &entry, bytes, services_file_offset(i)) == (ssize_t)bytes);
    }
    if (fuzz_byte(&from) == 255) /* a file with a hole, of any length: the search of it takes long */
        FUZZ_CHECK(ftruncate(fd, (off_t)(fuzz_bits(&from, 8) >> 1)) == 0 || errno == EFBIG || errno == EINVAL);
    seen = 0;
    most = 1 + fuzz_byte(&from) % 4;
    search_file(&search, fd);
    FUZZ_CHECK(seen <= most);
    return 0;
}
