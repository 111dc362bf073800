/* SPDX-License-Identifier: BSD-3-Clause */
/* See clash.h. A caller's bindings stand in the words that the dynamic loader has filled in for its relocations. A
 * function that it has not called yet may be unbound: then the loader would search as it does for this library, which
 * was loaded with the caller. */
#include "core/object/clash.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/object/plugin_place.h"

#if __ELF_NATIVE_CLASS == 64
#define CLASH_SYMBOL(info) ELF64_R_SYM(info)
#else
#define CLASH_SYMBOL(info) ELF32_R_SYM(info)
#endif

static const char clash_library[] = "libmpi_abi.so"; /* and a version */
static const char clash_marker;                      /* its address is this library's */

/* A program or shared library in memory. */
struct clash_object {
    struct link_map *map;
    const char *file;
    uintptr_t start, end;
};

/* What the relocations of a caller say. */
struct clash_bindings {
    const struct clash_object *caller, *own;
    const char *function;                /* that was called */
    bool called;                         /* the caller's own binding led here */
    struct clash_object other, harmless; /* another MPI; one without MPI, such as a tool */
    const char *other_function;
};

static bool clash_find_object(const void *address, struct clash_object *object)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !info.dli_fbase)
        return false;
    const ElfW(Ehdr) *head = info.dli_fbase;
    const ElfW(Phdr) *part = (const void *)((const char *)head + head->e_phoff);
    *object = (struct clash_object){ .map = map, .file = info.dli_fname, .start = (uintptr_t)head };
    for (int i = 0; i < head->e_phnum; i++)
        if (part[i].p_type == PT_LOAD && map->l_addr + part[i].p_vaddr + part[i].p_memsz > object->end)
            object->end = map->l_addr + part[i].p_vaddr + part[i].p_memsz;
    return true;
}

static bool clash_holds(const struct clash_object *object, const void *address)
{
    return (uintptr_t)address >= object->start && (uintptr_t)address < object->end;
}

/* Is this copy libmpi_abi.so itself? */
static bool clash_is_shared(void)
{
    const char *file = pl_plugin_own_library();
    const char *slash = file ? strrchr(file, '/') : NULL;
    return file && strncmp(slash ? slash + 1 : file, clash_library, sizeof clash_library - 1) == 0;
}

/* Does the object with this name itself define the functions of MPI? */
static bool clash_defines_mpi(const char *name, struct clash_object *object)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map = NULL;
    const void *symbol = handle ? dlsym(handle, "PMPI_Comm_rank") : NULL;
    bool found =
        symbol && clash_find_object(symbol, object) && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map == object->map;
    if (handle)
        dlclose(handle);
    return found;
}

/* --- the caller's dynamic section --------------------------------------------------------------------------------- */

/* The value of an entry; some systems leave addresses there relative to the object's. 0: there is none. */
static uintptr_t clash_entry(const struct clash_object *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = object->map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_ptr;
    return 0;
}

static const void *clash_address(const struct clash_object *object, ElfW(Sxword) tag)
{
    uintptr_t value = clash_entry(object, tag);
    if (value && !clash_holds(object, (const void *)value))
        value += object->map->l_addr;
    return clash_holds(object, (const void *)value) ? (const void *)value : NULL;
}

/* One function of MPI is bound to this address. */
static void clash_note_binding(struct clash_bindings *b, const char *name, const void *to)
{
    struct clash_object found;
    bool same = strcmp(name[0] == 'P' ? name + 1 : name, b->function) == 0;
    if (clash_holds(b->caller, to) && !same)
        to = dlsym(RTLD_DEFAULT, name);
    if (clash_holds(b->own, to)) {
        b->called |= same;
        return;
    }
    if (!to || b->other.map || clash_holds(&b->harmless, to) || !clash_find_object(to, &found))
        return;
    b->harmless = found;
    if (found.map->l_name && found.map->l_name[0] && clash_defines_mpi(found.map->l_name, &found)) {
        b->other = found;
        b->other_function = name;
    }
}

