/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 */
/* Requests, groups, datatypes, topologies and commands in arrays of which the middle element is bad: see elements.h. */
#include "elements.h"

/* A call, whose middle element is bad or not. What a good call has made is freed. */
struct row {
    const char *name;
    int (*call)(int bad);
    int class;
    const char *says; /* with %d for the place of the element */
};

static void check_row(const struct row *row)
{
    unsigned long before[LEVELS], after[LEVELS];
    for (int i = 0; i < 2; i++)
        mtest_check_code(row->call(0), MPI_SUCCESS, __FILE__, __LINE__, row->name);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == 1)
            read_levels(before); /* requests are kept for reuse */
        check_error(row->name, row->call(1), row->class, row->says);
    }
    read_levels(after);
    mtest_check(memcmp(before, after, sizeof before) == 0, __FILE__, __LINE__, row->name, "objects are made or lost");
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

/* --- requests ----------------------------------------------------------------------------------------------------- */

static MPI_Request requests[3], copies[3];
static int data[3];
#define NEVER ((MPI_Request)data) /* a freed one may be another now */

/* Three complete ones, of which the middle one may be bad. */
static void make_requests(int bad)
{
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Irecv(&data[i], 1, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[i]));
    if (bad) {
        CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        requests[1] = NEVER;
    }
    memcpy(copies, requests, sizeof copies);
}

static int end_requests(int rc)
{
    if (rc != MPI_SUCCESS) {
        CHECK(memcmp(copies, requests, sizeof copies) == 0);
        requests[1] = MPI_REQUEST_NULL;
    }
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    return rc;
}

static int outcount, found, flag, indices[3];

#define ON_REQUESTS(name, call)                                                                                        \
    static int name(int bad)                                                                                           \
    {                                                                                                                  \
        make_requests(bad);                                                                                            \
        return end_requests(call);                                                                                     \
    }
ON_REQUESTS(waitall, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE))
ON_REQUESTS(waitany, MPI_Waitany(3, requests, &found, MPI_STATUS_IGNORE))
ON_REQUESTS(waitsome, MPI_Waitsome(3, requests, &outcount, indices, MPI_STATUSES_IGNORE))
ON_REQUESTS(testall, MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE))
ON_REQUESTS(testany, MPI_Testany(3, requests, &found, &flag, MPI_STATUS_IGNORE))
ON_REQUESTS(testsome, MPI_Testsome(3, requests, &outcount, indices, MPI_STATUSES_IGNORE))
ON_REQUESTS(status_all, MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE))
ON_REQUESTS(status_any, MPI_Request_get_status_any(3, requests, &found, &flag, MPI_STATUS_IGNORE))
ON_REQUESTS(status_some, MPI_Request_get_status_some(3, requests, &outcount, indices, MPI_STATUSES_IGNORE))

/* `how`: the middle one is 0 good, 1 null, 2 no request, 3 active, 4 not persistent. None is started with a bad one. */
static int startall(int how)
{
    MPI_Request all[3], other = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Recv_init(&data[i], 1, MPI_INT, mtest_rank, 70 + i, comm, &all[i]));
    MPI_Request middle = all[1];
    if (how == 4)
        CHECK_OK(MPI_Irecv(&data[1], 1, MPI_INT, MPI_PROC_NULL, 0, comm, &other));
    if (how == 3)
        CHECK_OK(MPI_Start(&middle));
    all[1] = how == 1 ? MPI_REQUEST_NULL : how == 2 ? NEVER : how == 4 ? other : middle;
    int rc = MPI_Startall(3, all);
    all[1] = middle;
    for (int i = 0; i < 3; i++) {
        if (rc != MPI_SUCCESS && !(how == 3 && i == 1))
            CHECK_OK(MPI_Start(&all[i])); /* it was not active */
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, mtest_rank, 70 + i, comm));
        CHECK_OK(MPI_Wait(&all[i], MPI_STATUS_IGNORE));
        CHECK(data[i] == i);
        CHECK_OK(MPI_Request_free(&all[i]));
    }
    CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    return rc;
}
static int startall_null(int bad)
{
    return startall(bad ? 1 : 0);
}
static int startall_wild(int bad)
{
    return startall(bad ? 2 : 0);
}
static int startall_active(int bad)
{
    return startall(bad ? 3 : 0);
}
static int startall_ordinary(int bad)
{
    return startall(bad ? 4 : 0);
}

