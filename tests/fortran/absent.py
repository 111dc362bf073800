#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: absent.py PROCEDURES OUTPUT

Writes a test that calls each procedure of mpi_f08 in the table api/fortran/procedures.txt twice, without and with ierror,
in most cases with null handles. The error handler must be called without ierror if the procedure returns an error
with it.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(sys.argv[1]))))
from table import HANDLES, INTEGERS, read_table

# Called by the program itself, or not to be called with what this test has.
OTHERWISE = {'Init', 'Init_thread', 'Finalize', 'Abort', 'Comm_join'}
# The second call finds what the first has left.
ONCE = {'Buffer_attach', 'Buffer_detach', 'Publish_name', 'Register_datarep', 'Session_init', 'Session_finalize', 'Free_mem',
        'Alloc_mem', 'Lookup_name', 'Unpublish_name', 'Abi_set_fortran_info', 'Abi_set_fortran_booleans', 'Remove_error_class',
        'Remove_error_code', 'Remove_error_string', 'Open_port', 'Close_port'}
INSTEAD = {
    'Session_init': ['call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)', 'call MPI_Session_finalize(session)'],
    'Session_finalize': [],
    'Alloc_mem': ['call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)',
                  'call c_f_pointer(address, memory, [20])', 'memory = 5', 'call MPI_Free_mem(memory)'],
    'Free_mem': [],
    'Open_port': ['call MPI_Open_port(MPI_INFO_NULL, text)', 'call MPI_Close_port(text)'],
    'Close_port': [],
}
CALLBACKS = {
    'MPI_Comm_copy_attr_function': 'MPI_COMM_NULL_COPY_FN', 'MPI_Comm_delete_attr_function': 'MPI_COMM_NULL_DELETE_FN',
    'MPI_Type_copy_attr_function': 'MPI_TYPE_NULL_COPY_FN', 'MPI_Type_delete_attr_function': 'MPI_TYPE_NULL_DELETE_FN',
    'MPI_Win_copy_attr_function': 'MPI_WIN_NULL_COPY_FN', 'MPI_Win_delete_attr_function': 'MPI_WIN_NULL_DELETE_FN',
    'MPI_Comm_errhandler_function': 'on_comm', 'MPI_File_errhandler_function': 'on_file', 'MPI_Win_errhandler_function': 'on_win',
    'MPI_Session_errhandler_function': 'on_session', 'MPI_User_function': 'operation', 'MPI_Grequest_query_function': 'query',
    'MPI_Grequest_free_function': 'release', 'MPI_Grequest_cancel_function': 'cancel',
    'MPI_Datarep_conversion_function': 'MPI_CONVERSION_FN_NULL', 'MPI_Datarep_extent_function': 'extent',
}

HEAD = '''! Written by absent.py: every procedure without ierror.
module absent_callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: seen = MPI_SUCCESS
contains
  subroutine on_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    seen = merge(error_code, -1, comm == comm)
  end subroutine
  subroutine on_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    seen = merge(error_code, -1, file == file)
  end subroutine
  subroutine on_win(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    seen = merge(error_code, -1, win == win)
  end subroutine
  subroutine on_session(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    seen = merge(error_code, -1, session == session)
  end subroutine
  subroutine operation(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine extent(datatype, bytes, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: bytes, extra_state
    integer :: ierror
    bytes = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

program absent
  use mpi_f08
  use absent_callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: code, calls
  type(MPI_Errhandler) :: for_comms, for_files
  calls = 0
  call MPI_Init()
  call MPI_Comm_create_errhandler(on_comm, for_comms)
  call MPI_File_create_errhandler(on_file, for_files)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, for_comms)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, for_comms)
  call MPI_File_set_errhandler(MPI_FILE_NULL, for_files)
'''
TAIL = '''  call expect(calls == {calls}, 'the number of procedures')
  call MPI_Finalize()
contains
  include 'expect.inc'

  subroutine done(name, again, code)
    character(len=*), intent(in) :: name
    logical, intent(in) :: again
    integer, intent(in) :: code
    calls = calls + 1
    if (again) call expect((seen /= MPI_SUCCESS) .eqv. (code /= MPI_SUCCESS), 'the handler of ' // name // ' without ierror')
  end subroutine
'''