static void clash_read_bindings(struct clash_bindings *b, const ElfW(Rela) * at, size_t bytes)
{
    const ElfW(Sym) *symbols = clash_address(b->caller, DT_SYMTAB);
    const char *names = clash_address(b->caller, DT_STRTAB);
    bool contained = b->caller->map == b->own->map; /* then the caller may be bound to others all the same */
    for (size_t i = 0; at && symbols && names && i < bytes / sizeof *at; i++) {
        const ElfW(Sym) *symbol = &symbols[CLASH_SYMBOL(at[i].r_info)];
        const char *name = names + symbol->st_name;
        if (CLASH_SYMBOL(at[i].r_info) == 0 || (symbol->st_shndx != SHN_UNDEF && !contained) ||
            strncmp(name[0] == 'P' ? name + 1 : name, "MPI_", 4) != 0)
            continue;
        void *const *word = (void *const *)(b->caller->map->l_addr + at[i].r_offset); /* NOLINT: a loader's number */
        if (clash_holds(b->caller, word))
            clash_note_binding(b, name, __atomic_load_n(word, __ATOMIC_RELAXED));
    }
}

/* Was the caller linked with another MPI, and not with this one? */
static bool clash_needs_other(const struct clash_object *caller, struct clash_object *other)
{
    const char *names = clash_address(caller, DT_STRTAB);
    bool found = false;
    for (const ElfW(Dyn) *d = caller->map->l_ld; names && d->d_tag != DT_NULL; d++) {
        const char *needed = d->d_tag == DT_NEEDED ? names + d->d_un.d_val : "";
        if (strncmp(needed, clash_library, sizeof clash_library - 1) == 0)
            return false;
        found = found || (needed[0] && clash_defines_mpi(needed, other));
    }
    return found;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static int clash_report(const struct clash_bindings *b, bool say)
{
    static _Atomic bool said;
    char text[1200];
    if (b->other_function)
        snprintf(text, sizeof text,
                 "the %s of %.250s is in %.250s, but its %s is in %.250s, and one MPI cannot use the other's objects: "
                 "build it with mpicc --private, or load it with RTLD_DEEPBIND",
                 b->function, b->caller->file, b->own->file, b->other_function, b->other.file);
    else
        snprintf(text, sizeof text,
                 "%.250s was linked with %.250s, but its %s is in %.250s, which is loaded before that: build the "
                 "library that brings Plenum with mpicc --private, or load it with RTLD_LOCAL",
                 b->caller->file, b->other.file, b->function, b->own->file);
    if (say && !atomic_exchange(&said, true))
        pl_log_line("clash", text);
    return pl_fail(MPI_ERR_OTHER, "%s", text);
}

/* How often an object was loaded, so far. */
static int clash_count_loads(struct dl_phdr_info *info, size_t bytes, void *loads)
{
    (void)bytes;
    *(uintptr_t *)loads = (uintptr_t)info->dlpi_adds;
    return 1;
}

int pl_clash_check(const void *caller, const char *function, bool say)
{
    static _Atomic uintptr_t settled; /* the caller and the number of loads at the last call without a clash */
    struct clash_object own, from;
    uintptr_t loads = 0;
    dl_iterate_phdr(clash_count_loads, &loads);
    uintptr_t now = (uintptr_t)caller ^ loads << 48;
    if (atomic_load(&settled) == now)
        return MPI_SUCCESS;
    if (pl_plugin_own_library() && clash_find_object(&clash_marker, &own) && clash_find_object(caller, &from)) {
        struct clash_bindings b = { .caller = &from, .own = &own, .function = function };
        clash_read_bindings(&b, clash_address(&from, DT_JMPREL), clash_entry(&from, DT_PLTRELSZ));
        clash_read_bindings(&b, clash_address(&from, DT_RELA), clash_entry(&from, DT_RELASZ));
        if (b.called && (b.other_function || clash_needs_other(&from, &b.other)))
            return clash_report(&b, say);
    }
    atomic_store(&settled, now);
    return MPI_SUCCESS;
}

static int clash_name_other(struct dl_phdr_info *info, size_t bytes, void *text)
{
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)bytes;
    if (!slash || (strncmp(slash, "/libmpi.", 8) != 0 && strncmp(slash, "/libmpich.", 10) != 0))
        return 0;
    snprintf(text, PL_CLASH_HINT,
             "; %.250s is in this process, too, and its handles mean nothing here: see mpicc --private",
             info->dlpi_name);
    return 1;
}

const char *pl_clash_hint(char text[PL_CLASH_HINT])
{
    text[0] = '\0';
    if (clash_is_shared())
        dl_iterate_phdr(clash_name_other, text);
    return text;
}
