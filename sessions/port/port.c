/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing of ports. The ports that are open, and their callers: calls.c. */
#include "sessions/port/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/object/info.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"
#include "sessions/port/name.h"

int pl_port_scope(struct pl_info *info, bool *far)
{
    static const char *const words[] = { "host", "network", "runtime", "user", NULL };
    char *scope = NULL;
    int rc = pl_info_get(info, "plenum_scope", &scope);
    int which = scope ? pl_words_find(words, scope) : -1;
    *far = which == 1 || (which != 0 && strcmp(pl_config_text("scope"), "network") == 0);
    if (scope && which < 0)
        rc = pl_fail(MPI_ERR_INFO_VALUE, "info key plenum_scope is \"%.60s\"; it must be host or network", scope);
    free(scope);
    return rc;
}

static int port_fail_far(int error)
{
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    return pl_fail(error, "the port cannot be opened for the network: %s", why);
}

int pl_port_open(bool far, char name[MPI_MAX_PORT_NAME])
{
    struct pl_engine *listener;
    uint64_t number;
    int rc = pl_listener_open(&listener);
    if (rc)
        return rc;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a port");
    if (far && (rc = pl_engine_add_network(listener)) != MPI_SUCCESS)
        return port_fail_far(rc);
    pl_engine_enter(listener);
    rc = pl_port_add(number, far);
    if (rc == MPI_SUCCESS)
        pl_port_name_format(number, far, listener->card, listener->card_length, name);
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
