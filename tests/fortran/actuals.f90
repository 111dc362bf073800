! SPDX-License-Identifier: BSD-3-Clause
! Every kind of variable that Fortran can pass as a buffer: whole arrays and parts of them, arguments of all forms,
! pointers, components, characters, arrays without elements.
! ranks: 1 2 3
module actuals_types
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: interoperable
    integer(c_int) :: number
    real(c_double) :: value
    character(c_char) :: letters(4)
  end type
  type sequenced
    sequence
    integer :: first, second
    real(c_float) :: third
  end type
  type plain
    integer :: before
    integer :: inner(2)
    integer :: after
  end type
end module

program actuals
  use mpi_f08
  use actuals_types
  implicit none
  integer :: rank, ranks, next, prev, i
  integer, target :: m(5, 6)
  integer, allocatable :: packed(:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  m = reshape([(i, i = 1, 30)], shape(m))
  call parts(m, size(m), m, m(::2, 2:6:2))
  call pointers()
  call components()
  call derived()
  call characters()
  call without_elements()
  call not_allocated()
  call many_dimensions()
  call expressions()
  call MPI_Finalize()
contains
  include 'expect.inc'

  ! What a pack of a buffer gives is what MPI sees of it.
  subroutine open_pack(n)
    integer, intent(in) :: n
    if (allocated(packed)) deallocate(packed)
    allocate(packed(n), source=-1)
  end subroutine

  ! The same memory as an array of each form of argument.
  subroutine parts(explicit, n, open, shaped)
    integer, intent(in) :: n
    integer, intent(in) :: explicit(n)
    integer, intent(inout) :: open(5, *)
    integer, intent(inout) :: shaped(0:, -3:)
    integer :: at
    call open_pack(30); at = 0
    call MPI_Pack(explicit, n, MPI_INTEGER, packed, 120, at, MPI_COMM_SELF)
    call expect(all(packed == [(i, i = 1, 30)]), 'an array of explicit shape')
    call open_pack(6); at = 0
    call MPI_Pack(explicit(7:2:-1), 6, MPI_INTEGER, packed, 24, at, MPI_COMM_SELF)
    call expect(all(packed == [7, 6, 5, 4, 3, 2]), 'a negative stride')
    call open_pack(10); at = 0
    call MPI_Pack(open, 10, MPI_INTEGER, packed, 40, at, MPI_COMM_SELF)
    call expect(all(packed == [(i, i = 1, 10)]), 'an array of assumed size')
    call open_pack(4); at = 0
    call MPI_Pack(open(4:1:-3, 2:3), 4, MPI_INTEGER, packed, 16, at, MPI_COMM_SELF)
    call expect(all(packed == [9, 6, 14, 11]), 'a section of an array of assumed size')
    call open_pack(9); at = 0
    call MPI_Pack(shaped, 9, MPI_INTEGER, packed, 36, at, MPI_COMM_SELF)
    call expect(all(packed == [6, 8, 10, 16, 18, 20, 26, 28, 30]), 'an array of assumed shape')
    call open_pack(4); at = 0
    call MPI_Pack(shaped(2:0:-2, -2:), 4, MPI_INTEGER, packed, 16, at, MPI_COMM_SELF)
    call expect(all(packed == [20, 16, 30, 26]), 'a section of an array of assumed shape')
    call any_rank(shaped)
    call open_pack(4); at = 0
    call MPI_Pack(open(3, 1), 4, MPI_INTEGER, packed, 16, at, MPI_COMM_SELF)
    call expect(all(packed == [3, 4, 5, 6]), 'an element as the begin of a buffer')
  end subroutine

  subroutine any_rank(buffer)
    type(*), dimension(..), intent(in) :: buffer
    integer :: at
    call open_pack(9); at = 0
    call MPI_Pack(buffer, 9, MPI_INTEGER, packed, 36, at, MPI_COMM_SELF)
    call expect(all(packed == [6, 8, 10, 16, 18, 20, 26, 28, 30]), 'an argument of any type and rank')
  end subroutine

  ! Nonblocking receives into pointers, allocatables and their sections, around the ring.
  subroutine pointers()
    integer, pointer, asynchronous :: column(:), every(:, :)
    integer, allocatable, target, asynchronous :: received(:, :)
    integer, allocatable :: none(:)
    type(MPI_Request) :: requests(4)
    allocate(received(-1:8, 0:5), source=-1)
    column => received(8:-1:-3, 3)
    every => received(0:8:4, 0:1)
    call MPI_Irecv(column, 4, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(every, 6, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Irecv(none, 0, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(3))
    call MPI_Irecv(received(:, 5), 10, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, requests(4))
    call MPI_Send(m(1:4, 2), 4, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Send(m(2, :), 6, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
    call MPI_Send(none, 0, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
    call MPI_Send(m(1, 3), 10, MPI_INTEGER, next, 4, MPI_COMM_WORLD)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call expect(all(received(8:-1:-3, 3) == [6, 7, 8, 9]), 'a pointer to a reversed column')
    call expect(all(received(0:8:4, 0) == [2, 7, 12]) .and. all(received(0:8:4, 1) == [17, 22, 27]), 'a pointer to a section')
    call expect(all(received(:, 5) == [(i, i = 11, 20)]), 'a column of an allocatable')
    call expect(count(received == -1) == 60 - 20, 'what lies between pointers')
  end subroutine

  ! One component of all elements, of arrays and through pointers, sent and received in place.
  subroutine components()
    type(plain), target, asynchronous :: all_parts(6)
    type(plain), allocatable, asynchronous :: others(:)
    integer, pointer, asynchronous :: afters(:)
    type(MPI_Request) :: requests(3)
    do i = 1, 6
      all_parts(i) = plain(i, [10 * i, 10 * i + 1], 100 * i)
    end do
    allocate(others(6))
    others = plain(-1, -1, -1)
    afters => all_parts%after
    call MPI_Irecv(others%before, 6, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(others(5:1:-2)%after, 3, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Irecv(others(2:3)%inner(2), 2, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(3))
    call MPI_Send(all_parts%before, 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Send(afters(1:3), 3, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
    call MPI_Send(all_parts(4)%inner, 2, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call expect(all(others%before == [1, 2, 3, 4, 5, 6]), 'a component of all elements')
    call expect(all(others%after == [300, -1, 200, -1, 100, -1]), 'a component of some elements')
    call expect(others(2)%inner(2) == 40 .and. others(3)%inner(2) == 41, 'an element of a component')
    call expect(all(others%inner(1) == -1), 'other components')
  end subroutine

  ! Derived types with BIND(C) and SEQUENCE as MPI datatypes.
  subroutine derived()
    type(interoperable) :: s(4), r(4)
    type(sequenced) :: q(3), p(3)
    type(MPI_Datatype) :: raw, whole
    integer(MPI_ADDRESS_KIND) :: places(3), first, second
    s = [(interoperable(rank + i, 0.5d0 * i, [achar(64 + i), 'b', 'c', 'd']), i = 1, 4)]
    r = interoperable(0, 0, ['-', '-', '-', '-'])
    call MPI_Get_address(s(1)%number, places(1))
    call MPI_Get_address(s(1)%value, places(2))
    call MPI_Get_address(s(1)%letters, places(3))
    call MPI_Get_address(s(2), second)
    first = places(1); places = places - first
    call MPI_Type_create_struct(3, [1, 1, 4], places, [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER], raw)
    call MPI_Type_create_resized(raw, 0_MPI_ADDRESS_KIND, second - first, whole)
    call MPI_Type_commit(whole)
    call MPI_Sendrecv(s, 4, whole, next, 1, r, 4, whole, prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do i = 1, 4
      call expect(r(i)%number == prev + i .and. abs(r(i)%value - 0.5d0 * i) < 1d-9 .and. &
                  r(i)%letters(1) == achar(64 + i) .and. r(i)%letters(4) == 'd', 'a type with BIND(C)')
    end do
    call MPI_Type_free(raw)
    call MPI_Type_free(whole)
    q = [(sequenced(rank, i, 1.5_c_float * i), i = 1, 3)]
    call MPI_Sendrecv(q, 9, MPI_INTEGER, next, 2, p, 9, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(p%first == prev) .and. all(p%second == [1, 2, 3]) .and. all(abs(p%third - 1.5 * [1, 2, 3]) < 1e-6), &
                'a type with SEQUENCE')
  end subroutine

  subroutine characters()
    character(len=8) :: word, words(3), got(3)
    character(len=:), allocatable :: long
    type(MPI_Request) :: request
    word = 'abcdefgh'
    words = ['first   ', 'second  ', 'third   ']
    got = '--------'
    call MPI_Irecv(got(3:1:-2), 16, MPI_CHARACTER, prev, 1, MPI_COMM_WORLD, request)
    call MPI_Send(words(1:2), 16, MPI_CHARACTER, next, 1, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(3) == 'first' .and. got(2) == '--------' .and. got(1) == 'second', 'a section of CHARACTER')
    call MPI_Irecv(got(:)(3:4), 6, MPI_CHARACTER, prev, 2, MPI_COMM_WORLD, request)
    call MPI_Send(words(:)(1:2), 6, MPI_CHARACTER, next, 2, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(1) == 'sefind' .and. got(2) == '--se----' .and. got(3) == 'fitht', 'substrings of all elements')
    call MPI_Sendrecv(word(3:6), 4, MPI_CHARACTER, next, 3, got(1), 4, MPI_CHARACTER, prev, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(got(1) == 'cdefnd', 'a substring')
    call MPI_Sendrecv('constant', 8, MPI_CHARACTER, next, 4, got(2), 8, MPI_CHARACTER, prev, 4, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(got(2) == 'constant', 'a constant of CHARACTER')
    allocate(character(len=20) :: long)
    long = repeat('x', 20)
    if (rank == 0) long = 'twenty letters long.'
    call MPI_Bcast(long, len(long), MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call expect(long == 'twenty letters long.', 'an allocated length')
  end subroutine

  ! Arrays and sections without elements, with a count of 0, in procedures of each kind.
  subroutine without_elements()
    integer :: a(4), empty(3, 0), low, counts(ranks), places(ranks)
    integer, allocatable :: absent(:), none(:, :)
    type(MPI_Request) :: requests(3)
    type(MPI_Status) :: status
    integer :: n
    allocate(none(0, 5))
    a = 7; low = 3 - rank * 0; counts = 0; places = 0
    call MPI_Irecv(a(low:1), 0, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(none(:, ::2), 0, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Ireduce(a(4:1:2), empty, 0, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(3))
    call MPI_Send(empty(1:3:2, :), 0, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Send(a(1:-5), 0, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call MPI_Bcast(absent, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Allgatherv(none, 0, MPI_INTEGER, a(5:4), counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoall(none(:, 5:1:-2), 0, MPI_INTEGER, a(3:2), 0, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Sendrecv(a(2:1), 0, MPI_INTEGER, next, 3, a(1:4:3), 2, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call expect(n == 0 .and. all(a == 7), 'no elements')
  end subroutine

  ! Programs leave buffers that do not count unallocated, as at all ranks but the root. Their bounds may be anything.
  subroutine not_allocated()
    integer, allocatable, target :: gathered(:, :)
    integer, allocatable :: all_gathered(:), summed(:, :, :)
    integer, pointer :: nowhere(:, :)
    integer :: counts(ranks), places(ranks)
    type(MPI_Request) :: request
    nowhere => m(::2, ::3)
    nullify(nowhere)
    counts = 2; places = [(2 * i, i = 0, ranks - 1)]
    if (rank == 0) allocate(gathered(2, ranks), all_gathered(2 * ranks), summed(1, 2, 1))
    call MPI_Gather([rank, 7], 2, MPI_INTEGER, gathered, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Gatherv([rank, 8], 2, MPI_INTEGER, all_gathered, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Ireduce([rank, 1], summed, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Bcast(nowhere, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) nowhere => gathered
    call MPI_Igather([rank, 7], 2, MPI_INTEGER, nowhere, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (rank == 0) then
      call expect(all(gathered(1, :) == [(i, i = 0, ranks - 1)]) .and. all(gathered(2, :) == 7), 'the root alone allocates')
      call expect(all(all_gathered(1::2) == gathered(1, :)) .and. all(all_gathered(2::2) == 8), 'allocated for Gatherv')
      call expect(all(summed(1, :, 1) == [ranks * (ranks - 1) / 2, ranks]), 'allocated for Ireduce')
    end if
    if (allocated(gathered)) deallocate(gathered)
    call MPI_Bcast(gathered, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Allreduce(summed, gathered, 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end subroutine

  subroutine many_dimensions()
    integer, asynchronous :: s(2, 2, 2, 2, 2, 2, 2), r(2, 2, 2, 2, 2, 2, 2)
    integer :: f(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3), g(192)
    type(MPI_Request) :: request
    s = reshape([(i, i = 1, 128)], shape(s))
    r = 0
    call MPI_Irecv(r(:, 2, 2:1:-1, :, 1, :, ::2), 16, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, request)
    call MPI_Send(s(::2, :, 1, 2:1:-1, :, :, 2), 16, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(reshape(r(:, 2, 2:1:-1, :, 1, :, 1), [16]) == reshape(s(1, :, 1, 2:1:-1, :, :, 2), [16])), &
                'sections of seven dimensions')
    call expect(count(r == 0) == 112, 'what lies between in seven dimensions')
    f = reshape([(i, i = 1, 384)], shape(f))
    g = 0
    call MPI_Sendrecv(f(2:1:-1, :, :, :, 2:1:-1, :, :, :, :, :, :, :, :, :, 3:2:-1), 192, MPI_INTEGER, next, 2, g, 192, &
                      MPI_INTEGER, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(g == reshape(f(2:1:-1, :, :, :, 2:1:-1, :, :, :, :, :, :, :, :, :, 3:2:-1), [192])), &
                'a section of fifteen dimensions')
  end subroutine

  ! What has no address of its own can be sent.
  subroutine expressions()
    integer :: r(4), a(4), list(3)
    complex(c_float_complex), asynchronous :: z(3)
    type(MPI_Request) :: request
    real(c_float) :: x(3)
    a = [1, 2, 3, 4]; list = [4, 1, 1]; r = 0
    call MPI_Sendrecv(10 * a(::2) + rank, 2, MPI_INTEGER, next, 1, r, 2, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(all(r == [10 + prev, 30 + prev, 0, 0]), 'an expression')
    call MPI_Sendrecv((a(4:1:-1)), 4, MPI_INTEGER, next, 2, r, 4, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(r == [4, 3, 2, 1]), 'an expression in parentheses')
    call MPI_Sendrecv(spread(rank, 1, 3), 3, MPI_INTEGER, next, 3, r(1:3), 3, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(all(r == [prev, prev, prev, 1]), 'the result of a function')
    call MPI_Sendrecv((a(list)), 3, MPI_INTEGER, next, 4, r, 3, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(r == [4, 1, 1, 1]), 'a vector subscript')
    call MPI_Allreduce(rank, r(2), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call expect(r(2) == ranks - 1, 'scalars')
    z = [(1, 2), (3, 4), (5, 6)]
    x = 0
    call MPI_Sendrecv(real(z), 3, MPI_REAL, next, 5, x, 3, MPI_REAL, prev, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(nint(x) == [1, 3, 5]), 'a part of COMPLEX')
    call MPI_Irecv(z(3:1:-1)%im, 3, MPI_REAL, prev, 6, MPI_COMM_WORLD, request)
    call MPI_Send(z%re + rank, 3, MPI_REAL, next, 6, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(nint(aimag(z)) == [5, 3, 1] + prev) .and. all(nint(real(z)) == [1, 3, 5]), 'imaginary parts in place')
  end subroutine
end program
