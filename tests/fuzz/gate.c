/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate before UCX: what a connection sends as its knock, in chunks, with and without the key, and what is answered
 * to a knock of this process. Only a pass with the right code admits an address, and nothing stays open. */
#include "fuzz_unit.h"

/* clang-format off: the files share a namespace here */
#include "plugins/ucx/filter.c"
#include "plugins/ucx/gate.c"
#include "plugins/ucx/knock.c"
#include "plugins/ucx/mac.c"
/* clang-format on */
#include "transport_node.h"

enum { CONNECTIONS_MAX = 6, ID = 7, PEER = 11 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

/* --- what plugins/ucx/ucx.c, link.c and fds.c would do ----------------------------------------------------------- */

static int opened, failed;

int pl_ucx_link_open(struct pl_ucx_link *link)
{
    FUZZ_CHECK(link->admitted && !link->knock);
    opened++;
    return MPI_SUCCESS;
}

void pl_ucx_link_fail(struct pl_ucx_link *link, int error, const char *why)
{
    FUZZ_CHECK(!link->knock && error > 0 && *why);
    failed++;
}

int pl_ucx_error(struct pl_ucx *ucx, ucs_status_t status, const char *what)
{
    (void)ucx, (void)status, (void)what;
    return MPI_ERR_OTHER;
}

int pl_ucx_fds_claim(const struct pl_ucx_fds *before, const void *address, size_t length,
                     struct pl_ucx_listener *listeners)
{
    (void)before, (void)address, (void)length, (void)listeners;
    return 0;
}

void pl_ucx_fds_reset(const struct pl_ucx_listener *listener)
{
    (void)listener;
}

/* --- connections ------------------------------------------------------------------------------------------------- */

/* A pass, whose code is right or not. True: it is valid for this receiver. */
static bool put_pass(struct fuzz *from, const char *magic, uint64_t to, const uint64_t nonce[2],
                     const unsigned char *key, struct pl_ucx_pass *pass)
{
    memset(pass, 0, sizeof *pass);
    memcpy(pass->magic, fuzz_byte(from) % 16 ? magic : "PlKnock0", sizeof pass->magic);
    pass->to = fuzz_byte(from) % 16 ? to : fuzz_number(from);
    memcpy(pass->nonce, nonce, sizeof pass->nonce);
    pass->count = fuzz_byte(from) % 4 ? fuzz_byte(from) % (PL_UCX_SOURCES + 1) : (uint32_t)fuzz_number(from);
    for (int i = 0; i < PL_UCX_SOURCES; i++)
        pass->source[i] = fuzz_byte(from) % 2 ? 0x0a000001 + (uint32_t)i : (uint32_t)fuzz_number(from);
    fuzz_damage(from, (unsigned char *)pass, PL_UCX_PASS_SIGNED);
    if (fuzz_byte(from) % 4 == 3)
        return false;
    pl_ucx_mac(key, pass, PL_UCX_PASS_SIGNED, pass->mac);
    if (fuzz_byte(from) % 8 == 7) {
        pass->mac[fuzz_byte(from) % PL_UCX_MAC] ^= (unsigned char)(1 + fuzz_byte(from) % 255);
        return false;
    }
    return memcmp(pass->magic, magic, sizeof pass->magic) == 0 && pass->to == to && pass->count <= PL_UCX_SOURCES;
}

/* Sends in chunks; after each the receiver makes progress. It may have gone meanwhile. */
static void feed(struct fuzz *from, struct pl_ucx *ucx, int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        size_t chunk = fuzz_byte(from) % 4 ? length : 1 + fuzz_byte(from) % length;
        if (send(fd, at, chunk, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)chunk)
            return;
        at += chunk;
        length -= chunk;
        pl_ucx_gate_progress(ucx, true);
        if (fuzz_byte(from) % 16 == 15)
            return;
    }
}

static void visit(struct fuzz *from, struct pl_ucx *ucx, int *end)
{
    int pair[2];
    struct pl_ucx_pass pass;
    struct gate_pending *pending = calloc(1, sizeof *pending);
    const uint64_t nonce[2] = { 1, 2 };
    size_t before = ucx->gate.admitted.count;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    pending->watch = (struct pl_ucx_watch){ .fd = pair[0], .ready = gate_pending_ready };
    pending->since = pl_clock_ms();
    pl_list_append(&ucx->gate.pending, &pending->entry);
    ucx->gate.count++;
    FUZZ_CHECK(pl_ucx_gate_watch(ucx, &pending->watch, false));
    bool valid = put_pass(from, PL_UCX_KNOCK, ID, nonce, ucx->gate.key, &pass);
    feed(from, ucx, pair[1], &pass, fuzz_byte(from) % 8 ? sizeof pass : fuzz_byte(from) % sizeof pass);
    FUZZ_CHECK(valid || ucx->gate.admitted.count == before);
    FUZZ_CHECK(ucx->gate.admitted.count <= before + PL_UCX_SOURCES);
    *end = pair[1];
}

/* A knock of this process, as knock_try() leaves it once it is sent. */
static void knock(struct fuzz *from, struct pl_ucx *ucx, struct pl_ucx_link *link, struct pl_ucx_address *address)
{
    int pair[2];
    struct pl_ucx_pass answer;
    struct pl_ucx_knock *knock = calloc(1, sizeof *knock);
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    *knock = (struct pl_ucx_knock){ .watch = { .fd = pair[0], .ready = knock_ready }, .link = link, .sent = true };
    knock->entrance = PL_UCX_ENTRANCES - 1; /* the last one: another answer is the end */
    knock->pass.nonce[0] = 5;
    link->knock = knock;
    pl_list_append(&ucx->gate.knocks, &knock->entry);
    FUZZ_CHECK(pl_ucx_gate_watch(ucx, &knock->watch, false));
    uint64_t nonce[2] = { fuzz_byte(from) % 8 ? 5 : fuzz_number(from), 0 };
    bool valid = put_pass(from, PL_UCX_ADMIT, PEER, nonce, address->key, &answer);
    feed(from, ucx, pair[1], &answer, fuzz_byte(from) % 8 ? sizeof answer : fuzz_byte(from) % sizeof answer);
    if (fuzz_byte(from) % 2)
        shutdown(pair[1], SHUT_WR);
    pl_ucx_gate_progress(ucx, true);
    FUZZ_CHECK(opened + failed <= 1 && (valid || opened == 0));
    pl_ucx_knock_end(link);
    close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct node node = { .id = ID };
    struct pl_ucx ucx = { .engine = (struct pl_engine *)&node, .host = &node_host, .id = ID };
    struct pl_ucx_address address = { .engine = PEER, .key = { 1, 2, 3 } };
    struct pl_ucx_link link = { .ucx = &ucx, .address = &address, .address_length = sizeof address };
    int ends[CONNECTIONS_MAX], count = 0;
    opened = failed = 0;
    pl_ucx_gate_init(&ucx.gate);
    ucx.gate.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    memset(ucx.gate.key, 9, sizeof ucx.gate.key);
    while (count < CONNECTIONS_MAX && fuzz_left(&from) > 0)
        visit(&from, &ucx, &ends[count++]);
    knock(&from, &ucx, &link, &address);
    pl_ucx_gate_close(&ucx);
    FUZZ_CHECK(ucx.gate.count == 0);
    for (int i = 0; i < count; i++)
        close(ends[i]);
    return 0;
}
