/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes, packing and statuses with numbers beyond 2^31 (MPI-5.0 sections 5.1, 5.2, 3.2.5, the _c forms). Sizes,
 * extents and contents are exact, and the int forms give MPI_UNDEFINED. Data packed from far away is unpacked far away.
 * Only memory that holds data is touched.
 */
/* ranks: 1 */
#include <stdint.h>
#include <sys/mman.h>

#include "mtest.h"

#define BIG      ((MPI_Count)(3ll << 31) + 8)
#define CAPACITY ((size_t)4 * (size_t)BIG)

/* Is the type of this size and extent, and are these the counts that it was made of? Frees it. */
static void check(MPI_Datatype type, MPI_Count size, MPI_Count lb, MPI_Count extent, int combiner, int n,
                  const MPI_Count *counts)
{
    MPI_Count got, got_lb, integers, addresses, large, types, contents[16] = { 0 };
    MPI_Datatype inner[4];
    MPI_Aint nothing[1];
    int made_by, narrow, numbers[16];
    CHECK_OK(MPI_Type_size_c(type, &got));
    CHECK(got == size);
    CHECK_OK(MPI_Type_size(type, &narrow));
    CHECK(narrow == (size > INT32_MAX ? MPI_UNDEFINED : (int)size));
    CHECK_OK(MPI_Type_get_extent_c(type, &got_lb, &got));
    CHECK(got_lb == lb && got == extent);
    CHECK_OK(MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &made_by));
    CHECK(made_by == combiner && addresses == 0 && large == n && types <= 4);
    CHECK_OK(MPI_Type_get_contents_c(type, 16, 1, 16, 4, numbers, nothing, contents, inner));
    for (int i = 0; i < n; i++)
        CHECK(contents[i] == counts[i]);
    CHECK_OK(MPI_Type_free(&type));
}

#define COUNTS(...)                                                                                                    \
    (int)(sizeof(MPI_Count[]){ __VA_ARGS__ } / sizeof(MPI_Count)), (const MPI_Count[])                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void constructors(void)
{
    MPI_Count lengths[] = { BIG, 1 }, places[] = { 0, 2 * BIG };
    MPI_Datatype t, kinds[] = { MPI_BYTE, MPI_INT };
    CHECK_OK(MPI_Type_contiguous_c(BIG, MPI_INT, &t));
    check(t, 4 * BIG, 0, 4 * BIG, MPI_COMBINER_CONTIGUOUS, COUNTS(BIG));
    CHECK_OK(MPI_Type_vector_c(3, 2, BIG, MPI_INT, &t));
    check(t, 24, 0, 4 * (2 * BIG + 2), MPI_COMBINER_VECTOR, COUNTS(3, 2, BIG));
    CHECK_OK(MPI_Type_vector_c(BIG, 1, -2, MPI_BYTE, &t));
    check(t, BIG, -2 * (BIG - 1), 2 * (BIG - 1) + 1, MPI_COMBINER_VECTOR, COUNTS(BIG, 1, -2));
    CHECK_OK(MPI_Type_create_hvector_c(3, 2, 4 * BIG, MPI_INT, &t));
    check(t, 24, 0, 8 * BIG + 8, MPI_COMBINER_HVECTOR, COUNTS(3, 2, 4 * BIG));
    CHECK_OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &t));
    check(t, 4 * (BIG + 1), 0, 4 * (2 * BIG + 1), MPI_COMBINER_INDEXED, COUNTS(2, BIG, 1, 0, 2 * BIG));
    CHECK_OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_BYTE, &t));
    check(t, BIG + 1, 0, 2 * BIG + 1, MPI_COMBINER_HINDEXED, COUNTS(2, BIG, 1, 0, 2 * BIG));
    CHECK_OK(MPI_Type_create_indexed_block_c(2, BIG, places, MPI_SHORT, &t));
    check(t, 4 * BIG, 0, 6 * BIG, MPI_COMBINER_INDEXED_BLOCK, COUNTS(2, BIG, 0, 2 * BIG));
    CHECK_OK(MPI_Type_create_hindexed_block_c(2, BIG, places, MPI_SHORT, &t));
    check(t, 4 * BIG, 0, 4 * BIG, MPI_COMBINER_HINDEXED_BLOCK, COUNTS(2, BIG, 0, 2 * BIG));
    CHECK_OK(MPI_Type_create_struct_c(2, lengths, places, kinds, &t));
    check(t, BIG + 4, 0, 2 * BIG + 4, MPI_COMBINER_STRUCT, COUNTS(2, BIG, 1, 0, 2 * BIG));
    CHECK_OK(MPI_Type_create_resized_c(MPI_INT, -BIG, 2 * BIG, &t));
    check(t, 4, -BIG, 2 * BIG, MPI_COMBINER_RESIZED, COUNTS(-BIG, 2 * BIG));
    CHECK_OK(MPI_Type_create_subarray_c(2, (MPI_Count[]){ BIG, 4 }, (MPI_Count[]){ BIG - 1, 2 }, (MPI_Count[]){ 1, 1 },
                                        MPI_ORDER_C, MPI_BYTE, &t));
    check(t, 2 * (BIG - 1), 0, 4 * BIG, MPI_COMBINER_SUBARRAY, COUNTS(BIG, 4, BIG - 1, 2, 1, 1));
    CHECK_OK(MPI_Type_create_darray_c(2, 1, 1, (MPI_Count[]){ BIG }, (int[]){ MPI_DISTRIBUTE_BLOCK },
                                      (int[]){ MPI_DISTRIBUTE_DFLT_DARG }, (int[]){ 2 }, MPI_ORDER_C, MPI_BYTE, &t));
    check(t, BIG / 2, 0, BIG, MPI_COMBINER_DARRAY, COUNTS(BIG));
    CHECK_CLASS(MPI_Type_contiguous_c(INT64_MAX / 2, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE);
}

