/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: call NAME RANK FIRST LAST STEP
 * The collective call NAME, or each of `all`, is made again and again. In one rank the n-th allocation fails, n from
 * FIRST to LAST by STEP, as far as the call makes as many. Then all ranks have the result, or those that do not return
 * an error; no rank waits. Exit code 0: this holds, and what all have is right.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory.h"

enum { BLOCKS = 40, EACH = 3 };

static int rank, size, wrong, chosen, verbose;
static long nth, failed_calls, calls_made;
static bool happened;
static long calls_begun;

/* Shared by all ranks, so that they meet without messages. */
struct counters {
    _Atomic long begun; /* calls, on each rank */
    _Atomic long ended; /* on the rank that lacks memory */
};
static struct counters *shared;
static const char *name, *program, *path = "together.data";

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s, rank %d, allocation %ld of rank %d: %s\n", name, rank, nth, chosen, what);
    fflush(stdout);
    wrong = 1;
}

/* Waits for the other ranks, and makes progress for those that may still need this one. */
static void await(const _Atomic long *counter, long value)
{
    int found;
    while (atomic_load(counter) < value) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        usleep(100);
    }
}

/* From here to disarm() this rank may lack memory. All others have come here, and their calls before are complete. */
static void arm(void)
{
    calls_begun++;
    atomic_fetch_add(&shared->begun, 1);
    await(&shared->begun, calls_begun * size);
    if (rank == chosen)
        pl_memory_fail_at(nth);
}

/* The others wait until it does not lack memory any more: the next message of theirs is not part of the call. */
static int disarm(int code)
{
    if (rank == chosen) {
        happened = pl_memory_failed();
        pl_memory_fail_at(0);
        atomic_fetch_add(&shared->ended, 1);
    }
    await(&shared->ended, calls_begun);
    return code;
}

/* All ranks map the same memory. */
static void meet(void)
{
    static const char file[] = "together.meet";
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(file);
}

/* All have the result of the call. */
static bool all_have(int code)
{
    int any = code != MPI_SUCCESS, every = any;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (verbose && any != every && rank == 0)
        printf("mixed: %s, allocation %ld of rank %d\n", name, nth, chosen);
    return !any;
}

static void say_why(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    printf("%s %ld: rank %d: %s\n", name, nth, rank, text);
}

static void ready(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

/* `members`: 0 for as many as it has. Where only some have the communicator, it is of no use, and they learn that. */
static int end_comm(int code, const MPI_Comm *made, int members)
{
    int sum = 0, one = 1;
    MPI_Comm comm = *made;
    bool all = all_have(code);
    if (code || comm == MPI_COMM_NULL)
        return code;
    ready(comm);
    if (members == 0)
        MPI_Comm_size(comm, &members);
    int used = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (used != MPI_SUCCESS && verbose)
        say_why(used);
    if (all)
        expect(used == MPI_SUCCESS && sum == members, "the sum");
    MPI_Comm_free(&comm);
    return code;
}

static int try_dup(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    arm();
    return end_comm(disarm(MPI_Comm_dup(comm, &made)), &made, size);
}

static int try_dup_with_info(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    arm();
    int code = disarm(MPI_Comm_dup_with_info(comm, info, &made));
    MPI_Info_free(&info);
    return end_comm(code, &made, size);
}

static int try_idup(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    arm();
    int code = MPI_Comm_idup(comm, &made, &request);
    int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    code = disarm(code ? code : waited);
    if (waited) /* there is no communicator then */
        made = MPI_COMM_NULL;
    return end_comm(code, &made, size);
}

static int try_split(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    arm();
    return end_comm(disarm(MPI_Comm_split(comm, rank % 2, -rank, &made)), &made, (size + !(rank % 2)) / 2);
}

static int try_split_type(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    arm();
    return end_comm(disarm(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)), &made, 0);
}

static int try_create(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    arm();
    int code = disarm(MPI_Comm_create(comm, group, &made));
    MPI_Group_free(&group);
    return end_comm(code, &made, size);
}

