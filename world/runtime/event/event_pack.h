/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as bytes, between an agent and the runtime that has the hosts. */
#ifndef PLENUM_WORLD_RUNTIME_EVENT_EVENT_PACK_H
#define PLENUM_WORLD_RUNTIME_EVENT_EVENT_PACK_H

#include "core/base/bytes.h"
#include "world/runtime/event/event.h"

void pl_event_pack(struct pl_writer *to, const struct plenum_event *event);

/* What is in an event, borrowed from the reader's bytes. The texts do not end with a NUL. */
struct pl_event_view {
    struct plenum_event event; /* `text`, `object` and `report` are not set */
    const char *text, *object, *report;
    size_t length, object_length, report_length;
};

/* False: it is damaged. */
bool pl_event_unpack(struct pl_reader *from, struct pl_event_view *view);

/* A new event of the job with the same content. NULL: as pl_event_new(). */
struct pl_event *pl_event_of_view(struct plenum_job *job, const struct pl_event_view *view);

#endif
