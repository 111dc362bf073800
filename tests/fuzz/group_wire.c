/* SPDX-License-Identifier: BSD-3-Clause */
/* Serialized groups, and the address vectors in them. A group that is accepted has members, each with a card. */
#include "fuzz.h"

#include "core/base/bytes.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/comm/group_wire.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

enum { INPUTS_OF_INSTANCE = 500 }; /* a process keeps the names of jobs that it has met */

static struct pl_instance *instance;
static int inputs;

static void stop(void)
{
    if (instance)
        pl_instance_close(instance);
}

static void start(void)
{
    atexit(stop);
}

FUZZ(start, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", "\x01")

static int number_of(struct fuzz *from)
{
    int number = 0;
    char name[16];
    snprintf(name, sizeof name, "job %u", fuzz_byte(from) % 4);
    FUZZ_CHECK(pl_jobs_number(fuzz_byte(from) % 3, name, strlen(name), &number) == MPI_SUCCESS);
    return number;
}

/* A group of up to 8 processes of a few jobs, this one among them, as bytes. */
static unsigned char *make(struct fuzz *from, size_t *length)
{
    uint64_t procs[8];
    int count = (int)fuzz_below(from, 7) + 1;
    unsigned char *wire = NULL;
    struct pl_comm *comm;
    procs[0] = pl_process_self();
    for (int i = 1; i < count; i++)
        procs[i] = PL_PROC(number_of(from), (int)i + 1);
    struct pl_group *group = pl_instance_group(instance, count, procs);
    FUZZ_CHECK(group && pl_comm_create(instance, NULL, group, NULL, pl_comm_new_id(), &comm) == MPI_SUCCESS);
    pl_handle_drop(group);
    FUZZ_CHECK(pl_group_wire_write(comm, &wire, length) == MPI_SUCCESS);
    pl_comm_free(comm);
    return wire;
}

static void check(const unsigned char *wire, size_t length)
{
    struct pl_group *group;
    struct pl_av *av = NULL;
    if (pl_group_wire_read(instance, wire, length, &group, &av) != MPI_SUCCESS) {
        FUZZ_ONE_LINE(pl_error_detail(NULL));
        return;
    }
    pl_group_wire_is_networked(wire, length);
    for (int i = 0; i < group->size; i++) {
        size_t bytes;
        const unsigned char *card = pl_av_card(av, i, &bytes);
        for (size_t k = 0; k < bytes; k++)
            FUZZ_CHECK(card[k] <= 255);
        FUZZ_CHECK(bytes <= PL_CARD_MAX && PL_PROC_RANK(pl_group_proc(group, i)) >= 0);
    }
    pl_av_release(av);
    pl_handle_drop(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    size_t length;
    if (inputs++ % INPUTS_OF_INSTANCE == 0) {
        if (instance)
            pl_instance_close(instance);
        FUZZ_CHECK(pl_config_load() == MPI_SUCCESS);
        FUZZ_CHECK(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance) == MPI_SUCCESS);
    }
    if (size > 0 && data[0] != 1) {
        check(data, size);
        return 0;
    }
    fuzz_byte(&from);
    unsigned char *wire = make(&from, &length);
    length = fuzz_damage(&from, wire, length);
    wire = realloc(wire, length ? length : 1);
    check(wire, length);
    free(wire);
    return 0;
}
