/* SPDX-License-Identifier: BSD-3-Clause */
/* See native.h. The file is not trusted: every offset in its headers is checked. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "world/runtime/job/native.h"

enum { HEADERS_MAX = 64, ENTRIES_MAX = 256, TEXT_MAX = 4096, LIBRARIES = 2 };

/* That of Fortran finds the other one beside itself, and programs in Fortran name it alone. */
static const char *const native_names[LIBRARIES] = { "libmpi_abi.so.1", "libmpifort_abi.so.1" };

struct native_library {
    struct stat own; /* all 0: there is none */
    bool needed, found;
};

struct elf {
    int fd;
    int headers, entries;
    ElfW(Phdr) header[HEADERS_MAX];
    ElfW(Dyn) entry[ENTRIES_MAX];
    ElfW(Off) texts;
};

static bool elf_read_at(const struct elf *elf, void *to, size_t bytes, ElfW(Off) offset)
{
    return pread(elf->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The offset of the dynamic section's strings in the file; 0: none. */
static ElfW(Off) elf_find_texts(const struct elf *elf)
{
    ElfW(Addr) address = 0;
    for (int i = 0; i < elf->entries; i++)
        if (elf->entry[i].d_tag == DT_STRTAB)
            address = elf->entry[i].d_un.d_ptr;
    for (int i = 0; i < elf->headers; i++) {
        const ElfW(Phdr) *h = &elf->header[i];
        if (h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz)
            return address - h->p_vaddr + h->p_offset;
    }
    return 0;
}

static bool elf_read(struct elf *elf)
{
    ElfW(Ehdr) top;
    if (!elf_read_at(elf, &top, sizeof top, 0) || memcmp(top.e_ident, ELFMAG, SELFMAG) != 0 ||
        top.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || top.e_phnum > HEADERS_MAX ||
        top.e_phentsize != sizeof elf->header[0] ||
        !elf_read_at(elf, elf->header, top.e_phnum * sizeof elf->header[0], top.e_phoff))
        return false;
    elf->headers = top.e_phnum;
    for (int i = 0; i < elf->headers; i++) {
        const ElfW(Phdr) *h = &elf->header[i];
        if (h->p_type != PT_DYNAMIC || h->p_filesz > sizeof elf->entry)
            continue;
        elf->entries = (int)(h->p_filesz / sizeof elf->entry[0]);
        if (!elf_read_at(elf, elf->entry, (size_t)elf->entries * sizeof elf->entry[0], h->p_offset))
            return false;
    }
    elf->texts = elf_find_texts(elf);
    return elf->texts != 0;
}

/* The string of an entry, cut off at TEXT_MAX. */
static void elf_read_text(const struct elf *elf, const ElfW(Dyn) * entry, char text[TEXT_MAX])
{
    ssize_t got = pread(elf->fd, text, TEXT_MAX - 1, (off_t)(elf->texts + entry->d_un.d_val));
    text[got > 0 ? got : 0] = '\0';
}

/* Our own MPI libraries: they are in the directory of the file that holds this function. */
static bool native_find_own(struct native_library library[LIBRARIES])
{
    Dl_info info;
    char file[TEXT_MAX];
    if (!dladdr(native_names, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int length = slash ? (int)(slash - info.dli_fname) : 1;
    for (int i = 0; i < LIBRARIES; i++) {
        snprintf(file, sizeof file, "%.*s/%s", length, slash ? info.dli_fname : ".", native_names[i]);
        if (stat(file, &library[i].own) != 0)
            memset(&library[i].own, 0, sizeof library[i].own);
    }
    return library[0].own.st_ino != 0;
}

/* Searches a list of directories. False: one holds another library, or is not a plain path. */
static bool native_only_own(const char *path, struct native_library library[LIBRARIES])
{
    while (*path) {
        char file[TEXT_MAX + 32];
        size_t length = strcspn(path, ":");
        if (length == 0 || length >= TEXT_MAX || memchr(path, '$', length))
            return false;
        for (int i = 0; i < LIBRARIES; i++) {
            struct stat st;
            snprintf(file, sizeof file, "%.*s/%s", (int)length, path, native_names[i]);
            if (stat(file, &st) != 0)
                continue;
            if (st.st_dev != library[i].own.st_dev || st.st_ino != library[i].own.st_ino)
                return false;
            library[i].found = true;
        }
        path += length + (path[length] == ':');
    }
    return true;
}

static bool native_check(struct elf *elf, const char *library_path)
{
    struct native_library library[LIBRARIES] = { 0 };
    char text[TEXT_MAX];
    if (!elf_read(elf) || !native_find_own(library) || (library_path && !native_only_own(library_path, library)))
        return false;
    for (int i = 0; i < elf->entries && elf->entry[i].d_tag != DT_NULL; i++) {
        const ElfW(Dyn) *entry = &elf->entry[i];
        bool path = entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH;
        if (!path && entry->d_tag != DT_NEEDED)
            continue;
        elf_read_text(elf, entry, text);
        if (path && !native_only_own(text, library))
            return false;
        for (int n = 0; n < LIBRARIES && !path; n++)
            library[n].needed = library[n].needed || strcmp(text, native_names[n]) == 0;
    }
    bool needed = false;
    for (int i = 0; i < LIBRARIES; i++) {
        if (library[i].needed && !library[i].found)
            return false;
        needed = needed || library[i].needed;
    }
    return needed;
}

bool pl_native_program(const char *file, const char *library_path)
{
    struct elf *elf = pl_calloc(1, sizeof *elf);
    bool native = false;
    if (!elf)
        return false;
    elf->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (elf->fd >= 0) {
        native = native_check(elf, library_path);
        close(elf->fd);
    }
    free(elf);
    return native;
}
