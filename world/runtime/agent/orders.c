/* SPDX-License-Identifier: BSD-3-Clause */
/* See orders.h. */
#include "world/runtime/agent/orders.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "world/runtime/agent/inputs.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/job_bind.h"
#include "world/runtime/job/job_report.h"
#include "world/runtime/job/span_pack.h"
#include "world/runtime/job/span_sets.h"
#include "world/runtime/job/span_slots.h"
#include "world/runtime/runtime_error.h"

static struct pl_agent_part *orders_find(uint32_t id)
{
    PL_LIST_EACH(part, &pl_agent.parts, struct pl_agent_part, node)
        if (part->id == id)
            return part;
    return NULL;
}

static void orders_refuse(uint32_t id, int err)
{
    struct pl_writer *to = pl_wire_begin(&pl_agent.wire, PL_FRAME_REFUSED, id);
    pl_write_u8(to, (uint8_t)err);
    pl_write_text(to, plenum_error());
    pl_wire_end(&pl_agent.wire);
    pl_inputs_close(id);
}

static void orders_tell_places(struct plenum_job *job)
{
    if (pl_job_enter(job) != PLENUM_OK)
        return;
    pl_job_bind_tell(job);
    pl_job_leave(job, PLENUM_OK);
}

static void orders_start(struct pl_frame *frame)
{
    struct pl_agent_part *part = pl_calloc(1, sizeof *part);
    struct plenum_job *job = NULL;
    pl_agent.next_id = frame->job;
    int err = part ? pl_span_read(&frame->body, pl_agent.runtime, pl_inputs_open, &job)
                   : (int)pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a job");
    if (!err) {
        *part = (struct pl_agent_part){ .id = frame->job, .job = job };
        job->launch.span->id = frame->job;
        plenum_job_set_user(job, part);
        err = plenum_job_launch(job);
    }
    if (!err) {
        pl_list_append(&pl_agent.parts, &part->node);
        orders_tell_places(job);
        return;
    }
    orders_refuse(frame->job, err);
    plenum_job_close(job);
    free(part);
}

static void orders_signal(struct pl_agent_part *part, struct pl_frame *frame)
{
    int rank = pl_read_i32(&frame->body), signo = pl_read_i32(&frame->body);
    if (pl_reader_done(&frame->body))
        plenum_job_signal(part->job, rank, signo);
}

/* Those that change a part from inside hold its lock. */
static void orders_inside(struct pl_agent_part *part, struct pl_frame *frame)
{
    if (pl_job_enter(part->job) != PLENUM_OK)
        return;
    if (frame->kind == PL_FRAME_FORGO)
        pl_job_part_forgo(part->job);
    else if (frame->kind == PL_FRAME_SLOT)
        pl_slots_write(part->job, &frame->body);
    else if (frame->kind == PL_FRAME_ANSWER)
        pl_answers_pass(part->job, &frame->body);
    else if (frame->kind == PL_FRAME_SETS)
        pl_span_sets_write(part->job, &frame->body);
    else if (frame->kind == PL_FRAME_REPORT)
        pl_job_report_question(part->job, pl_read_u32(&frame->body));
    else
        pl_slots_gone(part->job, &frame->body);
    pl_job_leave(part->job, PLENUM_OK);
}

/* The numbers of a resource begin at 0 on each host. */
static void orders_resource(struct pl_frame *frame)
{
    char name[PL_RESOURCE_NAME];
    size_t length;
    const char *text = pl_read_text(&frame->body, sizeof name - 1, &length);
    int64_t count = pl_read_folded(&frame->body);
    bool counts = count == PLENUM_COUNT;
    if (!pl_reader_done(&frame->body) || count > PL_RESOURCE_MOST)
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    count = pl_host_resources_here(pl_agent.runtime, name, (int)count);
    if (!counts)
        return;
    struct pl_writer *to = pl_wire_begin(&pl_agent.wire, PL_FRAME_RESOURCE, 0);
    pl_write_text(to, name);
    pl_write_folded(to, count);
    pl_wire_end(&pl_agent.wire);
}

void pl_orders_obey(struct pl_frame *frame)
{
    struct pl_agent_part *part = orders_find(frame->job);
    if (frame->kind == PL_FRAME_RESOURCE)
        orders_resource(frame);
    if (frame->kind == PL_FRAME_JOB && !part)
        orders_start(frame);
    if (frame->kind == PL_FRAME_REPORT && !part)
        pl_job_report_of_ended(&pl_agent.wire, frame->job, pl_read_u32(&frame->body));
    if (!part)
        return;
    switch (frame->kind) {
    case PL_FRAME_SIGNAL: orders_signal(part, frame); break;
    case PL_FRAME_HOLD: plenum_job_hold_output(part->job, pl_read_u8(&frame->body)); break;
    case PL_FRAME_INPUT: pl_inputs_feed(part->id, &frame->body); break;
    case PL_FRAME_FORGO:
    case PL_FRAME_SLOT:
    case PL_FRAME_REPORT:
    case PL_FRAME_ANSWER:
    case PL_FRAME_SETS:
    case PL_FRAME_GONE: orders_inside(part, frame); break;
    default: break;
    }
}
