! An error handler of Fortran with integers of 8 bytes.
!
!   handled_ilp64
program handled_ilp64
  implicit none
  include 'mpif.h'
  external forgive
  integer :: handler, file, code
  integer(kind=8) :: offset

  call MPI_Init(code)
  call MPI_File_create_errhandler(forgive, handler, code)
  call MPI_File_open(MPI_COMM_WORLD, '/dev/zero', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
  call MPI_File_set_errhandler(file, handler, code)
  offset = -5
  call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
  print '(a,l2)', 'seek ', code /= MPI_SUCCESS
  call MPI_File_close(file, code)
  print '(a,l2)', 'close ', code /= MPI_SUCCESS
  call MPI_Finalize(code)
end program

subroutine forgive(file, code)
  implicit none
  integer(kind=8) :: file, code
  print '(a,2l2)', 'handler', code > 0, code < 2_8**31
  code = 0
end subroutine
