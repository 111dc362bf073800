# SPDX-License-Identifier: BSD-3-Clause
"""A part of generate.py: procedures_N.c, the bodies of the procedures and their linker names."""

import os
import re
import sys

from table import HANDLES, INTEGERS, write

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
# These call the functions that took the place of deprecated ones, which Open MPI's library of the ABI lacks.
SUCCESSORS = {'Attr_delete': 'Comm_delete_attr', 'Keyval_free': 'Comm_free_keyval'}
# A handle that is converted to C: its kind and its name.
HANDLE_IN_C = re.compile(r'plf_(\w+)_c\(\*(\w+)\)')


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
        null_if_unknown = self.procedure.name == 'Group_from_session_pset'
        value = '' if p.way == 'out' else f' = plf_{name_of(handle).lower()}_c(*{p.name})'
        value = ' = MPI_GROUP_NULL' if null_if_unknown else value
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
            store = f'*{p.name} = plf_{name_of(handle).lower()}_f(c_{p.name});'
            self.after += [store] if null_if_unknown else ['if (code == MPI_SUCCESS)', f'    {store}']

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
        function = 'MPI_' + SUCCESSORS.get(self.procedure.name, self.procedure.name) + '_c' * self.large
        if function == name:
            return f'{name}({arguments})'
        return f'PLF_CALL_AS("{function}", "{name}", {function}({arguments}))'

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
