/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator is made by, and what is started on it, when memory runs out: for every allocation once. The call
 * fails with MPI_ERR_NO_MEM, nothing stays behind, and the same call succeeds the next time.
 */
#include "unit.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/hw.h"
#include "core/comm/topology_cart.h"
#include "core/comm/topology_graph.h"
#include "core/datatype/datatype.h"
#include "core/engine/bsend.h"
#include "core/engine/comm_info.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/job/process.h"
#include "core/object/alloc_kinds.h"
#include "core/object/attr.h"
#include "core/object/info.h"
#include "core/object/object.h"
#include "sessions/create/comm_from_group.h"
#include "sessions/session.h"

static struct pl_comm *parent;
static struct pl_info *hints;
static int keyval;

/* Done with what was made. */
static int drop_comm(int rc, struct pl_comm *made)
{
    return rc || !made ? rc : pl_comm_free(made);
}

static int finish(int rc, struct pl_request *request)
{
    if (rc)
        return rc;
    rc = pl_request_wait(request);
    request->is.active = false;
    pl_request_retire(request);
    return rc;
}

/* The hints of one that was made are all there. */
static void check_hints(int rc, const struct pl_comm *made)
{
    ck_assert(rc || (made->hints.asserted == PL_ASSERT_NO_ANY_TAG && made->hints.info && made->hints.info->count == 1));
}

static int duplicate(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_comm_dup(parent, hints, &made);
    check_hints(rc, made);
    return drop_comm(rc, made);
}

static int duplicate_later(void)
{
    struct pl_comm *made = NULL;
    struct pl_request *request = NULL;
    int rc = pl_comm_idup(parent, hints, &made, &request);
    rc = finish(rc, request);
    check_hints(rc, made);
    return drop_comm(rc, made);
}

static int split(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_comm_split(parent, 5, 0, &made);
    return drop_comm(rc, made);
}

static int split_by_node(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, NULL, NULL, NULL, &made);
    return drop_comm(rc, made);
}

static int split_for_user(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rc = MPI_Comm_split_type(pl_comm_handle(parent), MPI_COMM_TYPE_SHARED, 0, pl_object_handle(hints), &made);
    if (rc)
        return rc;
    check_hints(rc, pl_object_get(PL_COMM, made, "made"));
    return MPI_Comm_free(&made);
}

static int graph_for_user(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rc = MPI_Dist_graph_create(pl_comm_handle(parent), 1, (int[]){ 0 }, (int[]){ 1 }, (int[]){ 0 }, (int[]){ 3 },
                                   pl_object_handle(hints), 0, &made);
    if (rc)
        return rc;
    check_hints(rc, pl_object_get(PL_COMM, made, "made"));
    return MPI_Comm_free(&made);
}

static int meet(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_comm_from_group(parent->group, "tag", hints, NULL, &made);
    check_hints(rc, made);
    return drop_comm(rc, made);
}

static int from_group(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_comm_create_group(parent, parent->group, 7, &made);
    return drop_comm(rc, made);
}

static int grid(void)
{
    struct pl_comm *made = NULL, *part = NULL;
    int rc = pl_cart_create(parent, 2, (int[]){ 1, 1 }, (int[]){ 1, 0 }, true, &made);
    if (rc)
        return rc;
    rc = pl_cart_sub(made, (int[]){ 1, 0 }, &part);
    pl_comm_free(made);
    return drop_comm(rc, part);
}

static int graph(void)
{
    struct pl_comm *made = NULL;
    int rc = pl_dist_graph_create(parent, 1, (int[]){ 0 }, (int[]){ 1 }, (int[]){ 0 }, NULL, false, &made);
    return drop_comm(rc, made);
}

static int buffered(void)
{
    struct pl_request *request = NULL;
    void *buffer;
    MPI_Count size;
    int in = 0, out = 17;
    struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT);
    int rc = pl_bsend_attach(pl_bsend_of_comm(parent), MPI_BUFFER_AUTOMATIC, 0);
    if (rc)
        return rc;
    rc = pl_bsend(parent, &out, 1, type, 0, 3);
    if (rc == MPI_SUCCESS)
        while ((rc = pl_recv_prepare(parent, &in, 1, type, 0, 3, &request)) == MPI_ERR_NO_MEM)
            continue; /* it has left, so it must be received */
    if (rc == MPI_SUCCESS)
        rc = finish(pl_p2p_start(request), request);
    pl_bsend_detach(pl_bsend_of_comm(parent), &buffer, &size);
    ck_assert(rc || in == 17);
    return rc;
}

