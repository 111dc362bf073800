/* SPDX-License-Identifier: BSD-3-Clause */
/* See host_beat.h. Silence counts from the first beat without an answer: a runtime that has been idle asks first. */
#include "world/runtime/job/host_beat.h"

#include <poll.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "world/runtime/job/host_life.h"

enum { BEATS = 4 /* in a period */ };

static bool beat_is_answered(const struct pl_host *host)
{
    struct pollfd p = { .fd = host->wire.in, .events = POLLIN };
    return poll(&p, 1, 0) != 0; /* also at the end of the connection, which is handled elsewhere */
}

static void beat_write(struct pl_host *host, int64_t now)
{
    if (!host->asked)
        host->asked = now;
    pl_write_u32(pl_wire_begin(&host->wire, PL_FRAME_BEAT, 0), (uint32_t)host->runtime->beat.limit);
    pl_wire_end(&host->wire);
    pl_host_flush(host);
}

/* A beat that still waits to be taken is enough. */
static void beat_send(struct pl_host *host, int64_t now)
{
    if (pl_wire_waiting(&host->wire) == 0)
        beat_write(host, now);
    else if (!host->asked)
        host->asked = now;
}

static bool beat_is_due(const struct pl_host *host)
{
    return host->wire.in >= 0 && host->wire.greeted && !host->wire.broken && host->placer;
}

void pl_hosts_beat(struct plenum_runtime *rt, int64_t now)
{
    if (!rt->beat.at || now < rt->beat.at)
        return;
    rt->beat.at = 0;
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (!beat_is_due(host))
            continue;
        if (host->asked && now - host->asked >= rt->beat.limit && !beat_is_answered(host)) {
            snprintf(host->reason, sizeof host->reason, "it has been silent for %g s",
                     (double)(now - host->asked) / 1000);
            pl_host_give_up(host);
            continue;
        }
        beat_send(host, now);
        rt->beat.at = now + (rt->beat.limit + BEATS - 1) / BEATS;
    }
}

void pl_host_first_beat(struct pl_host *host)
{
    struct plenum_runtime *rt = host->runtime;
    if (rt->beat.limit == 0)
        return;
    beat_write(host, pl_clock_ms()); /* jobs wait to be sent, but no beat */
    if (!rt->beat.at) {
        rt->beat.at = pl_clock_ms() + (rt->beat.limit + BEATS - 1) / BEATS;
        pl_runtime_set_timer(rt);
    }
}

/* The agents learn of it, also that there are no more beats. */
void pl_hosts_set_beat(struct plenum_runtime *rt, int limit)
{
    rt->beat.limit = limit;
    rt->beat.at = 0;
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (!beat_is_due(host))
            continue;
        beat_send(host, pl_clock_ms());
        if (limit > 0)
            rt->beat.at = pl_clock_ms() + (limit + BEATS - 1) / BEATS;
        else
            host->asked = 0;
    }
    pl_runtime_set_timer(rt);
}
