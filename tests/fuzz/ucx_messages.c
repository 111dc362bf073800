/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that UCX brings: headers of any kind, hellos with any address, in any order, eager or by rendezvous, with
 * one-sided transfers between them, while an allocation fails. UCX itself is replaced by functions that agree to
 * everything, refuse, or take their time, as the input says. */
#include "fuzz_unit.h"

#include <ucp/api/ucp.h>

/* clang-format off: the files share a namespace here */
#include "plugins/ucx/control.c"
#include "plugins/ucx/fds.c"
#include "plugins/ucx/link.c"
#include "plugins/ucx/receive.c"
#include "plugins/ucx/remote.c"
#include "plugins/ucx/send.c"
/* clang-format on */
#include "core/base/memory.h"
#include "transport_node.h"

enum { MESSAGES_MAX = 24, ID = 7 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

/* --- what UCX would do ---------------------------------------------------------------------------------------- */

static struct fuzz *input;
static int descriptors; /* of rendezvous messages, that UCX has lent: each is memory, freed when it comes back */

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep)
{
    (void)worker, (void)params;
    *ep = (ucp_ep_h)&descriptors;
    return fuzz_byte(input) % 8 == 7 ? UCS_ERR_UNREACHABLE : UCS_OK;
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    (void)ep, (void)param;
    return NULL;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length, const void *buffer,
                                 size_t count, const ucp_request_param_t *param)
{
    (void)id, (void)header, (void)header_length, (void)buffer, (void)count, (void)param;
    FUZZ_CHECK(ep);
    return fuzz_byte(input) % 16 == 15 ? UCS_STATUS_PTR(UCS_ERR_ENDPOINT_TIMEOUT) : NULL;
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *descriptor, void *buffer, size_t count,
                                      const ucp_request_param_t *param)
{
    (void)worker, (void)buffer, (void)count, (void)param;
    descriptors--;
    free(descriptor);
    return fuzz_byte(input) % 8 == 7 ? UCS_STATUS_PTR(UCS_ERR_ENDPOINT_TIMEOUT) : NULL;
}

void ucp_am_data_release(ucp_worker_h worker, void *data)
{
    (void)worker;
    descriptors--;
    free(data);
}

ucs_status_t ucp_request_check_status(void *request)
{
    (void)request;
    return UCS_OK;
}

void ucp_request_free(void *request)
{
    (void)request;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    (void)worker;
    return 0;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    (void)worker;
    return UCS_OK;
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t *param)
{
    (void)worker, (void)param;
    return NULL;
}

/* One-sided transfers: complete at once, refused, or complete when the input says so (fuzz_complete). */

struct fuzz_transfer {
    ucp_send_nbx_callback_t done;
    void *argument;
};
static struct fuzz_transfer under_way[MESSAGES_MAX];
static int begun;

static ucs_status_ptr_t fuzz_begin_transfer(const ucp_request_param_t *param)
{
    unsigned way = fuzz_byte(input) % 8;
    if (way == 7)
        return UCS_STATUS_PTR(UCS_ERR_ENDPOINT_TIMEOUT);
    if (way < 3 || begun == MESSAGES_MAX)
        return NULL;
    struct fuzz_transfer *transfer = &under_way[begun++];
    *transfer = (struct fuzz_transfer){ .done = param->cb.send, .argument = param->user_data };
    if (way == 6) { /* while the call that starts it is running */
        transfer->done = NULL;
        param->cb.send(transfer, UCS_OK, param->user_data);
    }
    return transfer;
}

