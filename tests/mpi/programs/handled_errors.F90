! What procedures return when the program's error handler has changed the code.
!
!   handled_errors DIRECTORY [open]
!
! With "open" a file is opened that is missing: MPICH's own bindings then convert a handle that they
! were not given.
program handled_errors
  implicit none
  include 'mpif.h'
  external forgive
  integer :: handler, file, code
  integer(kind=MPI_OFFSET_KIND) :: offset

  call MPI_Init(code)
  call MPI_File_create_errhandler(forgive, handler, code)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler, code)
  if (command_argument_count() > 1) then
    call MPI_File_open(MPI_COMM_WORLD, '/missing/data', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    print '(a,2l2)', 'open ', code /= MPI_SUCCESS, file == MPI_FILE_NULL
  end if
  call MPI_File_delete('/missing/data', MPI_INFO_NULL, code)
  print '(a,l2)', 'delete ', code /= MPI_SUCCESS
  call MPI_File_open(MPI_COMM_WORLD, '/dev/zero', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
  offset = -5
  call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
  print '(a,l2)', 'seek ', code /= MPI_SUCCESS
  call MPI_File_close(file, code)
  call MPI_Finalize(code)
end program

subroutine forgive(file, code)
  implicit none
  include 'mpif.h'
  integer :: file, code
  print '(a,l2)', 'handler', code /= MPI_SUCCESS
  code = MPI_SUCCESS
end subroutine
