/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a process asks the runtime for more processes: a sealed memory file with the request, which a note
 * (PL_NOTE_SPAWN) names by its descriptor in the asking process. The runtime writes the outcome into it.
 */
#ifndef PLENUM_CORE_JOB_SPAWN_H
#define PLENUM_CORE_JOB_SPAWN_H

#include <stdatomic.h>
#include <stdint.h>

#define PL_SPAWN_MAGIC 0x314e5750u /* "PWN1" */
#define PL_SPAWN_NAME  "plenum-spawn"

enum pl_spawn_state {
    PL_SPAWN_ASKED,
    PL_SPAWN_STARTED, /* all processes are running */
    PL_SPAWN_FAILED,  /* none is, for the reason in `message` */
    PL_SPAWN_ENDED,   /* they were running, and have ended */
};

enum { PL_SPAWN_TEXT_MAX = 16 << 20 };

struct pl_job_spawn {
    uint32_t magic;
    _Atomic uint32_t state; /* written last */
    char message[512];
    char port[1024]; /* of the parents: the children connect there */
    uint32_t length; /* of `text`, without its NUL */
    char text[];     /* a job described in JSON, as libplenum takes it */
};

#endif
