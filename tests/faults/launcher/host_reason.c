/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds a host by a command that fails, and prints why it is lost: a line as the event tells it, and one as
 * plenum_runtime_host() does. usage: host_reason COMMAND */
#include <poll.h>
#include <stdio.h>

#include "api/plenum.h"

int main(int argc, char **argv)
{
    struct plenum_runtime *rt;
    struct plenum_event *event = NULL;
    struct plenum_host host = { .name = "" };
    if (argc != 2 || plenum_runtime_open(&rt) || plenum_runtime_host_add(rt, "far", 1, argv[1])) {
        fprintf(stderr, "%s\n", plenum_error());
        return 1;
    }
    while (plenum_runtime_next_event(rt, &event) == PLENUM_OK && !event)
        poll(&(struct pollfd){ .fd = plenum_runtime_fd(rt), .events = POLLIN }, 1, -1);
    printf("%s\n", event && event->text ? event->text : "");
    plenum_event_free(event);
    plenum_runtime_host(rt, 0, &host, sizeof host);
    printf("%s\n", host.reason);
    plenum_runtime_close(rt);
    return 0;
}
