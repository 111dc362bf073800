/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables that lower rooms call higher ones through: kinds of objects, messages and requests, the clients of the
 * engine, the parts of the process, and the settings that core/base cannot check by itself.
 */
#include "core/base/config_value.h"
#include "core/base/log.h"
#include "core/coll/agree.h"
#include "core/coll/algorithm.h"
#include "core/coll/alone.h"
#include "core/coll/area/area.h"
#include "core/coll/area/collectives.h"
#include "core/coll/area/place.h"
#include "core/coll/astray.h"
#include "core/coll/collective.h"
#include "core/coll/hierarchy/collectives.h"
#include "core/coll/hierarchy/hierarchy.h"
#include "core/coll/hierarchy/started.h"
#include "core/coll/owed.h"
#include "core/coll/rules_file.h"
#include "core/coll/schedule.h"
#include "core/coll/schedule_run.h"
#include "core/comm/agreement.h"
#include "core/comm/create.h"
#include "core/comm/neighbor.h"
#include "core/comm/topology.h"
#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/match.h"
#include "core/engine/partitioned.h"
#include "core/engine/request.h"
#include "core/file/datarep.h"
#include "core/file/file.h"
#include "core/job/info_env.h"
#include "core/job/process.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/rma/message_response.h"
#include "core/rma/rma.h"
#include "core/rma/target.h"
#include "core/rma/window.h"

const struct pl_kind_ops pl_kinds[PL_KINDS] = {
    [0] = { .name = "none", .errors = &pl_process_errors },
    [PL_COMM] = { "communicator", "MPI_COMM_NULL", sizeof(struct pl_comm), MPI_ERR_COMM, (uintptr_t)MPI_COMM_NULL,
                  pl_comm_destroy, pl_comm_predefined, &pl_comm_errors },
    [PL_DATATYPE] = { "datatype", "MPI_DATATYPE_NULL", sizeof(struct pl_type), MPI_ERR_TYPE,
                      (uintptr_t)MPI_DATATYPE_NULL, pl_type_destroy, pl_type_predefined, NULL },
    [PL_ERRHANDLER] = { "error handler", "MPI_ERRHANDLER_NULL", sizeof(struct pl_errhandler), MPI_ERR_ERRHANDLER,
                        (uintptr_t)MPI_ERRHANDLER_NULL, pl_errhandler_destroy, pl_errhandler_predefined, NULL },
    [PL_FILE] = { "file", "MPI_FILE_NULL", sizeof(struct pl_file), MPI_ERR_FILE, (uintptr_t)MPI_FILE_NULL,
                  pl_file_destroy, NULL, &pl_file_errors },
    [PL_GROUP] = { "group", "MPI_GROUP_NULL", sizeof(struct pl_group), MPI_ERR_GROUP, (uintptr_t)MPI_GROUP_NULL,
                   pl_group_destroy, pl_group_predefined, NULL },
    [PL_INFO] = { "info object", "MPI_INFO_NULL", sizeof(struct pl_info), MPI_ERR_INFO, (uintptr_t)MPI_INFO_NULL,
                  pl_info_destroy, pl_info_predefined, NULL },
    [PL_MESSAGE] = { "message", "MPI_MESSAGE_NULL", sizeof(struct pl_message), MPI_ERR_REQUEST,
                     (uintptr_t)MPI_MESSAGE_NULL, pl_message_destroy, NULL, NULL },
    [PL_OP] = { "operation", "MPI_OP_NULL", sizeof(struct pl_op), MPI_ERR_OP, (uintptr_t)MPI_OP_NULL, pl_op_destroy,
                pl_op_predefined, NULL },
    [PL_REQUEST] = { "request", "MPI_REQUEST_NULL", sizeof(struct pl_request), MPI_ERR_REQUEST,
                     (uintptr_t)MPI_REQUEST_NULL, pl_request_destroy, NULL, NULL },
    [PL_SESSION] = { "session", "MPI_SESSION_NULL", sizeof(struct pl_instance), MPI_ERR_SESSION,
                     (uintptr_t)MPI_SESSION_NULL, pl_session_destroy, NULL, &pl_session_errors },
    [PL_WIN] = { "window", "MPI_WIN_NULL", sizeof(struct pl_win), MPI_ERR_WIN, (uintptr_t)MPI_WIN_NULL, pl_win_destroy,
                 NULL, &pl_win_errors },
};

