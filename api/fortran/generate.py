#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran interfaces of MPI from procedures.txt and mpi.h into a folder.

    generate.py TABLE MPI_H FOLDER

    mpif.h                 constants
    mpi_constants.f90      kinds, integer constants, sentinels: what the modules share
    mpi_f08_types.f90      TYPE(MPI_Comm) ..., their constants and operators
    mpi.f90, mpi_f08.f90   the modules
    procedures_N.c         bodies: each converts its arguments, calls the C function, and converts back

A procedure has up to four linker names. `mpi_send_` takes buffers by address: mpif.h calls it. `mpi_send_fts_` (module
mpi) and `mpi_send_f08ts_` (mpi_f08) take descriptors; they are one function, since TYPE(MPI_Comm) is one INTEGER.
`mpi_send_c_f08ts_` is the large-count form. A procedure without buffers has `mpi_x_`, which module mpi calls as well,
`mpi_x_f08_` and `mpi_x_c_f08_`. Each has a twin with `pmpi_`; the name with `mpi_` is weak.
"""

import os
import re
import sys

HANDLES = {
    'comm': 'Comm', 'type': 'Datatype', 'errhandler': 'Errhandler', 'file': 'File', 'group': 'Group', 'info': 'Info',
    'message': 'Message', 'op': 'Op', 'request': 'Request', 'session': 'Session', 'win': 'Win',
}
# Kinds of integers: C type and Fortran kind of the int form, of the large-count form.
INT, AINT, COUNT, OFFSET = ('MPI_Fint', ''), ('MPI_Aint', 'MPI_ADDRESS_KIND'), ('MPI_Count', 'MPI_COUNT_KIND'), \
    ('MPI_Offset', 'MPI_OFFSET_KIND')
INTEGERS = {
    'int': (INT, INT), 'slot': (INT, INT), 'weight': (INT, INT), 'num': (INT, COUNT), 'disp': (INT, AINT),
    'extent': (AINT, COUNT), 'aint': (AINT, AINT), 'count': (COUNT, COUNT), 'offset': (OFFSET, OFFSET),
}
LARGE = {'num', 'disp', 'extent'}
# Functions instead of subroutines: their type in C and in Fortran.
FUNCTIONS = {
    'Wtime': ('double', 'double precision'), 'Wtick': ('double', 'double precision'),
    'Aint_add': ('MPI_Aint', 'integer(MPI_ADDRESS_KIND)'), 'Aint_diff': ('MPI_Aint', 'integer(MPI_ADDRESS_KIND)'),
}
# Their large-count forms cannot be told apart by the types of arguments, so they have names of their own.
NAMED_LARGE = {'Op_create', 'Register_datarep'}
# Buffers that stay in use without a request, or whose address alone counts: a section with gaps is refused.
WHOLE = {'Win_create', 'Win_attach', 'Buffer_attach', 'Comm_attach_buffer', 'Session_attach_buffer', 'Psend_init',
         'Precv_init'}
# The address alone is used, and gaps do not matter.
ADDRESS = {'Get_address', 'Free_mem', 'Win_detach', 'Fetch_and_op', 'Compare_and_swap', 'F_sync_reg',
           'Abi_get_fortran_booleans', 'Abi_set_fortran_booleans'}
# Collectives whose counts are those of one process, or whose operations take basic types alone: a section is copied.
COPIED = re.compile(r'(I|Ineighbor_|Neighbor_)?(all)?(gather|toall|reduce|scatter|scan|exscan)', re.IGNORECASE)
# The other processes may wait for this one in these.
TOGETHER = re.compile(COPIED.pattern + r'|I?bcast|File_(open|set_view|set_info|\w*_(all|ordered))|Comm_(spawn|accept|connect)|'
                      r'Win_(create|allocate)|Cart_(create|sub)', re.IGNORECASE)
# These have an error handler among their arguments, and no object yet whose handler could be called.
UNRAISED = {'Comm_create_from_group', 'Intercomm_create_from_groups'}
# MPI's constants of C alone, and those that are shorter in Fortran, whose strings have no terminator.
C_ALONE = re.compile(r'MPI_(T_|F_|ABI_Fint|CONVERSION_FN|\w*_(COPY|DELETE|DUP)_FN|DUP_FN|Fint|STATUS(ES)?_IGNORE)|MPI_C_BOOL_X')
STRING_LENGTH = re.compile(r'MPI_MAX_(\w*STRING|INFO_KEY|INFO_VAL|\w*NAME|PSET_NAME_LEN|STRINGTAG_LEN)$')
# A handle that is converted to C: its kind and its name.
HANDLE_IN_C = re.compile(r'plf_(\w+)_c\(\*(\w+)\)')
SENTINELS = {'MPI_BOTTOM', 'MPI_IN_PLACE', 'MPI_BUFFER_AUTOMATIC', 'MPI_ARGV_NULL', 'MPI_ARGVS_NULL',
             'MPI_ERRCODES_IGNORE', 'MPI_UNWEIGHTED', 'MPI_WEIGHTS_EMPTY'}


class Parameter:
    """One parameter of a procedure."""

    def __init__(self, text):
        m = re.fullmatch(r'([>=]?)(\w+)(?::(\w+))?(?:\[([^\]]*)\])?(~?)(!?)', text)
        if not m:
            sys.exit(f'generate.py: cannot read the parameter "{text}"')
        self.way = {'': 'in', '>': 'out', '=': 'inout'}[m[1]]
        self.name, self.kind, self.length = m[2], m[3] or 'int', m[4]
        self.asynchronous, self.large_only = bool(m[5]), bool(m[6])
        self.array = self.length is not None and self.kind not in ('string', 'text')

    def integer(self, large):
        """Its C type and its Fortran kind, if it is a number."""
        return INTEGERS[self.kind][large]


class Procedure:
    """One line of the table."""

    def __init__(self, line):
        words = line.split()
        m = re.fullmatch(r'(\w+)(\*?)(!?)(-?)', words[0])
        self.name, self.by_hand, self.old, self.returns = m[1], bool(m[2]), bool(m[3]), not m[4]
        self.all = [Parameter(word) for word in words[1:]]
        self.function = FUNCTIONS.get(self.name)
        self.returns = self.returns and not self.function
        self.has_choice = any(p.kind == 'choice' for p in self.all)
        self.has_large = any(p.kind in LARGE or p.large_only for p in self.all) or self.name in NAMED_LARGE

    def parameters(self, large):
        """The parameters of the large-count form, or of the other."""
        return [p for p in self.all if large or not p.large_only]

    def specific(self, large, module):
        """The specific name in a module: f08, mpi or mpif."""
        if module == 'mpif' or (module == 'mpi' and not self.has_choice):
            return 'MPI_' + self.name
        suffix = ('_fts' if module == 'mpi' else '_f08ts') if self.has_choice else '_f08'
        return 'MPI_' + self.name + ('_c' if large else '') + suffix


def read_table(path):
    """All procedures."""
    with open(path, encoding='ascii') as table:
        return [Procedure(line) for line in table if line.strip() and not line.startswith('#')]


# --- Bodies in C ---------------------------------------------------------------------------------------------------

class Body:
    """The text of one C function: declarations before the call, its arguments, what comes after it. `whole`: without
    regard to gaps in sections."""

    def __init__(self, procedure, large, descriptors, whole=False):
        self.procedure, self.large, self.descriptors, self.whole = procedure, large, descriptors, whole
        self.parameters = procedure.parameters(large)
        self.before, self.arguments, self.after, self.signature, self.lengths = [], [], [], [], []
        self.sections, self.choices = 0, []
        request = [p for p in self.parameters if p.kind == 'request' and p.way == 'out']
        self.request = f'&c_{request[0].name}' if request else 'NULL'
        for index, parameter in enumerate(self.parameters):
            self.add(index, parameter)
        if self.sections:
            self.after.append(f'plf_sections_close(s, {self.sections}, code, {self.request}, '
                              f'{"true" if self.procedure.name.endswith("_init") else "false"});')

    def add(self, index, p):
        """Converts one parameter."""
        const = 'const ' if p.way == 'in' else ''
        if p.kind in INTEGERS:
            self.signature.append(f'{const}{p.integer(self.large)[0]} *{p.name}')
            self.add_integer(p)
        elif p.kind in HANDLES:
            self.signature.append(f'{const}MPI_Fint *{p.name}')
            (self.add_handles if p.array else self.add_handle)(p)
        elif p.kind == 'logical':
            self.signature.append(f'{const}MPI_Fint *{p.name}')
            self.add_logical(p)
        elif p.kind == 'status':
            self.signature.append(f'{const}MPI_Fint *{p.name}')
            self.arguments.append(f'(const MPI_Status *){p.name}' if p.way == 'in' else
                                  f'plf_status{"es" if p.array else ""}({p.name})')
        elif p.kind in ('string', 'text'):
            self.add_string(p)
        elif p.kind == 'cptr':
            self.signature.append(f'void **{p.name}')
            self.arguments.append(p.name)
        elif p.kind == 'choice':
            self.add_choice(index, p)
        else:
            sys.exit(f'generate.py: {self.procedure.name}: no conversion for the kind "{p.kind}"')

    def add_integer(self, p):
        """A number passes as it is: Fortran's kinds are C's types."""
        if p.kind == 'weight':
            self.arguments.append(f'plf_weights({p.name})')
        elif p.way == 'in' and not p.array:
            self.arguments.append('*' + p.name)
        else:
            self.arguments.append(f'(int(*)[3]){p.name}' if p.length and ':' in p.length else p.name)
        if p.kind == 'slot':
            count = '*outcount' if p.array else '1'
            self.after.append(f'plf_count_from_one({p.name}, {count}, code);')

    def add_handle(self, p):
        """One handle."""
        handle = HANDLES[p.kind]
        if self.procedure.name == 'Cancel':
            self.before.append(f'MPI_Request c_{p.name} = plf_request_c(*{p.name});')
            self.arguments.append(f'&c_{p.name}')
            return
        if p.way == 'in':
            self.arguments.append(f'plf_{name_of(handle).lower()}_c(*{p.name})')
            if self.procedure.name == 'Request_get_status':
                self.after.append(f'plf_pending_settle(*{p.name}, plf_request_c(*{p.name}));')
            return
        value = '' if p.way == 'out' else f' = plf_{name_of(handle).lower()}_c(*{p.name})'
        self.before.append(f'MPI_{handle} c_{p.name}{value};')
        self.arguments.append(f'&c_{p.name}')
        if p.kind == 'request' and p.way == 'inout':
            if self.procedure.name in ('Start', 'Request_free'):
                self.before.append(f'plf_pending_{self.procedure.name.lower()}(*{p.name});')
            else:
                self.completes = (p.name, '1', f'&c_{p.name}')
            self.after.append(f'*{p.name} = plf_request_f(c_{p.name});')
        elif p.way == 'inout':
            self.after.append(f'*{p.name} = plf_{name_of(handle).lower()}_f(c_{p.name});')
        else:
            self.after.append(f'if (code == MPI_SUCCESS)')
            self.after.append(f'    *{p.name} = plf_{name_of(handle).lower()}_f(c_{p.name});')

    def add_handles(self, p):
        """An array of handles."""
        length, kind = self.length_of(p), name_of(HANDLES[p.kind]).lower()
        self.before += [f'struct plf_array a_{p.name};',
                        f'MPI_{HANDLES[p.kind]} *c_{p.name} = plf_{kind}_array(&a_{p.name}, {length}, '
                        f'{"NULL" if p.way == "out" else p.name});']
        self.arguments.append(f'c_{p.name}')
        if p.kind == 'request' and self.procedure.name == 'Startall':
            self.before.append(f'plf_pending_startall({length}, {p.name});')
        elif p.kind == 'request' and p.way == 'inout':
            self.completes = (p.name, length, f'c_{p.name}')
        if p.way != 'in':
            self.after.append(f'plf_{kind}_array_store(&a_{p.name}, {p.name});')
        elif p.kind == 'request':
            self.after.append(f'plf_request_array_settle(&a_{p.name}, {p.name});')
        self.after.append(f'plf_array_free(&a_{p.name});')

    def length_of(self, p):
        """The length of an array, as an expression in C."""
        if any(q.name == p.length for q in self.parameters):
            return '*' + p.length
        if p.length == '*' and p.kind == 'type':
            side = 'PLF_SENT' if 'send' in p.name else 'PLF_RECEIVED'
            what = 'neighbors' if 'eighbor' in self.procedure.name else 'members'
            return f'plf_{what}(plf_comm_c(*comm), {side})'
        if self.procedure.name == 'Cart_sub':
            return 'plf_cart_dimensions(plf_comm_c(*comm))'
        return sys.exit(f'generate.py: {self.procedure.name}: the length of "{p.name}" is not known')

    def add_logical(self, p):
        """Truth has a value of the compiler's."""
        if p.array:
            length = self.length_of(p)
            self.before += [f'struct plf_array a_{p.name};', f'int *c_{p.name} = plf_truths(&a_{p.name}, {length}, '
                            f'{"NULL" if p.way == "out" else p.name});']
            self.arguments.append(f'c_{p.name}')
            if p.way == 'out':
                self.after.append(f'plf_truths_return(&a_{p.name}, {p.name}, code);')
            self.after.append(f'plf_array_free(&a_{p.name});')
        elif p.way == 'in':
            self.arguments.append(f'plf_truth(*{p.name})')
        else:
            self.before.append(f'int c_{p.name} = 0;')
            self.arguments.append(f'&c_{p.name}')
            self.after += ['if (code == MPI_SUCCESS)', f'    *{p.name} = plf_logical(c_{p.name});']

    def add_string(self, p):
        """A string with blanks at its end, and its length as a hidden argument or in a descriptor."""
        text, length = p.name, p.name + '_len'
        if self.descriptors:
            self.signature.append(f'const CFI_cdesc_t *{p.name}')
            text, length = f'{p.name}->base_addr', f'{p.name}->elem_len'
        else:
            self.signature.append(f'{"const " if p.way == "in" else ""}char *{p.name}')
            self.lengths.append(f'size_t {p.name}_len')
        if p.way == 'in':
            strip = 'word' if self.procedure.name.startswith('Info_') else 'string'
            self.before += [f'struct plf_string t_{p.name};',
                            f'char *c_{p.name} = plf_{strip}(&t_{p.name}, {text}, {length});']
            self.arguments.append(f'c_{p.name}')
            self.after.append(f'plf_string_free(&t_{p.name});')
        else:
            self.before.append(f'char c_{p.name}[{p.length}] = "";')
            self.arguments.append(f'c_{p.name}')
            self.after += ['if (code == MPI_SUCCESS)', f'    plf_fill({text}, {length}, c_{p.name});']

    def add_choice(self, index, p):
        """A buffer: an address, or a descriptor, whose section may have gaps."""
        if not self.descriptors:
            self.signature.append(f'{"const " if p.way == "in" else ""}void *{p.name}')
            self.arguments.append(f'plf_address({p.name})')
            return
        self.signature.append(f'const CFI_cdesc_t *{p.name}')
        if self.procedure.name in ADDRESS or self.procedure.name.endswith('_end'):
            self.arguments.append(f'plf_address({p.name}->base_addr)')
            return
        self.choices.append(p.name)
        if self.whole:
            self.arguments.append(f'plf_address({p.name}->base_addr)')
            return
        n, self.sections = self.sections, self.sections + 1
        following = self.parameters[index + 1:index + 3]
        typed = [q.kind for q in following] == ['num', 'type'] and not any(q.array for q in following)
        if typed and not COPIED.match(self.procedure.name):
            count, datatype = following
            flags = 'PLF_TYPED' + (' | PLF_NO_COPY' if any(q.kind == 'win' for q in self.parameters) or
                                   self.procedure.name.endswith('_begin') else '')
            self.before.append(f'plf_section_open(&s[{n}], {p.name}, {flags}{ways(p)}, *{count.name}, '
                               f'plf_type_c(*{datatype.name}));')
            self.replaced = {count.name: f's[{n}].count', datatype.name: f's[{n}].type'}
        else:
            flags = 'PLF_WHOLE' if self.procedure.name in WHOLE else 'PLF_COPIED'
            self.before.append(f'plf_section_open(&s[{n}], {p.name}, {flags}{ways(p)}, 0, MPI_BYTE);')
            self.replaced = {}
        self.arguments.append(f's[{n}].address')
        for q in self.replaced:
            self.substitutes[q] = self.replaced[q]

    substitutes = None
    completes = None # the requests that the procedure may complete: numbers in Fortran, how many, handles in C

    def text(self, symbol):
        """The function, under its strong name."""
        procedure = self.procedure
        if procedure.function:
            signature = ', '.join(self.signature) or 'void'
            return f'{procedure.function[0]} p{symbol}({signature})\n{{\n    return {self.call()};\n}}\n'
        if not procedure.returns:
            return f'void p{symbol}({", ".join(self.signature)})\n{{\n    {self.call()};\n}}\n'
        signature = ', '.join(self.signature + ['MPI_Fint *ierror'] + self.lengths)
        arguments = ', '.join(re.search(r'\w+$', word)[0] for word in signature.split(', '))
        lines, usual, text = self.statements(), [], ''
        name = re.sub(r'^mpi_|_f08ts_$', '', symbol)
        if self.sections:
            # What sections with gaps need is out of the way of the others.
            text = f'static PLF_RARE void {name}_gaps({signature})\n{{\n' + '\n'.join(lines) + '\n}\n\n'
            usual = [f'plf_section_is_whole({choice})' for choice in self.choices]
            lines = [f'    if (!PLF_LIKELY({" && ".join(usual)})) {{', f'        {name}_gaps({arguments});',
                     '        return;', '    }'] + body(procedure, self.large, True, True).statements()
        if self.completes:
            requests, count, now = self.completes
            claim = f'    struct plf_pending *claimed = plf_pending_claim({requests}, {count});'
            after = lines.index('    plf_return(ierror, code);')
            text = self.step(f'{name}_pending', signature, [claim, *lines[:after],
                                                            f'    plf_pending_unclaim(claimed, {now});', *lines[after:]])
            lines = ['    if (!PLF_LIKELY(!plf_pending_any())) {', f'        {name}_pending({arguments});', '        return;',
                     '    }'] + lines
        kinds, conditions, plain = self.plain(lines[4 if usual else 0:])
        if plain:
            # The usual arguments need no call before that of C, and so no registers are saved.
            usual = [condition.replace('is_whole', 'is_plain') for condition in usual] + conditions
            text += self.step(f'{name}_other', signature, lines)
            lines, steps = self.usual(name, kinds, plain, arguments)
            text += ''.join(self.step(step, signature, statements) for step, statements in steps)
            lines = [f'    if (!PLF_LIKELY({" && ".join(usual or ["true"])})) {{', f'        {name}_other({arguments});',
                     '        return;', '    }'] + lines
        return text + '\n'.join([f'void p{symbol}({signature})', '{'] + lines + ['}', ''])

    def usual(self, name, kinds, plain, arguments):
        """The statements for buffers without gaps, and the steps {name: statements} that they go on to: for handles that
        are all constants, for an object of the program beside constants, and for any handles."""
        main = [handle for handle, kind in kinds.items() if kind in ('comm', 'win')][:1] or list(kinds)[:1]
        others = [handle for handle in kinds if handle not in main]
        of_any = self.path(kinds, plain, list(kinds) if others else main)
        origin = '    MPI_Aint origin = plf_handles();'
        steps = [(f'{name}_any', [origin, '    if (PLF_LIKELY(origin != 0)) {', *('    ' + line for line in of_any),
                                  '        return;', '    }', f'    {name}_other({arguments});'])]
        if others:
            of_object, none = self.path(kinds, plain, main), [f'        {name}_other({arguments});', '        return;', '    }']
            if len(of_object) == 2 or not self.optional():
                condition = '    if (!PLF_LIKELY(origin != 0 && plf_are_constants(all))) {'
                end, more = self.end(f'{name}_object', of_object, arguments, [origin])
                own = [origin, *self.constants(others, f'{name}_any', arguments, condition), *end]
            else:
                condition = '    if (!PLF_LIKELY(plf_are_constants(all))) {'
                more = [(f'{name}_object', [origin, '    if (!PLF_LIKELY(origin != 0)) {', *none, *of_object])]
                own = [*self.constants(others, f'{name}_any', arguments, condition), f'    {name}_object({arguments});']
            steps += [*more, (f'{name}_own', own)]
        end, more = self.end(f'{name}_constants', self.path(kinds, plain, []), arguments)
        lines = self.constants(kinds, f'{name}_own' if others else f'{name}_any', arguments,
                               '    if (!PLF_LIKELY(plf_are_constants(all))) {', self.choices)
        return lines + end, steps + more

    def optional(self):
        """True if the error code may be left out: not in mpif.h, whose procedures with buffers are functions of their own."""
        return self.descriptors or not self.procedure.has_choice

    @staticmethod
    def constants(handles, otherwise, arguments, condition, choices=()):
        """Goes on to `otherwise` unless these handles are constants. What was compared is read again for the call."""
        return [f'    unsigned all = (unsigned)({" | ".join("*" + handle for handle in handles)});',
                *(f'    PLF_READ_AGAIN({pointer});' for pointer in [*choices, *handles] if len(handles) > 1),
                condition, f'        {otherwise}({arguments});', '        return;', '    }']

    def end(self, name, statements, arguments, origin=()):
        """The end of the usual path, and a step {name: statements} for what would have the whole path save registers."""
        if not self.optional():
            return statements, []
        if len(statements) != 2:
            return [f'    {name}({arguments});'], [(name, [*origin, *statements])]
        # Without the optional argument nothing is left to do after the call.
        call = statements[0].split(' = ', 1)[1]
        return ['    if (PLF_LIKELY(!ierror))', f'        {call}', '    else', f'        {name}({arguments});'], \
            [(name, [*origin, f'    *ierror = {call}'])]

    @staticmethod
    def step(name, signature, lines):
        """A function to which a procedure goes on."""
        return f'static PLF_OTHER void {name}({signature})\n{{\n' + '\n'.join(lines) + '\n}\n\n'

    def plain(self, lines):
        """{handle: kind} of all handles, the conditions for plain buffers, and the statements. Nothing if that is not the
        usual call of the procedure."""
        body = '\n'.join(lines)
        kinds = {name: kind for kind, name in HANDLE_IN_C.findall(body)}
        if self.large or self.lengths or not kinds or not set(kinds.values()) <= {'comm', 'type', 'op', 'win'}:
            return {}, [], []
        conditions = [f'plf_is_memory({buffer})' for buffer in sorted(set(re.findall(r'plf_address\((.*?)\)', body)))]
        return kinds, conditions, re.sub(r'plf_address\((.*?)\)', r'(void *)\1', body).split('\n')

    @staticmethod
    def path(kinds, plain, objects):
        """The statements for handles that are constants except `objects`: the only one is an object, several are any."""
        how = '_of_object(origin, ' if len(objects) == 1 else '_of_any(origin, '
        convert = lambda m: f'plf_handle{how if m[2] in objects else "_of_constant("}(unsigned)*{m[2]})'
        return [HANDLE_IN_C.sub(convert, line) for line in plain]

    def call(self):
        """The call of the C function."""
        name, arguments = 'MPI_' + self.procedure.name, ', '.join(self.arguments)
        if not self.large:
            return f'{name}({arguments})'
        return f'PLF_CALL_AS("{name}_c", "{name}", {name}_c({arguments}))'

    def statements(self):
        """The body of a subroutine."""
        call, lines = self.call(), []
        if self.procedure.name.startswith('Abi_get_fortran_'):
            lines.append('    plf_tell_compiler();')
        if self.sections:
            lines.append(f'    struct plf_section s[{self.sections}] = {{ 0 }};')
        lines += ['    ' + line for line in self.before]
        checks = [f'!plf_array_failed(&a_{p.name})' for p in self.parameters
                  if p.array and (p.kind in HANDLES or p.kind == 'logical')]
        checks += [f'c_{p.name}' for p in self.parameters if p.kind == 'string' and p.way == 'in']
        opened = f'plf_sections_error(s, {self.sections})' if self.sections else 'MPI_SUCCESS'
        if checks or self.sections:
            if checks:
                opened = f'{" && ".join(checks)} ? {opened} : MPI_ERR_NO_MEM'
            lines += [f'    int code = {opened};', '    if (code == MPI_SUCCESS)', f'        code = {call};']
            if self.procedure.name not in UNRAISED:
                lines += ['    else', f'        {self.raised()};']
        else:
            lines.append(f'    int code = {call};')
        return lines + ['    plf_return(ierror, code);'] + ['    ' + line for line in self.after]

    def raised(self):
        """A call of the error handler for an error that is found here."""
        name = self.procedure.name
        part = 'PLF_TOGETHER' if TOGETHER.match(name) else 'PLF_ALONE'
        if name in ('File_open', 'File_delete'):
            return f'code = plf_raise_file(MPI_FILE_NULL, "MPI_{name}", code, {part})'
        for p in self.parameters:
            if p.kind in ('comm', 'win', 'file', 'session') and p.way == 'in' and not p.array:
                part = '' if p.kind == 'session' else ', ' + part
                return f'code = plf_raise_{p.kind}(plf_{p.kind}_c(*{p.name}), "MPI_{name}", code{part})'
        return f'code = plf_raise_none("MPI_{name}", code)'


