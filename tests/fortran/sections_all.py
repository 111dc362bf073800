#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: sections_all.py PROCEDURES OUTPUT [large]

Writes a test that calls each procedure with a choice buffer, of the table api/fortran/procedures.txt, with array sections
that have gaps in two dimensions. What it receives must be what it receives in arrays without gaps, and the gaps must
keep their values. A procedure that this program does not know is an error. `large`: the large-count forms.
"""
import re
import sys

SENDS = re.compile(r'(I?[bsr]?send|[BSR]?send)(_init)?$', re.IGNORECASE)
COLLECTIVE = re.compile(r'(I?|Neighbor_|Ineighbor_)(bcast|(all)?gatherv?|scatterv?|alltoall[vw]?|(all)?reduce|'
                        r'reduce_scatter(_block)?|(ex)?scan)(_init)?$', re.IGNORECASE)
REFUSED = {
    'Win_create': 'MPI_Win_create({b}, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, code)',
    'Win_attach': 'MPI_Win_attach(dynamic, {b}, 4_MPI_ADDRESS_KIND, code)',
    'Buffer_attach': 'MPI_Buffer_attach({b}, 4, code)',
    'Comm_attach_buffer': 'MPI_Comm_attach_buffer(MPI_COMM_SELF, {b}, 4, code)',
    'Session_attach_buffer': 'MPI_Session_attach_buffer(session, {b}, 4, code)',
    'Psend_init': 'MPI_Psend_init({b}, 1, 2_MPI_COUNT_KIND, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r, code)',
    'Precv_init': 'MPI_Precv_init({b}, 1, 2_MPI_COUNT_KIND, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r, code)',
}
# The address alone counts: languages.f90, callbacks.f90 and kinds.f90 call them.
ADDRESS = {'Get_address', 'Free_mem', 'Win_detach', 'F_sync_reg', 'Sizeof', 'Abi_get_fortran_booleans',
           'Abi_set_fortran_booleans'}

HEAD = '''! Written by sections_all.py: array sections with gaps in all procedures that take buffers.
program sections_all
  use mpi_f08
  implicit none
  integer, parameter :: n = 3
  integer :: rank, ranks, next, prev, columns, i, code, position, calls
  integer, allocatable :: a(:, :), b(:, :), c(:, :), before(:, :), wide_a(:, :), wide_b(:, :), counts(:), displs(:)
  integer, allocatable :: byte_displs(:), attached(:)
  integer(MPI_ADDRESS_KIND), allocatable :: address_displs(:), large_displs(:)
  integer(MPI_COUNT_KIND), allocatable :: large_counts(:)
  integer(MPI_COUNT_KIND), parameter :: large_n = n
  integer(MPI_COUNT_KIND) :: large_size
  integer(MPI_ADDRESS_KIND) :: address_position
  integer, allocatable, asynchronous :: memory(:)
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Comm) :: ring
  type(MPI_Request) :: r, other
  type(MPI_Message) :: message
  type(MPI_Win) :: win, dynamic
  type(MPI_File) :: fh
  type(MPI_Session) :: session
  character(len=64) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  columns = max(ranks, 2)
  allocate(counts(columns), displs(columns), byte_displs(columns), address_displs(columns))
  allocate(large_displs(columns), large_counts(columns))
  allocate(a(n, columns), b(n, columns), c(n, columns), before(n, columns), memory(n * columns))
  allocate(wide_a(2 * n, 2 * columns), wide_b(2 * n, 2 * columns), attached(1000 + 100 * columns))
  counts = [(n, i = 1, columns)]; displs = [(n * i, i = 0, columns - 1)]; byte_displs = 4 * displs
  address_displs = byte_displs; large_displs = displs; large_counts = counts; large_size = n * columns
  allocate(types(columns), source=MPI_INTEGER)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
  call MPI_Buffer_attach(attached, 4 * size(attached))
  call MPI_Win_create(memory, int(4 * n * columns, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, dynamic)
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN)
  write (name, '(a, i0)') '/tmp/plenum-fortran-NAME.', getpid() ! other runs have other files
  calls = 0
'''

TAIL = '''
  call MPI_Win_free(win)
  call MPI_Win_free(dynamic)
  call MPI_Session_finalize(session)
  call MPI_Comm_free(ring)
  call MPI_Finalize()
contains
  include 'expect.inc'

  ! Fills all buffers: `a` is sent, `b` receives, the wide ones have the same in a section, and -7 between.
  subroutine fill(seed)
    integer, intent(in) :: seed
    integer :: k
    a = reshape([(seed + 100 * rank + k, k = 1, size(a))], shape(a))
    b = reshape([(-k, k = 1, size(b))], shape(b))
    before = b
    c = -5
    wide_a = -7; wide_a(1::2, 2::2) = a
    wide_b = -7; wide_b(1::2, 2::2) = b
  end subroutine

  ! The sections have these values, and all between is as it was.
  subroutine same(in_a, in_b, what)
    integer, intent(in) :: in_a(:, :), in_b(:, :)
    character(len=*), intent(in) :: what
    call expect(all(wide_a(1::2, 2::2) == in_a), what // ': the first section')
    call expect(all(wide_b(1::2, 2::2) == in_b), what // ': the second section')
    call expect(all(wide_a(2::2, :) == -7) .and. all(wide_a(:, 1::2) == -7), what // ': the gaps of the first section')
    call expect(all(wide_b(2::2, :) == -7) .and. all(wide_b(:, 1::2) == -7), what // ': the gaps of the second section')
  end subroutine

  ! An operation without gaps has done something on some rank.
  subroutine changed(what)
    character(len=*), intent(in) :: what
    integer :: mine, sum
    mine = count(b /= before)
    call MPI_Allreduce(mine, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(sum > 0, what // ': nothing was received')
  end subroutine
end program
'''

# Actual arguments of the large-count forms.
LARGE = {'n': 'large_n', 'size(a)': 'large_size', 'counts': 'large_counts', 'displs': 'large_displs',
         'byte_displs': 'address_displs', '4 * size(a)': '4 * large_size', 'position': 'address_position',
         'int(4 * size(a), MPI_ADDRESS_KIND)': '4 * large_size'}
large = False

A, B = 'wide_a(1::2, 2::2)', 'wide_b(1::2, 2::2)'


def arguments(parameters, buffers, more=()):
    """The actual arguments of a call: buffers in their order, the others by their names."""
    neighbor = dict(more).get('neighbor', False)
    values = {
        'sendcount': 'n', 'recvcount': 'n', 'count': 'size(a)', 'sendtype': 'MPI_INTEGER', 'recvtype': 'MPI_INTEGER',
        'datatype': 'MPI_INTEGER', 'sendcounts': 'counts', 'recvcounts': 'counts', 'displs': 'displs',
        'sdispls': 'displs', 'rdispls': 'displs', 'sendtypes': 'types', 'recvtypes': 'types', 'op': 'MPI_SUM',
        'root': '0', 'comm': 'ring' if neighbor else 'MPI_COMM_WORLD', 'info': 'MPI_INFO_NULL', 'request': 'r',
        'dest': 'next', 'source': 'prev', 'tag': '5', 'sendtag': '5', 'recvtag': '5', 'status': 'MPI_STATUS_IGNORE',
        'message': 'message', 'target_rank': 'next', 'target_disp': '0_MPI_ADDRESS_KIND', 'target_count': 'size(a)',
        'target_datatype': 'MPI_INTEGER', 'origin_count': 'size(a)', 'origin_datatype': 'MPI_INTEGER',
        'result_count': 'size(a)', 'result_datatype': 'MPI_INTEGER', 'win': 'win', 'fh': 'fh',
        'offset': '0_MPI_OFFSET_KIND', 'incount': 'size(a)', 'outcount': 'size(a)', 'outsize': '4 * size(a)',
        'insize': '4 * size(a)', 'position': 'position', 'datarep': "'external32'",
    }
    values.update(more)
    buffers = iter(buffers)
    out = []
    for word in parameters:
        name, kind = re.match(r'[>=]?(\w+)(?::(\w+))?', word).groups()
        value = next(buffers) if kind == 'choice' else values[name]
        out.append(LARGE.get(value, value) if large and kind in ('num', 'disp', 'extent') else value)
    return ', '.join(out)


def complete(name, parameters):
    """Statements that complete the operation that was just called."""
    persistent = name.endswith('_init')
    if not any(word.startswith('>request') for word in parameters):
        return ''
    return ('  call MPI_Start(r)\n' if persistent else '') + '  call MPI_Wait(r, MPI_STATUS_IGNORE)\n' + \
        ('  call MPI_Request_free(r)\n' if persistent else '')


def differential(name, parameters, more, before='', inplace=False):
    """Calls without gaps and with gaps, and compares."""
    plain = ['b'] if inplace else ['a', 'b']
    wide = [B] if inplace else [A, B]
    prepare = '  if (rank == 0) b = a\n' if inplace else ''
    section = '  wide_b(1::2, 2::2) = before\n  if (rank == 0) wide_b(1::2, 2::2) = a\n' if inplace else ''
    done = complete(name, parameters)
    return f'''{prepare}{before}  call MPI_{name}({arguments(parameters, plain, more)})
{done}{section}{before}  call MPI_{name}({arguments(parameters, wide, more)})
{done}  call same(a, b, 'MPI_{name}')
'''


def collective(name, parameters):
    """A collective operation."""
    more = {}
    if name.lower().find('neighbor') >= 0:
        more['neighbor'] = True
    if 'alltoallw' in name.lower():
        more['sdispls'] = more['rdispls'] = 'address_displs' if more else 'byte_displs'
    text = differential(name, parameters, more, inplace='cast' in name.lower())
    return text + f"  if (ranks > 1 .or. .not. {'.true.' if re.search('exscan|cast', name, re.I) else '.false.'}) " \
        f"call changed('MPI_{name}')\n"


def send(name, parameters):
    """A send; what comes is received without gaps."""
    return f'''  call MPI_Irecv(b, size(b), MPI_INTEGER, prev, 5, MPI_COMM_WORLD, other)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_{name}({arguments(parameters, [A])})
{complete(name, parameters)}  call MPI_Wait(other, MPI_STATUS_IGNORE)
  call expect(all(b - a == 100 * (prev - rank)), 'MPI_{name}: what was sent')
  call same(a, before, 'MPI_{name}')
'''


def receive(name, parameters):
    """A receive; what comes is sent without gaps."""
    probe = '  call MPI_Mprobe(prev, 5, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)\n' if 'm' in name[:2].lower() else ''
    return f'''  call MPI_Isend(a, size(a), MPI_INTEGER, next, 5, MPI_COMM_WORLD, other)
{probe}  call MPI_{name}({arguments(parameters, [B])})
{complete(name, parameters)}  call MPI_Wait(other, MPI_STATUS_IGNORE)
  call same(a, a + 100 * (prev - rank), 'MPI_{name}')
'''


def one_sided(name, parameters):
    """A one-sided operation on the next rank's memory; the previous rank works on ours."""
    request = any(word.startswith('>request') for word in parameters)
    begin, end = ('MPI_Win_lock_all(0, win)', 'MPI_Win_unlock_all(win)') if request else \
        ('MPI_Win_fence(0, win)', 'MPI_Win_fence(0, win)')
    gets, puts, both = 'et' in name and 'accum' not in name, 'ut' in name, 'et_accum' in name
    result = ['reshape(memory, shape(a)) == a + 100 * (prev - rank)', 'a', 'before'] if puts else \
        ['.true. .or. a == a', 'a + 1000 + 100 * (next - rank)', 'before'] if gets else \
        ['reshape(memory, shape(a)) == a + 100 * (prev - rank) + a + 1000', 'a',
         'a + 1000 + 100 * (next - rank)' if both else 'before']
    buffers = [A, B] if both else [A]
    return f'''  memory(:) = reshape(a + 1000, [size(a)])
  call MPI_Barrier(MPI_COMM_WORLD)
  call {begin}
  call MPI_{name}({arguments(parameters, buffers)})
{complete(name, parameters)}  call {end}
  call MPI_Barrier(MPI_COMM_WORLD)
  call expect(all({result[0]}), 'MPI_{name}: the memory of the window')
  call same({result[1]}, {result[2]}, 'MPI_{name}')
'''


