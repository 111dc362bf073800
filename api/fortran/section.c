/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers with gaps: array sections as datatypes, or as copies in one piece. */
#include "api/fortran/section.h"

#include <stdlib.h>
#include <string.h>

#include "api/fortran/pending.h"

/* Where the elements of a section are. */
struct plf_section_shape {
    char *base;
    size_t element; /* bytes */
    int rank;
    MPI_Count extent[CFI_MAX_RANK]; /* elements */
    MPI_Count stride[CFI_MAX_RANK]; /* bytes */
};

static struct plf_section_shape section_shape(const CFI_cdesc_t *descriptor)
{
    struct plf_section_shape shape = { descriptor->base_addr, descriptor->elem_len, descriptor->rank, { 0 }, { 0 } };
    for (int i = 0; i < shape.rank; i++) {
        shape.extent[i] = descriptor->dim[i].extent;
        shape.stride[i] = descriptor->dim[i].sm;
    }
    return shape;
}

static MPI_Count shape_elements(const struct plf_section_shape *shape, int dimensions)
{
    MPI_Count elements = 1;
    for (int i = 0; i < dimensions; i++)
        elements *= shape->extent[i];
    return elements;
}

/* --- As a datatype ----------------------------------------------------------------------------------------------- */

/* The datatypes of a section are made one on top of the other; a step replaces the type and frees the last one. */
static int type_replace(MPI_Datatype *type, int code, MPI_Datatype next)
{
    if (code == MPI_SUCCESS) {
        MPI_Type_free(type);
        *type = next;
    }
    return code;
}

/* A type of all elements in the first dimensions, over a type of one element. */
static int type_of_dimensions(const struct plf_section_shape *shape, int dimensions, MPI_Datatype element,
                              MPI_Datatype *type)
{
    int code = MPI_Type_dup(element, type);
    for (int i = 0; i < dimensions && code == MPI_SUCCESS; i++) {
        MPI_Datatype next;
        code = MPI_Type_create_hvector_c(shape->extent[i], 1, shape->stride[i], *type, &next);
        code = type_replace(type, code, next);
    }
    return code;
}

/*
 * A type of the first elements of the section, in the order of arrays. It begins with as many whole slabs of the last
 * dimension as fit; slabs of the dimension before follow, down to single elements.
 */
static int type_of_elements(const struct plf_section_shape *shape, MPI_Count elements, MPI_Datatype element,
                            MPI_Datatype *type)
{
    MPI_Datatype parts[CFI_MAX_RANK];
    MPI_Count places[CFI_MAX_RANK], lengths[CFI_MAX_RANK], place = 0;
    int used = 0, code = MPI_SUCCESS;

    for (int d = shape->rank - 1; d >= 0 && elements > 0 && code == MPI_SUCCESS; d--) {
        MPI_Count slab = shape_elements(shape, d), slabs = slab > 0 ? elements / slab : 0;
        if (slabs == 0)
            continue;
        struct plf_section_shape part = *shape;
        part.extent[d] = slabs;
        code = type_of_dimensions(&part, d + 1, element, &parts[used]);
        places[used] = place;
        lengths[used] = 1;
        used += code == MPI_SUCCESS;
        place += slabs * shape->stride[d];
        elements -= slabs * slab;
    }
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_struct_c(used, lengths, places, parts, type);
    for (int i = 0; i < used; i++)
        MPI_Type_free(&parts[i]);
    if (code == MPI_SUCCESS && (code = MPI_Type_commit(type)) != MPI_SUCCESS)
        MPI_Type_free(type);
    return code;
}

/* True if the type is basic, with no gaps of its own. */
static bool type_is_basic(MPI_Datatype type, MPI_Count *size)
{
    MPI_Count integers, addresses, counts, types, lb, extent;
    int combiner;
    if (MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner) ||
        MPI_Type_size_c(type, size) || MPI_Type_get_extent_c(type, &lb, &extent))
        return false;
    bool named = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
                 combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    return named && *size == extent && *size > 0;
}