static void fuzz_complete(struct fuzz *from)
{
    struct fuzz_transfer *transfer = &under_way[fuzz_byte(from) % MESSAGES_MAX];
    ucp_send_nbx_callback_t done = transfer->done;
    transfer->done = NULL;
    if (done)
        done(transfer, fuzz_byte(from) % 8 == 7 ? UCS_ERR_CANCELED : UCS_OK, transfer->argument);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t there, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    (void)ep, (void)buffer, (void)count, (void)there, (void)key;
    return fuzz_begin_transfer(param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count, uint64_t there, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    (void)ep, (void)buffer, (void)count, (void)there, (void)key;
    return fuzz_begin_transfer(param);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    (void)ep;
    return fuzz_begin_transfer(param);
}

/* --- what plugins/ucx/ucx.c and worker.c would do -------------------------------------------------------------- */

static int fuzz_address(void *self, void *buffer, size_t capacity, size_t *length)
{
    (void)self, (void)capacity;
    memset(buffer, 1, *length = 60);
    return MPI_SUCCESS;
}

const struct pl_transport_ops plenum_transport = {
    .abi = PL_TRANSPORT_ABI, .name = "ucx", .address = fuzz_address, .fetch = pl_ucx_fetch, .drop = pl_ucx_drop
};

int pl_ucx_error(struct pl_ucx *ucx, ucs_status_t status, const char *what)
{
    (void)ucx, (void)status, (void)what;
    return MPI_ERR_OTHER;
}

const char *pl_ucx_choice(const struct pl_ucx *ucx, char words[PL_UCX_CHOICE])
{
    (void)ucx;
    words[0] = '\0';
    return words;
}

void pl_ucx_sweep(void)
{
}

/* ... and the gates of its peers, which are open, or answer when the input says so */

static bool gates_are_open;

bool pl_ucx_knock_is_needed(const struct pl_ucx_link *link)
{
    return !link->admitted && !gates_are_open;
}

int pl_ucx_knock_start(struct pl_ucx_link *link)
{
    (void)link;
    return MPI_SUCCESS;
}

/* The engine connects to a peer, whatever that has sent before. */
static void fuzz_connect(struct fuzz *from, struct pl_ucx *ucx)
{
    unsigned char address[sizeof(struct pl_ucx_address) + 20] = { 0 };
    struct pl_ucx_address head = { .engine = 11 + fuzz_byte(from) % 3 };
    struct pl_ucx_link *link = pl_ucx_link_get(ucx, head.engine);
    memcpy(address, &head, sizeof head);
    if (link && pl_ucx_link_set_address(link, address, sizeof address) == MPI_SUCCESS)
        pl_ucx_link_open(link);
}

static void fuzz_admit(struct pl_ucx *ucx)
{
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        if (link->ep || link->error || link->departed || !link->address)
            continue;
        link->admitted = true;
        int err = pl_ucx_link_open(link);
        if (err)
            pl_ucx_link_fail(link, err < 0 ? MPI_ERR_OTHER : err, "it cannot be reached");
    }
}

void pl_ucx_knock_end(struct pl_ucx_link *link)
{
    (void)link;
}

/* --- the engine ------------------------------------------------------------------------------------------------- */

static struct pl_incoming incoming[MESSAGES_MAX];
static unsigned char scrap[64];
static int fetches;

static void take(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                 struct pl_rndv *rndv)
{
    unsigned sum = 0;
    for (size_t i = 0; i < from->card_length; i++)
        sum += ((const unsigned char *)from->card)[i];
    for (size_t i = 0; !rndv && i < header->size; i++)
        sum += ((const unsigned char *)data)[i];
    scrap[0] = (unsigned char)sum;
    if (rndv && header->tag % 2) {
        struct pl_incoming *in = &incoming[fetches++ % MESSAGES_MAX];
        *in = (struct pl_incoming){ .data = node_cursor(scrap, sizeof scrap, &node_solid), .size = header->size };
        pl_ucx_fetch(node->self, rndv, in);
    } else if (rndv) {
        pl_ucx_drop(node->self, rndv, header->tag % 4 == 2);
    }
}

/* A transfer of the engine's: it ends once, at its start or later, unless its link is closed in order first. */
struct fuzz_moving {
    struct pl_moving moving;
    bool pending;
};
static struct fuzz_moving movings[MESSAGES_MAX];
static int moved;

static void on_moved(struct pl_moving *moving, int error)
{
    struct fuzz_moving *own = PL_CONTAINER(moving, struct fuzz_moving, moving);
    (void)error;
    FUZZ_CHECK(own->pending);
    own->pending = false;
}

static void start_transfer(struct fuzz *from, struct pl_ucx *ucx)
{
    struct pl_list *node = ucx->links.next;
    for (int i = fuzz_byte(from) % 3; i > 0 && node != &ucx->links; i--)
        node = node->next;
    if (node == &ucx->links || moved == MESSAGES_MAX)
        return;
    struct pl_ucx_link *link = PL_CONTAINER(node, struct pl_ucx_link, entry);
    struct fuzz_moving *own = &movings[moved++];
    unsigned what = fuzz_byte(from) % 3;
    struct pl_move move = { .here = scrap, .there = fuzz_number(from), .bytes = sizeof scrap, .write = what == 0 };
    *own = (struct fuzz_moving){ .moving.done = on_moved, .pending = true };
    own->pending = (what == 2 ? pl_ucx_complete(&link->endpoint, &own->moving)
                              : pl_ucx_move(&link->endpoint, &move, &own->moving)) == PL_PENDING;
}

