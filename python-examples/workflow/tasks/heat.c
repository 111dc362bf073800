/* SPDX-License-Identifier: BSD-3-Clause */
/* A task in C: heat spreads along an insulated rod that the ranks share; each step exchanges the cells at the borders.
 * No heat is lost, so the total is known.
 *
 * usage: heat OUT.json CELLS STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct rod {
    MPI_Comm comm;
    int rank, size, cells; /* cells[1 .. cells]; 0 and cells + 1 are the neighbours' */
    double *now, *next;
};

static void step(struct rod *r)
{
    int left = r->rank > 0 ? r->rank - 1 : MPI_PROC_NULL, right = r->rank < r->size - 1 ? r->rank + 1 : MPI_PROC_NULL;
    r->now[0] = r->now[1];
    r->now[r->cells + 1] = r->now[r->cells];
    MPI_Sendrecv(&r->now[1], 1, MPI_DOUBLE, left, 0, &r->now[r->cells + 1], 1, MPI_DOUBLE, right, 0, r->comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&r->now[r->cells], 1, MPI_DOUBLE, right, 1, &r->now[0], 1, MPI_DOUBLE, left, 1, r->comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= r->cells; i++)
        r->next[i] = r->now[i] + 0.25 * (r->now[i - 1] - 2 * r->now[i] + r->now[i + 1]);
    double *old = r->now;
    r->now = r->next;
    r->next = old;
}

static double total(const struct rod *r)
{
    double sum = 0;
    for (int i = 1; i <= r->cells; i++)
        sum += r->now[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, r->comm);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s OUT.json CELLS STEPS\n", argv[0]);
        return 2;
    }
    int cells = atoi(argv[2]), steps = atoi(argv[3]);
    struct rod r = { .comm = MPI_COMM_WORLD };
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(r.comm, &r.rank);
    MPI_Comm_size(r.comm, &r.size);
    int first = (int)((long)cells * r.rank / r.size);
    r.cells = (int)((long)cells * (r.rank + 1) / r.size) - first;
    r.now = calloc((size_t)r.cells + 2, sizeof(double));
    r.next = calloc((size_t)r.cells + 2, sizeof(double));
    if (!r.now || !r.next)
        MPI_Abort(r.comm, 1);
    for (int i = 1; i <= r.cells; i++)
        r.now[i] = (first + i - 1) % 10;
    for (int s = 1; s <= steps; s++) {
        step(&r);
        if (s % (steps / 10 + 1) == 0) {
            nanosleep(&(struct timespec){ .tv_nsec = 40000000 }, NULL); /* so that there is something to see */
            if (r.rank == 0)
                printf("progress %d%%\n", s * 100 / steps), fflush(stdout);
        }
    }
    double heat = total(&r);
    FILE *out = r.rank == 0 ? fopen(argv[1], "w") : NULL;
    if (r.rank == 0 && !out)
        MPI_Abort(r.comm, 1);
    if (out) {
        fprintf(out, "{\"total\": %.0f, \"ranks\": %d}\n", heat, r.size);
        fclose(out);
    }
    free(r.now);
    free(r.next);
    MPI_Finalize();
    return 0;
}
