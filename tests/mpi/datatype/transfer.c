/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes around a ring: one layout on the sender and another of the same signature on the receiver, in
 * messages from empty to far beyond the eager limit. The bytes between the data are not written.
 */
#include "mtest.h"

enum { INTS = 1 << 20 }; /* of memory, on each side */

static int memory[INTS], landing[INTS];

/* `count` elements of a type hold as many ints as `count` times `ints`. */
struct layout {
    const char *name;
    MPI_Datatype type;
    int ints;
};

enum { LAYOUTS = 6 };

static void make_layouts(struct layout layouts[LAYOUTS])
{
    const int lengths[] = { 3, 1, 8 }, places[] = { 20, 2, 7 };
    const int sizes[] = { 5, 4, 6 }, subsizes[] = { 2, 2, 3 }, starts[] = { 1, 1, 2 };
    MPI_Datatype vector, backwards;
    layouts[0] = (struct layout){ "contiguous", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_contiguous(12, MPI_INT, &layouts[0].type));
    layouts[1] = (struct layout){ "vector", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_vector(6, 2, 5, MPI_INT, &layouts[1].type));
    layouts[2] = (struct layout){ "indexed", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &layouts[2].type));
    layouts[3] = (struct layout){ "subarray", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &layouts[3].type));
    layouts[4] = (struct layout){ "struct", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &vector));
    CHECK_OK(MPI_Type_create_struct(3, (int[]){ 2, 1, 7 }, (MPI_Aint[]){ 0, 44, 56 },
                                    (MPI_Datatype[]){ vector, MPI_INT, MPI_INT }, &layouts[4].type));
    CHECK_OK(MPI_Type_free(&vector));
    layouts[5] = (struct layout){ "backwards", MPI_DATATYPE_NULL, 12 };
    CHECK_OK(MPI_Type_create_hvector(12, 1, -8, MPI_INT, &backwards));
    CHECK_OK(MPI_Type_create_hindexed(1, (int[]){ 1 }, (MPI_Aint[]){ 96 }, backwards, &layouts[5].type));
    CHECK_OK(MPI_Type_free(&backwards));
    for (int i = 0; i < LAYOUTS; i++)
        CHECK_OK(MPI_Type_commit(&layouts[i].type));
}

/* Learns the index of each int of a layout, in order, by calls of MPI_Pack on an array of indices. */
static void places_of(const struct layout *layout, int count, int *place)
{
    static int numbers[INTS];
    int position = 0;
    for (int i = 0; i < INTS; i++)
        numbers[i] = i;
    CHECK_OK(MPI_Pack(numbers, count, layout->type, place, count * layout->ints * (int)sizeof(int), &position,
                      MPI_COMM_SELF));
}

static void exchange(const struct layout *from, const struct layout *to, int count, int *source_place,
                     int *target_place)
{
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size, received, wrong = 0;
    MPI_Status status;
    places_of(from, count, source_place);
    places_of(to, count, target_place);
    memset(memory, 0xff, sizeof memory);
    memset(landing, 0xff, sizeof landing);
    for (int i = 0; i < count * from->ints; i++)
        memory[source_place[i]] = mtest_rank * 7 + i;
    CHECK_OK(MPI_Sendrecv(memory, count, from->type, right, count % 100, landing, count, to->type, left, count % 100,
                          MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, to->type, &received));
    CHECK(received == count);
    for (int i = 0; i < count * to->ints; i++) {
        wrong += landing[target_place[i]] != left * 7 + i;
        landing[target_place[i]] = -1;
    }
    for (int i = 0; i < INTS; i++)
        wrong += landing[i] != -1;
    if (!CHECK(wrong == 0))
        fprintf(stderr, "from %s to %s, %d times: %d ints are wrong\n", from->name, to->name, count, wrong);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 50, 3000 };
    static int source_place[INTS], target_place[INTS];
    struct layout layouts[LAYOUTS];
    MTEST_INIT(argc, argv);
    make_layouts(layouts);
    for (int from = 0; from < LAYOUTS; from++)
        for (int to = 0; to < LAYOUTS; to++)
            exchange(&layouts[from], &layouts[to], counts[(from + to) % 5], source_place, target_place);
    for (int i = 0; i < LAYOUTS; i++)
        exchange(&layouts[i], &layouts[(i + 1) % LAYOUTS], 3000, source_place, target_place);
    for (int i = 0; i < LAYOUTS; i++)
        CHECK_OK(MPI_Type_free(&layouts[i].type));
    MTEST_END;
}
