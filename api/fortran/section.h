/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers by descriptor: array sections, with gaps or in one piece. */
#ifndef PLENUM_FORTRAN_SECTION_H
#define PLENUM_FORTRAN_SECTION_H

#include <ISO_Fortran_binding.h>
#include <stdbool.h>

#include "api/fortran/convert.h"
#include "api/mpi.h"

#pragma GCC visibility push(hidden)

/*
 * A section with gaps becomes a datatype of the section's layout where count and type say what its elements are
 * (PLF_TYPED). Some collectives permit no other type, because of their counts, displacements or operations. For these,
 * and for types that are not basic, the section is copied to one piece. The copy of a pending operation lives until its
 * request is complete (pending.c).
 */
enum {
    PLF_TYPED = 1,
    PLF_COPIED = 2,
    PLF_WHOLE = 4,    /* must have no gaps: it stays in use without a request */
    PLF_NO_COPY = 8,  /* with PLF_TYPED: the operation has no request that ends it */
    PLF_WRITTEN = 16, /* the operation writes to it */
};

struct plf_section {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    int error;
    int flags;
    bool typed; /* type is ours */
    void *copy;
    struct plf_section_shape *shape; /* of the copied section */
    struct plf_pending *pending;     /* for a request that uses the copy */
};

/* True for plain buffers: a variable, or an array of one dimension in one piece. No loop: no register is saved. */
PLF_INLINE bool plf_section_is_plain(const CFI_cdesc_t *descriptor)
{
    return (descriptor->rank == 1 && descriptor->dim[0].sm == (CFI_index_t)descriptor->elem_len) ||
           descriptor->rank == 0;
}

/*
 * True if the elements lie one behind the other, or the size is not known, which compilers permit for these alone. Also
 * if there is no memory: an array that is not allocated, with bounds that may be anything, where no buffer is needed.
 */
static inline bool plf_section_is_whole(const CFI_cdesc_t *descriptor)
{
    CFI_index_t stride = (CFI_index_t)descriptor->elem_len;
    if (PLF_LIKELY(plf_section_is_plain(descriptor)) || descriptor->base_addr == NULL)
        return true;
    for (int i = 0; i < descriptor->rank; i++) {
        if (descriptor->dim[i].extent < 0)
            return true;
        if (descriptor->dim[i].sm != stride && descriptor->dim[i].extent != 1)
            return false;
        stride *= descriptor->dim[i].extent;
    }
    return true;
}

void plf_section_open_gaps(struct plf_section *section, const CFI_cdesc_t *descriptor, int flags, MPI_Count count,
                           MPI_Datatype type);
void plf_sections_close_held(struct plf_section *sections, int count, int code, MPI_Request *request, bool persistent);

static inline void plf_section_open(struct plf_section *section, const CFI_cdesc_t *descriptor, int flags,
                                    MPI_Count count, MPI_Datatype type)
{
    if (__builtin_expect(plf_section_is_whole(descriptor), 1)) {
        section->address = plf_address(descriptor->base_addr);
        section->count = count;
        section->type = type;
    } else {
        plf_section_open_gaps(section, descriptor, flags, count, type);
    }
}

static inline int plf_sections_error(const struct plf_section *sections, int count)
{
    for (int i = 0; i < count; i++)
        if (sections[i].error)
            return sections[i].error;
    return MPI_SUCCESS;
}

/* Ends the use of sections. With a request, the copies stay until it completes; a persistent one is not active yet. */
static inline void plf_sections_close(struct plf_section *sections, int count, int code, MPI_Request *request,
                                      bool persistent)
{
    for (int i = 0; i < count; i++)
        if (sections[i].typed || sections[i].copy) {
            plf_sections_close_held(sections, count, code, request, persistent);
            return;
        }
}

/* A section that was copied: copies back, and forgets it. */
void plf_section_copy_in(const struct plf_section *section);
void plf_section_copy_out(const struct plf_section *section);
void plf_section_free(struct plf_section *section);

#pragma GCC visibility pop

#endif
