/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include <string.h>

/* --- communicators ------------------------------------------------------------------------------------------------ */

enum make {
    DUP,
    DUP_WITH_INFO,
    IDUP,
    SPLIT,
    SPLIT_SIDES,
    SPLIT_TYPE,
    CREATE,
    CREATE_GROUP,
    CART_CREATE,
    CART_SUB,
    GRAPH_CREATE,
    DIST_GRAPH_CREATE,
    DIST_GRAPH_ADJACENT,
    INTERCOMM_CREATE,
    MERGE
};

/* A ring. */
static int make_graph(MPI_Comm comm, MPI_Comm *made)
{
    int index[16], edges[16];
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    return MPI_Graph_create(comm, size, index, edges, 1, made);
}

static int make_idup(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Comm_idup(comm, made, &request), waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code ? code : waited;
}

/* `group`: that of comm. `peers`: see MPI_Intercomm_create. */
static int make(enum make what, MPI_Comm comm, MPI_Group group, MPI_Info info, MPI_Comm peers, MPI_Comm *made)
{
    int before = (rank + size - 1) % size, next = (rank + 1) % size, second = (rank + 2) % size, one = 1;
    switch (what) {
    case DUP: return MPI_Comm_dup(comm, made);
    case DUP_WITH_INFO: return MPI_Comm_dup_with_info(comm, info, made);
    case IDUP: return make_idup(comm, made);
    case SPLIT: return MPI_Comm_split(comm, rank % 2, -rank, made);
    case SPLIT_SIDES: return MPI_Comm_split(comm, 0, rank, made);
    case SPLIT_TYPE: return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
    case CREATE: return MPI_Comm_create(comm, group, made);
    case CREATE_GROUP: return MPI_Comm_create_group(comm, group, 5, made);
    case CART_CREATE: return MPI_Cart_create(comm, 1, &size, &one, 1, made);
    case CART_SUB: return MPI_Cart_sub(comm, (int[]){ 1, 0 }, made);
    case GRAPH_CREATE: return make_graph(comm, made);
    case DIST_GRAPH_CREATE: return MPI_Dist_graph_create(comm, 1, &next, &one, &second, &one, MPI_INFO_NULL, 0, made);
    case DIST_GRAPH_ADJACENT:
        return MPI_Dist_graph_create_adjacent(comm, 1, &before, &one, 1, &next, &one, MPI_INFO_NULL, 0, made);
    case INTERCOMM_CREATE: return MPI_Intercomm_create(comm, 0, peers, !(rank % 2), 4, made);
    default: return MPI_Intercomm_merge(comm, rank % 2, made);
    }
}

static void errors_return(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* Where only some have the communicator, it is of no use, and they learn that. `members`: 0 for as many as it has. */
static void end_comm(int code, MPI_Comm made, int members)
{
    int sum = 0, one = 1;
    bool all = all_have(code);
    if (code)
        return;
    errors_return(made);
    if (members == 0)
        MPI_Comm_size(made, &members);
    int used = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    if (all)
        expect(used == MPI_SUCCESS && sum == members, "the sum");
    MPI_Comm_free(&made);
}

/* `members`: those that give to this rank in a collective call. */
static int try_make(enum make what, MPI_Comm comm, MPI_Comm peers, int members)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    arm();
    int code = disarm(make(what, comm, group, info, peers, &made));
    MPI_Group_free(&group);
    MPI_Info_free(&info);
    end_comm(code, made, members);
    return code;
}

/* The ranks whose number is as even as that of this one. */
static int half_size(void)
{
    return (size + !(rank % 2)) / 2;
}

static int try_comm(MPI_Comm comm, int what)
{
    return try_make(what, comm, MPI_COMM_NULL, what == SPLIT ? half_size() : what == SPLIT_TYPE ? 0 : size);
}

static int try_cart(MPI_Comm comm, int what)
{
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(comm, 2, (int[]){ size, 1 }, (int[]){ 1, 0 }, 0, &cart);
    errors_return(cart);
    int code = try_make(what, cart, MPI_COMM_NULL, size);
    MPI_Comm_free(&cart);
    return code;
}

static int try_halves(MPI_Comm comm, int what)
{
    MPI_Comm half;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    errors_return(half);
    int code = try_make(what, half, comm, size - half_size());
    MPI_Comm_free(&half);
    return code;
}