/* Describes the section by a datatype. False if count and type do not permit that. */
static bool section_as_type(struct plf_section *section, const struct plf_section_shape *shape, MPI_Count count,
                            MPI_Datatype type)
{
    MPI_Count size;
    if (!type_is_basic(type, &size) || shape->element % (size_t)size != 0)
        return false;
    MPI_Count each = (MPI_Count)shape->element / size;
    if (count < 0 || count % each != 0 || count / each > shape_elements(shape, shape->rank))
        return false;
    if (count == 0) {
        section->address = shape->base;
        section->count = 0;
        section->type = type;
        return true;
    }
    MPI_Datatype element;
    section->error = MPI_Type_contiguous_c(each, type, &element);
    if (section->error == MPI_SUCCESS) {
        section->error = type_of_elements(shape, count / each, element, &section->type);
        MPI_Type_free(&element);
    }
    section->typed = section->error == MPI_SUCCESS;
    section->address = shape->base;
    section->count = 1;
    return true;
}

/* --- As a copy --------------------------------------------------------------------------------------------------- */

/* Copies the elements of a section to a place in one piece, or back. */
static void section_move(const struct plf_section *section, bool back)
{
    const struct plf_section_shape *shape = section->shape;
    MPI_Count at[CFI_MAX_RANK] = { 0 }, elements = shape_elements(shape, shape->rank);
    char *packed = section->copy, *element = shape->base;

    for (MPI_Count i = 0; i < elements; i++, packed += shape->element) {
        memcpy(back ? element : packed, back ? packed : element, shape->element);
        for (int d = 0; d < shape->rank; d++) {
            element += shape->stride[d];
            if (++at[d] < shape->extent[d])
                break;
            element -= shape->stride[d] * shape->extent[d];
            at[d] = 0;
        }
    }
}

void plf_section_copy_in(const struct plf_section *section)
{
    section_move(section, false);
}

void plf_section_copy_out(const struct plf_section *section)
{
    if (section->flags & PLF_WRITTEN)
        section_move(section, true);
}

static void section_as_copy(struct plf_section *section, const struct plf_section_shape *shape, MPI_Count count,
                            MPI_Datatype type)
{
    size_t bytes = (size_t)shape_elements(shape, shape->rank) * shape->element;
    section->copy = malloc(bytes ? bytes : 1);
    section->shape = malloc(sizeof *shape);
    section->pending = plf_pending_make();
    if (!section->copy || !section->shape || !section->pending) {
        plf_section_free(section);
        section->error = MPI_ERR_NO_MEM;
        return;
    }
    *section->shape = *shape;
    section->address = section->copy;
    section->count = count;
    section->type = type;
    plf_section_copy_in(section);
}

void plf_section_open_gaps(struct plf_section *section, const CFI_cdesc_t *descriptor, int flags, MPI_Count count,
                           MPI_Datatype type)
{
    struct plf_section_shape shape = section_shape(descriptor);
    section->flags = flags;
    if (flags & PLF_WHOLE)
        section->error = MPI_ERR_BUFFER;
    else if (flags & PLF_TYPED && section_as_type(section, &shape, count, type))
        return;
    else if (flags & PLF_NO_COPY)
        section->error = MPI_ERR_TYPE;
    else
        section_as_copy(section, &shape, count, type);
}

void plf_section_free(struct plf_section *section)
{
    if (section->typed)
        MPI_Type_free(&section->type);
    free(section->copy);
    free(section->shape);
    free(section->pending);
    section->typed = false;
    section->copy = NULL;
    section->shape = NULL;
    section->pending = NULL;
}

void plf_sections_close_held(struct plf_section *sections, int count, int code, MPI_Request *request, bool persistent)
{
    bool pending = code == MPI_SUCCESS && request && *request != MPI_REQUEST_NULL;
    for (int i = 0; i < count; i++) {
        struct plf_section *section = &sections[i];
        if (section->copy && pending) {
            plf_pending_add(*request, section, persistent);
            continue;
        }
        if (section->copy && !section->error)
            plf_section_copy_out(section);
        plf_section_free(section);
    }
}
