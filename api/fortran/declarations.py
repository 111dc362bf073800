# SPDX-License-Identifier: BSD-3-Clause
"""A part of generate.py: what Fortran programs include and use, mpif.h and the modules."""

import os
import re

from table import HANDLES, INTEGERS, NAMED_LARGE, write

# MPI's constants of C alone, and those that are shorter in Fortran, whose strings have no terminator.
C_ALONE = re.compile(r'MPI_(T_|F_|ABI_Fint|CONVERSION_FN|\w*_(COPY|DELETE|DUP)_FN|DUP_FN|Fint|STATUS(ES)?_IGNORE)|MPI_C_BOOL_X')
STRING_LENGTH = re.compile(r'MPI_MAX_(\w*STRING|INFO_KEY|INFO_VAL|\w*NAME|PSET_NAME_LEN|STRINGTAG_LEN)$')
SENTINELS = {'MPI_BOTTOM', 'MPI_IN_PLACE', 'MPI_BUFFER_AUTOMATIC', 'MPI_ARGV_NULL', 'MPI_ARGVS_NULL',
             'MPI_ERRCODES_IGNORE', 'MPI_UNWEIGHTED', 'MPI_WEIGHTS_EMPTY'}

# --- constants and types -------------------------------------------------------------------------------------------

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


# --- interfaces ----------------------------------------------------------------------------------------------------

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
            prefix = 'P' * profiled + procedure.prefix
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


def write_module(name, uses, declarations, procedures, module, folder):
    """A module of interfaces."""
    lines = ['! Written by generate.py.', f'module {name}'] + [line for use in uses for line in wrap(f'  use {use}')]
    lines += ['  implicit none', '  public'] + declarations
    for line in interfaces(procedures, module):
        lines += wrap(line)
    write(os.path.join(folder, f'{name}.f90'), '\n'.join(lines + [f'end module {name}']) + '\n')


def write_extensions(header, constants, procedures, folder):
    """mpif-ext.h and the modules mpi_ext and mpi_f08_ext; the constants are the error classes of mpi-ext.h."""
    values = {name: int(value, 0) for name, _, value in constants if name.startswith('MPI_ERR_')}
    with open(header, encoding='utf-8') as text:
        found = re.findall(r'^#define (MPIX_ERR_\w+) (\w+)$', text.read(), re.M)
    classes = [(name, values[value] if value in values else int(value, 0)) for name, value in found]
    fixed = ['! Written by generate.py. The constants of mpi-ext.h, for INCLUDE after mpif.h.']
    for name, value in classes:
        fixed += [f'      INTEGER {name}', f'      PARAMETER ({name}={value})']
    write(os.path.join(folder, 'mpif-ext.h'), '\n'.join(fixed) + '\n')
    plain = [f'  integer, parameter :: {name} = {value}' for name, value in classes]
    write_module('mpi_ext', [], plain, procedures, 'mpi', folder)
    handles = ', '.join(f'MPI_{handle}' for handle in sorted({HANDLES[p.kind] for procedure in procedures
                                                              for p in procedure.all if p.kind in HANDLES}))
    write_module('mpi_f08_ext', [f'mpi_f08_types, only: {handles}'], plain, procedures, 'f08', folder)


def write_declarations(header, procedures, folder):
    """mpif.h and all modules; the constants are those of mpi.h."""
    handles, statuses = write_constants(read_constants(header), folder)
    write_types(handles, folder)
    plain = [f'  integer, parameter :: {name} = {value}' for name, _, value in handles]
    for name, kind, shape, block in statuses:
        plain += [f'  {kind}, target :: {name}{shape}', f'  common /{block}/ {name}']
    shared = 'mpi_f08_types, only: MPI_Status, operator(==), operator(/=), ' + \
        ', '.join(f'MPI_{handle}' for handle in sorted(set(HANDLES.values())))
    write_module('mpi', [shared, 'mpi_constants', 'mpi_callbacks'], plain, procedures, 'mpi', folder)
    write_module('mpi_f08', ['mpi_f08_types', 'mpi_f08_callbacks'], [], procedures, 'f08', folder)
