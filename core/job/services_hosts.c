/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/services_hosts.h"

#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/job/question.h"

_Static_assert((int)PL_SERVICE_VALUE_MAX == (int)PL_ANSWER_MAX, "an answer is the value of a name");

/* `value` NULL: there is none. `answer` NULL: not wanted. */
static int services_hosts_ask(enum pl_question_kind kind, const char *name, const char *value, bool progress,
                              char *answer)
{
    struct pl_question question;
    struct pl_writer data = pl_writer_growing(NULL, 0);
    if (value)
        pl_write_i32(&data, (int32_t)getpid());
    pl_write_text(&data, name);
    if (value)
        pl_write_text(&data, value);
    int rc = pl_question_ask(&question, kind, &data, kind == PL_QUESTION_LOOKUP ? MPI_ERR_NAME : MPI_ERR_SERVICE);
    if (rc == MPI_SUCCESS)
        rc = pl_question_await(&question, progress);
    if (rc == MPI_SUCCESS && answer)
        pl_question_answer(&question, answer);
    pl_question_close(&question);
    pl_writer_fini(&data);
    return rc;
}

int pl_services_hosts_publish(const char *name, const char *value)
{
    return services_hosts_ask(PL_QUESTION_PUBLISH, name, value, true, NULL);
}

int pl_services_hosts_withdraw(const char *name, const char *value, bool progress)
{
    return services_hosts_ask(PL_QUESTION_UNPUBLISH, name, value, progress, NULL);
}

int pl_services_hosts_find(const char *name, char value[PL_SERVICE_VALUE_MAX])
{
    return services_hosts_ask(PL_QUESTION_LOOKUP, name, NULL, true, value);
}