static int try_create_group(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    arm();
    int code = disarm(MPI_Comm_create_group(comm, group, 5, &made));
    MPI_Group_free(&group);
    return end_comm(code, &made, size);
}

static int try_cart_create(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    arm();
    return end_comm(disarm(MPI_Cart_create(comm, 1, &size, (int[]){ 1 }, 1, &made)), &made, size);
}

static int try_cart_sub(MPI_Comm comm)
{
    MPI_Comm cart = MPI_COMM_NULL, made = MPI_COMM_NULL;
    MPI_Cart_create(comm, 2, (int[]){ size, 1 }, (int[]){ 1, 0 }, 0, &cart);
    ready(cart);
    arm();
    int code = disarm(MPI_Cart_sub(cart, (int[]){ 1, 0 }, &made));
    end_comm(code, &made, size);
    MPI_Comm_free(&cart);
    return code;
}

static int try_graph_create(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int index[16], edges[16];
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    arm();
    return end_comm(disarm(MPI_Graph_create(comm, size, index, edges, 1, &made)), &made, size);
}

static int try_dist_graph_create(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int source = (rank + 1) % size, target = (rank + 2) % size;
    arm();
    return end_comm(disarm(MPI_Dist_graph_create(comm, 1, &source, (int[]){ 1 }, &target, (int[]){ 1 }, MPI_INFO_NULL,
                                                 0, &made)),
                    &made, size);
}

static int try_dist_graph_adjacent(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    arm();
    return end_comm(disarm(MPI_Dist_graph_create_adjacent(comm, 1, &left, (int[]){ 1 }, 1, &right, (int[]){ 1 },
                                                          MPI_INFO_NULL, 0, &made)),
                    &made, size);
}

/* --- intercommunicators ------------------------------------------------------------------------------------------- */

static int end_inter(int code, const MPI_Comm *made)
{
    return end_comm(code, made, rank % 2 ? (size + 1) / 2 : size / 2);
}

static MPI_Comm make_inter(MPI_Comm comm, MPI_Comm *half)
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_split(comm, rank % 2, rank, half);
    ready(*half);
    if (MPI_Intercomm_create(*half, 0, comm, !(rank % 2), 4, &inter) == MPI_SUCCESS)
        ready(inter);
    return inter;
}

static int try_intercomm_create(MPI_Comm comm)
{
    MPI_Comm half, made = MPI_COMM_NULL;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    ready(half);
    arm();
    int code = end_inter(disarm(MPI_Intercomm_create(half, 0, comm, !(rank % 2), 4, &made)), &made);
    MPI_Comm_free(&half);
    return code;
}

enum inter { MERGE, DUP, IDUP, SPLIT, CREATE };

static int try_inter(MPI_Comm comm, enum inter what)
{
    MPI_Comm half, inter = make_inter(comm, &half), made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group group;
    MPI_Comm_group(inter, &group);
    int code = MPI_SUCCESS, waited;
    arm();
    switch (what) {
    case MERGE: code = MPI_Intercomm_merge(inter, rank % 2, &made); break;
    case DUP: code = MPI_Comm_dup(inter, &made); break;
    case SPLIT: code = MPI_Comm_split(inter, 0, rank, &made); break;
    case CREATE: code = MPI_Comm_create(inter, group, &made); break;
    case IDUP:
        code = MPI_Comm_idup(inter, &made, &request);
        waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
        code = code ? code : waited;
    }
    disarm(code);
    code = what == MERGE ? end_comm(code, &made, size) : end_inter(code, &made);
    MPI_Group_free(&group);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return code;
}

static int try_inter_merge(MPI_Comm comm)
{
    return try_inter(comm, MERGE);
}

static int try_inter_dup(MPI_Comm comm)
{
    return try_inter(comm, DUP);
}

static int try_inter_idup(MPI_Comm comm)
{
    return try_inter(comm, IDUP);
}

static int try_inter_split(MPI_Comm comm)
{
    return try_inter(comm, SPLIT);
}

