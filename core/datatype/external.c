/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion to and from external32. A walk over the signature gives the elements, a cursor moves them between the
 * user's buffer and a small array, and runs of equal elements are converted there.
 */
#include "core/datatype/external.h"

#include <float.h>
#include <string.h>

#include "core/datatype/cursor.h"
#include "core/datatype/signature.h"

#if LDBL_MANT_DIG != 64 && LDBL_MANT_DIG != 106 && LDBL_MANT_DIG != 113
#error "external32 has no conversion for this long double"
#endif

enum { CHUNK = 4096 }; /* bytes of elements that are converted at once */

/* A number within an element; a complex element has two. */
enum form { SAME, SIGNED, UNSIGNED, OWN /* of PL_F80 */ };
struct number {
    enum form form;
    size_t native, external; /* bytes; equal if the form is SAME or OWN */
};

static bool external_is(const struct pl_type *element, MPI_Datatype constant)
{
    return element == pl_type_predefined((uintptr_t)constant);
}

/* `element` is a predefined type, not a pair. */
static struct number external_number_of(const struct pl_type *element)
{
    size_t size = (size_t)element->size;
    switch (element->basic) {
    case PL_NONE:
    case PL_BYTE:
    case PL_CHAR: return (struct number){ SAME, 1, 1 };
    case PL_WCHAR: return (struct number){ UNSIGNED, size, 2 };
    case PL_C32:
    case PL_C64:
    case PL_C128:
    case PL_C256: return (struct number){ SAME, size / 2, size / 2 };
    case PL_F80:
    case PL_C160: return (struct number){ OWN, 16, 16 };
    case PL_I64:
        return external_is(element, MPI_LONG) ? (struct number){ SIGNED, size, 4 }
                                              : (struct number){ SAME, size, size };
    case PL_U64:
        return external_is(element, MPI_UNSIGNED_LONG) ? (struct number){ UNSIGNED, size, 4 }
                                                       : (struct number){ SAME, size, size };
    default: return (struct number){ SAME, size, size };
    }
}

static MPI_Count external_signature_size(const struct pl_type_signature *signature);

static MPI_Count external_element_size(const struct pl_type *element)
{
    if (element->signature)
        return external_signature_size(element->signature);
    struct number number = external_number_of(element);
    return element->size / (MPI_Count)number.native * (MPI_Count)number.external;
}

static MPI_Count external_signature_size(const struct pl_type_signature *signature)
{
    MPI_Count size = 0;
    for (size_t i = 0; i < signature->count; i++) {
        const struct pl_signature_item *item = &signature->items[i];
        size += item->repeat *
                (item->nested ? external_signature_size(item->nested) : external_element_size(item->element));
    }
    return size;
}

