/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as bytes. What is accepted has measures that fit each other, touches no byte outside of them, and says the
 * same once written and read again. */
#include "fuzz.h"

#include "core/base/error.h"
#include "core/datatype/cursor.h"
#include "core/datatype/wire.h"

enum { DEPTH = 6, MOVED_MAX = 1 << 16 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", "\x01\x06\x02\x05\x01\x03\x07\x02\x02\x04\x04")

/* Predefined types without a name are kept for ever, in memory that the leak checker does not search. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:pl_type_value_index\n";
}

static MPI_Datatype make_list(struct fuzz *from, MPI_Datatype old, int count)
{
    int lengths[4];
    MPI_Aint places[4];
    MPI_Datatype types[4], made = MPI_DATATYPE_NULL;
    for (int i = 0; i < 4; i++) {
        lengths[i] = (int)fuzz_below(from, 5);
        places[i] = (MPI_Aint)fuzz_below(from, 256) - 64;
        types[i] = fuzz_byte(from) % 2 ? old : MPI_DOUBLE_INT;
    }
    MPI_Type_create_struct(count % 5, lengths, places, types, &made);
    return made;
}

/* A datatype of constructors as the input chooses. */
static MPI_Datatype make_type(struct fuzz *from)
{
    const MPI_Datatype basic[] = { MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_BYTE, MPI_SHORT_INT };
    MPI_Datatype type = basic[fuzz_byte(from) % 5], made;
    for (int depth = (int)fuzz_below(from, DEPTH); depth > 0; depth--) {
        int count = (int)fuzz_below(from, 7), length = (int)fuzz_below(from, 5);
        MPI_Aint stride = (MPI_Aint)fuzz_below(from, 200) - 50;
        made = MPI_DATATYPE_NULL;
        switch (fuzz_byte(from) % 5) {
        case 0: MPI_Type_contiguous(count, type, &made); break;
        case 1: MPI_Type_create_hvector(count, length, stride, type, &made); break;
        case 2: MPI_Type_vector(count, length, (int)stride / 4, type, &made); break;
        case 3: MPI_Type_create_resized(type, stride, (MPI_Aint)fuzz_below(from, 300), &made); break;
        case 4: made = make_list(from, type, count); break;
        }
        if (made == MPI_DATATYPE_NULL)
            break;
        if (pl_type_from(type)->envelope)
            MPI_Type_free(&type);
        type = made;
    }
    return type;
}

static void check_moves(const struct pl_type *type)
{
    struct pl_cursor cursor;
    size_t bytes = (size_t)type->size, span = (size_t)type->true_extent;
    unsigned char *memory = malloc(span + 1), *packed = malloc(bytes + 1);
    memory = realloc(memory, span ? span : 1); /* exact, so that a step outside is noticed */
    memset(memory, 0x5a, span);
    pl_cursor_init(&cursor, (void *)((uintptr_t)memory - (uintptr_t)type->true_lb), 1, type);
    FUZZ_CHECK(cursor.total == bytes);
    size_t moved = 0;
    for (size_t n; (n = pl_cursor_pack(&cursor, packed + moved, bytes - moved < 7 ? bytes - moved : 7)) > 0;)
        moved += n;
    FUZZ_CHECK(moved == bytes);
    pl_cursor_init(&cursor, (void *)((uintptr_t)memory - (uintptr_t)type->true_lb), 1, type);
    FUZZ_CHECK(pl_cursor_unpack(&cursor, packed, bytes) == bytes);
    free(memory);
    free(packed);
}

static void check_same_again(const struct pl_type *type)
{
    struct pl_type_wire wire;
    struct pl_type *again;
    FUZZ_CHECK(pl_type_encode(type, &wire) == MPI_SUCCESS);
    FUZZ_CHECK(pl_type_decode(wire.bytes, wire.length, &again) == MPI_SUCCESS);
    FUZZ_CHECK(again->size == type->size && again->lb == type->lb && again->extent == type->extent);
    FUZZ_CHECK(again->true_lb == type->true_lb && again->true_extent == type->true_extent);
    FUZZ_CHECK(again->basic == type->basic && again->element == type->element);
    pl_type_wire_drop(&wire);
    pl_object_release(again);
}

static void decode(const unsigned char *bytes, size_t length)
{
    struct pl_type *type;
    if (pl_type_decode(bytes, length, &type) != MPI_SUCCESS) {
        FUZZ_ONE_LINE(pl_error_detail(NULL));
        return;
    }
    FUZZ_CHECK(type->size >= 0 && type->true_extent >= 0 && type->committed);
    FUZZ_CHECK(type->size == 0 || type->true_extent > 0);
    if (type->size < MOVED_MAX && type->true_extent < MOVED_MAX)
        check_moves(type);
    check_same_again(type);
    pl_object_release(type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_type_wire wire;
    if (size > 0 && data[0] != 1) {
        decode(data, size);
        return 0;
    }
    fuzz_byte(&from);
    MPI_Datatype type = make_type(&from);
    if (pl_type_encode(pl_type_from(type), &wire) == MPI_SUCCESS) {
        size_t length = fuzz_damage(&from, wire.bytes, wire.length);
        unsigned char *exact = malloc(length ? length : 1);
        memcpy(exact, wire.bytes, length);
        decode(exact, length);
        free(exact);
        pl_type_wire_drop(&wire);
    }
    if (pl_type_from(type)->envelope)
        MPI_Type_free(&type);
    return 0;
}