static int try_inter_create(MPI_Comm comm)
{
    return try_inter(comm, CREATE);
}

/* One half accepts what the other one connects, each with a limit: a root that has failed does not call again. */
static int try_connect(MPI_Comm comm)
{
    MPI_Comm half, made = MPI_COMM_NULL;
    MPI_Info info;
    char port[MPI_MAX_PORT_NAME] = "";
    int accepts = rank % 2 == 0;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    ready(half);
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "3");
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    arm();
    int code =
        disarm(accepts ? MPI_Comm_accept(port, info, 0, half, &made) : MPI_Comm_connect(port, info, 0, half, &made));
    if (rank == 0)
        MPI_Close_port(port);
    code = end_inter(code, &made);
    MPI_Info_free(&info);
    MPI_Comm_free(&half);
    return code;
}

enum { CHILDREN = 2 };

/* A spawned process uses its parents' communicator once. */
static int be_child(void)
{
    MPI_Comm parent;
    int sum = 0, one = 1;
    MPI_Comm_get_parent(&parent);
    ready(parent);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_free(&parent);
    MPI_Finalize();
    return 0;
}

static int try_spawn(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    arm();
    int code = disarm(MPI_Comm_spawn((char *)program, (char *[]){ "child", NULL }, CHILDREN, MPI_INFO_NULL, 0, comm,
                                     &made, MPI_ERRCODES_IGNORE));
    return end_comm(code, &made, CHILDREN);
}

static int try_spawn_multiple(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    char *child[] = { "child", NULL };
    arm();
    int code =
        disarm(MPI_Comm_spawn_multiple(2, (char *[]){ (char *)program, (char *)program }, (char **[]){ child, child },
                                       (int[]){ 1, CHILDREN - 1 }, (MPI_Info[]){ MPI_INFO_NULL, MPI_INFO_NULL }, 0,
                                       comm, &made, MPI_ERRCODES_IGNORE));
    return end_comm(code, &made, CHILDREN);
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

static int end_win(int code, MPI_Win *made, bool has_memory)
{
    MPI_Win win = *made;
    if (code == MPI_SUCCESS)
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (all_have(code) && has_memory) {
        int got = -1, value = rank;
        expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the first fence");
        expect(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win) == MPI_SUCCESS, "the put");
        expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the second fence");
        expect(MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win) == MPI_SUCCESS, "the get");
        expect(MPI_Win_fence(0, win) == MPI_SUCCESS, "the third fence");
        expect(got == (rank + size - 1) % size, "the data of the put");
    }
    if (code == MPI_SUCCESS)
        MPI_Win_free(&win);
    return code;
}

static int try_win_create(MPI_Comm comm)
{
    MPI_Win win;
    int memory[4] = { 0 };
    arm();
    return end_win(disarm(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win)), &win, true);
}

static int try_win_allocate(MPI_Comm comm)
{
    MPI_Win win;
    void *memory;
    arm();
    return end_win(disarm(MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, comm, &memory, &win)), &win, true);
}

static int try_win_shared(MPI_Comm comm)
{
    MPI_Win win;
    void *memory;
    arm();
    return end_win(disarm(MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, comm, &memory, &win)), &win, true);
}

static int try_win_dynamic(MPI_Comm comm)
{
    MPI_Win win;
    arm();
    return end_win(disarm(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win)), &win, false);
}

static int try_win_use(MPI_Comm comm, bool fence)
{
    MPI_Win win;
    int memory[4] = { 0 };
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arm();
    int code = fence ? MPI_Win_fence(0, win) : MPI_Win_free(&win);
    disarm(code);
    all_have(code);
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    return code;
}

static int try_win_free(MPI_Comm comm)
{
    return try_win_use(comm, false);
}

static int try_win_fence(MPI_Comm comm)
{
    return try_win_use(comm, true);
}

static int try_win_set_info(MPI_Comm comm)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arm();
    int code = disarm(MPI_Win_set_info(win, info));
    all_have(code);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    return code;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static const char *buffering = "automatic";

