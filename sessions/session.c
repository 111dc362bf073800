/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening sessions: what the info requests, what is granted; closing them, and the leak report. */
#include "sessions/session.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/engine/leak_report.h"
#include "core/engine/progress.h"
#include "core/job/process.h"
#include "core/object/alloc_kinds.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "sessions/psets/registry.h"

#define LEVEL_KEY       "thread_level"             /* of the standard (MPI-5.0 section 11.3.1) */
#define OTHER_LEVEL_KEY "mpi_thread_support_level" /* programs use this one as well */
#define STRICT_KEY      "plenum_strict"
#define ALONE_KEY       "plenum_alone"

static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
static const char *const level_words[] = { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                           "MPI_THREAD_MULTIPLE", NULL };
static const char *const truth_words[] = { "false", "true", NULL };
static const char *const progress_words[] = { PL_PROGRESS_NONE, PL_PROGRESS_THREAD, NULL };

static const char *session_level_name(int level)
{
    int i = 0;
    while (i < 3 && levels[i] != level)
        i++;
    return level_words[i];
}

/* Reads a key whose value is one of these words: its place in the list. Without the key *which stays. */
static int session_read_word(struct pl_info *info, const char *key, const char *const words[], const char *allowed,
                             int *which)
{
    char *text;
    int rc = pl_info_get(info, key, &text);
    if (text)
        *which = pl_words_find(words, text);
    if (text && *which < 0)
        rc = pl_fail(MPI_ERR_INFO_VALUE, "info key %s is \"%s\", allowed are %s", key, text, allowed);
    free(text);
    return rc;
}

/* Without the key a session serves any thread: a library cannot know its callers. */
static int session_read_level(struct pl_info *info, int *level)
{
    static const char *const keys[] = { LEVEL_KEY, OTHER_LEVEL_KEY };
    int rc = MPI_SUCCESS, which = -1;
    for (int i = 0; rc == MPI_SUCCESS && which < 0 && i < 2; i++)
        rc = session_read_word(info, keys[i], level_words,
                               "MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE",
                               &which);
    *level = which < 0 ? MPI_THREAD_MULTIPLE : levels[which];
    return rc;
}

static int session_read_truth(struct pl_info *info, const char *key, bool *value)
{
    int which = *value;
    int rc = session_read_word(info, key, truth_words, "true and false", &which);
    *value = which == 1;
    return rc;
}

/* An unknown key with the prefix of Plenum or of MPI is misspelt. */
static int session_check_keys(struct pl_info *info)
{
    static const char *const keys[] = {
        OTHER_LEVEL_KEY,           STRICT_KEY,          ALONE_KEY,
        PL_ALLOC_KINDS_KEY,        PL_PROGRESS_KEY,     "mpi_initial_errhandler",
        PL_ALLOC_KINDS_ASSERT_KEY, "plenum_errhandler", NULL,
    };
    char key[MPI_MAX_INFO_KEY];
    for (int n = 0; info && pl_info_nth(info, n, key); n++) {
        if (pl_words_find(keys, key) < 0 && (strncmp(key, "mpi_", 4) == 0 || strncmp(key, "plenum_", 7) == 0))
            return pl_fail(MPI_ERR_INFO_KEY, "info key %s is not a key of sessions", key);
    }
    return MPI_SUCCESS;
}

static bool session_is_alone(void)
{
    pl_lock_take(&pl_process.lock);
    bool alone = pl_process_wants_alone();
    pl_lock_drop(&pl_process.lock);
    return alone;
}

/* What MPI_Session_get_info returns. */
static int session_set_hints(struct pl_instance *session, struct pl_info *info)
{
    const char *level = session_level_name(session->thread_level);
    char *asserted, *kinds = NULL;
    int rc = pl_info_get(info, PL_ALLOC_KINDS_ASSERT_KEY, &asserted);
    rc = rc ? rc : pl_info_get(session->info, PL_ALLOC_KINDS_KEY, &kinds);
    rc = rc ? rc : pl_info_set(session->info, LEVEL_KEY, level);
    rc = rc ? rc : pl_info_set(session->info, OTHER_LEVEL_KEY, level);
    if (rc == MPI_SUCCESS && asserted && kinds && pl_alloc_kinds_within(asserted, kinds))
        rc = pl_info_set(session->info, PL_ALLOC_KINDS_ASSERT_KEY, asserted);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(session->info, STRICT_KEY, session->strict ? "true" : "false");
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(session->info, ALONE_KEY, session_is_alone() ? "true" : "false");
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(session->info, PL_PROGRESS_KEY, session->served ? PL_PROGRESS_THREAD : PL_PROGRESS_NONE);
    free(kinds);
    free(asserted);
    return rc;
}

/* Opens the instance, in the job of the launcher or alone. */
static int session_open_instance(struct pl_info *info, struct pl_instance **made)
{
    int level, progress = -1;
    bool alone = false;
    char *kinds = NULL;
    int rc = session_read_level(info, &level);
    rc = rc ? rc : session_read_truth(info, ALONE_KEY, &alone);
    if (rc == MPI_SUCCESS)
        rc = session_read_word(info, PL_PROGRESS_KEY, progress_words, PL_PROGRESS_NONE " and " PL_PROGRESS_THREAD,
                               &progress);
    rc = rc ? rc : alone ? pl_process_open_alone() : pl_process_check_joined();
    if (rc)
        return rc;
    rc = pl_info_get(info, PL_ALLOC_KINDS_KEY, &kinds);
    rc = rc ? rc : pl_instance_open(false, level, kinds, progress < 0 ? NULL : progress_words[progress], made);
    free(kinds);
    if (alone)
        pl_process_close(); /* the instance holds it open */
    return rc;
}

int pl_session_open(struct pl_info *info, struct pl_errhandler *errhandler, struct pl_instance **session)
{
    struct pl_instance *made;
    int rc = session_open_instance(info, &made);
    if (rc)
        return rc;
    made->strict = pl_config_bool("strict"); /* only now the configuration has been read */
    rc = session_read_truth(info, STRICT_KEY, &made->strict);
    if (rc == MPI_SUCCESS && made->strict)
        rc = session_check_keys(info);
    if (rc == MPI_SUCCESS)
        rc = session_set_hints(made, info);
    if (rc == MPI_SUCCESS)
        rc = pl_instance_serve(made);
    if (rc) {
        pl_session_close(made);
        return rc;
    }
    if (errhandler) {
        pl_object_release(made->errhandler);
        made->errhandler = pl_object_retain(errhandler);
    }
    *session = made;
    return MPI_SUCCESS;
}

int pl_session_check(struct pl_instance *session, bool *ours)
{
    char left[PL_DETAIL_MAX - 64];
    *ours = pl_process_check_forked() == MPI_SUCCESS;
    if (!*ours)
        return MPI_ERR_OTHER;
    pl_instance_serve_no_more(session);
    int count = pl_leak_report(session, left, sizeof left);
    if (count == 0 || !session->strict)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER, "the session is finalized; left alive in it, %d: %s", count, left);
}

void pl_session_close(struct pl_instance *session)
{
    pl_psets_close(session);
    pl_instance_close(session);
    pl_handle_drop(session);
    pl_object_trim(); /* the session may have been the last object */
}