/* None is ready after an error. */
static int pready_list(int bad)
{
    MPI_Request request;
    CHECK_OK(MPI_Psend_init(data, 3, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    int rc = MPI_Pready_list(3, (int[]){ 2, bad ? 9 : 1, 0 }, request);
    if (rc != MPI_SUCCESS)
        CHECK_OK(MPI_Pready_range(0, 2, request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    return rc;
}

static void check_requests(void)
{
    static const struct row rows[] = {
#define REQUEST "array_of_requests[%d]: request"
        { "MPI_Waitall", waitall, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Waitany", waitany, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Waitsome", waitsome, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Testall", testall, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Testany", testany, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Testsome", testsome, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Request_get_status_all", status_all, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Request_get_status_any", status_any, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Request_get_status_some", status_some, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Startall, null", startall_null, MPI_ERR_REQUEST, REQUEST " is MPI_REQUEST_NULL" },
        { "MPI_Startall, no request", startall_wild, MPI_ERR_REQUEST, REQUEST " is not a valid request: 0x" },
        { "MPI_Startall, active", startall_active, MPI_ERR_REQUEST, "array_of_requests[%d]: the request is already" },
        { "MPI_Startall, not persistent", startall_ordinary, MPI_ERR_REQUEST,
          "array_of_requests[%d]: the request is not persistent" },
        { "MPI_Pready_list", pready_list, MPI_ERR_ARG, "array_of_partitions[%d]: partition 9" },
    };
    mid = 1;
    CHECK_ROWS(rows);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static MPI_Group group;

static int end_group(int rc, MPI_Group made)
{
    CHECK((rc == MPI_SUCCESS) == (made != MPI_GROUP_NULL));
    if (made != MPI_GROUP_NULL)
        CHECK_OK(MPI_Group_free(&made));
    return rc;
}

#define ON_GROUP(name, call)                                                                                           \
    static int name(int bad)                                                                                           \
    {                                                                                                                  \
        MPI_Group made = MPI_GROUP_NULL;                                                                               \
        int rc = call;                                                                                                 \
        return end_group(rc, made);                                                                                    \
    }
ON_GROUP(incl, MPI_Group_incl(group, 3, (int[]){ 0, bad ? 99 : 1, 2 }, &made))
ON_GROUP(excl, MPI_Group_excl(group, 2, (int[]){ 0, bad ? -7 : 1 }, &made))
ON_GROUP(range_incl,
         MPI_Group_range_incl(group, 3, (int[][3]){ { 0, 0, 1 }, { 1, bad ? 99 : 1, 1 }, { 2, 2, 1 } }, &made))
ON_GROUP(range_excl, MPI_Group_range_excl(group, 2, (int[][3]){ { 0, 0, 1 }, { 1, 1, bad ? 0 : 1 } }, &made))

static int translate(int bad)
{
    int to[3] = { -5, -5, -5 };
    int rc = MPI_Group_translate_ranks(group, 3, (int[]){ 2, bad ? 99 : 1, 0 }, group, to);
    CHECK(rc ? to[0] == -5 && to[1] == -5 && to[2] == -5 : to[0] == 2 && to[1] == 1 && to[2] == 0);
    return rc;
}

static void check_groups(void)
{
    static const struct row rows[] = {
        { "MPI_Group_incl", incl, MPI_ERR_RANK, "rank 99 (at place %d)" },
        { "MPI_Group_excl", excl, MPI_ERR_RANK, "rank -7 (at place %d)" },
        { "MPI_Group_range_incl", range_incl, MPI_ERR_RANK, "ranges[%d] is 1, 99, 1" },
        { "MPI_Group_range_excl", range_excl, MPI_ERR_ARG, "ranges[%d] has stride 0" },
        { "MPI_Group_translate_ranks", translate, MPI_ERR_RANK, "ranks1[%d] is 99" },
    };
    CHECK_OK(MPI_Comm_group(comm, &group));
    mid = 1;
    CHECK_ROWS(rows);
    CHECK_OK(MPI_Group_free(&group));
}

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

static int end_type(int rc, MPI_Datatype made)
{
    CHECK((rc == MPI_SUCCESS) == (made != MPI_DATATYPE_NULL));
    if (made != MPI_DATATYPE_NULL)
        CHECK_OK(MPI_Type_free(&made));
    return rc;
}

#define ON_TYPE(name, call)                                                                                            \
    static int name(int bad)                                                                                           \
    {                                                                                                                  \
        MPI_Datatype made = MPI_DATATYPE_NULL;                                                                         \
        int rc = call;                                                                                                 \
        return end_type(rc, made);                                                                                     \
    }
#define INTS(...)          ((int[]){ __VA_ARGS__ })
#define COUNTS(...)        ((MPI_Count[]){ __VA_ARGS__ })
#define AINTS(...)         ((MPI_Aint[]){ __VA_ARGS__ })
#define TYPES(...)         ((MPI_Datatype[]){ __VA_ARGS__ })
#define THREE(good, wrong) good, bad ? (wrong) : (good), good
#define PLACES             0, 8, 16
ON_TYPE(indexed, MPI_Type_indexed(3, INTS(THREE(1, -4)), INTS(PLACES), MPI_INT, &made))
ON_TYPE(indexed_c, MPI_Type_indexed_c(3, COUNTS(THREE(1, -4)), COUNTS(PLACES), MPI_INT, &made))
ON_TYPE(hindexed, MPI_Type_create_hindexed(3, INTS(THREE(1, -4)), AINTS(PLACES), MPI_INT, &made))
ON_TYPE(hindexed_c, MPI_Type_create_hindexed_c(3, COUNTS(THREE(1, -4)), COUNTS(PLACES), MPI_INT, &made))
ON_TYPE(struct_lengths,
        MPI_Type_create_struct(3, INTS(THREE(1, -4)), AINTS(PLACES), TYPES(MPI_INT, MPI_INT, MPI_INT), &made))
ON_TYPE(struct_lengths_c,
        MPI_Type_create_struct_c(3, COUNTS(THREE(1, -4)), COUNTS(PLACES), TYPES(MPI_INT, MPI_INT, MPI_INT), &made))
ON_TYPE(struct_types,
        MPI_Type_create_struct(3, INTS(1, 1, 1), AINTS(PLACES), TYPES(THREE(MPI_INT, MPI_DATATYPE_NULL)), &made))
ON_TYPE(struct_types_c,
        MPI_Type_create_struct_c(3, COUNTS(1, 1, 1), COUNTS(PLACES), TYPES(THREE(MPI_INT, (MPI_Datatype)data)), &made))
ON_TYPE(sub_sizes,
        MPI_Type_create_subarray(3, INTS(THREE(4, -4)), INTS(2, 2, 2), INTS(1, 1, 1), MPI_ORDER_C, MPI_INT, &made))
ON_TYPE(sub_subsizes,
        MPI_Type_create_subarray(3, INTS(4, 4, 4), INTS(THREE(2, 9)), INTS(1, 1, 1), MPI_ORDER_C, MPI_INT, &made))
ON_TYPE(sub_starts_c, MPI_Type_create_subarray_c(3, COUNTS(4, 4, 4), COUNTS(2, 2, 2), COUNTS(THREE(1, 3)), MPI_ORDER_C,
                                                 MPI_INT, &made))
#define BLOCKS   INTS(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK)
#define DEFAULTS INTS(MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG)
ON_TYPE(darray_gsizes, MPI_Type_create_darray(1, 0, 3, INTS(THREE(4, 0)), BLOCKS, DEFAULTS, INTS(1, 1, 1), MPI_ORDER_C,
                                              MPI_INT, &made))
ON_TYPE(darray_distribs, MPI_Type_create_darray(1, 0, 3, INTS(4, 4, 4), INTS(THREE(MPI_DISTRIBUTE_BLOCK, 77)), DEFAULTS,
                                                INTS(1, 1, 1), MPI_ORDER_C, MPI_INT, &made))
ON_TYPE(darray_dargs, MPI_Type_create_darray(1, 0, 3, INTS(4, 4, 4), BLOCKS, INTS(THREE(MPI_DISTRIBUTE_DFLT_DARG, -66)),
                                             INTS(1, 1, 1), MPI_ORDER_C, MPI_INT, &made))
ON_TYPE(darray_psizes_c, MPI_Type_create_darray_c(1, 0, 3, COUNTS(4, 4, 4), BLOCKS, DEFAULTS, INTS(THREE(1, -2)),
                                                  MPI_ORDER_C, MPI_INT, &made))

static void check_types(void)
{
    static const struct row rows[] = {
        { "MPI_Type_indexed", indexed, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_indexed_c", indexed_c, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_create_hindexed", hindexed, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_create_hindexed_c", hindexed_c, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_create_struct", struct_lengths, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_create_struct_c", struct_lengths_c, MPI_ERR_ARG, "array_of_blocklengths[%d] is -4" },
        { "MPI_Type_create_struct", struct_types, MPI_ERR_TYPE, "array_of_types[%d]: datatype is MPI_DATATYPE_NULL" },
        { "MPI_Type_create_struct_c", struct_types_c, MPI_ERR_TYPE,
          "array_of_types[%d]: datatype is not a valid datatype: 0x" },
        { "MPI_Type_create_subarray", sub_sizes, MPI_ERR_ARG, "dimension %d has size -4" },
        { "MPI_Type_create_subarray", sub_subsizes, MPI_ERR_ARG, "dimension %d has subsize 9" },
        { "MPI_Type_create_subarray_c", sub_starts_c, MPI_ERR_ARG, "dimension %d starts at 3" },
        { "MPI_Type_create_darray", darray_gsizes, MPI_ERR_ARG, "dimension %d has size 0" },
        { "MPI_Type_create_darray", darray_distribs, MPI_ERR_ARG, "dimension %d has an unknown distribution 77" },
        { "MPI_Type_create_darray", darray_dargs, MPI_ERR_ARG, "dimension %d has distribution argument -66" },
        { "MPI_Type_create_darray_c", darray_psizes_c, MPI_ERR_ARG, "dimension %d has -2 processes" },
    };
    mid = 1;
    CHECK_ROWS(rows);
}

/* --- topologies --------------------------------------------------------------------------------------------------- */

static MPI_Comm grid;

static int end_comm(int rc, MPI_Comm made)
{
    CHECK(rc == MPI_SUCCESS || made == MPI_COMM_NULL);
    if (made != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&made));
    return rc;
}

#define ON_COMM(name, call)                                                                                            \
    static int name(int bad)                                                                                           \
    {                                                                                                                  \
        MPI_Comm made = MPI_COMM_NULL;                                                                                 \
        int rc = call;                                                                                                 \
        return end_comm(rc, made);                                                                                     \
    }
#define NOT_PERIODIC INTS(0, 0, 0)
ON_COMM(cart, MPI_Cart_create(comm, 3, INTS(THREE(1, 0)), NOT_PERIODIC, 0, &made))
ON_COMM(cart_large, MPI_Cart_create(comm, 3, INTS(THREE(1, 77)), NOT_PERIODIC, 0, &made))
ON_COMM(graph_index, MPI_Graph_create(comm, 3, INTS(1, bad ? 0 : 2, 3), INTS(0, 1, 2), 0, &made))
ON_COMM(graph_edges, MPI_Graph_create(comm, 3, INTS(1, 2, 3), INTS(THREE(0, 55)), 0, &made))
ON_COMM(dist_sources, MPI_Dist_graph_create(comm, 3, INTS(THREE(0, 55)), INTS(1, 1, 1), INTS(0, 1, 2), MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made))
ON_COMM(dist_degrees, MPI_Dist_graph_create(comm, 3, INTS(0, 1, 2), INTS(THREE(1, -1)), INTS(0, 1, 2), MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made))
ON_COMM(dist_destinations, MPI_Dist_graph_create(comm, 3, INTS(0, 1, 2), INTS(1, 1, 1), INTS(THREE(0, 55)),
                                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))
ON_COMM(dist_weights, MPI_Dist_graph_create(comm, 3, INTS(0, 1, 2), INTS(1, 1, 1), INTS(0, 1, 2), INTS(THREE(5, -5)),
                                            MPI_INFO_NULL, 0, &made))
#define SELVES INTS(mtest_rank, mtest_rank, mtest_rank)
#define FIVES  INTS(5, 5, 5)
ON_COMM(adjacent_sources, MPI_Dist_graph_create_adjacent(comm, 3, INTS(THREE(mtest_rank, 55)), MPI_UNWEIGHTED, 3,
                                                         SELVES, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))
ON_COMM(adjacent_destinations,
        MPI_Dist_graph_create_adjacent(comm, 3, SELVES, MPI_UNWEIGHTED, 3, INTS(THREE(mtest_rank, -8)), MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made))
ON_COMM(adjacent_sourceweights,
        MPI_Dist_graph_create_adjacent(comm, 3, SELVES, INTS(THREE(5, -5)), 3, SELVES, FIVES, MPI_INFO_NULL, 0, &made))
ON_COMM(adjacent_destweights,
        MPI_Dist_graph_create_adjacent(comm, 3, SELVES, FIVES, 3, SELVES, INTS(THREE(5, -5)), MPI_INFO_NULL, 0, &made))

static int cart_map(int bad)
{
    return MPI_Cart_map(comm, 3, INTS(THREE(1, 0)), NOT_PERIODIC, &found);
}

static int graph_map(int bad)
{
    return MPI_Graph_map(comm, 3, INTS(1, 2, 3), INTS(THREE(0, 55)), &found);
}

static int cart_rank(int bad)
{
    found = -5;
    int rc = MPI_Cart_rank(grid, INTS(THREE(0, 4)), &found);
    CHECK(found == (rc ? -5 : 0));
    return rc;
}

static int dims_with(int wrong)
{
    int dims[3] = { 0, wrong, 0 };
    int rc = MPI_Dims_create(12, 3, dims);
    CHECK(dims[1] == wrong && (rc ? dims[0] == 0 && dims[2] == 0 : dims[0] * dims[1] * dims[2] == 12));
    return rc;
}
static int dims_negative(int bad)
{
    return dims_with(bad ? -2 : 3);
}
static int dims_odd(int bad)
{
    return dims_with(bad ? 5 : 3);
}

static void check_topologies(void)
{
    static const struct row rows[] = {
        { "MPI_Cart_create", cart, MPI_ERR_DIMS, "dims[%d] is 0" },
        { "MPI_Cart_create, too large", cart_large, MPI_ERR_DIMS, "dims[%d] is 77" },
        { "MPI_Cart_map", cart_map, MPI_ERR_DIMS, "dims[%d] is 0" },
        { "MPI_Cart_rank", cart_rank, MPI_ERR_ARG, "coords[%d] is 4" },
        { "MPI_Dims_create", dims_negative, MPI_ERR_DIMS, "dims[%d] is -2" },
        { "MPI_Dims_create, no factor", dims_odd, MPI_ERR_DIMS, "dims[%d] is 5" },
        { "MPI_Graph_create, index", graph_index, MPI_ERR_ARG, "index[%d] is 0" },
        { "MPI_Graph_create, edges", graph_edges, MPI_ERR_ARG, "edges[%d] is 55" },
        { "MPI_Graph_map", graph_map, MPI_ERR_ARG, "edges[%d] is 55" },
        { "MPI_Dist_graph_create, sources", dist_sources, MPI_ERR_RANK, "sources[%d] is 55" },
        { "MPI_Dist_graph_create, degrees", dist_degrees, MPI_ERR_ARG, "degrees[%d] is -1" },
        { "MPI_Dist_graph_create, destinations", dist_destinations, MPI_ERR_RANK, "destinations[%d] is 55" },
        { "MPI_Dist_graph_create, weights", dist_weights, MPI_ERR_ARG, "weights[%d] is -5" },
        { "MPI_Dist_graph_create_adjacent", adjacent_sources, MPI_ERR_RANK, "sources[%d] is 55" },
        { "MPI_Dist_graph_create_adjacent", adjacent_destinations, MPI_ERR_RANK, "destinations[%d] is -8" },
        { "MPI_Dist_graph_create_adjacent", adjacent_sourceweights, MPI_ERR_ARG, "sourceweights[%d] is -5" },
        { "MPI_Dist_graph_create_adjacent", adjacent_destweights, MPI_ERR_ARG, "destweights[%d] is -5" },
    };
    CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 3, INTS(1, 1, 1), NOT_PERIODIC, 0, &grid));
    CHECK_OK(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    mid = 1;
    CHECK_ROWS(rows);
    CHECK_OK(MPI_Comm_free(&grid));
}

/* --- spawning ----------------------------------------------------------------------------------------------------- */

enum { COMMAND, MAXPROCS, INFO, SOFT, SPAWN_KINDS };

/* A good call would start processes; tests/mpi/dynamic has those. */
static void check_spawning(void)
{
    static const struct {
        int class;
        const char *says;
    } wanted[SPAWN_KINDS] = {
        [COMMAND] = { MPI_ERR_ARG, "command %d is NULL" },
        [MAXPROCS] = { MPI_ERR_ARG, "maxprocs of command %d is -1" },
        [INFO] = { MPI_ERR_INFO, "array_of_info[%d]: info is not a valid info object: 0x" },
        [SOFT] = { MPI_ERR_INFO_VALUE, "array_of_info[%d]: info key soft is \"x\"" },
    };
    MPI_Info soft, wild = (MPI_Info)data;
    CHECK_OK(MPI_Info_create(&soft));
    CHECK_OK(MPI_Info_set(soft, "soft", "x"));
    mid = 1;
    for (int kind = 0; kind < SPAWN_KINDS; kind++) {
        char good[] = "true", *commands[] = { good, kind == COMMAND ? NULL : good, good };
        int maxprocs[] = { 1, kind == MAXPROCS ? -1 : 1, 1 };
        MPI_Info infos[] = { MPI_INFO_NULL, kind == INFO ? wild : kind == SOFT ? soft : MPI_INFO_NULL, MPI_INFO_NULL };
        MPI_Comm made = MPI_COMM_NULL;
        unsigned long before[LEVELS], after[LEVELS];
        for (int i = 0; i < ROUNDS; i++) {
            if (i == 1)
                read_levels(before);
            int code = MPI_Comm_spawn_multiple(3, commands, MPI_ARGVS_NULL, maxprocs, infos, 0, MPI_COMM_SELF, &made,
                                               MPI_ERRCODES_IGNORE);
            check_error("MPI_Comm_spawn_multiple", code, wanted[kind].class, wanted[kind].says);
            CHECK(made == MPI_COMM_NULL);
        }
        read_levels(after);
        CHECK(memcmp(before, after, sizeof before) == 0);
    }
    CHECK_OK(MPI_Info_free(&soft));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    begin_elements();
    check_requests();
    check_groups();
    check_types();
    check_topologies();
    check_spawning();
    end_elements();
    MTEST_END;
}