def single(name):
    """Fetch_and_op and Compare_and_swap use the first element."""
    other = "wide_a(3::2, 4::2), " if name == 'Compare_and_swap' else ''
    op = '' if name == 'Compare_and_swap' else 'MPI_SUM, '
    return f'''  memory(:) = a(2, 2)
  call MPI_Win_fence(0, win)
  call MPI_{name}({A}, {other}{B}, MPI_INTEGER, rank, 0_MPI_ADDRESS_KIND, {op}win)
  call MPI_Win_fence(0, win)
  b(1, 1) = a(2, 2)
  call expect(memory(1) == {'a(1, 1)' if other else 'a(1, 1) + a(2, 2)'}, 'MPI_{name}: the memory of the window')
  call same(a, b, 'MPI_{name}')
'''


def file(name, parameters, table):
    """An operation on a file of this rank alone."""
    end = name.replace('_begin', '_end')
    writes = 'write' in name
    buffer = A if writes else B
    done = complete(name, parameters)
    if end != name:
        done = f'  call MPI_{end}({arguments(table[end], [buffer])})\n'
    before = '' if writes else '''  call MPI_File_write_at(fh, 0_MPI_OFFSET_KIND, a, size(a), MPI_INTEGER, MPI_STATUS_IGNORE)
'''
    after = '''  call MPI_File_read_at(fh, 0_MPI_OFFSET_KIND, b, size(b), MPI_INTEGER, MPI_STATUS_IGNORE)
''' if writes else ''
    return f'''  call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
      MPI_INFO_NULL, fh)
{before}  call MPI_{name}({arguments(parameters, [buffer])})
{done}{after}  call MPI_File_close(fh)
  {"call expect(all(b == a), 'MPI_" + name + ": the file')" if writes else 'b = a'}
  call same(a, {'before' if writes else 'b'}, 'MPI_{name}')
'''


