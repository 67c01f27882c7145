! A write that fails in the file system: failing_access FILE [HINT VALUE]
program failing_access
  implicit none
  include 'mpif.h'
  integer :: file, info, code, data
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=200) :: name, hint, value

  call MPI_Init(code)
  call get_command_argument(1, name)
  call MPI_Info_create(info, code)
  if (command_argument_count() > 1) then
    call get_command_argument(2, hint)
    call get_command_argument(3, value)
    call MPI_Info_set(info, trim(hint), trim(value), code)
  end if
  call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_WRONLY, info, file, code)
  if (code /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 2, code)
  offset = 0
  data = 7
  call MPI_File_write_at(file, offset, data, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
  if (code /= MPI_SUCCESS) print '(a)', 'went on'
  call MPI_File_close(file, code)
  call MPI_Finalize(code)
end program
