/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More ranks than cores, all on the first of them at the beginning. While they do collectives they may spread over the
 * others (core/coll/area/balance.h). The results are right, and at the end each may still use the cores that it could
 * use before. One that is bound to a core stays there.
 */
/* ranks: 4 5 */
#include <sched.h>

#include "mtest.h"

enum { ROUNDS = 20000 };

static int first_of(const cpu_set_t *cores)
{
    int core = 0;
    while (core < CPU_SETSIZE && !CPU_ISSET((size_t)core, cores))
        core++;
    return core;
}

static void work(void)
{
    int wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int own = i + mtest_rank, sum = -1;
        CHECK_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        wrong += sum != mtest_size * i + mtest_size * (mtest_size - 1) / 2;
    }
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    cpu_set_t all, one, now;
    MTEST_INIT(argc, argv);
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)first_of(&all), &one);

    CHECK(sched_setaffinity(0, sizeof one, &one) == 0 && sched_setaffinity(0, sizeof all, &all) == 0);
    work();
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &all));

    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    work();
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &one));
    MTEST_END;
}
