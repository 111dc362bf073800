! SPDX-License-Identifier: BSD-3-Clause
! Array sections with gaps as buffers: point to point, collective, one-sided, in files, packed; each checks the elements
! of the section and those between them.
program sections
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, prev, i
  integer, parameter :: n = 12

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  prev = mod(rank + ranks - 1, ranks)
  call point_to_point
  call persistent
  call partial
  call by_copy
  call collectives
  call vectors
  call reductions
  call neighbors
  call neighbors_of_three_dimensions
  call one_sided
  call in_files
  call packed
  call contiguous_is_refused_nowhere
  call MPI_Finalize()

contains

  include 'expect.inc'

  ! A matrix that says who made it and where an element is.
  function matrix(owner) result(m)
    integer, intent(in) :: owner
    integer :: m(n, n), row, column
    do column = 1, n
      do row = 1, n
        m(row, column) = 10000 * (owner + 1) + 100 * row + column
      end do
    end do
  end function

  ! True if nothing outside the marked elements has changed.
  logical function kept(m, before, marked)
    integer, intent(in) :: m(n, n), before(n, n)
    logical, intent(in) :: marked(n, n)
    kept = all(m == before .or. marked)
  end function

  subroutine point_to_point
    integer :: a(n, n), b(n, n), c(n, n), before(n, n)
    logical :: marked(n, n)
    type(MPI_Request) :: r(4)
    type(MPI_Status) :: s(4)
    integer :: count

    a = matrix(rank); b = -1; before = b
    marked = .false.; marked(2:10:4, 1:11:5) = .true.
    call MPI_Irecv(b(2:10:4, 1:11:5), 9, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(1:5:2, 3:9:3), 9, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, s)
    c = matrix(prev)
    call expect(all(b(2:10:4, 1:11:5) == c(1:5:2, 3:9:3)), 'Isend and Irecv of sections')
    call expect(kept(b, before, marked), 'Irecv keeps what lies between')
    call MPI_Get_elements(s(1), MPI_INTEGER, count)
    call expect(count == 9, 'elements of a received section')

    ! A row: one element of each column. Backwards, too.
    b = -1
    call MPI_Sendrecv(a(4, :), n, MPI_INTEGER, next, 2, b(n:1:-1, 2), n, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(all(b(n:1:-1, 2) == c(4, :)), 'Sendrecv of a row into a reversed column')
    call expect(all(b(:, 1) == -1) .and. all(b(:, 3:) == -1), 'Sendrecv keeps other columns')

    b = a
    call MPI_Sendrecv_replace(b(1:n:2, 5), n / 2, MPI_INTEGER, next, 3, prev, 3, MPI_COMM_WORLD, s(1))
    call expect(all(b(1:n:2, 5) == c(1:n:2, 5)), 'Sendrecv_replace of a section')
    call expect(all(b(2:n:2, 5) == a(2:n:2, 5)), 'Sendrecv_replace keeps what lies between')

    ! A section of no elements, and a message of none.
    call MPI_Irecv(b(2:1:2, 1:11:5), 0, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, r(1))
    call MPI_Send(a(1:5:2, 3:9:3), 0, MPI_INTEGER, next, 4, MPI_COMM_WORLD)
    call MPI_Wait(r(1), s(1))
    call MPI_Get_count(s(1), MPI_INTEGER, count)
    call expect(count == 0, 'a message of no elements')
  end subroutine

  ! A type that is not basic: the section is copied.
  subroutine by_copy
    integer :: a(n, n), b(n, n), c(n, n)
    type(MPI_Datatype) :: pair
    type(MPI_Request) :: r(2)
    logical :: done
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    a = matrix(rank); b = -1; c = matrix(prev)
    call MPI_Irecv(b(1:n:3, 2:n:3), 3, pair, prev, 5, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(1:n:3, 2:n:3), 3, pair, next, 5, MPI_COMM_WORLD, r(2))
    do
      call MPI_Testall(2, r, done, MPI_STATUSES_IGNORE)
      if (done) exit
    end do
    ! The extent of the pair is 3 elements: elements 1 3, 4 6, 7 9 of the section in its order.
    call expect(b(1, 2) == c(1, 2) .and. b(7, 2) == c(7, 2) .and. b(10, 2) == c(10, 2) .and. b(4, 5) == c(4, 5) .and. &
                b(7, 5) == c(7, 5) .and. b(1, 8) == c(1, 8), 'elements of a derived type in a section')
    call expect(b(4, 2) == -1 .and. b(1, 5) == -1 .and. b(2, 2) == -1, 'gaps of a derived type in a section')
    call MPI_Type_free(pair)
  end subroutine

  subroutine persistent
    integer :: a(n, n), b(n, n), c(n, n), round
    type(MPI_Request) :: r(3)
    call MPI_Recv_init(b(3:12:3, 4), 4, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, r(1))
    call MPI_Send_init(a(3:12:3, 4), 4, MPI_INTEGER, next, 6, MPI_COMM_WORLD, r(2))
    call MPI_Allreduce_init(a(1:7:3, 5), b(1:7:3, 5), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(3))
    do round = 1, 3
      a = round * matrix(rank); b = -round
      call MPI_Startall(3, r)
      call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
      c = round * matrix(prev)
      call expect(all(b(3:12:3, 4) == c(3:12:3, 4)), 'persistent requests of sections')
      call expect(all(b(1:12:3, 4) == -round), 'persistent receives keep what lies between')
      do i = 1, 7, 3
        call expect(b(i, 5) == round * (10000 * ranks * (ranks + 1) / 2 + ranks * (100 * i + 5)), &
                    'a persistent reduction of sections')
      end do
      call expect(b(2, 5) == -round, 'a persistent reduction keeps what lies between')
      ! Between activations the section is the program's.
      b(1:7:3, 5) = 77
      call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
      call expect(all(b(1:7:3, 5) == 77), 'an inactive request leaves the section alone')
    end do
    do i = 1, 3
      call MPI_Request_free(r(i))
    end do
  end subroutine

  ! Fewer elements than the section has, in three dimensions.
  subroutine partial
    real(8) :: a(6, 6, 6), b(6, 6, 6)
    integer :: k, x, y, z, sent
    do sent = 0, 18
      a = 0; b = -1; k = 0
      do z = 1, 5, 2
        do y = 2, 4, 2
          do x = 1, 5, 2
            k = k + 1
            a(x, y, z) = 1000 * rank + k
          end do
        end do
      end do
      call MPI_Sendrecv(a(1:5:2, 2:4:2, 1:5:2), sent, MPI_DOUBLE_PRECISION, next, 7, b(1:5:2, 2:4:2, 1:5:2), sent, &
                        MPI_DOUBLE_PRECISION, prev, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      k = 0
      do z = 1, 5, 2
        do y = 2, 4, 2
          do x = 1, 5, 2
            k = k + 1
            call expect(b(x, y, z) == merge(1000d0 * prev + k, -1d0, k <= sent), 'a part of a section')
          end do
        end do
      end do
      call expect(count(b /= -1) == sent, 'a part of a section keeps the rest')
    end do
  end subroutine

  subroutine collectives
    integer :: a(n, n), b(n, n), all_ranks(2, 4 * ranks), r, before(n, n)
    logical :: marked(n, n)
    type(MPI_Request) :: request

    a = matrix(rank); before = a
    marked = .false.; marked(2:n:2, 3:n:4) = .true.
    call MPI_Bcast(a(2:n:2, 3:n:4), 18, MPI_INTEGER, 0, MPI_COMM_WORLD)
    b = matrix(0)
    call expect(all(a(2:n:2, 3:n:4) == b(2:n:2, 3:n:4)) .and. kept(a, before, marked), 'Bcast of a section')
    a = matrix(rank)
    call MPI_Ibcast(a(2:n:2, 3:n:4), 18, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    b = matrix(ranks - 1)
    call expect(all(a(2:n:2, 3:n:4) == b(2:n:2, 3:n:4)) .and. kept(a, before, marked), 'Ibcast of a section')

    a = matrix(rank); all_ranks = -1
    call MPI_Allgather(a(1:10:3, 2), 4, MPI_INTEGER, all_ranks(2, :), 4, MPI_INTEGER, MPI_COMM_WORLD)
    do r = 0, ranks - 1
      b = matrix(r)
      call expect(all(all_ranks(2, 4 * r + 1:4 * r + 4) == b(1:10:3, 2)), 'Allgather of sections')
    end do
    call expect(all(all_ranks(1, :) == -1), 'Allgather keeps what lies between')

    all_ranks = -1
    call MPI_Igather(a(1:10:3, 2), 4, MPI_INTEGER, all_ranks(1, :), 4, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do r = 0, merge(ranks - 1, -1, rank == ranks - 1)
      b = matrix(r)
      call expect(all(all_ranks(1, 4 * r + 1:4 * r + 4) == b(1:10:3, 2)), 'Igather of sections')
    end do

    ! The root scatters a row, and in place at itself.
    do r = 1, 4 * ranks
      all_ranks(:, r) = [r, -r]
    end do
    b = -1
    call MPI_Scatter(all_ranks(2, :), 4, MPI_INTEGER, b(1:10:3, 1), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(all(b(1:10:3, 1) == [(-(4 * rank + i), i = 1, 4)]) .and. all(b(2:11:3, 1) == -1), 'Scatter of sections')
  end subroutine

  subroutine vectors
    integer :: counts(0:ranks - 1), displs(0:ranks - 1), got(3, ranks * (ranks + 1)), mine(2, ranks), r
    type(MPI_Datatype) :: types(0:ranks - 1)
    type(MPI_Request) :: request

    counts = [(r + 1, r = 0, ranks - 1)]
    displs = [(r * (r + 1) / 2 + r, r = 0, ranks - 1)]
    mine = rank; got = -1
    call MPI_Allgatherv(mine(1, :), rank + 1, MPI_INTEGER, got(3, :), counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    do r = 0, ranks - 1
      call expect(all(got(3, displs(r) + 1:displs(r) + r + 1) == r), 'Allgatherv of sections')
      call expect(got(3, displs(r) + r + 2) == -1, 'Allgatherv keeps what lies between')
    end do
    call expect(all(got(1:2, :) == -1), 'Allgatherv keeps other rows')

    got = -1
    mine(2, :) = [(100 * rank + r, r = 0, ranks - 1)]
    counts = 1; displs = [(r, r = 0, ranks - 1)]
    call MPI_Ialltoallv(mine(2, :), counts, displs, MPI_INTEGER, got(2, :), counts, displs, MPI_INTEGER, &
                        MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(got(2, 1:ranks) == [(100 * r + rank, r = 0, ranks - 1)]), 'Ialltoallv of sections')

    got = -1; types = MPI_INTEGER; displs = 4 * displs
    call MPI_Alltoallw(mine(2, :), counts, displs, types, got(1, :), counts, displs, types, MPI_COMM_WORLD)
    call expect(all(got(1, 1:ranks) == [(100 * r + rank, r = 0, ranks - 1)]), 'Alltoallw of sections')
    got = -1
    call MPI_Ialltoallw(mine(2, :), counts, displs, types, got(1, :), counts, displs, types, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(got(1, 1:ranks) == [(100 * r + rank, r = 0, ranks - 1)]), 'Ialltoallw of sections')
  end subroutine

  subroutine reductions
    integer :: a(n, n), b(n, n), total, counts(ranks)
    type(MPI_Request) :: request

    total = ranks * (ranks + 1) / 2
    a = rank + 1; b = -1
    call MPI_Allreduce(a(1:9:2, 1:9:4), b(2:10:2, 2:10:4), 15, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(b(2:10:2, 2:10:4) == total), 'Allreduce of sections')
    call expect(count(b /= -1) == 15, 'Allreduce keeps what lies between')
    call MPI_Allreduce(MPI_IN_PLACE, a(1:9:2, 3), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(a(1:9:2, 3) == total) .and. all(a(2:8:2, 3) == rank + 1), 'Allreduce in place of a section')

    a = rank + 1; b = -1
    call MPI_Ireduce(a(1:9:2, 1), b(1:9:2, 2), 5, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(b(1:9:2, 2) == merge(ranks, -1, rank == 0)), 'Ireduce of sections')
    call MPI_Scan(a(1:9:2, 1), b(1:9:2, 3), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(b(1:9:2, 3) == (rank + 1) * (rank + 2) / 2) .and. b(2, 3) == -1, 'Scan of sections')
    call MPI_Reduce_local(a(1:9:2, 1), b(1:9:2, 3), 5, MPI_INTEGER, MPI_PROD)
    call expect(all(b(1:9:2, 3) == (rank + 1)**2 * (rank + 2) / 2), 'Reduce_local of sections')
    counts = 1
    if (ranks <= n / 2) then
      b = -1
      call MPI_Reduce_scatter(a(1:2 * ranks:2, 4), b(7:7, 7), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      call expect(b(7, 7) == total, 'Reduce_scatter of a section')
    end if
  end subroutine

  ! Arrays of six datatypes: two neighbors in each dimension, of which those in the last one exist.
  subroutine neighbors_of_three_dimensions
    type(MPI_Comm) :: grid
    type(MPI_Datatype) :: types(6)
    integer :: out(6), in(6), counts(6), me, below, above
    integer(MPI_ADDRESS_KIND) :: places(6)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, [1, 1, ranks], [.false., .false., .true.], .false., grid)
    call MPI_Comm_rank(grid, me)
    call MPI_Cart_shift(grid, 2, 1, below, above)
    types = MPI_INTEGER
    counts = 1
    places = [(4_MPI_ADDRESS_KIND * i, i = 0, 5)]
    out = 10 * me
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, places, types, in, counts, places, types, grid)
    call expect(all(in == [-1, -1, -1, -1, 10 * below, 10 * above]), 'Neighbor_alltoallw in three dimensions')
    call MPI_Comm_free(grid)
  end subroutine

  subroutine neighbors
    type(MPI_Comm) :: ring
    integer :: out(2, 2), in(3, 2)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    out = reshape([-1, rank, -1, rank + 100], [2, 2]); in = -1
    call MPI_Neighbor_alltoall(out(2, :), 1, MPI_INTEGER, in(2, :), 1, MPI_INTEGER, ring)
    if (ranks > 2) call expect(in(2, 1) == prev + 100 .and. in(2, 2) == next, 'Neighbor_alltoall of sections')
    call expect(all(in(1, :) == -1) .and. all(in(3, :) == -1), 'Neighbor_alltoall keeps what lies between')
    call MPI_Comm_free(ring)
  end subroutine

  subroutine one_sided
    integer, target :: memory(n)
    integer :: a(n, n), b(n, n)
    type(MPI_Win) :: win
    type(MPI_Request) :: request
    memory = -1
    call MPI_Win_create(memory, int(4 * n, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    a = matrix(rank); b = -1
    call MPI_Win_fence(0, win)
    call MPI_Put(a(2, 1:n:2), 6, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 6, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    b = matrix(prev)
    call expect(all(memory(4:9) == b(2, 1:n:2)) .and. all(memory(1:3) == -1), 'Put of a section')
    b = -1
    call MPI_Get(b(3, 1:n:2), 6, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 6, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(b(3, 1:n:2) == a(2, 1:n:2)) .and. all(b(3, 2:n:2) == -1), 'Get into a section')
    call MPI_Accumulate(a(2, 1:n:2), 6, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 6, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    b = matrix(prev)
    call expect(all(memory(4:9) == 2 * b(2, 1:n:2)), 'Accumulate of a section')
    b = -1
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win)
    call MPI_Rget(b(1:11:2, 7), 6, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 6, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock(next, win)
    call expect(all(b(1:11:2, 7) == 2 * a(2, 1:n:2)) .and. b(2, 7) == -1, 'Rget into a section')
    call MPI_Win_free(win)
  end subroutine

  subroutine in_files
    character(len=64) :: name
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: a(n, n), b(n, n), count
    write (name, '(a, i0)') '/tmp/plenum-fortran-sections.', getpid() ! other runs have other files
    a = matrix(rank); b = -1
    call MPI_File_open(MPI_COMM_SELF, trim(name), ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
                       MPI_INFO_NULL, file)
    call MPI_File_write(file, a(2:8:3, 1:5:2), 9, MPI_INTEGER, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    call expect(count == 9, 'elements of a written section')
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, b(:, 1), 9, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(b(1:9, 1) == reshape(a(2:8:3, 1:5:2), [9])), 'a section in a file')
    b = -1
    call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, b(1:9:4, 2:6:2), 9, MPI_INTEGER, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(b(1:9:4, 2:6:2) == a(2:8:3, 1:5:2)) .and. b(2, 2) == -1, 'a file read into a section')
    b = -1
    call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_read_all_begin(file, b(1:9:4, 2:6:2), 9, MPI_INTEGER)
    call MPI_File_read_all_end(file, b(1:9:4, 2:6:2), status)
    call expect(all(b(1:9:4, 2:6:2) == a(2:8:3, 1:5:2)) .and. b(2, 2) == -1, 'a split collective into a section')
    call MPI_File_close(file)
  end subroutine

  subroutine packed
    integer :: a(n, n), b(n, n), position
    character :: buffer(2, 400)
    a = matrix(rank); b = -1
    position = 0
    call MPI_Pack(a(1, 1:9:2), 5, MPI_INTEGER, buffer(1, :), 400, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(buffer(1, :), 400, position, b(2:10:2, 3), 5, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(b(2:10:2, 3) == a(1, 1:9:2)) .and. b(3, 3) == -1, 'packed sections')
  end subroutine

  ! What must stay in one place: an error class instead of wrong memory.
  subroutine contiguous_is_refused_nowhere
    integer, target :: memory(n)
    type(MPI_Win) :: win
    integer :: code
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Win_create(memory(1:n:2), 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call expect(code == MPI_ERR_BUFFER, 'a window of a section with gaps is refused')
    call MPI_Win_create(memory(3:8), 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call expect(code == MPI_SUCCESS, 'a window of a section in one piece')
    call MPI_Win_free(win)
  end subroutine
end program