static int try_inter(MPI_Comm comm, int what)
{
    MPI_Comm half, inter;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, comm, !(rank % 2), 4, &inter);
    errors_return(inter);
    int code = try_make(what, inter, MPI_COMM_NULL, what == MERGE ? size : size - half_size());
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return code;
}

/* One half accepts what the other one connects, each with a limit: a root that has failed does not call again. */
static int try_connect(MPI_Comm comm, int what)
{
    MPI_Comm half, made = MPI_COMM_NULL;
    MPI_Info info;
    char port[MPI_MAX_PORT_NAME] = "";
    (void)what;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    errors_return(half);
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "3");
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    arm();
    int code = disarm(rank % 2 == 0 ? MPI_Comm_accept(port, info, 0, half, &made)
                                    : MPI_Comm_connect(port, info, 0, half, &made));
    if (rank == 0)
        MPI_Close_port(port);
    end_comm(code, made, size - half_size());
    MPI_Info_free(&info);
    MPI_Comm_free(&half);
    return code;
}

enum { CHILDREN = 2 };

int be_child(void)
{
    MPI_Comm parent;
    int sum = 0, one = 1;
    MPI_Comm_get_parent(&parent);
    errors_return(parent);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_free(&parent);
    MPI_Finalize();
    return 0;
}

static int try_spawn(MPI_Comm comm, int programs)
{
    MPI_Comm made = MPI_COMM_NULL;
    char *child[] = { "child", NULL }, *commands[] = { (char *)program, (char *)program },
         **arguments[] = { child, child };
    int counts[] = { 1, CHILDREN - 1 };
    MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    arm();
    int code = disarm(
        programs == 1 ? MPI_Comm_spawn(commands[0], child, CHILDREN, MPI_INFO_NULL, 0, comm, &made, MPI_ERRCODES_IGNORE)
                      : MPI_Comm_spawn_multiple(programs, commands, arguments, counts, infos, 0, comm, &made,
                                                MPI_ERRCODES_IGNORE));
    end_comm(code, made, CHILDREN);
    return code;
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

enum { WIN_CREATE, WIN_ALLOCATE, WIN_SHARED, WIN_DYNAMIC, WIN_FREE, WIN_FENCE, WIN_SET_INFO };

static int make_win(MPI_Comm comm, int what, void *memory, MPI_Aint bytes, MPI_Win *win)
{
    void *given;
    switch (what) {
    case WIN_CREATE: return MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, comm, win);
    case WIN_ALLOCATE: return MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, comm, &given, win);
    case WIN_SHARED: return MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, comm, &given, win);
    default: return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    }
}

static void check_win(MPI_Win win)
{
    int got = -1, value = rank;
    expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the first fence");
    expect(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win) == MPI_SUCCESS, "the put");
    expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the second fence");
    expect(MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win) == MPI_SUCCESS, "the get");
    expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the third fence");
    expect(got == (rank + size - 1) % size, "the data of the put");
}

static int try_make_win(MPI_Comm comm, int what)
{
    MPI_Win win;
    int memory[4] = { 0 };
    arm();
    int code = disarm(make_win(comm, what, memory, sizeof memory, &win));
    bool all = all_have(code);
    if (code)
        return code;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (all && what != WIN_DYNAMIC)
        check_win(win);
    MPI_Win_free(&win);
    return code;
}

static int use_win(MPI_Win *win, int what, MPI_Info info)
{
    switch (what) {
    case WIN_FREE: return MPI_Win_free(win);
    case WIN_FENCE: return MPI_Win_fence(0, *win);
    default: return MPI_Win_set_info(*win, info);
    }
}

