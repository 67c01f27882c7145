! Calls from Fortran, with a tally in C. Run on any number of ranks. The binding is a macro, as in
! features.F90.
module tallies
  use iso_c_binding
  implicit none
  interface  ! recorded_tally.c
    subroutine tally_call(name) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
    end subroutine tally_call
    subroutine tally_sent(name, bytes) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: bytes
    end subroutine tally_sent
    subroutine tally_arrival(name, bytes) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: bytes
    end subroutine tally_arrival
    subroutine tally_message(to, bytes) bind(c)
      import
      integer(c_int), value :: to
      integer(c_int64_t), value :: bytes
    end subroutine tally_message
    subroutine tally_print(path, rank) bind(c)
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: rank
    end subroutine tally_print
  end interface
contains
  subroutine called(name)
    character(len=*), intent(in) :: name
    call tally_call(name // c_null_char)
  end subroutine called

  ! A call whose send arguments hold so many integers.
  subroutine sent(name, count)
    character(len=*), intent(in) :: name
    integer, intent(in) :: count
    call tally_sent(name // c_null_char, 4_c_int64_t * count)
  end subroutine sent

  subroutine arrived(name, count)
    character(len=*), intent(in) :: name
    integer, intent(in) :: count
    call tally_arrival(name // c_null_char, 4_c_int64_t * count)
  end subroutine arrived

  subroutine message(to, count)
    integer, intent(in) :: to, count
    call tally_message(to, 4_c_int64_t * count)
  end subroutine message
end module tallies

#if defined(BINDING_MPIF_H)
program recorded
  use tallies
  implicit none
  include 'mpif.h'
#define HANDLE(kind) integer
#elif defined(BINDING_MPI)
program recorded
  use tallies
  use mpi
  implicit none
#define HANDLE(kind) integer
#else
program recorded
  use tallies
  use mpi_f08
  implicit none
#define HANDLE(kind) type(kind)
#endif
  integer, parameter :: most = 64, large = 70000
  integer :: error, rank, ranks, next, before
  integer :: out(large), in(large)
  character(len=1000) :: path

  call get_command_argument(1, path)
  call MPI_Init(error)
  call called('MPI_Comm_rank')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call called('MPI_Comm_size')
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  out = rank
  call messages
  call derived
  call of_one_length
  call of_many_lengths
  call in_place
  call cartesian
  call in_a_file
#if defined(BINDING_MPI_F08)
  call sections
#endif
  call called('MPI_Finalize')
  call tally_print(trim(path) // c_null_char, rank)
  call MPI_Finalize(error)

contains

  subroutine messages
    integer, parameter :: counts(7) = (/ 0, 1, 4, 100, 1000, 20000, large /)
    HANDLE(MPI_Request) :: requests(2)
    integer :: i, n
    do i = 1, size(counts)
      n = counts(i)
      call called('MPI_Irecv')
      call MPI_Irecv(in, large, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error)
      call sent('MPI_Isend', n)
      call message(next, n)
      call MPI_Isend(out, n, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
      call called('MPI_Waitall')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call arrived('MPI_Irecv', n)
      call sent('MPI_Sendrecv', n)
      call message(next, n)
      call MPI_Sendrecv(out, n, MPI_INTEGER, next, 2, in, large, MPI_INTEGER, before, 2, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
  end subroutine messages

  ! The program's own datatype. Fortran layers make some for sections.
  subroutine derived
    HANDLE(MPI_Datatype) :: every_other
    HANDLE(MPI_Request) :: request
    integer :: length
    call called('MPI_Type_vector')
    call MPI_Type_vector(50, 1, 2, MPI_INTEGER, every_other, error)
    call called('MPI_Type_commit')
    call MPI_Type_commit(every_other, error)
    call called('MPI_Type_size')
    call MPI_Type_size(every_other, length, error)
    call called('MPI_Irecv')
    call MPI_Irecv(in, 1, every_other, before, 3, MPI_COMM_WORLD, request, error)
    call sent('MPI_Send', 50)
    call message(next, 50)
    call MPI_Send(out, 1, every_other, next, 3, MPI_COMM_WORLD, error)
    call called('MPI_Wait')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call arrived('MPI_Irecv', 50)
    call called('MPI_Type_free')
    call MPI_Type_free(every_other, error)
  end subroutine derived

  subroutine of_one_length
    call called('MPI_Barrier')
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call sent('MPI_Bcast', 10)
    call MPI_Bcast(in, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Reduce', 2000)
    call MPI_Reduce(out, in, 2000, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Allreduce', 2)
    call MPI_Allreduce(out, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call sent('MPI_Gather', 3)
    call MPI_Gather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Scatter', merge(3 * ranks, 0, rank == 0))
    call MPI_Scatter(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Alltoall', 5 * ranks)
    call MPI_Alltoall(out, 5, MPI_INTEGER, in, 5, MPI_INTEGER, MPI_COMM_WORLD, error)
    call sent('MPI_Reduce_scatter_block', 7 * ranks)
    call MPI_Reduce_scatter_block(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end subroutine of_one_length

  ! Layers ask how many ranks there are, to know how long the program's arrays are.
  subroutine of_many_lengths
    integer :: counts(most), places(most), bytes(most), total, own, i
    HANDLE(MPI_Datatype) :: types(most)
    HANDLE(MPI_Request) :: request
    total = 0
    do i = 1, ranks
      counts(i) = mod(i, 3)
      places(i) = total
      types(i) = MPI_INTEGER
      total = total + counts(i)
    end do
    own = counts(rank + 1)
    call sent('MPI_Gatherv', own)
    call MPI_Gatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Scatterv', merge(total, 0, rank == 0))
    call MPI_Scatterv(out, counts, places, MPI_INTEGER, in, own, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call sent('MPI_Allgatherv', own)
    call MPI_Allgatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call sent('MPI_Reduce_scatter', total)
    call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call sent('MPI_Iallgatherv', own)
    call MPI_Iallgatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                         request, error)
    call called('MPI_Wait')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    counts(1:ranks) = 2
    do i = 1, ranks
      places(i) = 2 * (i - 1)
      bytes(i) = 8 * (i - 1)
    end do
    call sent('MPI_Alltoallv', 2 * ranks)
    call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD, error)
    call sent('MPI_Alltoallw', 2 * ranks)
    call MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, error)
  end subroutine of_many_lengths

  subroutine in_place
    integer :: counts(most), places(most), i
    counts(1:ranks) = 2
    do i = 1, ranks
      places(i) = 2 * (i - 1)
    end do
    call sent('MPI_Allreduce', 300)
    call MPI_Allreduce(MPI_IN_PLACE, in, 300, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call sent('MPI_Allgather', 3)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, in, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call sent('MPI_Allgatherv', 2)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
                        MPI_COMM_WORLD, error)
    call sent('MPI_Alltoallv', 2 * ranks)
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD, error)
    call sent('MPI_Gatherv', 2)
    if (rank == 0) then
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, &
                       MPI_COMM_WORLD, error)
    else
      call MPI_Gatherv(out, 2, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    end if
  end subroutine in_place

  subroutine cartesian
    HANDLE(MPI_Comm) :: grid, line
    integer :: dimensions(2), coordinates(2), found, two(2), none(2)
    logical :: periods(2), remains(2)
    dimensions = (/ ranks, 1 /)
    periods = .true.
    remains = (/ .true., .false. /)
    two = 2
    none = 0
    call called('MPI_Cart_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, .false., grid, error)
    call called('MPI_Cart_coords')
    call MPI_Cart_coords(grid, rank, 2, coordinates, error)
    call called('MPI_Cart_rank')
    call MPI_Cart_rank(grid, coordinates, found, error)
    call called('MPI_Cart_sub')
    call MPI_Cart_sub(grid, remains, line, error)
    call called('MPI_Cartdim_get')
    call MPI_Cartdim_get(line, found, error)
    call sent('MPI_Neighbor_alltoallv', 4)
    call MPI_Neighbor_alltoallv(out, two, none, MPI_INTEGER, in, two, two, MPI_INTEGER, line, error)
    call called('MPI_Comm_free')
    call MPI_Comm_free(line, error)
    call called('MPI_Comm_free')
    call MPI_Comm_free(grid, error)
  end subroutine cartesian

  subroutine in_a_file
    HANDLE(MPI_File) :: file
    integer(kind=MPI_OFFSET_KIND) :: place
    place = 4000 * rank
    call called('MPI_File_open')
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                       file, error)
    call sent('MPI_File_write_at_all', 1000)
    call MPI_File_write_at_all(file, place, out, 1000, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call called('MPI_File_read_at')
    call MPI_File_read_at(file, place, in, 500, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call arrived('MPI_File_read_at', 500)
    call called('MPI_File_close')
    call MPI_File_close(file, error)
  end subroutine in_a_file

#if defined(BINDING_MPI_F08)
  ! Without a copy: MPICH's layer makes a datatype of each.
  subroutine sections
    type(MPI_Request) :: request
    call called('MPI_Irecv')
    call MPI_Irecv(in, 200, MPI_INTEGER, before, 4, MPI_COMM_WORLD, request, error)
    call sent('MPI_Send', 100)
    call message(next, 100)
    call MPI_Send(out(1:199:2), 100, MPI_INTEGER, next, 4, MPI_COMM_WORLD, error)
    call called('MPI_Wait')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call arrived('MPI_Irecv', 100)
    call sent('MPI_Sendrecv', 20)
    call message(next, 20)
    call MPI_Sendrecv(out(1:58:3), 20, MPI_INTEGER, next, 5, in(1:39:2), 20, MPI_INTEGER, before, 5, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call sent('MPI_Bcast', 10)
    call MPI_Bcast(in(1:19:2), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end subroutine sections
#endif
end program recorded
