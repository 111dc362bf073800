/* SPDX-License-Identifier: BSD-3-Clause */
/* See agent.h. One loop over poll(): the connection, the runtime, pipes of standard input. While the connection takes
 * nothing, no events are taken either, so the ranks wait with their output. */
#include "world/runtime/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/plenum.h"
#include "core/base/clock.h"
#include "core/base/descriptors.h"
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

/* The answer tells the runtime that this host is not cut off; its next beat, that the runtime is not. */
static void agent_beat(struct pl_frame *frame)
{
    pl_agent.limit = pl_read_u32(&frame->body);
    pl_wire_begin(&pl_agent.wire, PL_FRAME_BEAT, 0);
    pl_wire_end(&pl_agent.wire);
}

/* False: the runtime is gone, or is another version. */
static bool agent_take_orders(void)
{
    struct pl_frame frame;
    char version[64];
    int got = pl_wire_fill(&pl_agent.wire);
    if (got > 0)
        pl_agent.heard = pl_clock_ms();
    while (pl_wire_next(&pl_agent.wire, &frame)) {
        if (frame.kind == PL_FRAME_BEAT)
            agent_beat(&frame);
        else if (frame.kind != PL_FRAME_HELLO)
            pl_orders_obey(&frame);
        else if (!pl_wire_same_version(&frame, version, sizeof version))
            return false; /* the runtime says so */
    }
    return got >= 0 && !pl_agent.wire.broken;
}

/* Milliseconds that may pass without a word from the runtime; -1: any number. */
static int agent_patience(void)
{
    int64_t left = pl_agent.heard + pl_agent.limit - pl_clock_ms();
    return pl_agent.limit == 0 ? -1 : left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static bool agent_is_cut_off(void)
{
    if (agent_patience() != 0)
        return false;
    fprintf(stderr, "plenum-agent: the runtime has been silent for %g s\n", pl_agent.limit / 1000.0);
    return true;
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
        if (poll(p, (nfds_t)(3 + inputs), agent_patience()) < 0 && errno != EINTR)
            return;
        goes_on = p[0].revents ? agent_take_orders() : !agent_is_cut_off();
        agent_take_events();
        pl_inputs_write();
        pl_wire_flush(&pl_agent.wire);
    }
}

static void agent_tell_places(void)
{
    struct pl_writer *to = pl_wire_begin(&pl_agent.wire, PL_FRAME_PLACES, 0);
    for (int bind = PLENUM_BIND_CORE; bind <= PLENUM_BIND_L3CACHE; bind++) {
        int count;
        pl_write_u32(to, plenum_place_count((enum plenum_bind)bind, &count) == PLENUM_OK ? (uint32_t)count : 0);
    }
    pl_wire_end(&pl_agent.wire);
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
    struct rlimit before;
    pl_descriptors_raise(&before); /* after the fork of the keeper, whose ranks keep the user's */
    pl_wire_open(&pl_agent.wire, stream[0], stream[1]);
    pl_agent.runtime->agent = &pl_agent.wire;
    agent_tell_places();
    pl_wire_flush(&pl_agent.wire);
    agent_loop();
    plenum_runtime_close(pl_agent.runtime);
    pl_wire_close(&pl_agent.wire);
    return EXIT_SUCCESS;
}
