/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freed handles, handles of another kind, addresses and integers of any sort, NULL for a result: an error class, never
 * a crash.
 */
#include "mtest.h"

enum { WILD = 2000 };

static unsigned long long seed = 88172645463325252ull;

static void *wild(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (void *)(size_t)(seed >> (seed & 31));
}

/* Every kind of handle, given the same bad pointer. Its constants are valid handles, so those are left out. */
static void try_everything(void *bad)
{
    int number = 0, flag;
    MPI_Status status;
    MPI_Request request = bad;
    MPI_Info info = bad;
    MPI_Comm comm = bad;
    if ((size_t)bad < 0x1000)
        return;
    CHECK_CLASS(MPI_Comm_size(bad, &number), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&number, 1, MPI_INT, 0, 0, bad), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&number, 1, bad, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_size(bad, &number), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Group_size(bad, &number), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Info_get_nkeys(bad, &number), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_free(&info), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, bad), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, bad, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_CLASS(MPI_Test(&request, &flag, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Session_get_num_psets(bad, MPI_INFO_NULL, &number), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Win_fence(0, bad), MPI_ERR_WIN);
    CHECK_CLASS(MPI_File_get_size(bad, &(MPI_Offset){ 0 }), MPI_ERR_FILE);
}

/* Functions that have no address for a result, or no function or status to take. */
static void try_null(void)
{
    int number = 0, flag = 0, logical = 0, keyval = MPI_TAG_UB;
    MPI_Count count;
    MPI_Op op = MPI_OP_NULL;
    MPI_Status status = { 0 };
    CHECK_CLASS(MPI_Initialized(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Finalized(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_version(NULL, &number), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_get_version(&number, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_get_fortran_booleans(sizeof logical, &logical, NULL, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_class(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_string(MPI_ERR_LASTCODE + 1, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_parent(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_SELF, keyval, NULL, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_NULL, keyval, &number, &flag), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Op_create_c(NULL, 1, &op), MPI_ERR_ARG);
    CHECK(op == MPI_OP_NULL);
    CHECK_CLASS(MPI_Grequest_start(NULL, NULL, NULL, NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_count(&status, MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_count_c(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_elements(&status, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_elements_c(&status, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_cancelled(NULL, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    int number;
    MPI_Comm comm, stale_comm;
    MPI_Info info, stale_info;
    MPI_Group group, stale_group;
    MPI_Datatype type, stale_type;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Info_create(&info);
    MPI_Type_contiguous(3, MPI_INT, &type);
    stale_comm = comm;
    stale_info = info;
    stale_group = group;
    stale_type = type;

    /* Handles of another kind, while they live; addresses inside an object; then freed handles. */
    CHECK_CLASS(MPI_Comm_size((MPI_Comm)info, &number), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Group_size((MPI_Group)comm, &number), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Info_get_nkeys((MPI_Info)type, &number), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Type_size((MPI_Datatype)group, &number), MPI_ERR_TYPE);
    for (int offset = 1; offset < 512; offset++)
        CHECK_CLASS(MPI_Comm_size((MPI_Comm)((char *)comm + offset), &number), MPI_ERR_COMM);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    try_everything(stale_comm);
    try_everything(stale_info);
    try_everything(stale_group);
    try_everything(stale_type);

    try_everything(&number);
    try_everything(argv);
    try_everything((void *)main);
    try_everything((void *)-1);
    for (int i = 0; i < WILD; i++)
        try_everything(wild());
    try_null();
    MTEST_END;
}