def ways(p):
    """Flags of the direction of a buffer. What is received into a copy must keep what is not received."""
    return '' if p.way == 'in' else ' | PLF_WRITTEN'


def name_of(handle):
    """The name of a handle in MPI_X_fromint."""
    return 'Type' if handle == 'Datatype' else handle


def body(procedure, large, descriptors, whole=False):
    """One C function."""
    Body.substitutes = {}
    made = Body(procedure, large, descriptors, whole)
    kinds = {p.name: p for p in made.parameters}
    for name, instead in Body.substitutes.items():
        plain = f'*{name}' if kinds[name].kind == 'num' else f'plf_type_c(*{name})'
        if kinds[name].kind == 'num' and not large:
            instead = '(int)' + instead
        made.arguments[made.arguments.index(plain)] = instead
    return made


def alias(name, strong):
    """A weak name of a function."""
    return f'#pragma weak {name} = {strong}\n'


def write_bodies(procedures, folder, files=4):
    """The C files: bodies, and the weak names of all."""
    outputs = [[] for _ in range(files)]
    for index, procedure in enumerate(procedures):
        out = outputs[index * files // len(procedures)]
        lower = 'mpi_' + procedure.name.lower()
        forms = [(False, False, f'{lower}_')]
        if procedure.has_choice:
            forms.append((False, True, f'{lower}_f08ts_'))
        if procedure.has_large:
            forms.append((True, procedure.has_choice, f'{lower}_c_f08{"ts" if procedure.has_choice else ""}_'))
        for large, descriptors, symbol in forms:
            if not procedure.by_hand:
                out.append(body(procedure, large, descriptors).text(symbol))
                out.append(alias(symbol, 'p' + symbol))
        if procedure.by_hand:
            continue
        twin, model = (f'{lower}_fts_', f'p{lower}_f08ts_') if procedure.has_choice else (f'{lower}_f08_', f'p{lower}_')
        out.append(alias('p' + twin, model) + alias(twin, model))
        if any(p.kind == 'cptr' for p in procedure.all):
            out.append(alias(f'p{lower}_cptr_', model) + alias(f'{lower}_cptr_', model))
    for number, out in enumerate(outputs):
        text = '/* Written by generate.py. */\n#include "api/fortran/fortran.h"\n\n' + '\n'.join(out)
        write(os.path.join(folder, f'procedures_{number}.c'), text)


# --- Modules -------------------------------------------------------------------------------------------------------

def wrap(line):
    """A line of free-form Fortran in lines of at most 120 columns."""
    indent = len(line) - len(line.lstrip())
    lines = []
    while len(line) > 118:
        cut = line.rfind(',', 0, 116) + 1
        lines.append(line[:cut] + ' &')
        line = ' ' * (indent + 4) + line[cut:].lstrip()
    return lines + [line]


def declare(p, procedure, large, module):
    """The declaration of one dummy argument."""
    f08 = module == 'f08'
    intent = f', intent({p.way})'
    array = ''
    if p.array:
        sizes = [n if n == '*' or any(q.name == n for q in procedure.all) or n.isdigit() else '*'
                 for n in p.length.split(':')]
        array = '(' + ', '.join(sizes) + ')'
        if '*' in array and array != '(*)' and not array.endswith('*)'):
            array = '(*)'
        if not f08:
            array = re.sub(r'\w+\)$', '*)', array) if ',' in array else '(*)'
    extra = ', asynchronous' if p.asynchronous and f08 else ''
    if p.kind in INTEGERS:
        kind = p.integer(large)[1]
        if p.kind == 'weight' or p.name == 'array_of_errcodes':
            array = '(*)'
            intent = '' if p.way != 'in' else intent
        base = f'integer({kind})' if kind else 'integer'
    elif p.kind in HANDLES:
        base = f'type(MPI_{HANDLES[p.kind]})' if f08 else 'integer'
    elif p.kind == 'logical':
        base = 'logical'
    elif p.kind == 'status':
        own = f08 or p.name == 'f08_status'
        # What may be MPI_STATUS_IGNORE has no intent.
        base, intent = 'type(MPI_Status)' if own else 'integer', '' if p.name == 'status' and p.way == 'out' or \
            p.array else intent
        if not own:
            array = '(MPI_STATUS_SIZE, *)' if p.array else '(MPI_STATUS_SIZE)'
        elif p.array:
            array = '(*)'
    elif p.kind == 'fstatus':
        base, array = 'integer', '(MPI_STATUS_SIZE)'
    elif p.kind == 'string':
        base = f'character(len={p.length})' if f08 and p.length else 'character(len=*)'
    elif p.kind == 'text':
        base = 'character(len=*)'
    elif p.kind in ('strings', 'strings2'):
        base, array = 'character(len=*)', '(*)' if p.kind == 'strings' else '(count, *)'
    elif p.kind == 'choice':
        base, array, intent = 'type(*), dimension(..)', '', intent if p.way == 'in' and f08 else ''
    elif p.kind in ('cptr', 'cptr2'):
        base = 'type(c_ptr)' if f08 else 'integer(MPI_ADDRESS_KIND)'
        if p.kind == 'cptr2' and not f08:
            base, intent, extra = 'type(*), dimension(*)', '', ''
    else:
        kind = p.kind + ('_c' if large and (p.kind in ('MPI_User_function', 'MPI_Datarep_conversion_function')) else '')
        return [f'procedure({kind}) :: {p.name}'] if f08 else [f'external :: {p.name}']
    return [f'{base}{intent if f08 else ""}{extra} :: {p.name}{array}']


def interface_body(procedure, large, module, profiled, name=None):
    """One specific procedure of an interface block."""
    name = name or procedure.specific(large, module)
    name = ('P' if profiled else '') + name
    parameters = procedure.parameters(large)
    names = [p.name for p in parameters] + (['ierror'] if procedure.returns else [])
    # Without BIND(C) the name is the same. A default LOGICAL forbids it where a program asks for standard Fortran, and of
    # the descriptor only the address counts there, which is first in the compiler's own form, too.
    binding = ''
    if procedure.has_choice and not any(p.kind == 'logical' for p in parameters):
        binding = f' bind(C, name="{name.lower()}_")'
    what = 'function' if procedure.function else 'subroutine'
    result = ' result(value)' if procedure.function else ''
    lines = [f'    {what} {name}({", ".join(names)}){binding}{result}', '      import']
    if procedure.function:
        lines.append(f'      {procedure.function[1]} :: value')
    order = sorted(parameters, key=lambda p: p.array)
    for p in order:
        lines += ['      ' + line for line in declare(p, procedure, large, module)]
    if procedure.returns:
        lines.append('      integer, optional, intent(out) :: ierror' if module == 'f08' else '      integer :: ierror')
    return lines + [f'    end {what}']


def interfaces(procedures, module):
    """All interface blocks of a module."""
    lines = []
    for procedure in procedures:
        if module == 'f08' and procedure.old:
            continue
        for profiled in (False, True):
            prefix = 'PMPI_' if profiled else 'MPI_'
            # MPI_ADDRESS_KIND and MPI_COUNT_KIND are one kind here: forms that differ in these alone are the same.
            large = module == 'f08' and procedure.has_large and (
                any(p.kind in ('num', 'disp') or p.large_only for p in procedure.all) or procedure.name in NAMED_LARGE)
            lines.append(f'  interface {prefix}{procedure.name}')
            lines += interface_body(procedure, False, module, profiled)
            if large and procedure.name not in NAMED_LARGE:
                lines += interface_body(procedure, True, module, profiled)
            if module == 'mpi' and any(p.kind == 'cptr' for p in procedure.all):
                text = interface_body(procedure, False, module, profiled, f'MPI_{procedure.name}_cptr')
                lines += [line.replace('integer(MPI_ADDRESS_KIND) :: baseptr', 'type(c_ptr) :: baseptr')
                          for line in text]
            lines.append('  end interface')
            if large and procedure.name in NAMED_LARGE:
                lines.append(f'  interface {prefix}{procedure.name}_c')
                lines += interface_body(procedure, True, module, profiled)
                lines.append('  end interface')
    return lines


def read_constants(path):
    """Names, C types and values of the constants in mpi.h that Fortran has, too."""
    with open(path, encoding='utf-8') as header:
        text = header.read()
    found = []
    for name, kind, value in re.findall(
            r'^#define (MPI_\w+) +\(?(?:\((MPI_\w+|void \*|[\w* ]+)\))? *\(?(-?\w+)\)?\)? *(?:/\*.*)?$', text, re.M):
        if not C_ALONE.match(name) and name not in SENTINELS:
            found.append((name, kind, value))
    return found


def number(name, value):
    """The value of an integer constant in Fortran."""
    return int(value, 0) - (1 if STRING_LENGTH.match(name) else 0)


def write_constants(constants, folder):
    """Kinds, numbers and sentinels for mpif.h and for the modules."""
    offsets = [(name, int(value, 0)) for name, kind, value in constants if kind == 'MPI_Offset']
    numbers = [(name, number(name, value)) for name, kind, value in constants if not kind.startswith('MPI_')]
    handles = [(name, kind, int(value, 0)) for name, kind, value in constants if kind[4:] in HANDLES.values()]
    # What stands for a buffer lies together, so that one comparison sees that a buffer is real (convert.h).
    common = [
        ('MPI_BOTTOM', 'integer', '', 'mpifort_buffers'), ('MPI_IN_PLACE', 'integer', '', 'mpifort_buffers'),
        ('MPI_BUFFER_AUTOMATIC', 'integer', '', 'mpifort_buffers'),
        ('MPI_ERRCODES_IGNORE', 'integer', '(1)', 'mpifort_errcodes_ignore'),
        ('MPI_UNWEIGHTED', 'integer', '(1)', 'mpifort_unweighted'),
        ('MPI_WEIGHTS_EMPTY', 'integer', '(1)', 'mpifort_weights_empty'),
        ('MPI_ARGV_NULL', 'character(len=1)', '(1)', 'mpifort_argv_null'),
        ('MPI_ARGVS_NULL', 'character(len=1)', '(1, 1)', 'mpifort_argvs_null'),
    ]
    statuses = [('MPI_STATUS_IGNORE', 'integer', '(MPI_STATUS_SIZE)', 'mpifort_status_ignore'),
                ('MPI_STATUSES_IGNORE', 'integer', '(MPI_STATUS_SIZE, 1)', 'mpifort_statuses_ignore')]
    kinds = [('MPI_ADDRESS_KIND', 8), ('MPI_COUNT_KIND', 8), ('MPI_OFFSET_KIND', 8), ('MPI_INTEGER_KIND', 4),
             ('MPI_STATUS_SIZE', 8), ('MPI_SOURCE', 1), ('MPI_TAG', 2), ('MPI_ERROR', 3)]
    # mpif.h is read in fixed and in free form: statements begin in column 7 and end before column 73.
    fixed = ['! Written by generate.py. The constants of MPI, for INCLUDE in fixed and in free form.']
    # A compiler that is told to make INTEGER longer stops here; calls with such arguments would give wrong results.
    fixed += ['! An error here: INTEGER must have 4 bytes. Compile without -fdefault-integer-8 (-i8).',
              '      INTEGER PLENUM_NEEDS_INTEGERS_OF_4_BYTES',
              '      PARAMETER (PLENUM_NEEDS_INTEGERS_OF_4_BYTES=1/(2-BIT_SIZE(0)/32))']
    for name, value in kinds + numbers + [(name, value) for name, _, value in handles]:
        fixed += [f'      INTEGER {name}', f'      PARAMETER ({name}={value})']
    for name, value in offsets:
        fixed += [f'      INTEGER(KIND=MPI_OFFSET_KIND) {name}', f'      PARAMETER ({name}={value})']
    for name, value in (('MPI_SUBARRAYS_SUPPORTED', '.FALSE.'), ('MPI_ASYNC_PROTECTS_NONBLOCKING', '.FALSE.')):
        fixed += [f'      LOGICAL {name}', f'      PARAMETER ({name}={value})']
    for name, kind, shape, block in common + statuses:
        fixed += [f'      {kind.upper()} {name}{shape}', f'      COMMON /{block}/ {name}']
    for name in ('WTIME', 'WTICK', 'PMPI_WTIME', 'PMPI_WTICK'):
        name = name if name.startswith('P') else 'MPI_' + name
        # DOUBLE PRECISION, also if the compiler is told to make that longer.
        fixed += [f'      REAL(KIND=SELECTED_REAL_KIND(15)) {name}', f'      EXTERNAL {name}']
    for name in ('AINT_ADD', 'AINT_DIFF'):
        for prefix in ('MPI_', 'PMPI_'):
            fixed += [f'      INTEGER(KIND=MPI_ADDRESS_KIND) {prefix}{name}', f'      EXTERNAL {prefix}{name}']
    for name in ('COMM', 'TYPE', 'WIN'):
        for suffix in ('NULL_COPY_FN', 'NULL_DELETE_FN', 'DUP_FN'):
            fixed.append(f'      EXTERNAL MPI_{name}_{suffix}')
    fixed += ['      EXTERNAL MPI_NULL_COPY_FN', '      EXTERNAL MPI_NULL_DELETE_FN', '      EXTERNAL MPI_DUP_FN',
              '      EXTERNAL MPI_CONVERSION_FN_NULL']
    write(os.path.join(folder, 'mpif.h'), '\n'.join(fixed) + '\n')

    free = ['! Written by generate.py.', 'module mpi_constants', '  use, intrinsic :: iso_c_binding, only: c_ptr',
            '  implicit none', '  public']
    free += [f'  integer, parameter :: {name} = {value}' for name, value in kinds + numbers]
    free += [f'  integer(MPI_OFFSET_KIND), parameter :: {name} = {value}' for name, value in offsets]
    free += [f'  logical, parameter :: {name} = .true.'
             for name in ('MPI_SUBARRAYS_SUPPORTED', 'MPI_ASYNC_PROTECTS_NONBLOCKING')]
    for name, kind, shape, block in common:
        free += [f'  {kind}, target :: {name}{shape}', f'  common /{block}/ {name}']
    write(os.path.join(folder, 'mpi_constants.f90'), '\n'.join(free + ['end module mpi_constants']) + '\n')
    return handles, statuses


def write_types(handles, folder):
    """The types of handles with their operators, and the status."""
    lines = ['! Written by generate.py.', 'module mpi_f08_types', '  use mpi_constants', '  implicit none', '  public']
    for handle in sorted(set(HANDLES.values())):
        lines += [f'  type, bind(C) :: MPI_{handle}', '    integer :: MPI_VAL', '  end type']
    lines += ['  type, bind(C) :: MPI_Status', '    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR',
              '    integer, private :: MPI_INTERNAL(5)', '  end type']
    lines += [f'  type({kind}), parameter :: {name} = {kind}({value})' for name, kind, value in handles]
    for name, shape in (('status', ''), ('statuses', '(1)')):
        lines += [f'  type(MPI_Status), target :: MPI_{name.upper()}_IGNORE{shape}',
                  f'  common /mpifort_{name}_ignore/ MPI_{name.upper()}_IGNORE']
    for operator, word in (('==', 'equal'), ('/=', 'differ')):
        lines.append(f'  interface operator({operator})')
        for handle in sorted(set(HANDLES.values())):
            lower = handle.lower()
            lines.append(f'    module procedure {word}_{lower}, {word}_{lower}_integer, {word}_integer_{lower}')
        lines.append('  end interface')
        lines += [f'  private :: {word}_{h.lower()}, {word}_{h.lower()}_integer, {word}_integer_{h.lower()}'
                  for h in sorted(set(HANDLES.values()))]
    lines.append('contains')
    for operator, word in (('==', 'equal'), ('/=', 'differ')):
        for handle in sorted(set(HANDLES.values())):
            lower, t = handle.lower(), f'type(MPI_{handle}), intent(in)'
            for name, left, right, test in (
                    (f'{word}_{lower}', t, t, f'a%MPI_VAL {operator} b%MPI_VAL'),
                    (f'{word}_{lower}_integer', t, 'integer, intent(in)', f'a%MPI_VAL {operator} b'),
                    (f'{word}_integer_{lower}', 'integer, intent(in)', t, f'a {operator} b%MPI_VAL')):
                lines += [f'  elemental logical function {name}(a, b)', f'    {left} :: a', f'    {right} :: b',
                          f'    {name} = {test}', '  end function']
    write(os.path.join(folder, 'mpi_f08_types.f90'), '\n'.join(lines + ['end module mpi_f08_types']) + '\n')


def write_module(name, uses, declarations, procedures, module, folder):
    """A module of interfaces."""
    lines = ['! Written by generate.py.', f'module {name}'] + [line for use in uses for line in wrap(f'  use {use}')]
    lines += ['  implicit none', '  public'] + declarations
    for line in interfaces(procedures, module):
        lines += wrap(line)
    write(os.path.join(folder, f'{name}.f90'), '\n'.join(lines + [f'end module {name}']) + '\n')


def write(path, text):
    """Writes a file unless it has this text already, so that make sees no change."""
    if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)


def main():
    """Writes everything."""
    table, header, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    procedures = read_table(table)
    handles, statuses = write_constants(read_constants(header), folder)
    write_types(handles, folder)
    write_bodies(procedures, folder)
    
    plain = [f'  integer, parameter :: {name} = {value}' for name, _, value in handles]
    for name, kind, shape, block in statuses:
        plain += [f'  {kind}, target :: {name}{shape}', f'  common /{block}/ {name}']
    shared = 'mpi_f08_types, only: MPI_Status, operator(==), operator(/=), ' + \
        ', '.join(f'MPI_{handle}' for handle in sorted(set(HANDLES.values())))
    write_module('mpi', [shared, 'mpi_constants', 'mpi_callbacks'], plain, procedures, 'mpi', folder)
    write_module('mpi_f08', ['mpi_f08_types', 'mpi_f08_callbacks'], [], procedures, 'f08', folder)


if __name__ == '__main__':
    main()
