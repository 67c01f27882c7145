! Prints which rank of the world has which cell of a grid that may be reordered, for each binding.
program placed
#if defined(BINDING_MPI_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#if !defined(BINDING_MPI_F08) && !defined(BINDING_MPI)
  include 'mpif.h'
#endif
#if defined(BINDING_MPI_F08)
  type(MPI_Comm) :: grid
#else
  integer :: grid
#endif
  integer :: rank, cell, error, extents(2), coordinates(2)
  logical :: periods(2)
  extents = (/ 4, 4 /)
  periods = .false.
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, .true., grid, error)
  call MPI_Comm_rank(grid, cell, error)
  call MPI_Cart_coords(grid, cell, 2, coordinates, error)
  print '(a,i0,a,i0,a,i0,1x,i0)', 'cell ', cell, ' is rank ', rank, ' at ', coordinates(1), coordinates(2)
  call MPI_Comm_free(grid, error)
  call MPI_Finalize(error)
end program placed
