/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of one host say for a job report, as bytes: the agent of that host has read their pages and looked
 * up the symbols in the files there. The reader trusts it no more than it trusts a page.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_REPORT_PACK_H
#define PLENUM_WORLD_RUNTIME_REPORT_REPORT_PACK_H

#include "core/base/bytes.h"
#include "world/runtime/report/report.h"

enum {
    PL_REPORT_PACKED_MAX = 1 << 26, /* bytes of all ranks of a host */
};

/* Writes the ranks of this host. Those that no longer fit into PL_REPORT_PACKED_MAX are missing. */
void pl_report_pack(struct pl_writer *to, const struct plenum_job *job, struct pl_report *report);

/* Fills in the ranks of a host, by `host_of`, and its symbols. False: the rest is not what pl_report_pack() writes, or
 * out of memory. */
bool pl_report_unpack(struct pl_reader *from, const uint32_t *host_of, uint32_t host, struct pl_report *report);

#endif
