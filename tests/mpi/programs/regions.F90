! Phases of a Fortran program. The binding is a macro, as in features.F90.
!
!     regions        prints "noted N" on rank 0: what headrace_region_begin said
#if defined(BINDING_MPIF_H)
program regions
  use headrace
  implicit none
  include 'mpif.h'
#elif defined(BINDING_MPI)
program regions
  use headrace
  use mpi
  implicit none
#else
program regions
  use headrace
  use mpi_f08
  implicit none
#endif
  integer :: error, rank, i, code, before
  integer :: out(10), in(10)

  call headrace_region_begin(1, "whole   ")
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  out = rank
  do i = 1, 5
    call headrace_region_begin(2, "solve", code)
    call MPI_Allreduce(out, in, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call headrace_region_end(2)
  end do
  call headrace_record(HEADRACE_OFF, before)
  if (before /= code) stop 3
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call headrace_record(HEADRACE_ON)
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Pcontrol(1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call headrace_flush()
  call headrace_region_end(1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (rank == 0) print '(a, i0)', "noted ", code
end program regions
