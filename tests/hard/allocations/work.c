/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: work CHAPTER MODEL RANK N
 * The N-th allocation of rank RANK fails; 0: none does. MODEL is `world` or `session`. Exit code 0: each call has
 * succeeded or returned an error class, and then a fresh session has done its work. The line that it
 * prints says which call failed. See work.h.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "tests/mpi/usage.h"

const char *work_program;

static int first_error;
static bool wrong;
static char first_text[MPI_MAX_ERROR_STRING];

bool work_failed(int code)
{
    int length;
    if (code != MPI_SUCCESS && first_error == MPI_SUCCESS) {
        MPI_Error_class(code, &first_error);
        MPI_Error_string(code, first_text, &length);
        printf("error: %s\n", first_text);
        fflush(stdout);
    }
    return code != MPI_SUCCESS;
}

bool work_is_well(void)
{
    return first_error == MPI_SUCCESS;
}

void work_expect(bool condition, const char *what)
{
    if (condition || first_error)
        return;
    printf("wrong: %s\n", what);
    wrong = true;
}

static const struct {
    const char *name;
    work_chapter *run;
} chapters[] = {
    { "messages", work_messages },   { "collectives", work_collectives },
    { "neighbors", work_neighbors }, { "windows", work_windows },
    { "files", work_files },         { "spawn", work_spawn },
};

static work_chapter *chapter_named(const char *name)
{
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++)
        if (strcmp(chapters[i].name, name) == 0)
            return chapters[i].run;
    return NULL;
}

/* Runs a chapter in a session of its own, with the processes of a set. */
static void run_in_session(work_chapter *chapter, const char *pset)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    TRY(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    TRY(MPI_Group_from_session_pset(session, pset, &group));
    TRY(MPI_Comm_create_from_group(group, "org.example.work", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    chapter(comm);
done:
    if (group != MPI_GROUP_NULL)
        work_failed(MPI_Group_free(&group));
    if (comm != MPI_COMM_NULL)
        work_failed(MPI_Comm_free(&comm));
    if (session != MPI_SESSION_NULL)
        work_failed(MPI_Session_finalize(&session));
}

static void run_in_world(work_chapter *chapter)
{
    if (work_failed(MPI_Init(NULL, NULL)))
        return;
    chapter(MPI_COMM_WORLD);
    work_failed(MPI_Finalize());
}

static void send_to_oneself(MPI_Comm comm)
{
    int sum = 0, got = 0;
    TRY(MPI_Sendrecv(&(int){ 5 }, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    TRY(MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, comm));
    work_expect(got == 5 && sum == 5, "messages in a fresh session");
done:;
}

/* Whatever has failed before is over: nothing of it is in the way of a new session. It is one of this process alone:
 * others may wait for what this process has given up, and are told when it ends. */
static void run_afresh(void)
{
    first_error = MPI_SUCCESS;
    run_in_session(send_to_oneself, "mpi://SELF");
    if (first_error) {
        printf("wrong: a fresh session\n");
        wrong = true;
    }
}

/* Of this process in its job, before MPI is initialized. */
static int rank_in_job(void)
{
    const char *text = getenv("PLENUM_JOB");
    return text && strrchr(text, ':') ? atoi(strrchr(text, ':') + 1) : 0;
}

int main(int argc, char **argv)
{
    work_program = argv[0];
    bool spawned = argc == 2 && strcmp(argv[1], "spawned") == 0;
    if (!spawned && (argc != 5 || !chapter_named(argv[1])))
        return 2;
    if (spawned) {
        work_spawn(MPI_COMM_NULL);
        return wrong;
    }
    long nth = atol(argv[4]);
    bool chosen = rank_in_job() == atoi(argv[3]);
    struct usage before = usage_now();
    if (chosen)
        pl_memory_fail_at(nth);
    if (strcmp(argv[2], "world") == 0)
        run_in_world(chapter_named(argv[1]));
    else
        run_in_session(chapter_named(argv[1]), "mpi://WORLD");
    bool happened = chosen && nth > 0 && pl_memory_failed();
    bool failed = first_error;
    pl_memory_fail_at(0);
    run_afresh();
    struct usage after = usage_now();
    if (after.descriptors > before.descriptors + (getenv("PLENUM_TRANSPORT") ? 8 : 0)) {
        printf("wrong: %d descriptors before, %d after\n", before.descriptors, after.descriptors);
        wrong = true;
    }
    if (happened && !failed)
        printf("failed without an error\n");
    return wrong;
}