MPI_Count pl_external_size(const struct pl_type *type)
{
    if (type->size == 0)
        return 0;
    if (type->element)
        return type->size / type->element->size * external_element_size(type->element);
    return type->size / type->signature->size * external_signature_size(type->signature);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static const bool machine_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

static void copy_swapped(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[machine_is_little ? bytes - 1 - i : i];
}

static uint64_t get_big(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | from[i];
    return value;
}

static void put_big(unsigned char *to, size_t bytes, uint64_t value)
{
    for (size_t i = bytes; i-- > 0; value >>= 8)
        to[i] = (unsigned char)value;
}

static uint64_t get_native(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | from[machine_is_little ? bytes - 1 - i : i];
    return value;
}

static void put_native(unsigned char *to, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        to[machine_is_little ? i : bytes - 1 - i] = (unsigned char)value;
}

#if LDBL_MANT_DIG == 106

/* The compiler converts the two doubles of POWER to and from binary128. */
static void own_to_big(unsigned char *to, const unsigned char *from)
{
    long double own;
    memcpy(&own, from, 16);
    __float128 value = (__float128)own;
    copy_swapped(to, (const unsigned char *)&value, 16);
}

static void big_to_own(unsigned char *to, const unsigned char *from)
{
    __float128 value;
    copy_swapped((unsigned char *)&value, from, 16);
    long double own = (long double)value;
    memcpy(to, &own, 16);
}

#else

/* The x87 format has the sign and exponent of binary128. Its significand has 64 bits with an explicit leading one,
 * where binary128 has 112 without it. */
static const uint64_t LEADING = 1ull << 63;

static void own_to_big(unsigned char *to, const unsigned char *from)
{
    uint64_t significand;
    uint16_t head;
    memcpy(&significand, from, 8);
    memcpy(&head, from + 8, 2);
    if ((head & 0x7fff) == 0 && (significand & LEADING))
        head++;        /* a denormal number in form, a normal one in value */
    significand <<= 1; /* 63 bits of fraction, at the top */
    put_big(to, 2, head);
    put_big(to + 2, 8, significand);
    memset(to + 10, 0, 6);
}

static void big_to_own(unsigned char *to, const unsigned char *from)
{
    uint16_t head = (uint16_t)get_big(from, 2);
    uint64_t fraction = get_big(from + 2, 8), rest = get_big(from + 10, 6);
    bool special = (head & 0x7fff) == 0x7fff, normal = (head & 0x7fff) != 0;
    uint64_t significand = fraction >> 1 | (normal ? LEADING : 0);
    bool half = fraction & 1, odd = significand & 1;
    if (special && (fraction || rest)) {
        significand |= LEADING >> 1; /* still not a number without its low bits */
    } else if (half && (rest || odd)) {
        if (++significand == 0) { /* rounded up to the next power of two */
            significand = LEADING;
            head++;
        } else if (!normal && (significand & LEADING)) {
            head++;
        }
    }
    memcpy(to, &significand, 8);
    memcpy(to + 8, &head, 2);
    memset(to + 10, 0, 6);
}

#endif

static void elements_to_external(const struct number *number, unsigned char *to, const unsigned char *from,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++, to += number->external, from += number->native)
        switch (number->form) {
        case SAME: copy_swapped(to, from, number->native); break;
        case SIGNED:
        case UNSIGNED: put_big(to, number->external, get_native(from, number->native)); break;
        case OWN: own_to_big(to, from); break;
        }
}

static void elements_from_external(const struct number *number, unsigned char *to, const unsigned char *from,
                                   size_t count)
{
    unsigned unused = 64 - 8 * (unsigned)number->external;
    for (size_t i = 0; i < count; i++, to += number->native, from += number->external)
        switch (number->form) {
        case SAME: copy_swapped(to, from, number->native); break;
        case SIGNED:
            put_native(to, number->native, (uint64_t)((int64_t)(get_big(from, number->external) << unused) >> unused));
            break;
        case UNSIGNED: put_native(to, number->native, get_big(from, number->external)); break;
        case OWN: big_to_own(to, from); break;
        }
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

struct conversion {
    struct pl_cursor cursor;
    unsigned char *packed;
    size_t left; /* bytes of `packed` */
    bool pack;
};

static bool external_convert(void *context, const struct pl_type *element, MPI_Count elements)
{
    struct conversion *conversion = context;
    struct number number = external_number_of(element);
    size_t left = (size_t)(elements * element->size);
    bool last = false;           /* `packed` has no space for more */
    unsigned char native[CHUNK]; /* a multiple of every element's size */
    while (left > 0) {
        size_t bytes = left < sizeof native ? left : sizeof native, count = bytes / number.native;
        if (count > conversion->left / number.external) {
            count = conversion->left / number.external;
            bytes = left = count * number.native;
            last = true;
        }
        if (conversion->pack) {
            pl_cursor_pack(&conversion->cursor, native, bytes);
            elements_to_external(&number, conversion->packed, native, count);
        } else {
            elements_from_external(&number, native, conversion->packed, count);
            pl_cursor_unpack(&conversion->cursor, native, bytes);
        }
        conversion->packed += count * number.external;
        conversion->left -= count * number.external;
        left -= bytes;
    }
    return !last;
}

void pl_external_pack(const void *buf, MPI_Count count, const struct pl_type *type, void *packed)
{
    struct conversion conversion = { .packed = packed, .left = SIZE_MAX, .pack = true };
    pl_cursor_init(&conversion.cursor, buf, count, type);
    pl_signature_walk(type, count, external_convert, &conversion);
}

void pl_external_unpack(const void *packed, void *buf, MPI_Count count, const struct pl_type *type)
{
    pl_external_unpack_some(packed, SIZE_MAX, buf, count, type);
}

void pl_external_unpack_some(const void *packed, size_t bytes, void *buf, MPI_Count count, const struct pl_type *type)
{
    struct conversion conversion = { .packed = (unsigned char *)packed, .left = bytes, .pack = false };
    pl_cursor_init(&conversion.cursor, buf, count, type);
    pl_signature_walk(type, count, external_convert, &conversion);
}