static size_t make_hello(struct fuzz *from, unsigned char *data, uint64_t peer)
{
    struct pl_ucx_address address = { .engine = fuzz_byte(from) % 8 ? peer : fuzz_number(from) };
    struct ucx_hello head = { .card = fuzz_byte(from) % 20, .address = sizeof address + fuzz_byte(from) % 20 };
    memcpy(data + sizeof head + head.card, &address, sizeof address);
    size_t length = sizeof head + head.card + head.address;
    if (fuzz_byte(from) % 8 == 7)
        head.card = (uint32_t)fuzz_number(from);
    if (fuzz_byte(from) % 8 == 7)
        head.address = (uint32_t)fuzz_number(from);
    memcpy(data, &head, sizeof head);
    return length;
}

static bool first_came[3]; /* message 0 of each peer, with a valid header */

static void arrives(struct fuzz *from, struct pl_ucx *ucx, uint32_t *number)
{
    unsigned char data[256] = { 0 };
    uint64_t peer = 11 + fuzz_byte(from) % 3;
    struct pl_ucx_wire wire = {
        .header = { .tag = (int32_t)fuzz_byte(from), .token = fuzz_number(from), .kind = (uint8_t)fuzz_byte(from) },
        .from = peer,
        .to = fuzz_byte(from) % 16 ? ID : fuzz_number(from),
        .control = fuzz_byte(from) % (PL_UCX_CONTROLS + 1),
    };
    wire.number = fuzz_byte(from) % 8 ? number[peer - 11]++ : (uint32_t)fuzz_number(from);
    if (wire.number == 0 && fuzz_byte(from) % 8)
        wire.control = PL_UCX_HELLO;
    size_t length = wire.control == PL_UCX_HELLO ? make_hello(from, data, peer) : fuzz_byte(from) % 200;
    wire.header.size = fuzz_byte(from) % 16 ? length : fuzz_number(from);
    ucp_am_recv_param_t params = { .recv_attr = fuzz_byte(from) % 4 == 3 ? UCP_AM_RECV_ATTR_FLAG_RNDV : 0 };
    unsigned char *exact = malloc(length ? length : 1);
    memcpy(exact, data, length);
    descriptors += params.recv_attr != 0;
    size_t header = fuzz_byte(from) % 32 ? sizeof wire : 8;
    if (header == sizeof wire && wire.number == 0 && !ucx_receive_check(ucx, &wire, length, params.recv_attr != 0))
        first_came[peer - 11] = true;
    ucs_status_t status = ucx_receive_on_message(ucx, &wire, header, exact, length, &params);
    if (status == UCS_OK) { /* UCX takes it back itself */
        descriptors -= params.recv_attr != 0;
        free(exact);
    }
    unsigned next = fuzz_byte(from);
    if (next % 4 == 3)
        pl_ucx_links_report(ucx, next % 8 == 3);
    if (next % 8 >= 6)
        start_transfer(from, ucx);
    if (next % 16 >= 12)
        fuzz_complete(from);
    if (next % 32 >= 28)
        fuzz_admit(ucx);
    if (next % 64 >= 56)
        fuzz_connect(from, ucx);
}

/* No link waits for a message that was here and is lost: all that follow would wait for it too. */
static void check_links(const struct pl_ucx *ucx)
{
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry)
        for (uint64_t i = 0; i < 3; i++)
            if (link->origin.engine == 11 + i && first_came[i])
                FUZZ_CHECK(link->next_in > 0 || link->deaf || link->error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct node node = { .id = ID, .on_arrival = take };
    struct pl_ucx ucx = { .engine = (struct pl_engine *)&node, .host = &node_host, .id = ID, .eager = 100 };
    uint32_t number[3] = { 0 };
    input = &from;
    node.self = &ucx;
    fetches = descriptors = begun = moved = 0;
    memset(under_way, 0, sizeof under_way);
    gates_are_open = fuzz_byte(&from) % 2;
    memset(first_came, 0, sizeof first_came);
    pl_list_init(&ucx.links);
    pl_list_init(&ucx.failed);
    pl_list_init(&ucx.spare);
    pl_memory_fail_at(fuzz_byte(&from) % 16);
    for (int i = 0; i < MESSAGES_MAX && fuzz_left(&from) > 0; i++)
        arrives(&from, &ucx, number);
    pl_memory_fail_at(0);
    check_links(&ucx);
    pl_ucx_links_report(&ucx, true);
    pl_ucx_links_close(&ucx);
    pl_ucx_links_free(&ucx);
    struct pl_list *spare;
    while ((spare = pl_list_pop(&ucx.spare)) != NULL)
        free(PL_CONTAINER(spare, struct pl_ucx_send, entry));
    pl_table_fini(&ucx.by_engine);
    FUZZ_CHECK(descriptors == 0);
    return 0;
}
