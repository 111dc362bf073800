/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate before UCX's listening sockets, where UCX uses TCP.
 *
 * UCX 1.13 parses what any program sends to its port, and aborts the process if that is not what it expects. So a
 * filter (filter.h) closes these ports. The gate opens them for the hosts of processes that know the key in this
 * worker's address. A process knows it from the address card: from the job segment, the launcher's server, or a port's
 * name.
 *
 * A *knock* is one message of fixed size to an entrance of the gate, a TCP socket of our own. It has the addresses that
 * connections of its sender may come from, a nonce, and a code over all with the key. The answer has a code over the
 * same nonce, and the addresses of the receiver. The key itself is never sent, and a knock that is replayed admits
 * nothing new.
 *
 * At most GATE_PENDING connections wait for their knock; the oldest makes room for the next. Each is read up to the
 * size of a knock, and not waited for longer than GATE_SECONDS.
 *
 * The engine's lock protects all of it.
 */
#ifndef PLENUM_PLUGINS_UCX_GATE_H
#define PLENUM_PLUGINS_UCX_GATE_H

#include "core/base/list.h"
#include "plugins/ucx/fds.h"
#include "plugins/ucx/filter.h"
#include "plugins/ucx/mac.h"

struct pl_ucx;
struct pl_ucx_link;

enum { PL_UCX_ENTRANCES = 3, PL_UCX_SOURCES = 16 };

/* Where to knock, as it is in a worker's address; numbers in the byte order of the machine. */
struct pl_ucx_entrance {
    uint32_t address; /* 0: there is none */
    uint16_t port;
    uint16_t unused;
};

/* A knock, and the answer to it. */
struct pl_ucx_pass {
    char magic[8];
    uint64_t to;       /* id of the engine that is knocked at */
    uint64_t nonce[2]; /* of the one that knocks */
    uint32_t count, unused;
    uint32_t source[PL_UCX_SOURCES]; /* where the sender's connections may come from */
    unsigned char mac[PL_UCX_MAC];
};
enum { PL_UCX_PASS_SIGNED = sizeof(struct pl_ucx_pass) - PL_UCX_MAC };
_Static_assert(sizeof(struct pl_ucx_pass) == 120, "a knock has no gaps");

/* A descriptor in the gate's epoll set, and what to do when it is ready. */
struct pl_ucx_watch {
    int fd;
    void (*ready)(struct pl_ucx *ucx, struct pl_ucx_watch *watch);
};

struct pl_ucx_gate {
    int epoll_fd; /* -1: there is no gate */
    unsigned char key[PL_UCX_KEY];
    struct pl_ucx_listener listener[PL_UCX_LISTENERS]; /* UCX's */
    int listeners;
    struct pl_ucx_watch entrance[PL_UCX_ENTRANCES]; /* fd -1: none */
    struct pl_ucx_entrance where[PL_UCX_ENTRANCES];
    struct pl_ucx_addresses admitted;
    struct pl_list pending; /* of gate_pending.entry: connections whose knock has not come, the oldest first */
    int count;              /* ... their number */
    struct pl_list knocks;  /* of pl_ucx_knock.entry: those of this worker */
    bool stale;             /* the filters lack an address */
    bool open_to_all;       /* the kernel takes no filters */
    int64_t rests_until;    /* ms; the entrances are not watched before, for want of descriptors; 0: they are watched */
    unsigned turns;         /* calls of pl_ucx_gate_progress() */
};

/* Before pl_ucx_gate_open(): there is no gate. */
void pl_ucx_gate_init(struct pl_ucx_gate *gate);

/* Closes UCX's listeners to all, and opens the entrances. 0, or an MPI error class. Without listeners there is no
 * gate. */
int pl_ucx_gate_open(struct pl_ucx *ucx, const struct pl_ucx_fds *before);
void pl_ucx_gate_close(struct pl_ucx *ucx);

/* Serves the entrances, and the knocks of this worker; returns the number of events. Without `now`, and without a knock
 * under way, most calls return at once. */
int pl_ucx_gate_progress(struct pl_ucx *ucx, bool now);

/* Lets an address through to UCX. `local`: it was met on this host, so addresses of the loopback count too. */
int pl_ucx_gate_admit(struct pl_ucx *ucx, const uint32_t *source, size_t count, bool local);

/* For knock.c. A pass with the addresses of this host, complete; is a pass valid? */
void pl_ucx_pass_make(const char *magic, uint64_t to, const uint64_t nonce[2], const unsigned char *key,
                      struct pl_ucx_pass *pass);
bool pl_ucx_pass_check(const struct pl_ucx_pass *pass, const char *magic, uint64_t to, const unsigned char *key);
bool pl_ucx_gate_watch(struct pl_ucx *ucx, struct pl_ucx_watch *watch, bool write);
/* Closes the descriptor and forgets it. It leaves the set explicitly. While another thread uses the descriptor, as a
 * search through all of them does, it stays in the set after close(), and its watch would be freed. */
void pl_ucx_gate_hang_up(struct pl_ucx *ucx, struct pl_ucx_watch *watch);
/* Is the other end of a connection on this host? */
bool pl_ucx_gate_is_local(int fd);

#define PL_UCX_KNOCK "PlKnock1"
#define PL_UCX_ADMIT "PlAdmit1"

#endif
