/* SPDX-License-Identifier: BSD-3-Clause */
/* See agent.h. One loop over poll(): the connection, the runtime, pipes of standard input. While the connection takes
 * nothing, no events are taken either, so the ranks wait with their output. */
#include "world/runtime/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/plenum.h"
#include "world/runtime/agent/inputs.h"
#include "world/runtime/agent/orders.h"
#include "world/runtime/event/event_pack.h"
#include "world/runtime/guard.h"

enum {
    AGENT_FULL = 1 << 18, /* bytes that the connection has not taken */
    AGENT_INPUTS = 64,    /* pipes that are polled at a time */
};

struct pl_agent pl_agent;

static void agent_part_ended(struct pl_agent_part *part)
{
    pl_inputs_close(part->id);
    pl_list_remove(&part->node);
    plenum_job_close(part->job);
    free(part);
}

static void agent_tell(const struct plenum_event *event)
{
    struct pl_agent_part *part = event->user;
    if (!part)
        return;
    pl_event_pack(pl_wire_begin(&pl_agent.wire, PL_FRAME_EVENT, part->id), event);
    pl_wire_end(&pl_agent.wire);
    if (event->kind == PLENUM_EVENT_FINISHED)
        agent_part_ended(part);
}

static bool agent_is_full(void)
{
    return pl_wire_waiting(&pl_agent.wire) > AGENT_FULL;
}

static void agent_take_events(void)
{
    struct plenum_event *event;
    while (!agent_is_full() && plenum_runtime_next_event(pl_agent.runtime, &event) == PLENUM_OK && event) {
        agent_tell(event);
        plenum_event_free(event);
    }
}

/* False: the runtime is gone, or is another version. */
static bool agent_take_orders(void)
{
    struct pl_frame frame;
    char version[64];
    int got = pl_wire_fill(&pl_agent.wire);
    while (pl_wire_next(&pl_agent.wire, &frame)) {
        if (frame.kind != PL_FRAME_HELLO)
            pl_orders_obey(&frame);
        else if (!pl_wire_same_version(&frame, version, sizeof version))
            return false; /* the runtime says so */
    }
    return got >= 0 && !pl_agent.wire.broken;
}

static void agent_loop(void)
{
    bool goes_on = true;
    while (goes_on) {
        struct pollfd p[3 + AGENT_INPUTS] = {
            { .fd = pl_agent.wire.in, .events = POLLIN },
            { .fd = pl_wire_waiting(&pl_agent.wire) ? pl_agent.wire.out : -1, .events = POLLOUT },
            { .fd = agent_is_full() ? -1 : plenum_runtime_fd(pl_agent.runtime), .events = POLLIN },
        };
        int inputs = pl_inputs_poll(p + 3, AGENT_INPUTS);
        if (poll(p, (nfds_t)(3 + inputs), -1) < 0 && errno != EINTR)
            return;
        if (p[0].revents)
            goes_on = agent_take_orders();
        agent_take_events();
        pl_inputs_write();
        pl_wire_flush(&pl_agent.wire);
    }
}

/* Nothing else may read from, or write to, the connection. */
static bool agent_keep_descriptors(int stream[2])
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 2; i++)
        stream[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || stream[0] < 0 || stream[1] < 0)
        return false;
    return dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0;
}

int plenum_agent_main(void)
{
    int stream[2];
    signal(SIGPIPE, SIG_IGN);
    if (!agent_keep_descriptors(stream)) {
        fprintf(stderr, "plenum-agent: it has no standard streams\n");
        return EXIT_FAILURE;
    }
    pl_list_init(&pl_agent.parts);
    pl_list_init(&pl_agent.inputs);
    if (plenum_runtime_open(&pl_agent.runtime)) {
        fprintf(stderr, "plenum-agent: %s\n", plenum_error());
        return EXIT_FAILURE;
    }
    pl_wire_open(&pl_agent.wire, stream[0], stream[1]);
    pl_agent.runtime->agent = &pl_agent.wire;
    pl_wire_flush(&pl_agent.wire);
    agent_loop();
    plenum_runtime_close(pl_agent.runtime);
    pl_wire_close(&pl_agent.wire);
    return EXIT_SUCCESS;
}
