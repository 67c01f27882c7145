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
  character(len=16) :: text
  extents = (/ 4, 4 /)
  periods = .false.
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, .true., grid, error)
  call MPI_Comm_rank(grid, cell, error)
  call MPI_Cart_coords(grid, cell, 2, coordinates, error)
  print '(a,i0,a,i0,a,i0,1x,i0)', 'cell ', cell, ' is rank ', rank, ' at ', coordinates(1), coordinates(2)
  ! As end_at_once.h has it.
  call get_environment_variable('ENDS_AT_ONCE', text)
  if (text == '1') then
    flush (6)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call sleep(1)
    call MPI_Abort(MPI_COMM_WORLD, 0, error)
  end if
  call MPI_Comm_free(grid, error)
  call MPI_Finalize(error)
end program placed