static MPI_File open_file(MPI_Comm comm)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", buffering);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Info_set(info, "cb_nodes", "2");
    int code = MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    if (code != MPI_SUCCESS)
        say_why(code);
    expect(code == MPI_SUCCESS, "a file opens where nothing fails");
    MPI_Info_free(&info);
    return file;
}

/* Every process has each size-th block. */
static int set_view(MPI_File file, const char *datarep)
{
    MPI_Datatype type, wide;
    MPI_Type_contiguous(EACH, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, (MPI_Aint)(size * EACH * (int)sizeof(int)), &wide);
    MPI_Type_commit(&wide);
    arm();
    int code =
        MPI_File_set_view(file, (MPI_Offset)(rank * EACH * (int)sizeof(int)), MPI_INT, wide, datarep, MPI_INFO_NULL);
    disarm(code);
    MPI_Type_free(&type);
    MPI_Type_free(&wide);
    return code;
}

static int set_view_well(MPI_File file)
{
    long before = nth;
    nth = 0;
    int code = set_view(file, "native");
    nth = before;
    return code;
}

static int try_open(MPI_Comm comm)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    arm();
    int code = disarm(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    all_have(code);
    MPI_Info_free(&info);
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
    return code;
}

static int try_close(MPI_Comm comm)
{
    MPI_File file = open_file(comm);
    arm();
    int code = disarm(MPI_File_close(&file));
    all_have(code);
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
    return code;
}

static int try_set_view(MPI_Comm comm)
{
    MPI_File file = open_file(comm);
    int code = set_view(file, "native");
    all_have(code);
    MPI_File_close(&file);
    return code;
}

static int try_set_external_view(MPI_Comm comm)
{
    MPI_File file = open_file(comm);
    int code = set_view(file, "external32");
    all_have(code);
    MPI_File_close(&file);
    return code;
}

static int try_set_info(MPI_Comm comm)
{
    MPI_File file = open_file(comm);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    arm();
    int code = disarm(MPI_File_set_info(file, info));
    all_have(code);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    return code;
}

static int value(int process, int i)
{
    return process * 1000 + i;
}

enum access { TOGETHER, ORDERED, STARTED, SPLIT_ACCESS };

static int access_file(MPI_File file, enum access how, bool write, int *data, int count)
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

static int try_access(MPI_Comm comm, enum access how, bool write)
{
    int data[BLOCKS * EACH], count = BLOCKS * EACH, bad = 0;
    MPI_File file = open_file(comm);
    if (how != ORDERED)
        set_view_well(file);
    for (int i = 0; i < count; i++)
        data[i] = value(rank, i);
    if (!write) {
        access_file(file, how, true, data, count);
        if (how == ORDERED)
            MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        memset(data, 0, sizeof data);
    }
    arm();
    int code = disarm(access_file(file, how, write, data, count));
    if (all_have(code)) {
        if (write) {
            memset(data, 0, sizeof data);
            if (how == ORDERED)
                MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
            access_file(file, how, false, data, count);
        }
        for (int i = 0; i < count; i++)
            bad += data[i] != value(rank, i);
        expect(bad == 0, "the data of the file");
    }
    MPI_File_close(&file);
    return code;
}

#define ACCESS(call, how, write)                                                                                       \
    static int try_##call(MPI_Comm comm)                                                                               \
    {                                                                                                                  \
        buffering = "automatic";                                                                                       \
        return try_access(comm, how, write);                                                                           \
    }                                                                                                                  \
    static int try_##call##_buffered(MPI_Comm comm)                                                                    \
    {                                                                                                                  \
        buffering = "enable";                                                                                          \
        int code = try_access(comm, how, write);                                                                       \
        buffering = "automatic";                                                                                       \
        return code;                                                                                                   \
    }
ACCESS(read_all, TOGETHER, false)
ACCESS(write_all, TOGETHER, true)
ACCESS(read_ordered, ORDERED, false)
ACCESS(write_ordered, ORDERED, true)
ACCESS(iread_all, STARTED, false)
ACCESS(iwrite_all, STARTED, true)
ACCESS(read_split, SPLIT_ACCESS, false)
ACCESS(write_split, SPLIT_ACCESS, true)

