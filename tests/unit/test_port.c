/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ports: truncated, changed and invented ones are refused. Locators of processes that live or have ended. What
 * ports do when a peer of the listener is freed. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "core/base/config.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/job/locator.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"
#include "sessions/port/name.h"
#include "sessions/port/port.h"

START_TEST(texts)
{
    struct pl_instance *instance;
    struct pl_port_name name;
    char port[MPI_MAX_PORT_NAME], other[2 * MPI_MAX_PORT_NAME];
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    ck_assert_int_eq(pl_port_open(false, port), MPI_SUCCESS);
    ck_assert_int_eq(pl_port_name_parse(port, &name), MPI_SUCCESS);
    ck_assert_int_eq(name.process.pid, getpid());
    ck_assert(!pl_locator_has_ended(&name.process));
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    ck_assert(!name.far && strncmp(name.host, host, PL_PORT_HOST_MAX) == 0);
    size_t length = strlen(port);
    for (size_t cut = 0; cut < length; cut++) {
        memcpy(other, port, cut);
        other[cut] = '\0';
        UNIT_CHECK(pl_port_name_check(other) == MPI_ERR_PORT);
    }
    for (size_t at = 0; at < length; at++)
        for (int c = 1; c < 128; c += 5) {
            snprintf(other, sizeof other, "%s", port);
            other[at] = (char)c;
            UNIT_CHECK(c == port[at] || pl_port_name_check(other) == MPI_ERR_PORT);
        }
    snprintf(other, sizeof other, "%s%s", port, port);
    ck_assert_int_eq(pl_port_name_check(other), MPI_ERR_PORT);
    memset(other, '0', sizeof other - 1);
    memcpy(other, "plenum:", 7);
    other[sizeof other - 1] = '\0';
    ck_assert_int_eq(pl_port_name_check(other), MPI_ERR_PORT);
    ck_assert_int_eq(pl_port_close(port), MPI_SUCCESS);
    ck_assert_int_eq(pl_port_close(port), MPI_ERR_PORT);
    ck_assert_int_eq(pl_port_open(false, port), MPI_SUCCESS);
    pl_instance_close(instance); /* with a port that is open */
}
END_TEST

/* The longest card, with which the name of a host is cut; and the name of a port of the network has none. */
START_TEST(scopes)
{
    static unsigned char card[PL_CARD_MAX];
    struct pl_port_name name;
    char port[MPI_MAX_PORT_NAME];
    memset(card, 7, sizeof card);
    for (int far = 0; far <= 1; far++) {
        pl_port_name_format(5, far, card, sizeof card, port);
        ck_assert_int_eq(pl_port_name_parse(port, &name), MPI_SUCCESS);
        ck_assert(name.far == far && name.port == 5 && name.card_length == sizeof card);
        ck_assert_int_eq(memcmp(name.card, card, sizeof card), 0);
        ck_assert(!far || name.host[0] == '\0');
    }
}
END_TEST

START_TEST(ended)
{
    int ends[2];
    struct pl_locator there = { 0 };
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct pl_locator own = pl_locator_self();
        if (write(ends[1], &own, sizeof own) == sizeof own)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ends[0], &there, sizeof there), sizeof there);
    ck_assert_int_eq(there.pid, pid);
    ck_assert(!pl_locator_has_ended(&there));
    struct pl_locator later = there, elsewhere = there;
    later.started++; /* a process that had this pid before */
    ck_assert(pl_locator_has_ended(&later));
    kill(pid, SIGKILL);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert(pl_locator_has_ended(&there)); /* a zombie */
    waitpid(pid, NULL, 0);
    ck_assert(pl_locator_has_ended(&there));
    elsewhere.node++;
    ck_assert(!pl_locator_has_ended(&elsewhere)); /* unknown from here */
    ck_assert(!pl_locator_has_ended(&(struct pl_locator){ 0 }));
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* An exchange finds that a peer of the listener has ended, while a port has a call to it, and a proposal for it. */
START_TEST(peer_ended)
{
    static const unsigned char wire[] = "a group";
    struct pl_instance *instance;
    struct pl_engine *listener;
    struct pl_port_name name;
    struct pl_port_call call;
    struct pl_port_caller *caller;
    char port[MPI_MAX_PORT_NAME];
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    ck_assert_int_eq(pl_listener_open(&listener), MPI_SUCCESS);
    ck_assert_int_eq(pl_port_open(false, port), MPI_SUCCESS);
    ck_assert_int_eq(pl_port_name_parse(port, &name), MPI_SUCCESS);
    pl_engine_enter(listener);
    ck_assert_int_eq(pl_port_call_start(listener, &name, wire, sizeof wire, false, &call), MPI_SUCCESS);
    pl_engine_progress(listener);
    ck_assert(pl_port_next_caller(name.port, &caller));
    ck_assert_ptr_nonnull(caller);
    ck_assert_int_eq(pl_port_propose(listener, caller, pl_comm_new_id(), wire, sizeof wire), MPI_SUCCESS);
    ck_assert_ptr_eq(caller->peer, call.peer);
    pl_listener_forget(listener, call.peer);
    ck_assert(!call.peer && !caller->peer);
    pl_engine_progress(listener); /* the proposal, if it has not come yet */
    pl_port_call_end(listener, &call, true);
    pl_port_free_caller(caller);
    pl_engine_leave(listener);
    ck_assert_int_eq(pl_port_close(port), MPI_SUCCESS);
    pl_instance_close(instance);
}
END_TEST

UNIT_MAIN("port", texts, scopes, ended, peer_ended)