static int try_use_win(MPI_Comm comm, int what)
{
    MPI_Win win;
    MPI_Info info;
    int memory[4] = { 0 };
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arm();
    int code = disarm(use_win(&win, what, info));
    all_have(code);
    MPI_Info_free(&info);
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    return code;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

enum { BLOCKS = 40, EACH = 3 };
enum {
    FILE_OPEN,
    FILE_CLOSE,
    SET_VIEW,
    SET_EXTERNAL_VIEW,
    FILE_SET_INFO,
    SET_SIZE,
    PREALLOCATE,
    SYNC,
    SEEK_SHARED,
    SET_ATOMICITY
};

static int open_with(MPI_Comm comm, MPI_Info info, MPI_File *file)
{
    return MPI_File_open(comm, DATA_FILE, MPI_MODE_CREATE | MPI_MODE_RDWR, info, file);
}

static MPI_File open_file(MPI_Comm comm, const char *buffering)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", buffering);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Info_set(info, "cb_nodes", "2");
    expect(open_with(comm, info, &file) == MPI_SUCCESS, "a file opens where nothing fails");
    MPI_Info_free(&info);
    return file;
}

/* Each process has each size-th block. */
static MPI_Datatype make_blocks(void)
{
    MPI_Datatype block, blocks;
    MPI_Type_contiguous(EACH, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)(size * EACH * (int)sizeof(int)), &blocks);
    MPI_Type_commit(&blocks);
    MPI_Type_free(&block);
    return blocks;
}

static int set_view(MPI_File file, MPI_Datatype blocks, const char *datarep)
{
    MPI_Offset first = rank * EACH * (int)sizeof(int);
    return MPI_File_set_view(file, first, MPI_INT, blocks, datarep, MPI_INFO_NULL);
}

static int use_file(MPI_Comm comm, MPI_File *file, int what, MPI_Datatype blocks, MPI_Info info)
{
    switch (what) {
    case FILE_OPEN: return open_with(comm, info, file);
    case FILE_CLOSE: return MPI_File_close(file);
    case SET_VIEW: return set_view(*file, blocks, "native");
    case SET_EXTERNAL_VIEW: return set_view(*file, blocks, "external32");
    case FILE_SET_INFO: return MPI_File_set_info(*file, info);
    case SET_SIZE: return MPI_File_set_size(*file, 100);
    case PREALLOCATE: return MPI_File_preallocate(*file, 100);
    case SYNC: return MPI_File_sync(*file);
    case SEEK_SHARED: return MPI_File_seek_shared(*file, 10, MPI_SEEK_SET);
    default: return MPI_File_set_atomicity(*file, 1);
    }
}

static int try_file(MPI_Comm comm, int what)
{
    MPI_File file = what == FILE_OPEN ? MPI_FILE_NULL : open_file(comm, "automatic");
    MPI_Datatype blocks = make_blocks();
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    arm();
    int code = disarm(use_file(comm, &file, what, blocks, info));
    all_have(code);
    MPI_Info_free(&info);
    MPI_Type_free(&blocks);
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
    return code;
}

/* How data is accessed, and two flags. */
enum { TOGETHER, ORDERED, STARTED, IN_PARTS, HOW = 3, WRITE = 4, BUFFERED = 8 };

static int access_file(MPI_File file, int how, bool write, int *data, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code, waited;
    switch (how) {
    case TOGETHER:
        return write ? MPI_File_write_at_all(file, 0, data, count, MPI_INT, MPI_STATUS_IGNORE)
                     : MPI_File_read_at_all(file, 0, data, count, MPI_INT, MPI_STATUS_IGNORE);
    case ORDERED:
        return write ? MPI_File_write_ordered(file, data, count, MPI_INT, MPI_STATUS_IGNORE)
                     : MPI_File_read_ordered(file, data, count, MPI_INT, MPI_STATUS_IGNORE);
    case STARTED:
        code = write ? MPI_File_iwrite_at_all(file, 0, data, count, MPI_INT, &request)
                     : MPI_File_iread_at_all(file, 0, data, count, MPI_INT, &request);
        waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
        return code ? code : waited;
    default:
        code = write ? MPI_File_write_at_all_begin(file, 0, data, count, MPI_INT)
                     : MPI_File_read_at_all_begin(file, 0, data, count, MPI_INT);
        if (code)
            return code;
        return write ? MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE)
                     : MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
    }
}

static int value(int i)
{
    return rank * 1000 + i;
}

static void expect_data(const int *data)
{
    int bad = 0;
    for (int i = 0; i < BLOCKS * EACH; i++)
        bad += data[i] != value(i);
    expect(bad == 0, "the data of the file");
}

