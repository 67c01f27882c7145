! A deadlock, as in recorded_hang.c. The binding is a macro, as in features.F90.
#if defined(BINDING_MPIF_H)
program recorded_hang
  implicit none
  include 'mpif.h'
#elif defined(BINDING_MPI)
program recorded_hang
  use mpi
  implicit none
#else
program recorded_hang
  use mpi_f08
  implicit none
#endif
  integer :: ierr, rank, i, taken(1)
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  do i = 1, 100
    call mpi_barrier(MPI_COMM_WORLD, ierr)
  end do
  if (rank < 2) call mpi_recv(taken, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)  ! hangs
  call mpi_finalize(ierr)  ! waits
end program