def local(name, parameters):
    """An operation without communication."""
    external = 'external' in name
    more = {'position': 'address_position', 'outsize': 'int(4 * size(a), MPI_ADDRESS_KIND)',
            'insize': 'int(4 * size(a), MPI_ADDRESS_KIND)'} if external else {}
    return differential(name, parameters, more, '  position = 0; address_position = 0\n')


def refused(name):
    """A buffer that stays in use must have no gaps."""
    return f'''  call {REFUSED[name].format(b=A)}
  call expect(code == MPI_ERR_BUFFER, 'MPI_{name} refuses gaps')
'''


def main():
    """Writes the test."""
    global large
    table_path, output = sys.argv[1:3]
    large = 'large' in sys.argv[3:]
    with open(table_path, encoding='ascii') as source:
        lines = [line.split() for line in source if line.strip() and not line.startswith('#')]
    table = {re.match(r'\w+', words[0])[0]: words[1:] for words in lines}
    text = HEAD.replace('NAME', 'large' if large else 'all')
    for number, (name, parameters) in enumerate(table.items()):
        if not any(':choice' in word for word in parameters) or name in ADDRESS or name.endswith('_end'):
            continue
        text += f'\n  call fill({10000 * (number % 1000)})\n  calls = calls + 1\n'
        if name in REFUSED:
            text += refused(name)
        elif name in ('Fetch_and_op', 'Compare_and_swap'):
            text += single(name)
        elif name.startswith('File_'):
            text += file(name, parameters, table)
        elif any(word.startswith('win:') for word in parameters):
            text += one_sided(name, parameters)
        elif 'endrecv' in name:
            replace = 'replace' in name
            text += differential(name, parameters, {}) if not replace else f'''  call MPI_{name}({arguments(parameters, [A])})
{complete(name, parameters)}  call same(a + 100 * (prev - rank), before, 'MPI_{name}')
'''
        elif SENDS.match(name):
            text += send(name, parameters)
        elif 'recv' in name.lower():
            text += receive(name, parameters)
        elif COLLECTIVE.match(name):
            text += collective(name, parameters)
        elif name in ('Pack', 'Unpack', 'Pack_external', 'Unpack_external', 'Reduce_local'):
            text += local(name, parameters)
        else:
            sys.exit(f'sections_all.py: MPI_{name} has a choice buffer, and no test is known for it')
    with open(output, 'w', encoding='ascii') as out:
        for line in (text + TAIL).split('\n'):
            while len(line) > 118:
                cut = line.rfind(',', 0, 116) + 1
                out.write(line[:cut] + ' &\n')
                line = '      ' + line[cut:].lstrip()
            out.write(line + '\n')


if __name__ == '__main__':
    main()
