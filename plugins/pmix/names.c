/* SPDX-License-Identifier: BSD-3-Clause */
/* Published names through the PMIx server. */
#include "plugins/pmix/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "plugins/pmix/pmix_copy.h"

enum { ANSWER_SECONDS = 5 };

/* False: too long for a key. */
static bool pmix_names_make_key(const char *name, pmix_key_t key)
{
    return snprintf(key, sizeof(pmix_key_t), "plenum-name:%s", name) < (int)sizeof(pmix_key_t);
}

static int pmix_names_unsupported(const char *what, pmix_status_t status)
{
    pl_pmix_copy->host->log("process", 2, "the PMIx server does not %s names: %s", what, PMIx_Error_string(status));
    return PL_UNREACHABLE;
}

int pl_pmix_names_publish(const char *name, const char *value)
{
    pmix_key_t key;
    pmix_info_t info[3];
    pmix_data_range_t range = PMIX_RANGE_SESSION;
    pmix_persistence_t persistence = PMIX_PERSIST_PROC;
    if (!pmix_names_make_key(name, key))
        return PL_UNREACHABLE;
    PMIX_INFO_LOAD(&info[0], key, value, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    pmix_status_t status = PMIx_Publish(info, 3);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    if (status == PMIX_ERR_DUPLICATE_KEY || status == PMIX_EXISTS)
        return pl_pmix_copy->host->fail(MPI_ERR_SERVICE,
                                        "service_name \"%.100s\" is already published by a job of this launcher", name);
    return status == PMIX_SUCCESS ? MPI_SUCCESS : pmix_names_unsupported("publish", status);
}

int pl_pmix_names_withdraw(const char *name)
{
    pmix_key_t key;
    char *keys[] = { key, NULL };
    if (!pmix_names_make_key(name, key))
        return PL_UNREACHABLE;
    pmix_status_t status = PMIx_Unpublish(keys, NULL, 0);
    return status == PMIX_SUCCESS ? MPI_SUCCESS : pmix_names_unsupported("withdraw", status);
}

int pl_pmix_names_find(const char *name, char *value, size_t bytes)
{
    pmix_pdata_t found;
    pmix_info_t info[2];
    pmix_data_range_t range = PMIX_RANGE_SESSION;
    int seconds = ANSWER_SECONDS, rc = MPI_ERR_NAME;
    PMIX_PDATA_CONSTRUCT(&found);
    if (!pmix_names_make_key(name, found.key))
        return PL_UNREACHABLE;
    PMIX_INFO_LOAD(&info[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_status_t status = PMIx_Lookup(&found, 1, info, 2);
    if (status == PMIX_SUCCESS && found.value.type == PMIX_STRING && found.value.data.string &&
        strlen(found.value.data.string) < bytes) {
        strcpy(value, found.value.data.string);
        rc = MPI_SUCCESS;
    } else if (status != PMIX_SUCCESS && status != PMIX_ERR_NOT_FOUND) {
        rc = pmix_names_unsupported("find", status);
    }
    PMIX_PDATA_DESTRUCT(&found);
    for (int i = 0; i < 2; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc;
}
