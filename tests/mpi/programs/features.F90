! Calls from Fortran, each a number of times of its own: 2 barriers, 3 times MPI_Comm_rank, 4 MPI_Wtime,
! 1 MPI_Pcontrol, 5 MPI_Allreduce.
program features
#if defined(BINDING_MPI_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#if defined(BINDING_MPIF_H)
  include 'mpif.h'
#endif
  integer :: rank, error, i, all
  integer(kind=8) :: ticks, then, rate
  double precision :: first, last
  call MPI_Init(error)
  do i = 1, 2
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  do i = 1, 3
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  end do
  do i = 1, 5
    call MPI_Allreduce(rank, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  first = MPI_Wtime()
  call system_clock(then, rate)
  ticks = then
  do while (ticks - then < rate / 5)
    call system_clock(ticks)
  end do
  last = MPI_Wtime()
  last = MPI_Wtime()
  last = MPI_Wtime()
  call MPI_Pcontrol(5)
  if (all /= 1 .or. last < first + 0.19 .or. last > first + 60) then
    print '(a,i0,2f20.6)', 'wrong: ', all, first, last
  else
    print '(a)', 'right'
  end if
  call MPI_Finalize(error)
end program
