/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: copy LIBRARY MODE
 *
 * A second copy of the MPI library in one process, beside the one that this program is linked with and whose World it
 * uses. MODE: deepbind, namespace (dlmopen), before (deepbind, and the copy comes first). Both have all processes of
 * the job, and neither notices the other.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition)                                                                                               \
    ((condition) ? 1 : (failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), 0))

static struct {
    int (*Session_init)(MPI_Info, MPI_Errhandler, MPI_Session *);
    int (*Session_finalize)(MPI_Session *);
    int (*Group_from_session_pset)(MPI_Session, const char *, MPI_Group *);
    int (*Group_free)(MPI_Group *);
    int (*Comm_create_from_group)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
    int (*Comm_rank)(MPI_Comm, int *);
    int (*Comm_size)(MPI_Comm, int *);
    int (*Comm_free)(MPI_Comm *);
    int (*Sendrecv)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                    MPI_Status *);
} copy;

static void *load(const char *path, const char *mode)
{
    void *library = strcmp(mode, "namespace") == 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
                                                   : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!CHECK(library)) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name) CHECK((*(void **)&copy.name = dlsym(library, "MPI_" #name)) != NULL)
    FIND(Session_init);
    FIND(Session_finalize);
    FIND(Group_from_session_pset);
    FIND(Group_free);
    FIND(Comm_create_from_group);
    FIND(Comm_rank);
    FIND(Comm_size);
    FIND(Comm_free);
    FIND(Sendrecv);
    CHECK((void *)copy.Session_init != (void *)MPI_Session_init); /* it really is another copy */
    return library;
}

/* A session of the copy. */
static void use(int expected, void (*between)(void))
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank = -1, size = -1, in = -1;
    CHECK(copy.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(copy.Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(copy.Comm_create_from_group(group, "copy", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    CHECK(copy.Comm_size(comm, &size) == MPI_SUCCESS && size == expected);
    CHECK(copy.Comm_rank(comm, &rank) == MPI_SUCCESS);
    CHECK(copy.Sendrecv(&size, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
                        MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(in == size);
    if (between)
        between();
    CHECK(copy.Group_free(&group) == MPI_SUCCESS);
    CHECK(copy.Comm_free(&comm) == MPI_SUCCESS);
    CHECK(copy.Session_finalize(&session) == MPI_SUCCESS);
}

/* The World of the first library, of `wanted` processes. A session of it may stay open inside, or open again. */
static int wanted;
static void world(void)
{
    int rank, size, sum = -1, flag;
    MPI_Initialized(&flag);
    if (!flag)
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == wanted);
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS &&
          sum == size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int all = getenv("PLENUM_SIZE") ? atoi(getenv("PLENUM_SIZE")) : 1;
    bool before = strcmp(argv[2], "before") == 0;
    void *library = load(argv[1], argv[2]);
    wanted = all;
    if (!before)
        world();
    for (int round = 0; round < 20; round++)
        use(all, world);
    dlclose(library);
    world();
    MPI_Finalize();
    return failures != 0;
}
