/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbolizer: the functions and the source lines at addresses in ELF files, from elfutils' libdw.
 *
 * The runtime (world/runtime/report/symbols.c) runs it for a report, with an empty environment. It is a program, not a
 * shared object: the files are those of a job's processes, and a damaged file may end this process but not the
 * runtime's.
 *
 * It writes "ready", then one line for each line that it reads. Addresses are those of the file, in hexadecimal.
 *
 *     name ADDRESS PATH    "OFFSET FUNCTION": the offset is hexadecimal
 *     line ADDRESS PATH    "LINE SOURCE"
 *
 * An empty line means that nothing is known.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/compiler.h"

enum { FUNCTION_MAX = 200, SOURCE_MAX = 1000, SECONDS_MAX = 5 /* for an answer; the runtime waits no longer */ };

struct file {
    struct file *next;
    Dwfl_Module *module; /* NULL: not an ELF file */
    char path[];
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

/* The file gets a session of its own, at load address 0: its addresses are then those that the ELF file states. */
static Dwfl_Module *open_module(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Dwfl *dwfl = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? dwfl_begin(&callbacks) : NULL;
    Dwfl_Module *module = dwfl ? dwfl_report_elf(dwfl, path, path, fd, 0, true) : NULL;
    if (module) {
        dwfl_report_end(dwfl, NULL, NULL);
        return module;
    }
    if (dwfl)
        dwfl_end(dwfl);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static Dwfl_Module *find_module(const char *path)
{
    static struct file *files;
    for (struct file *file = files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file->module;
    struct file *file = calloc(1, sizeof *file + strlen(path) + 1);
    if (!file)
        return NULL;
    strcpy(file->path, path);
    file->module = open_module(path);
    file->next = files;
    files = file;
    return file->module;
}

/* A damaged file may have any bytes as a name, and an answer is one line. */
static void print_text(const char *text, int most)
{
    for (; *text && most > 0; text++, most--)
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

/* libdw prefers the strong name of two, PMPI_Send over the weak MPI_Send, which is the one that the program called. In
 * the private library both begin with `private_prefix`. */
static const char private_prefix[] = "plenumx_";
static void print_name(Dwfl_Module *module, GElf_Addr address)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || offset >= symbol.st_size)
        return;
    name += strncmp(name, private_prefix, sizeof private_prefix - 1) == 0 ? sizeof private_prefix - 1 : 0;
    name += strncmp(name, "PMPI_", 5) == 0 || strncmp(name, "PMPIX_", 6) == 0;
    printf("%llx ", (unsigned long long)offset);
    print_text(name, FUNCTION_MAX);
}

/* Not every compiler writes the index of addresses, .debug_aranges: without an entry there, every unit is asked. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    do
        unit = dwfl_module_nextcu(module, unit, bias);
    while (unit && dwarf_haspc(unit, address - *bias) <= 0);
    return unit;
}

static void print_line(Dwfl_Module *module, Dwarf_Addr address)
{
    Dwarf_Addr bias;
    int number;
    Dwarf_Die *unit = find_unit(module, address, &bias);
    Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
    const char *source = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!source || dwarf_lineno(line, &number) != 0 || number <= 0)
        return;
    Dwarf_Attribute where;
    const char *directory = source[0] == '/' ? NULL : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &where));
    printf("%d ", number);
    print_text(directory ? directory : "", SOURCE_MAX);
    print_text(directory ? "/" : "", 1);
    print_text(source, SOURCE_MAX);
}

static void symbolizer_answer(const char *question)
{
    char kind[5];
    unsigned long long address;
    int path = 0;
    if (sscanf(question, "%4s %llx %n", kind, &address, &path) != 2 || !path)
        return;
    Dwfl_Module *module = find_module(question + path);
    if (module && strcmp(kind, "name") == 0)
        print_name(module, address);
    else if (module && strcmp(kind, "line") == 0)
        print_line(module, address);
}

/* What a file can cost. */
static void set_limits(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (!PL_ADDRESS_SANITIZER && !PL_THREAD_SANITIZER) /* these reserve terabytes */
        setrlimit(RLIMIT_AS, &(struct rlimit){ 2ul << 30, 2ul << 30 });
}

int main(void)
{
    char *question = NULL;
    size_t capacity = 0;
    ssize_t length;
    unsetenv("DEBUGINFOD_URLS"); /* nothing is downloaded */
    set_limits();
    puts("ready");
    while (fflush(stdout) == 0 && (length = getline(&question, &capacity, stdin)) > 0) {
        question[length - 1] = '\0';
        alarm(SECONDS_MAX);
        symbolizer_answer(question);
        alarm(0);
        putchar('\n');
    }
    free(question);
    return EXIT_SUCCESS;
}