const struct pl_message_ops pl_message_ops[PL_MSG_KINDS] = {
    [PL_MSG_COLL] = { .check = pl_coll_check,
                      .truncated = pl_coll_truncated,
                      .what = PL_WHAT_COLLECTIVE,
                      .tag = pl_area_message_count },
    [PL_MSG_RMA] = { .arrived = pl_rma_arrived },
    [PL_MSG_OWED] = { .arrived = pl_owed_arrived },
    [PL_MSG_AGREEMENT] = { .arrived = pl_agreement_arrived },
};

const struct pl_request_ops pl_request_ops[PL_REQ_KINDS] = {
    [PL_REQ_SEND] = { .what = PL_WHAT_SEND },
    [PL_REQ_RECV] = { .what = PL_WHAT_RECV },
    [PL_REQ_COLL] = { .report = pl_comm_idup_report,
                      .recycle = pl_schedule_recycle,
                      .what = PL_WHAT_COLLECTIVE,
                      .describe = pl_schedule_describe },
    [PL_REQ_GENERALIZED] = { .what = PL_WHAT_REQUEST },
    [PL_REQ_PARTITIONED] = { .report = pl_partitioned_report },
    [PL_REQ_AGREEMENT] = { .what = PL_WHAT_COLLECTIVE, .describe = pl_agreement_describe },
    [PL_REQ_RMA] = { .report = pl_rma_report },
};

const struct pl_engine_client pl_engine_clients[PL_ENGINE_CLIENTS] = {
    { .name = "rma", .failed = pl_rma_comm_failed, .closing = pl_win_orphan },
    { .name = "coll", .settings = pl_coll_settings, .resolved = pl_coll_compare, .awaited = pl_astray_check },
    { .name = "hierarchy", .orphaned = pl_hierarchy_release, .destroyed = pl_hierarchy_release },
    { .name = "area", .orphaned = pl_area_release, .destroyed = pl_area_release },
    { .name = "topology", .destroyed = pl_topology_release },
    { .name = "agreement",
      .awaited = pl_agreement_awaited,
      .member_failed = pl_agreement_failed,
      .closing = pl_agreement_closing,
      .destroyed = pl_agreement_release },
};

const struct pl_process_part pl_process_parts[PL_PROCESS_PARTS] = {
    { .open = pl_coll_rules_open, .close = pl_coll_rules_close },
    { .close = pl_datareps_forget },
    { .close = pl_request_sent_forget, .progress = pl_engine_nudge_all },
};

const struct pl_config_check pl_config_checks[PL_CONFIG_CHECKS] = {
    { "coll_places", PL_AREA_PLACES_ALLOWED, pl_area_places_valid },
    { "initial_errhandler", PL_NAMED_ALLOWED, pl_named_valid },
    { "log", PL_LOG_ALLOWED, pl_log_filter_valid },
};

bool (*const pl_coll_append_by_nodes)(struct pl_schedule *schedule,
                                      const struct pl_coll *coll) = pl_hierarchy_append_started;
pl_coll_shortcut *const pl_coll_shortcuts[PL_COLL_SHORTCUTS] = { pl_coll_try_area, pl_coll_try_alone,
                                                                 pl_coll_try_hierarchy };

const struct pl_algorithm *const pl_coll_neighborhood = &pl_neighbor_exchange;
struct pl_neighbors (*const pl_coll_neighbors)(const struct pl_comm *comm) = pl_neighbors_of;