def actual(p, variables):
    """An actual argument; what it needs is added to the variables."""
    def variable(declared, first, shape='(64)' if p.array else ''):
        variables['v_' + p.name] = (declared, shape, first)
        return 'v_' + p.name
    if p.kind in INTEGERS:
        kind = p.integer(False)[1]
        if p.kind == 'weight' and p.way == 'in':
            return 'MPI_UNWEIGHTED'
        return variable(f'integer({kind})' if kind else 'integer', '0',
                        *(['(3, 64)'] if p.length and ':' in p.length else []))
    if p.kind in HANDLES:
        return variable(f'type(MPI_{HANDLES[p.kind]})', f'MPI_{HANDLES[p.kind].upper()}_NULL')
    if p.kind == 'logical':
        return variable('logical', '.false.')
    if p.kind == 'status':
        return variable('type(MPI_Status), save', '')
    if p.kind == 'fstatus':
        return variable('integer', '0', '(MPI_STATUS_SIZE)')
    if p.kind in ('string', 'text'):
        return "'nothing'" if p.way == 'in' else variable('character(len=8192)', "' '", '')
    if p.kind == 'strings':
        return 'MPI_ARGV_NULL' if p.name == 'argv' else "['nothing']"
    if p.kind == 'strings2':
        return 'MPI_ARGVS_NULL'
    if p.kind in ('cptr', 'cptr2'):
        return variable('type(c_ptr)', 'c_null_ptr', '')
    if p.kind == 'choice':
        return variable('integer, asynchronous', '0', '(64)')
    return CALLBACKS[p.kind]


def one(procedure):
    """A subroutine that calls a procedure."""
    variables, name = {}, procedure.name
    if name in INSTEAD:
        body = INSTEAD[name]
        known = {'session': ('type(MPI_Session)', '', ''), 'address': ('type(c_ptr)', '', ''),
                 'text': ('character(len=8192)', '', ''), 'memory': ('integer, pointer', '(:)', '')}
        variables = {v: known[v] for v in known if any(v in line for line in body)}
    else:
        arguments = [actual(p, variables) for p in procedure.parameters(False)]
        first = [f'{v} = {value}' for v, (_, _, value) in variables.items() if value]
        body = first + [f'call MPI_{name}({", ".join(arguments)})']
        if name not in ONCE:
            body += first + [f'call MPI_{name}({", ".join(arguments + ["code"])})']
    lines = [f'  subroutine do_{name}()'] + [f'    {kind} :: {v}{shape}' for v, (kind, shape, _) in variables.items()]
    return lines + [f'    {line}' for line in body] + ['  end subroutine']


def wrapped(line):
    """A line in the 132 columns that a compiler takes."""
    lines = []
    while len(line) > 120:
        cut = line.rindex(', ', 0, 116) + 2
        lines.append(line[:cut] + '&')
        line = '      ' + line[cut:]
    return lines + [line]


def main():
    """Writes the program."""
    called = [p for p in read_table(sys.argv[1]) if p.returns and not p.old and p.name not in OTHERWISE]
    lines = []
    for p in called:
        again = '.false.' if p.name in ONCE else '.true.'
        lines += ['  seen = MPI_SUCCESS', f'  call do_{p.name}()', f"  call done('MPI_{p.name}', {again}, code)"]
    lines += TAIL.format(calls=len(called)).splitlines()
    for p in called:
        lines += one(p)
    with open(sys.argv[2], 'w', encoding='ascii') as out:
        out.write(HEAD + '\n'.join(part for line in lines for part in wrapped(line)) + '\nend program\n')


if __name__ == '__main__':
    main()
