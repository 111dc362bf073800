/* SPDX-License-Identifier: BSD-3-Clause */
/* See pmix.h. This build has no PMIx server yet, and says so to a job that wants one. */
#include "world/runtime/error.h"
#include "world/runtime/pmix.h"

int pl_pmix_want(struct plenum_runtime *rt)
{
    (void)rt;
    return pl_rt_fail(PLENUM_ERR_STATE, "this build has no PMIx server");
}
int plenum_runtime_want_pmix(struct plenum_runtime *rt) { return pl_pmix_want(rt); }
void pl_pmix_release(struct plenum_runtime *rt) { (void)rt; }
int pl_pmix_register(struct plenum_job *job) { return pl_pmix_want(job->runtime); }
void pl_pmix_deregister(struct plenum_job *job) { (void)job; }
int pl_pmix_environment(const struct plenum_job *job, int rank, struct pl_vars *vars)
{
    (void)rank, (void)vars;
    return pl_pmix_want(job->runtime);
}
bool pl_pmix_next_abort(struct plenum_runtime *rt, struct pl_pmix_abort *abort) { (void)rt, (void)abort; return false; }
void pl_pmix_tell_litter(struct plenum_runtime *rt) { (void)rt; }
