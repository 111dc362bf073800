/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 7 */
/*
 * Process sets from a file (docs/psets.md): ranks, ranges, hosts, hardware, and expressions over them, exactly the
 * members that they must have, in order; the node and the hardware sets; sets that are not there.
 */
#include <mpi-ext.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtest.h"

static MPI_Session session;

static void write_file(int size)
{
    char path[32];
    int memory = memfd_create("psets", 0);
    FILE *file = fdopen(dup(memory), "w");
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    int last = size - 1, half = size / 2;
    fprintf(file, "{ \"psets\": {\n");
    fprintf(file, "  \"app://all\":   { \"ranks\": \"0-\" },\n");
    fprintf(file, "  \"app://low\":   { \"ranks\": [0, \"0-%d\"], \"info\": { \"colour\": \"red\" } },\n", half);
    fprintf(file, "  \"app://high\":  { \"difference\": [\"mpi://WORLD\", \"app://low\"] },\n");
    fprintf(file, "  \"app://back\":  { \"union\": [\"app://high\", \"app://low\"] },\n");
    fprintf(file, "  \"app://ends\":  { \"ranks\": [%d, 0] },\n", last);
    fprintf(file, "  \"app://both\":  { \"intersection\": [\"app://back\", \"app://ends\", {\"ranks\": \"0-\"}] },\n");
    fprintf(file, "  \"app://none\":  { \"intersection\": [\"app://high\", \"app://low\"] },\n");
    fprintf(file, "  \"app://here\":  { \"hosts\": [\"localhost\"] },\n");
    fprintf(file, "  \"app://alias\": \"APP://Ends\",\n");
    fprintf(file, "  \"app://box\":   { \"hwloc\": \"Machine/0\" },\n");
    fprintf(file, "  \"app://me\":    \"mpi://SELF\"\n} }\n");
    fclose(file);
    setenv("PLENUM_PSETS", path, 1);
}

static void expect(const char *name, int count, const int *members)
{
    MPI_Group group, world;
    int size = -1, all[64], got[64], own = -1, flag = 0, capacity = 16;
    char text[16] = "";
    MPI_Info info;
    if (!CHECK_OK(MPI_Group_from_session_pset(session, name, &group)))
        return;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_size(group, &size));
    if (!CHECK(size == count))
        fprintf(stderr, "%s has %d members\n", name, size);
    for (int i = 0; i < size; i++)
        all[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, size, all, world, got));
    for (int i = 0; i < size && i < count; i++)
        CHECK(got[i] == members[i]);
    CHECK_OK(MPI_Group_rank(group, &own));
    CHECK(own == MPI_UNDEFINED || got[own] == mtest_rank);
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &capacity, text, &flag));
    CHECK(flag && atoi(text) == count);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
}

/* A communicator of the set: all its members see the same set. */
static void create_and_check(const char *name)
{
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, sum = -1;
    CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_OK(MPI_Group_size(group, &size));
    if (rank != MPI_UNDEFINED) {
        CHECK_OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&group));
}

static void all_sets(int size)
{
    int up[64] = { 0 }, back[64] = { 0 }, half = size / 2, n = 0;
    for (int i = 0; i < size; i++)
        up[i] = i;
    for (int i = half + 1; i < size; i++)
        back[n++] = i;
    for (int i = 0; i <= half && i < size; i++)
        back[n++] = i;
    const int ends[] = { size - 1, 0 };
    expect("app://all", size, up);
    expect("app://low", size == 1 ? 1 : half + 1, up);
    expect("app://high", size - half - 1, up + half + 1);
    expect("app://back", size, back);
    expect("app://ends", size == 1 ? 1 : 2, ends);
    expect("app://both", size == 1 ? 1 : 2, size == 2 ? up : ends);
    expect("app://none", 0, NULL);
    expect("app://here", size, up);
    expect("app://ALIAS", size == 1 ? 1 : 2, ends);
    expect("app://box", size, up);
    expect("plenum://NODE", size, up);
    expect("hwloc://machine", size, up);
    expect("app://me", 1, &mtest_rank);
}

/* A missing set is an error that names it, and the session works on. */
static void missing(void)
{
    MPI_Group group;
    MPI_Info info;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "app://nobody", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "hwloc://Machine/999", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "hwloc://Teapot", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "no URI", &info), MPI_ERR_ARG);
}

/* An earlier session gives the size of the job, since the file is read for the next one. */
static int learn_size(void)
{
    MPI_Session first;
    MPI_Group world;
    int size = 0;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first));
    CHECK_OK(MPI_Group_from_session_pset(first, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_size(world, &size));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&first));
    return size;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    char colour[8] = "";
    int capacity = sizeof colour, flag = 0;
    write_file(learn_size());
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    all_sets(mtest_size);
    missing();
    create_and_check("app://back");
    create_and_check("app://ends");
    create_and_check("app://box");
    CHECK_OK(MPI_Session_get_pset_info(session, "app://low", &info));
    CHECK_OK(MPI_Info_get_string(info, "colour", &capacity, colour, &flag));
    CHECK(flag && strcmp(colour, "red") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
