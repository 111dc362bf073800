/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a pool that other processes have written: it is refused with a reason, or it is one whose ranks, cards
 * and process sets can be read. Either a real pool with some damage, or any bytes. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/job/attach_file.h"

enum { SIZE = 3 };

/* In memory: a file on a disk takes ten times as long. */
static char directory[] = "/dev/shm/plenum-fuzz-pool-XXXXXX", path[64];

static void stop(void)
{
    unlink(path);
    rmdir(directory);
}

static void start(void)
{
    FUZZ_CHECK(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/" PL_ATTACH_FILE, directory);
    atexit(stop);
}

FUZZ(start, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", "\x01\x01\x01\x10\x20\x01\x01\x01\x01\x01\x01")

static void damage(struct fuzz *from)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && fstat(fd, &st) == 0);
    for (unsigned n = fuzz_byte(from) % 6; n > 0; n--) {
        uint64_t word = fuzz_number(from);
        off_t at = (off_t)(fuzz_byte(from) % 2 ? fuzz_bits(from, 1) * 4 : fuzz_bits(from, 3) % (uint64_t)st.st_size);
        FUZZ_CHECK(pwrite(fd, &word, fuzz_byte(from) % 2 ? 4 : 1, at) > 0);
    }
    if (fuzz_byte(from) % 16 == 15)
        FUZZ_CHECK(ftruncate(fd, (off_t)(fuzz_number(from) % (uint64_t)st.st_size)) == 0);
    close(fd);
}

static void read_all(const struct pl_seat *seat)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    FUZZ_CHECK(memchr(seat->job->nspace, '\0', sizeof seat->job->nspace));
    for (int rank = 0; rank < SIZE; rank++) {
        pl_seat_alive(seat, rank);
        pl_seat_deaths(seat, rank);
        for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
            if (pl_seat_card(seat, rank, (enum pl_card_slot)slot, card, &length) == MPI_SUCCESS)
                FUZZ_CHECK(length <= PL_CARD_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_seat first, second;
    unlink(path);
    if (fuzz_byte(&from) != 1) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
        close(fd);
    } else {
        FUZZ_CHECK(pl_seat_in_directory(directory, 0, SIZE, &first) == MPI_SUCCESS);
        munmap((void *)first.job, first.bytes);
        munmap(first.shared, first.shared_bytes); /* as if the process had ended */
        close(first.fd);
        free(first.path);
        free(first.settled);
        damage(&from);
    }
    if (pl_seat_in_directory(directory, 1, SIZE, &second) != MPI_SUCCESS) {
        FUZZ_ONE_LINE(pl_error_detail(NULL));
        return 0;
    }
    read_all(&second);
    pl_seat_leave(&second);
    return 0;
}
