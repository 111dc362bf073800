/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own messages. UCX keeps its log handlers for the life of the process. Ours is added once and stays, as UCX
 * itself does, and passes everything on to UCX when no engine is open. It runs in any thread, UCX's own included.
 */
#include "plugins/ucx/ucx_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <ucs/debug/log_def.h>

static const struct pl_transport_host *_Atomic log_host;
static _Atomic int log_users;

static ucs_log_func_rc_t ucx_log_handle(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                        const ucs_log_component_config_t *config, const char *format, va_list arguments)
{
    (void)file, (void)line, (void)function, (void)config;
    const struct pl_transport_host *host = log_host;
    if (level == UCS_LOG_LEVEL_FATAL || level == UCS_LOG_LEVEL_PRINT || !host || !log_users)
        return UCS_LOG_FUNC_RC_CONTINUE;
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    host->log("ucx", level == UCS_LOG_LEVEL_ERROR ? 0 : level == UCS_LOG_LEVEL_WARN ? 1 : 3, "UCX: %s", text);
    return UCS_LOG_FUNC_RC_STOP;
}

static void ucx_log_install(void)
{
    if (!secure_getenv("UCX_LOG_LEVEL") && !secure_getenv("UCX_LOG_FILE"))
        ucs_log_push_handler(ucx_log_handle);
}

void pl_ucx_log_open(const struct pl_transport_host *host)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    log_host = host;
    log_users++;
    pthread_once(&once, ucx_log_install);
}

void pl_ucx_log_close(void)
{
    log_users--;
}
