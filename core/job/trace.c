/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames are recorded as offsets in the files that they are loaded from, so a reader can look up the names in the
 * files, even after the process has ended.
 *
 * The unwinder is the compiler's, which is linked into this library. The dynamic linker answers its questions without a
 * lock and without allocating, so a signal handler may call all this.
 */
#include "core/job/trace.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

struct trace_walk {
    struct pl_job_record *record;
    struct pl_job_trace *trace;
    uintptr_t from; /* frames before it are skipped; 0: none are */
    int skip;
};

static void trace_copy_text(char *to, size_t capacity, const char *from)
{
    size_t i = 0;
    for (; i + 1 < capacity && from[i]; i++)
        to[i] = from[i];
    to[i] = '\0';
}

/* The number of a module; the program itself has an empty name. PL_RECORD_MODULES: the page is full. */
static uint32_t trace_module_of(struct pl_job_record *record, const char *name)
{
    char own[sizeof record->module[0]];
    if (!name || !name[0]) {
        ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
        own[length > 0 ? length : 0] = '\0';
        name = own;
    }
    uint32_t i = 0;
    for (; i < record->modules; i++)
        if (strncmp(record->module[i], name, sizeof own - 1) == 0)
            return i;
    if (i == PL_RECORD_MODULES)
        return i;
    trace_copy_text(record->module[i], sizeof own, name);
    record->modules = i + 1;
    return i;
}

static _Unwind_Reason_Code trace_visit(struct _Unwind_Context *context, void *argument)
{
    struct trace_walk *walk = argument;
    uintptr_t address = _Unwind_GetIP(context);
    struct dl_find_object found;
    if (address == 0 || walk->trace->count == PL_RECORD_FRAMES)
        return _URC_END_OF_STACK;
    if (walk->from && address != walk->from)
        return _URC_NO_REASON;
    walk->from = 0;
    if (walk->skip-- > 0)
        return _URC_NO_REASON;
    struct pl_job_frame *frame = &walk->trace->frame[walk->trace->count++];
    *frame = (struct pl_job_frame){ .offset = address, .module = PL_RECORD_MODULES };
    if (_dl_find_object(__extension__(void *) address, &found) == 0) {
        frame->module = trace_module_of(walk->record, found.dlfo_link_map->l_name);
        frame->offset = address - found.dlfo_link_map->l_addr;
    }
    return _URC_NO_REASON;
}

void pl_trace_take(struct pl_job_record *record, struct pl_job_trace *trace, const void *from)
{
    struct trace_walk walk = { .record = record, .trace = trace, .from = (uintptr_t)from, .skip = from ? 0 : 1 };
    trace->count = 0;
    trace->exact = from != NULL;
    _Unwind_Backtrace(trace_visit, &walk);
}