static int try_access(MPI_Comm comm, int what)
{
    int data[BLOCKS * EACH], count = BLOCKS * EACH, how = what & HOW;
    bool write = what & WRITE;
    MPI_File file = open_file(comm, what & BUFFERED ? "enable" : "automatic");
    MPI_Datatype blocks = make_blocks();
    if (how != ORDERED)
        set_view(file, blocks, "native");
    MPI_Type_free(&blocks);
    for (int i = 0; i < count; i++)
        data[i] = value(i);
    if (!write) {
        access_file(file, how, true, data, count);
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        memset(data, 0, sizeof data);
    }
    arm();
    int code = disarm(access_file(file, how, write, data, count));
    bool all = all_have(code);
    if (all && write) {
        memset(data, 0, sizeof data);
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        access_file(file, how, false, data, count);
    }
    if (all)
        expect_data(data);
    MPI_File_close(&file);
    return code;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

const struct call calls[] = {
    { "dup", try_comm, DUP },
    { "dup_with_info", try_comm, DUP_WITH_INFO },
    { "idup", try_comm, IDUP },
    { "split", try_comm, SPLIT },
    { "split_type", try_comm, SPLIT_TYPE },
    { "create", try_comm, CREATE },
    { "create_group", try_comm, CREATE_GROUP },
    { "cart_create", try_comm, CART_CREATE },
    { "cart_sub", try_cart, CART_SUB },
    { "graph_create", try_comm, GRAPH_CREATE },
    { "dist_graph_create", try_comm, DIST_GRAPH_CREATE },
    { "dist_graph_adjacent", try_comm, DIST_GRAPH_ADJACENT },
    { "intercomm_create", try_halves, INTERCOMM_CREATE },
    { "inter_merge", try_inter, MERGE },
    { "inter_dup", try_inter, DUP },
    { "inter_idup", try_inter, IDUP },
    { "inter_split", try_inter, SPLIT_SIDES },
    { "inter_create", try_inter, CREATE },
    { "connect", try_connect, 0 },
    { "spawn", try_spawn, 1 },
    { "spawn_multiple", try_spawn, 2 },
    { "win_create", try_make_win, WIN_CREATE },
    { "win_allocate", try_make_win, WIN_ALLOCATE },
    { "win_shared", try_make_win, WIN_SHARED },
    { "win_dynamic", try_make_win, WIN_DYNAMIC },
    { "win_free", try_use_win, WIN_FREE },
    { "win_fence", try_use_win, WIN_FENCE },
    { "win_set_info", try_use_win, WIN_SET_INFO },
    { "open", try_file, FILE_OPEN },
    { "close", try_file, FILE_CLOSE },
    { "set_view", try_file, SET_VIEW },
    { "set_external_view", try_file, SET_EXTERNAL_VIEW },
    { "set_info", try_file, FILE_SET_INFO },
    { "set_size", try_file, SET_SIZE },
    { "preallocate", try_file, PREALLOCATE },
    { "sync", try_file, SYNC },
    { "seek_shared", try_file, SEEK_SHARED },
    { "set_atomicity", try_file, SET_ATOMICITY },
    { "read_all", try_access, TOGETHER },
    { "write_all", try_access, TOGETHER | WRITE },
    { "read_ordered", try_access, ORDERED },
    { "write_ordered", try_access, ORDERED | WRITE },
    { "iread_all", try_access, STARTED },
    { "iwrite_all", try_access, STARTED | WRITE },
    { "read_split", try_access, IN_PARTS },
    { "write_split", try_access, IN_PARTS | WRITE },
    { "read_all_buffered", try_access, TOGETHER | BUFFERED },
    { "write_all_buffered", try_access, TOGETHER | WRITE | BUFFERED },
    { "read_ordered_buffered", try_access, ORDERED | BUFFERED },
    { "write_ordered_buffered", try_access, ORDERED | WRITE | BUFFERED },
    { "iread_all_buffered", try_access, STARTED | BUFFERED },
    { "iwrite_all_buffered", try_access, STARTED | WRITE | BUFFERED },
    { "read_split_buffered", try_access, IN_PARTS | BUFFERED },
    { "write_split_buffered", try_access, IN_PARTS | WRITE | BUFFERED },
};
const size_t call_count = sizeof calls / sizeof *calls;
