/* SPDX-License-Identifier: BSD-3-Clause */
/* Records in the ring of a peer: any kinds, lengths, tokens and offsets, in the place where the reader looks next. The
 * reader drops the peer or hands on what is whole, and hears others as before. */
#include "fuzz_unit.h"
#include "shm_node.h"

enum { RECORDS_MAX = 12 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static unsigned char scrap[1 << 12];
static struct pl_incoming incoming[RECORDS_MAX * 4];
static unsigned fetches, drops;

static void take(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                 struct pl_rndv *rndv)
{
    (void)from;
    if (!rndv) {
        for (size_t i = 0; i < header->size; i++)
            scrap[i % sizeof scrap] ^= ((const unsigned char *)data)[i];
    } else if (fetches < RECORDS_MAX * 4 && header->tag % 3) {
        struct pl_incoming *in = &incoming[fetches++];
        size_t bytes = header->size < sizeof scrap ? header->size : sizeof scrap;
        *in = (struct pl_incoming){ .data = node_cursor(scrap, bytes, &node_solid), .size = header->size };
        ops->fetch(node->self, rndv, in);
    } else {
        drops++;
        ops->drop(node->self, rndv, header->tag % 2);
    }
}

static void put_header(struct fuzz *from, struct pl_shm_record *record, uint32_t bytes)
{
    record->header = (struct pl_header){
        .home = fuzz_byte(from),
        .source = (int32_t)fuzz_number(from),
        .tag = (int32_t)fuzz_byte(from),
        .kind = (uint8_t)fuzz_byte(from),
        .flags = (uint8_t)fuzz_byte(from),
        .size = fuzz_byte(from) % 4 ? bytes : fuzz_number(from),
        .token = fuzz_number(from),
    };
    if (fuzz_byte(from) % 2) {
        struct pl_shm_rts rts = { .token = fuzz_number(from), .address = fuzz_byte(from) % 2 ? fuzz_number(from) : 0 };
        memcpy(record->inline_data, &rts, sizeof rts);
    }
}

static void put_control(struct fuzz *from, struct pl_shm_record *record)
{
    record->control = (struct pl_shm_control){
        .token = fuzz_number(from),
        .reply = fuzz_number(from),
        .bytes = fuzz_number(from),
        .fifo = fuzz_byte(from) % 2 ? fuzz_number(from) : 64 * fuzz_bits(from, 2),
        .start = fuzz_number(from),
    };
}

/* Writes a record where the reader of the ring looks next, and publishes it. */
static void put(struct fuzz *from, struct pl_shm_peer *peer)
{
    struct pl_shm_ring *ring = peer->out.ring;
    struct pl_shm_record *record = pl_shm_record_at(ring, peer->out.tail & peer->out.mask);
    unsigned kind = fuzz_byte(from) % 10;
    uint32_t bytes = fuzz_byte(from) % 4 ? fuzz_below(from, 300) : (uint32_t)fuzz_number(from);
    if (kind == PL_SHM_EAGER || kind == PL_SHM_RTS)
        put_header(from, record, bytes);
    else
        put_control(from, record);
    if (kind == PL_SHM_RTS && fuzz_byte(from) % 4)
        bytes = sizeof(struct pl_shm_rts);
    else if (kind >= PL_SHM_CTS && fuzz_byte(from) % 4)
        bytes = 0;
    atomic_store(&record->word, PL_SHM_WORD(kind, bytes));
    atomic_store(&record->sequence,
                 fuzz_byte(from) % 16 ? pl_shm_sequence(peer->out.tail) : (uint32_t)fuzz_number(from));
    peer->out.tail += pl_shm_record_lines(bytes < 4096 ? bytes : 0);
    if (fuzz_byte(from) % 16 == 15)
        ((unsigned char *)ring)[fuzz_bits(from, 2) % sizeof *ring] = (unsigned char)fuzz_byte(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_shm_peer *xy = (struct pl_shm_peer *)node_join(x, y), *yx = (struct pl_shm_peer *)node_join(y, x);
    struct message *sent[2] = { NULL, NULL };
    x->on_arrival = y->on_arrival = take;
    fetches = drops = 0;
    struct message *first = message_send(x, &xy->endpoint, 1, 10, &node_solid);
    NODE_UNTIL(x, y, y->arrived > 0);
    message_free(first);
    if (fuzz_byte(&from) % 2) /* y has messages whose answers the fuzzer writes */
        for (int i = 0; i < 2; i++)
            sent[i] = message_send(y, &yx->endpoint, (unsigned)i, EAGER + 1, &node_solid);
    for (int i = 0; i < RECORDS_MAX && fuzz_left(&from) > 0 && xy->out.ring; i++) {
        put(&from, xy);
        progress(y, 2);
        if (fuzz_byte(&from) % 2)
            progress(x, 1);
    }
    progress(y, 3);
    node_close(x);
    check_peers(y);
    node_close(y);
    for (int i = 0; i < 2; i++)
        if (sent[i])
            message_free(sent[i]);
    return 0;
}
