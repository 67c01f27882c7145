! Rank 0 comes late to ten reductions. Rank 1 writes how long it was in them, which is waiting nearly
! all of it. The binding is a macro, as in features.F90.
#if defined(BINDING_MPIF_H)
program waited
  use iso_c_binding
  implicit none
  include 'mpif.h'
#elif defined(BINDING_MPI)
program waited
  use iso_c_binding
  use mpi
  implicit none
#else
program waited
  use iso_c_binding
  use mpi_f08
  implicit none
#endif
  interface
    integer(c_int) function usleep(time) bind(c)
      import :: c_int
      integer(c_int), value :: time
    end function
  end interface
  integer :: ierr, rank, i, ignored
  double precision :: given, got, begin, in_calls
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  given = 1
  in_calls = 0
  do i = 1, 10
    if (rank == 0) ignored = usleep(20000)
    begin = mpi_wtime()
    call mpi_allreduce(given, got, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    in_calls = in_calls + mpi_wtime() - begin
  end do
  if (rank == 1) print '(a,f12.9)', 'in calls ', in_calls
  call mpi_finalize(ierr)
end program