static int collective(void)
{
    struct pl_request *request = NULL;
    int data = 3, sum = 0;
    struct pl_coll coll = {
        .kind = PL_COLL_ALLREDUCE,
        .comm = parent,
        .sendbuf = &data,
        .recvbuf = &sum,
        .recvcount = 1,
        .recvtype = pl_type_predefined((uintptr_t)MPI_INT),
        .op = pl_op_predefined((uintptr_t)MPI_SUM),
    };
    int rc = pl_coll_start(&coll, &request);
    rc = finish(rc, request);
    ck_assert(rc || sum == 3);
    return rc;
}

static const struct {
    const char *name;
    int (*run)(void);
} operations[] = {
    { "dup", duplicate },
    { "idup", duplicate_later },
    { "split", split },
    { "node", split_by_node },
    { "group", from_group },
    { "grid", grid },
    { "graph", graph },
    { "bsend", buffered },
    { "collective", collective },
    { "node for the user", split_for_user },
    { "graph for the user", graph_for_user },
    { "meeting", meet },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static long objects(void)
{
    long count = 0;
    pl_request_free_spares(parent);
    for (int kind = 1; kind < PL_KINDS; kind++)
        count += pl_object_count(kind);
    return count;
}

START_TEST(out_of_memory)
{
    struct pl_instance *session;
    int failed = 0;
    ck_assert_int_eq(pl_session_open(NULL, NULL, &session), MPI_SUCCESS);
    struct pl_group *group = pl_instance_group_range(session, 1, pl_process_self(), 1);
    ck_assert_int_eq(pl_comm_create(session, NULL, group, NULL, pl_comm_new_id(), &parent), MPI_SUCCESS);
    pl_handle_drop(group);
    hints = pl_info_create();
    pl_info_set(hints, "mpi_assert_no_any_tag", "true");
    pl_info_set(hints, PL_ALLOC_KINDS_ASSERT_KEY, "system");
    MPI_Comm_set_errhandler(pl_comm_handle(parent), MPI_ERRORS_RETURN);
    struct pl_keyval_functions functions = { .copy = { .constant = (uintptr_t)MPI_COMM_DUP_FN },
                                             .delete = { .constant = (uintptr_t)MPI_COMM_NULL_DELETE_FN } };
    ck_assert_int_eq(pl_keyval_create(PL_COMM, &functions, &keyval), MPI_SUCCESS);
    ck_assert_int_eq(pl_attr_set(&parent->attrs, PL_COMM, keyval, parent, &failed, false), MPI_SUCCESS);
    ck_assert_int_eq(operations[_i].run(), MPI_SUCCESS); /* the first time something may stay for the next */
    long before = objects();
    for (int n = 1;; n++) {
        pl_memory_fail_at(n);
        int rc = operations[_i].run();
        bool happened = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert_msg(rc == MPI_SUCCESS || rc == MPI_ERR_NO_MEM, "%s: allocation %d: %d (%s)", operations[_i].name, n,
                      rc, pl_error_detail(NULL));
        failed += rc != MPI_SUCCESS;
        ck_assert_msg(objects() == before, "%s: allocation %d: %ld objects, not %ld", operations[_i].name, n, objects(),
                      before);
        ck_assert_int_eq(operations[_i].run(), MPI_SUCCESS);
        if (!happened)
            break;
    }
    ck_assert_int_gt(failed, 0);
    pl_handle_drop(hints);
    pl_comm_free(parent);
    pl_keyval_free(PL_COMM, keyval);
    pl_session_close(session);
    for (int kind = 1; kind < PL_KINDS; kind++)
        ck_assert_int_eq(pl_object_count(kind), 0);
}
END_TEST

/* However many communicators there were, an id is new, and so is the second one that comes with it. */
START_TEST(ids)
{
    enum { AROUND = 6 };
    const uint64_t serials = PL_SECOND_SERIAL - 1;
    static const uint64_t rounds[] = { 0, 1, 2, 1000 };
    struct pl_comm_id id[2 * 2 * AROUND * sizeof rounds / sizeof *rounds];
    size_t count = 0;
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        atomic_store(&pl_process.comms, rounds[i] ? rounds[i] * serials - AROUND : 0);
        for (int k = 0; k < 2 * AROUND; k++, count += 2) {
            id[count] = pl_comm_new_id();
            id[count + 1] = pl_comm_second_id(id[count]);
            ck_assert_uint_eq(id[count].home, id[count + 1].home);
        }
    }
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_ne(id[i].serial, 0);
        for (size_t k = 0; k < i; k++)
            ck_assert(id[i].home != id[k].home || id[i].serial != id[k].serial);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm_make");
    tcase_add_test(unit_case(suite), ids);
    tcase_add_loop_test(unit_case(suite), out_of_memory, 0, OPERATIONS);
    return unit_end(suite);
}
