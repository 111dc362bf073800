/* SPDX-License-Identifier: BSD-3-Clause */
/* See symbols.h. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world/runtime/report/symbols.h"

enum { SECTIONS_MAX = 4096, TABLE_MAX = 64 << 20, RECENT = 64 };

/* An answer: ranks of one program ask for the same again and again. */
struct answer {
    bool given;
    uint64_t address, into;
    const char *name;
};

struct pl_symbol_file {
    struct pl_symbol_file *next;
    ElfW(Sym) * symbol; /* [count] */
    size_t count;
    char *names; /* ends with a NUL */
    size_t name_bytes;
    struct answer recent[RECENT]; /* by address */
    char path[];
};

/* A part of the file, with a NUL behind it, from malloc; NULL: it is not there, or too large to be true. */
static void *read_part(int fd, uint64_t offset, uint64_t bytes)
{
    if (bytes == 0 || bytes > TABLE_MAX)
        return NULL;
    char *part = malloc(bytes + 1);
    if (part && pread(fd, part, bytes, (off_t)offset) == (ssize_t)bytes) {
        part[bytes] = '\0';
        return part;
    }
    free(part);
    return NULL;
}

static const ElfW(Shdr) * find_section(const ElfW(Shdr) * section, int count, uint32_t type)
{
    for (int i = 0; i < count; i++)
        if (section[i].sh_type == type && section[i].sh_link < (uint32_t)count)
            return &section[i];
    return NULL;
}

static void read_symbols(int fd, struct pl_symbol_file *file)
{
    ElfW(Ehdr) top;
    bool whole = pread(fd, &top, sizeof top, 0) == sizeof top && memcmp(top.e_ident, ELFMAG, SELFMAG) == 0 &&
                 top.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                 top.e_shentsize == sizeof(ElfW(Shdr)) && top.e_shnum <= SECTIONS_MAX;
    ElfW(Shdr) *section = whole ? read_part(fd, top.e_shoff, (uint64_t)top.e_shnum * sizeof *section) : NULL;
    if (!section)
        return;
    const ElfW(Shdr) *table = find_section(section, top.e_shnum, SHT_SYMTAB);
    if (!table)
        table = find_section(section, top.e_shnum, SHT_DYNSYM);
    if (table) {
        const ElfW(Shdr) *names = &section[table->sh_link];
        file->symbol = read_part(fd, table->sh_offset, table->sh_size);
        file->names = read_part(fd, names->sh_offset, names->sh_size);
        file->count = file->symbol && file->names ? table->sh_size / sizeof *file->symbol : 0;
        file->name_bytes = names->sh_size;
    }
    free(section);
}

static struct pl_symbol_file *file_of(struct pl_symbols *symbols, const char *path)
{
    struct stat st;
    for (struct pl_symbol_file *file = symbols->files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file;
    struct pl_symbol_file *file = calloc(1, sizeof *file + strlen(path) + 1);
    if (!file)
        return NULL;
    strcpy(file->path, path);
    file->next = symbols->files;
    symbols->files = file;
    int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        read_symbols(fd, file);
    if (fd >= 0)
        close(fd);
    return file;
}

static bool is_function_at(const ElfW(Sym) * symbol, uint64_t address)
{
    return (symbol->st_info & 15) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && address >= symbol->st_value &&
           address - symbol->st_value < symbol->st_size;
}

static struct answer symbols_look_up(const struct pl_symbol_file *file, uint64_t address)
{
    struct answer answer = { .given = true, .address = address };
    for (size_t i = 0; i < file->count; i++) {
        const ElfW(Sym) *symbol = &file->symbol[i];
        if (!is_function_at(symbol, address) || symbol->st_name >= file->name_bytes)
            continue;
        const char *name = file->names + symbol->st_name;
        if (answer.name && strncmp(name, "MPI_", 4) != 0)
            continue;
        answer.name = name;
        answer.into = address - symbol->st_value;
    }
    return answer;
}

const char *pl_symbols_find(struct pl_symbols *symbols, const char *path, uint64_t address, uint64_t *into)
{
    struct pl_symbol_file *file = file_of(symbols, path);
    struct answer *answer = file ? &file->recent[address % RECENT] : NULL;
    if (!answer)
        return NULL;
    if (!answer->given || answer->address != address)
        *answer = symbols_look_up(file, address);
    *into = answer->into;
    return answer->name;
}

void pl_symbols_fini(struct pl_symbols *symbols)
{
    while (symbols->files) {
        struct pl_symbol_file *file = symbols->files;
        symbols->files = file->next;
        free(file->symbol);
        free(file->names);
        free(file);
    }
}
