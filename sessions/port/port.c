/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing of ports. The ports that are open, and their callers: calls.c. */
#include "sessions/port/port.h"

#include <sys/random.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"
#include "sessions/port/name.h"

int pl_port_open(bool far, char name[MPI_MAX_PORT_NAME])
{
    struct pl_engine *listener;
    uint64_t number;
    int rc = pl_listener_open(&listener);
    if (rc)
        return rc;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a port");
    if (far && pl_engine_add_network(listener))
        pl_log("engine", 1, "other hosts cannot call at this port: %s", pl_error_detail(NULL));
    pl_engine_enter(listener);
    rc = pl_port_add(number);
    if (rc == MPI_SUCCESS)
        pl_port_name_format(number, listener->card, listener->card_length, name);
    pl_engine_leave(listener);
    return rc;
}

int pl_port_close(const char *text)
{
    struct pl_port_name name;
    struct pl_engine *listener;
    int rc = pl_port_name_parse(text, &name);
    if (rc == MPI_SUCCESS)
        rc = pl_listener_open(&listener);
    if (rc)
        return rc;
    pl_engine_enter(listener);
    bool removed = pl_port_remove(listener, name.port);
    pl_engine_leave(listener);
    return removed ? MPI_SUCCESS : pl_port_name_fail(text, "is not an open port of this process");
}