static void statuses(void)
{
    MPI_Status status;
    MPI_Datatype pair;
    MPI_Count count = 0;
    int narrow = 0;
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, BIG + 1));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK(count == BIG + 1);
    CHECK_OK(MPI_Get_elements_c(&status, MPI_INT, &count));
    CHECK(count == BIG + 1);
    CHECK_OK(MPI_Get_elements_c(&status, pair, &count));
    CHECK(count == BIG + 1);
    CHECK_OK(MPI_Get_count_c(&status, pair, &count));
    CHECK(count == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &narrow));
    CHECK(narrow == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &narrow));
    CHECK(narrow == MPI_UNDEFINED);
    CHECK_OK(MPI_Status_set_elements_c(&status, pair, 2 * BIG));
    CHECK_OK(MPI_Get_count_c(&status, pair, &count));
    CHECK(count == BIG);
    CHECK_OK(MPI_Type_free(&pair));
}

/* Two ints far apart, packed to a place far into a buffer. */
static void packing(char *from, char *packed, char *to)
{
    MPI_Count places[] = { 64, 3 * BIG }, size = 0, position = 2 * BIG, least = 0;
    MPI_Datatype far, nothing;
    int words[] = { 0x01020304, 0x05060708 };
    CHECK_OK(MPI_Type_create_hindexed_block_c(2, 1, places, MPI_INT, &far));
    CHECK_OK(MPI_Type_commit(&far));
    memcpy(from + 64, &words[0], 4);
    memcpy(from + 3 * BIG, &words[1], 4);
    CHECK_OK(MPI_Pack_size_c(BIG, MPI_INT, MPI_COMM_WORLD, &size));
    CHECK(size >= 4 * BIG);
    CHECK_OK(MPI_Pack_external_size_c("external32", BIG, MPI_INT, &size));
    CHECK(size == 4 * BIG);
    CHECK_OK(MPI_Pack_c(from, 1, far, packed, (MPI_Count)CAPACITY, &position, MPI_COMM_WORLD));
    CHECK(position >= 2 * BIG + 8);
    position = 2 * BIG;
    CHECK_OK(MPI_Unpack_c(packed, (MPI_Count)CAPACITY, &position, to, 1, far, MPI_COMM_WORLD));
    CHECK(memcmp(to + 64, &words[0], 4) == 0 && memcmp(to + 3 * BIG, &words[1], 4) == 0);

    position = BIG;
    memset(to + 3 * BIG, 0, 4);
    CHECK_OK(MPI_Pack_external_c("external32", from, 1, far, packed, (MPI_Count)CAPACITY, &position));
    CHECK(position == BIG + 8);
    CHECK(memcmp(packed + BIG, "\1\2\3\4\5\6\7\10", 8) == 0);
    position = BIG;
    CHECK_OK(MPI_Unpack_external_c("external32", packed, (MPI_Count)CAPACITY, &position, to, 1, far));
    CHECK(position == BIG + 8 && memcmp(to + 3 * BIG, &words[1], 4) == 0);

    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing)); /* any number of nothing */
    CHECK_OK(MPI_Type_commit(&nothing));
    CHECK_OK(MPI_Pack_size_c(BIG, nothing, MPI_COMM_WORLD, &least));
    position = 7;
    CHECK_OK(MPI_Pack_c(from, BIG, nothing, packed, 8, &position, MPI_COMM_WORLD));
    CHECK(position == 7);
    CHECK_OK(MPI_Sendrecv_c(from, BIG, nothing, 0, 0, to, BIG, nothing, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&nothing));
    CHECK_OK(MPI_Type_free(&far));
}

int main(int argc, char **argv)
{
    char *memory[3];
    for (int i = 0; i < 3; i++) {
        memory[i] = mmap(NULL, CAPACITY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory[i] == MAP_FAILED) {
            puts("no addresses for three times 25 GB");
            return 77;
        }
    }
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    constructors();
    statuses();
    packing(memory[0], memory[1], memory[2]);
    MTEST_END;
}
