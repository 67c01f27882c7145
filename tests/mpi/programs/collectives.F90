! Collective operations from Fortran, in place and not, of Fortran's types: `right` from each rank.
program collectives
#if defined(BINDING_MPI_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#if defined(BINDING_MPIF_H)
  include 'mpif.h'
#endif
  integer, parameter :: calls = 12, most = 64
  integer :: rank, ranks, error, i, wrong
  integer :: numbers(3), gathered(most), counts(most), places(most)
  double precision :: sums(2), scattered(1), given(most)
  logical :: flag
  integer :: offsets(most), exchanged(most)
#if defined(BINDING_MPI_F08)
  type(MPI_Datatype) :: types(most)
#else
  integer :: types(most)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  wrong = 0
  do i = 1, calls
    numbers = [rank, i, 1]
    call MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (any(numbers /= [ranks * (ranks - 1) / 2, ranks * i, ranks])) wrong = wrong + 1
    numbers = [rank, i, 1]
    if (rank == 1) then
      call MPI_Reduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, error)
      if (any(numbers /= [ranks * (ranks - 1) / 2, ranks * i, ranks])) wrong = wrong + 1
    else
      call MPI_Reduce(numbers(1), gathered, 3, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, error)
    end if
#if !defined(BINDING_MPIF_H)
    ! There a procedure has arguments of one type.
    sums = [0.5d0, 2d0 * i]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    if (any(sums /= [0.5d0, 2d0 * i])) wrong = wrong + 1
    flag = .true.
    call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    if (.not. flag) wrong = wrong + 1
#endif
    gathered = -1
    gathered(rank + 1) = rank * i
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, gathered, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    if (any(gathered(1:ranks) /= ramp(i))) wrong = wrong + 1
    gathered = -1
    gathered(rank + 1) = rank * i
    counts = 1
    places(1:ranks) = ramp(1)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, &
                        MPI_COMM_WORLD, error)
    if (any(gathered(1:ranks) /= ramp(i))) wrong = wrong + 1
    given = rank + i
    call MPI_Reduce_scatter_block(given, scattered, 1, MPI_DOUBLE_PRECISION, MPI_SUM, &
                                  MPI_COMM_WORLD, error)
    if (scattered(1) /= ranks * (ranks - 1) / 2 + ranks * i) wrong = wrong + 1
    gathered = -1
    exchanged = -1
    if (rank == 1) then
      gathered(rank + 1) = rank * i
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, gathered, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
      if (any(gathered(1:ranks) /= ramp(i))) wrong = wrong + 1
      exchanged(1:ranks) = ramp(2 * i)
      call MPI_Scatter(exchanged, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
      gathered = -1
      gathered(rank + 1) = rank * i
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, 1, &
                       MPI_COMM_WORLD, error)
      if (any(gathered(1:ranks) /= ramp(i))) wrong = wrong + 1
      call MPI_Scatterv(exchanged, counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 1, &
                        MPI_COMM_WORLD, error)
    else
      numbers = rank * i
      call MPI_Gather(numbers(1), 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
      call MPI_Scatter(exchanged, 1, MPI_INTEGER, numbers(1), 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
      if (numbers(1) /= 2 * rank * i) wrong = wrong + 1
      numbers = rank * i
      call MPI_Gatherv(numbers(1), 1, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, 1, &
                       MPI_COMM_WORLD, error)
      call MPI_Scatterv(exchanged, counts, places, MPI_INTEGER, numbers(1), 1, MPI_INTEGER, 1, &
                        MPI_COMM_WORLD, error)
      if (numbers(1) /= 2 * rank * i) wrong = wrong + 1
    end if
    types = MPI_INTEGER
    offsets(1:ranks) = ramp(storage_size(i) / 8)
    exchanged(1:ranks) = ramp(10) + rank * i
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, exchanged, counts, places, &
                       MPI_INTEGER, MPI_COMM_WORLD, error)
    if (any(exchanged(1:ranks) /= ramp(i) + rank * 10)) wrong = wrong + 1
    exchanged(1:ranks) = ramp(10) + rank * i
    call MPI_Alltoallw(MPI_IN_PLACE, counts, offsets, types, exchanged, counts, offsets, types, &
                       MPI_COMM_WORLD, error)
    if (any(exchanged(1:ranks) /= ramp(i) + rank * 10)) wrong = wrong + 1
    numbers = merge(7 * i, 0, rank == 0)
    call MPI_Bcast(numbers, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    if (any(numbers /= 7 * i)) wrong = wrong + 1
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  if (wrong == 0) then
    print '(a)', 'right'
  else
    print '(a,i0)', 'wrong: ', wrong
  end if
  call MPI_Finalize(error)
contains
  function ramp(step)
    integer, intent(in) :: step
    integer :: ramp(ranks), k
    ramp = [(k * step, k = 0, ranks - 1)]
  end function ramp
end program collectives
