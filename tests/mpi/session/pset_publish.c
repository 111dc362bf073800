/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that are published, changed and withdrawn while the job runs (docs/psets.md). Checked are exact members
 * and versions in all processes, members or not; permanent numbers; groups of an older version; watching; names that
 * belong to other providers.
 */
#include <mpi-ext.h>

#include "mtest.h"

enum { CAPACITY = 64 };

static MPI_Session session;
static MPI_Group world;

static void publish(const char *name, int count, const int *ranks)
{
    MPI_Group group;
    CHECK_OK(MPI_Group_incl(world, count, ranks, &group));
    CHECK_OK(MPIX_Session_pset_publish(session, name, group));
    if (group != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&group));
}

static void barrier(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void expect_group(MPI_Group group, int count, const int *ranks)
{
    int size = -1, all[CAPACITY], got[CAPACITY];
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(size == count);
    for (int i = 0; i < CAPACITY; i++)
        all[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, size, all, world, got));
    for (int i = 0; i < size && i < count; i++)
        CHECK(got[i] == ranks[i]);
}

static void expect(const char *name, int count, const int *ranks)
{
    MPI_Group group;
    if (!CHECK_OK(MPI_Group_from_session_pset(session, name, &group)))
        return;
    expect_group(group, count, ranks);
    if (group != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&group));
}

static long long version_of(const char *name)
{
    char text[32] = "", provider[16] = "";
    int capacity = sizeof text, flag = 0;
    MPI_Info info;
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    CHECK_OK(MPI_Info_get_string(info, "plenum_version", &capacity, text, &flag));
    CHECK(flag);
    capacity = sizeof provider;
    CHECK_OK(MPI_Info_get_string(info, "plenum_provider", &capacity, provider, &flag));
    CHECK(flag && strcmp(provider, "app") == 0);
    CHECK_OK(MPI_Info_free(&info));
    return atoll(text);
}

static int number_of(const char *name)
{
    int count = 0, found = -1;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    for (int n = 0; n < count; n++) {
        char text[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof text;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, text));
        if (strcmp(text, name) == 0)
            found = n;
    }
    return found;
}

/* The last rank publishes: all ranks see the set and its changes, older groups stay, and names keep their numbers. */
static void life(void)
{
    const int last = mtest_size - 1, publisher = last, changer = 0;
    int backwards[CAPACITY];
    MPI_Group old, gone;
    for (int i = 0; i < mtest_size; i++)
        backwards[i] = last - i;
    CHECK(number_of("app://life") == -1);
    barrier();
    if (mtest_rank == publisher)
        publish("app://life", mtest_size, backwards);
    barrier();
    expect("APP://Life", mtest_size, backwards);
    long long version = version_of("app://life");
    int number = number_of("app://life");
    CHECK(version > 0 && number >= 2);
    CHECK_OK(MPI_Group_from_session_pset(session, "app://life", &old));
    barrier();
    if (mtest_rank == changer)
        publish("app://life", 1, &last);
    barrier();
    expect("app://life", 1, &last);
    CHECK(version_of("app://life") > version - (mtest_size == 1)); /* alone it is as it was: no new version */
    version = version_of("app://life");
    expect_group(old, mtest_size, backwards);
    CHECK_OK(MPI_Group_free(&old));
    barrier();
    if (mtest_rank == changer)
        CHECK_OK(MPIX_Session_pset_withdraw(session, "app://life"));
    barrier();
    CHECK_CLASS(MPI_Group_from_session_pset(session, "app://life", &gone), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Session_pset_withdraw(session, "app://life"), MPI_ERR_ARG);
    CHECK(number_of("app://life") == number);
    barrier();
    if (mtest_rank == publisher)
        publish("app://life", 0, NULL);
    barrier();
    expect("app://life", 0, NULL);
    CHECK(version_of("app://life") > version);
    CHECK(number_of("app://life") == number);
    barrier();
}

/* All publish at the same time: one name each, and all one name. */
static void at_once(void)
{
    char name[32];
    for (int round = 0; round < 5; round++) {
        snprintf(name, sizeof name, "app://of/%d", mtest_rank);
        const int pair[] = { mtest_rank, (mtest_rank + round) % mtest_size };
        publish(name, pair[0] == pair[1] ? 1 : 2, pair);
        publish("app://common", 1, &round); /* of one rank only where there are so few */
        barrier();
        for (int r = 0; r < mtest_size; r++) {
            const int want[] = { r, (r + round) % mtest_size };
            snprintf(name, sizeof name, "app://of/%d", r);
            expect(name, want[0] == want[1] ? 1 : 2, want);
        }
        barrier();
        if (round + 1 == mtest_size)
            break;
    }
}

/* --- watching --------------------------------------------------------------------------------------------------- */

struct seen {
    int calls, gone;
    long long version;
    int members;
};

static void watcher(MPI_Session of, const char *name, MPI_Count version, void *context)
{
    struct seen *seen = context;
    MPI_Group group;
    CHECK(of == session);
    if (strcmp(name, "app://watched") != 0)
        return;
    seen->calls++;
    seen->gone += version == 0;
    CHECK(version == 0 || version > seen->version);
    seen->version = (long long)version;
    if (version && CHECK_OK(MPI_Group_from_session_pset(of, name, &group))) { /* it may call MPI */
        CHECK_OK(MPI_Group_size(group, &seen->members));
        CHECK_OK(MPI_Group_free(&group));
    }
}

/* Waits in the session itself, so that its progress calls the watcher. */
static void watch(void)
{
    struct seen seen = { 0 };
    int token = 0, before;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(world, "watch", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPIX_Session_pset_watch(session, watcher, &seen));
    barrier();
    if (mtest_rank == 0)
        publish("app://watched", 1, &token);
    for (int i = 0; seen.calls == 0 && i < 1000000; i++) {
        int flag;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, &flag, MPI_STATUS_IGNORE));
    }
    CHECK(seen.calls == 1 && seen.members == 1 && seen.gone == 0);
    barrier();
    if (mtest_rank == 0)
        CHECK_OK(MPIX_Session_pset_withdraw(session, "app://watched"));
    barrier();
    number_of("app://watched"); /* the next query calls the watcher at the latest */
    CHECK(seen.calls == 2 && seen.gone == 1);
    CHECK_OK(MPIX_Session_pset_watch(session, NULL, NULL));
    before = seen.calls;
    barrier();
    if (mtest_rank == 0)
        publish("app://watched", 1, &token);
    barrier();
    number_of("app://watched");
    CHECK(seen.calls == before);
    CHECK_OK(MPIX_Session_pset_watch(session, watcher, &seen)); /* the session ends with a watcher */
    CHECK_OK(MPI_Comm_free(&comm));
}

static void refused(void)
{
    static const char *const names[] = { "mpi://WORLD", "MPI://mine", "plenum://NODE", "hwloc://Package/0", "",
                                         "ocean",       "app://a b" };
    MPI_Session other;
    MPI_Group group;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_CLASS(MPIX_Session_pset_publish(session, names[i], world), MPI_ERR_ARG);
        CHECK_CLASS(MPIX_Session_pset_withdraw(session, names[i]), MPI_ERR_ARG);
    }
    CHECK_CLASS(MPIX_Session_pset_publish(session, NULL, world), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Session_pset_publish(session, "app://x", MPI_GROUP_NULL), MPI_ERR_GROUP);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    CHECK_OK(MPI_Group_from_session_pset(other, "mpi://SELF", &group));
    CHECK_CLASS(MPIX_Session_pset_publish(session, "app://x", group), MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&other));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    life();
    at_once();
    watch();
    refused();
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