static int try_file(MPI_Comm comm, int what)
{
    MPI_File file = open_file(comm);
    arm();
    int code = what == 0   ? MPI_File_set_size(file, 100)
               : what == 1 ? MPI_File_preallocate(file, 100)
               : what == 2 ? MPI_File_sync(file)
               : what == 3 ? MPI_File_seek_shared(file, 10, MPI_SEEK_SET)
                           : MPI_File_set_atomicity(file, 1);
    disarm(code);
    all_have(code);
    MPI_File_close(&file);
    return code;
}

static int try_set_size(MPI_Comm comm)
{
    return try_file(comm, 0);
}

static int try_preallocate(MPI_Comm comm)
{
    return try_file(comm, 1);
}

static int try_sync(MPI_Comm comm)
{
    return try_file(comm, 2);
}

static int try_seek_shared(MPI_Comm comm)
{
    return try_file(comm, 3);
}

static int try_set_atomicity(MPI_Comm comm)
{
    return try_file(comm, 4);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

#define CALL(call_)                                                                                                    \
    {                                                                                                                  \
#call_, try_##call_                                                                                            \
    }
static const struct {
    const char *name;
    int (*run)(MPI_Comm comm);
} calls[] = {
    CALL(dup),
    CALL(dup_with_info),
    CALL(idup),
    CALL(split),
    CALL(split_type),
    CALL(create),
    CALL(create_group),
    CALL(cart_create),
    CALL(cart_sub),
    CALL(graph_create),
    CALL(dist_graph_create),
    CALL(dist_graph_adjacent),
    CALL(intercomm_create),
    CALL(inter_merge),
    CALL(inter_dup),
    CALL(inter_idup),
    CALL(inter_split),
    CALL(inter_create),
    CALL(connect),
    CALL(spawn),
    CALL(spawn_multiple),
    CALL(win_create),
    CALL(win_allocate),
    CALL(win_shared),
    CALL(win_dynamic),
    CALL(win_free),
    CALL(win_fence),
    CALL(win_set_info),
    CALL(open),
    CALL(close),
    CALL(set_view),
    CALL(set_external_view),
    CALL(set_info),
    CALL(set_size),
    CALL(preallocate),
    CALL(sync),
    CALL(seek_shared),
    CALL(set_atomicity),
    CALL(read_all),
    CALL(write_all),
    CALL(read_ordered),
    CALL(write_ordered),
    CALL(iread_all),
    CALL(iwrite_all),
    CALL(read_split),
    CALL(write_split),
    CALL(read_all_buffered),
    CALL(write_all_buffered),
    CALL(read_ordered_buffered),
    CALL(write_ordered_buffered),
    CALL(iread_all_buffered),
    CALL(iwrite_all_buffered),
    CALL(read_split_buffered),
    CALL(write_split_buffered),
};

/* Did the allocation fail? */
static bool try_once(int (*run)(MPI_Comm comm))
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ready(comm);
    happened = false;
    int code = run(comm), any = happened;
    calls_made++;
    failed_calls += code != MPI_SUCCESS;
    if (code && verbose)
        say_why(code);
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

int main(int argc, char **argv)
{
    program = argv[0];
    MPI_Init(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return be_child();
    if (argc != 6)
        return 2;
    verbose = getenv("VERBOSE") != NULL;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    chosen = atoi(argv[2]) % size;
    meet();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(argv[1], "all") != 0 && strcmp(calls[i].name, argv[1]) != 0)
            continue;
        name = calls[i].name;
        for (nth = atol(argv[3]); nth <= atol(argv[4]); nth += atol(argv[5])) {
            if (verbose && rank == 0)
                fprintf(stderr, "%s %ld\n", name, nth);
            if (!try_once(calls[i].run))
                break;
        }
        if (rank == 0)
            unlink(path);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("%ld calls, %ld failed\n", calls_made, failed_calls);
    return wrong;
}
