! What Fortran writes and reads, which its run-time library does by descriptors.
program program_io
#if defined(BINDING_MPIF_H)
  implicit none
  include 'mpif.h'
#elif defined(BINDING_MPI)
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
  character(4096) :: directory
  real(8) :: values(20000)
  integer :: error, i
  call MPI_Init(error)
  call get_command_argument(1, directory)
  values = [(real(i, 8), i = 1, 20000)]
  open (10, file=trim(directory)//'/unformatted', access='stream', form='unformatted')
  write (10) values
  close (10)
  values = 0
  open (10, file=trim(directory)//'/unformatted', access='stream', form='unformatted')
  read (10) values
  close (10)
  if (values(20000) /= 20000) print *, 'wrong'
  open (11, file=trim(directory)//'/formatted')
  do i = 1, 1000
    write (11, '(i8)') i
  end do
  close (11)
  call MPI_Finalize(error)
end program
