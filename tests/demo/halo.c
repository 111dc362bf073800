/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up: every process lists the foreign columns of its rows, sorted, so that those of one owner lie together. The
 * owners learn by an all-to-all how many values the others need, and then by messages which.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "tools.h"

enum { TAG_LIST = 1, TAG_VALUES };

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The foreign columns of the rows, sorted, each once. Returns their number. */
static int list_foreign(const struct cg_rows *rows, int **foreign)
{
    int64_t count = 0;
    int *list = allocate(rows->start[rows->count], sizeof *list);
    for (int64_t k = 0; k < rows->start[rows->count]; k++)
        if (rows->column[k] < rows->first || rows->column[k] >= rows->first + rows->count)
            list[count++] = rows->column[k];
    qsort(list, (size_t)count, sizeof *list, ascending);
    int unique = 0;
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[unique++] = list[k];
    *foreign = list;
    return unique;
}

/* The position of each column of the rows in a vector: own entries first, then the halo. */
static int *localize(const struct cg_rows *rows, const int *foreign, int needed)
{
    int64_t nonzeros = rows->start[rows->count];
    int *place = allocate(nonzeros, sizeof *place);
    for (int64_t k = 0; k < nonzeros; k++) {
        int own = rows->column[k] - rows->first;
        if (own >= 0 && own < rows->count) {
            place[k] = own;
        } else {
            int *found = bsearch(&rows->column[k], foreign, (size_t)needed, sizeof *foreign, ascending);
            place[k] = rows->count + (int)(found - foreign);
        }
    }
    return place;
}

/*
 * Of counts[rank] entries, which lie together for each rank, keeps the non-zero counts. Returns the number of
 * neighbours.
 */
static int list_neighbours(const int *counts, int size, struct halo_neighbour **neighbours)
{
    int found = 0, first = 0;
    *neighbours = allocate(size, sizeof **neighbours);
    for (int rank = 0; rank < size; rank++) {
        if (counts[rank] == 0)
            continue;
        (*neighbours)[found++] = (struct halo_neighbour){ .rank = rank, .first = first, .count = counts[rank] };
        first += counts[rank];
    }
    return found;
}

/*
 * Sends each owner the list of entries needed from it; builds the list of entries that others need from this process.
 */
static void exchange_lists(struct halo *halo, const struct cg_rows *rows, const int *foreign)
{
    int n = 0;
    for (int i = 0; i < halo->targets; i++) {
        struct halo_neighbour *to = &halo->target[i];
        MPI_Irecv(halo->list + to->first, to->count, MPI_INT, to->rank, TAG_LIST, halo->comm, &halo->request[n++]);
    }
    for (int i = 0; i < halo->sources; i++) {
        struct halo_neighbour *from = &halo->source[i];
        MPI_Isend(foreign + from->first, from->count, MPI_INT, from->rank, TAG_LIST, halo->comm, &halo->request[n++]);
    }
    MPI_Waitall(n, halo->request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < halo->targets; i++)
        for (int k = 0; k < halo->target[i].count; k++)
            halo->list[halo->target[i].first + k] -= rows->first;
}

void halo_open(struct halo *halo, MPI_Comm comm, const struct cg_rows *rows)
{
    int size, *foreign;
    *halo = (struct halo){ .comm = comm, .own = rows->count };
    MPI_Comm_size(comm, &size);
    int *firsts = allocate(size, sizeof *firsts);
    int *wanted = allocate(size, sizeof *wanted);
    int *given = allocate(size, sizeof *given);
    MPI_Allgather(&rows->first, 1, MPI_INT, firsts, 1, MPI_INT, comm);

    halo->needed = list_foreign(rows, &foreign);
    halo->column = localize(rows, foreign, halo->needed);
    memset(wanted, 0, (size_t)size * sizeof *wanted);
    for (int k = 0, owner = 0; k < halo->needed; k++) {
        while (owner + 1 < size && firsts[owner + 1] <= foreign[k])
            owner++;
        wanted[owner]++;
    }
    MPI_Alltoall(wanted, 1, MPI_INT, given, 1, MPI_INT, comm);
    halo->sources = list_neighbours(wanted, size, &halo->source);
    halo->targets = list_neighbours(given, size, &halo->target);

    int sent = 0;
    for (int i = 0; i < halo->targets; i++)
        sent += halo->target[i].count;
    halo->list = allocate(sent, sizeof *halo->list);
    halo->packed = allocate(sent, sizeof *halo->packed);
    halo->request = allocate(halo->sources + halo->targets, sizeof *halo->request);
    exchange_lists(halo, rows, foreign);

    free(foreign);
    free(firsts);
    free(wanted);
    free(given);
}

void halo_close(struct halo *halo)
{
    free(halo->source);
    free(halo->target);
    free(halo->list);
    free(halo->packed);
    free(halo->request);
    free(halo->column);
}

void halo_begin(struct halo *halo, double *vector)
{
    int n = 0;
    for (int i = 0; i < halo->sources; i++) {
        struct halo_neighbour *from = &halo->source[i];
        MPI_Irecv(vector + halo->own + from->first, from->count, MPI_DOUBLE, from->rank, TAG_VALUES, halo->comm,
                  &halo->request[n++]);
    }
    for (int i = 0; i < halo->targets; i++) {
        struct halo_neighbour *to = &halo->target[i];
        for (int k = to->first; k < to->first + to->count; k++)
            halo->packed[k] = vector[halo->list[k]];
        MPI_Isend(halo->packed + to->first, to->count, MPI_DOUBLE, to->rank, TAG_VALUES, halo->comm,
                  &halo->request[n++]);
    }
}

void halo_end(struct halo *halo)
{
    MPI_Waitall(halo->sources + halo->targets, halo->request, MPI_STATUSES_IGNORE);
}
