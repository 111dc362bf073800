/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMIx client for the launcher's tests: checks its place, exchanges data and compares it with what must come, checks
 * process sets and published names. Exit code 0 and one line "ok <rank>/<size>" when everything was right.
 * Arguments: "abort" lets rank 1 call PMIx_Abort(7), "die" lets it be killed, and the others wait for it; "psets NAME
 * COUNT" wants such a process set.
 */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static void check(int good, const char *what, pmix_status_t status)
{
    if (good)
        return;
    fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
    exit(9);
}

static uint32_t job_number(const char *key)
{
    pmix_proc_t all;
    pmix_value_t *value;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    pmix_status_t status = PMIx_Get(&all, key, NULL, 0, &value);
    check(status == PMIX_SUCCESS, key, status);
    uint32_t number = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return number;
}

static void exchange(uint32_t size)
{
    char text[64];
    pmix_value_t value, *got;
    snprintf(text, sizeof text, "card of %u", me.rank);
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    check(PMIx_Put(PMIX_GLOBAL, "test.card", &value) == PMIX_SUCCESS, "Put", 0);
    PMIX_VALUE_DESTRUCT(&value);
    check(PMIx_Commit() == PMIX_SUCCESS, "Commit", 0);
    pmix_info_t info;
    bool collect = true;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    pmix_status_t status = PMIx_Fence(NULL, 0, &info, 1);
    check(status == PMIX_SUCCESS, "Fence", status);
    for (uint32_t r = 0; r < size; r++) {
        pmix_proc_t peer;
        PMIX_LOAD_PROCID(&peer, me.nspace, r);
        status = PMIx_Get(&peer, "test.card", NULL, 0, &got);
        check(status == PMIX_SUCCESS, "Get", status);
        snprintf(text, sizeof text, "card of %u", r);
        check(got->type == PMIX_STRING && strcmp(got->data.string, text) == 0, "wrong data", 0);
        PMIX_VALUE_RELEASE(got);
    }
}

static void publish_and_lookup(uint32_t size)
{
    pmix_info_t info;
    pmix_pdata_t found;
    char key[64], *keys[] = { key, NULL };
    uint32_t next = (me.rank + 1) % size, number = 1000 + me.rank;
    snprintf(key, sizeof key, "name.%u", me.rank);
    PMIX_INFO_LOAD(&info, key, &number, PMIX_UINT32);
    pmix_status_t status = PMIx_Publish(&info, 1);
    check(status == PMIX_SUCCESS, "Publish", status);
    status = PMIx_Publish(&info, 1);
    check(status == PMIX_ERR_DUPLICATE_KEY, "Publish twice", status);
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIX_PDATA_CONSTRUCT(&found);
    snprintf(found.key, sizeof found.key, "name.%u", next);
    status = PMIx_Lookup(&found, 1, NULL, 0);
    check(status == PMIX_SUCCESS && found.value.data.uint32 == 1000 + next, "Lookup", status);
    check(found.proc.rank == next, "publisher", 0);
    PMIx_Fence(NULL, 0, NULL, 0);
    status = PMIx_Unpublish(keys, NULL, 0);
    check(status == PMIX_SUCCESS, "Unpublish", status);
    PMIx_Fence(NULL, 0, NULL, 0);
    status = PMIx_Lookup(&found, 1, NULL, 0);
    check(status == PMIX_ERR_NOT_FOUND, "Lookup of what is gone", status);
}

static void check_pset(const char *name, size_t members)
{
    pmix_query_t query;
    pmix_info_t *info;
    size_t count;
    pmix_status_t status;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(status, query.keys, PMIX_QUERY_PSET_MEMBERSHIP);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_PSET_NAME, name, PMIX_STRING);
    status = PMIx_Query_info(&query, 1, &info, &count);
    check(status == PMIX_SUCCESS && count == 1, "membership", status);
    check(info[0].value.type == PMIX_DATA_ARRAY && info[0].value.data.darray->size == members, "members", 0);
    PMIX_INFO_FREE(info, count);
    PMIX_QUERY_DESTRUCT(&query);
}

int main(int argc, char *argv[])
{
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    check(status == PMIX_SUCCESS, "Init", status);
    uint32_t size = job_number(PMIX_JOB_SIZE);
    check(size == (uint32_t)atoi(getenv("PLENUM_SIZE")), "size", 0);
    check(me.rank == (uint32_t)atoi(getenv("PLENUM_RANK")), "rank", 0);
    check(job_number(PMIX_UNIV_SIZE) == size, "universe", 0);
    exchange(size);
    publish_and_lookup(size);
    if (argc > 3 && strcmp(argv[1], "psets") == 0)
        check_pset(argv[2], (size_t)atoi(argv[3]));
    if (argc > 1 && strcmp(argv[1], "abort") == 0) {
        if (me.rank == 1)
            PMIx_Abort(7, "because", NULL, 0);
        pause();
    }
    if (argc > 1 && strcmp(argv[1], "die") == 0) {
        if (me.rank == 1)
            raise(SIGKILL);
        pause();
    }
    status = PMIx_Finalize(NULL, 0);
    check(status == PMIX_SUCCESS, "Finalize", status);
    printf("ok %u/%u\n", me.rank, size);
    return 0;
}
