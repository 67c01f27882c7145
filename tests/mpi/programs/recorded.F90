! Calls from Fortran, which the record must have once each. The binding is a macro, as in features.F90.
#if defined(BINDING_MPIF_H)
program recorded
  implicit none
  include 'mpif.h'
#define REQUEST_TYPE integer
#elif defined(BINDING_MPI)
program recorded
  use mpi
  implicit none
#define REQUEST_TYPE integer
#else
program recorded
  use mpi_f08
  implicit none
#define REQUEST_TYPE type(MPI_Request)
#endif
  integer :: error, rank, ranks, next, before, i
  integer :: out(100), in(200)
  REQUEST_TYPE :: requests(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  out = rank
  do i = 1, 7
    call MPI_Irecv(in, 200, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 100, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  do i = 1, 3
    call MPI_Sendrecv(out, 10, MPI_INTEGER, next, 2, in, 200, MPI_INTEGER, before, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  do i = 1, 5
    call MPI_Allreduce(out, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call MPI_Gather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program recorded
