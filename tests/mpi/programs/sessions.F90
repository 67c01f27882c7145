! A file over a communicator of a session, without MPI_Init.
!
!   sessions DIRECTORY
program sessions
  implicit none
  include 'mpif.h'
  integer :: session, group, comm, file, rank, code, status(MPI_STATUS_SIZE)
  integer :: written(100), found(100), info
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=900) :: directory
  character(len=100) :: way
  logical :: is_carried

  call get_command_argument(1, directory)
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, code)
  if (code /= MPI_SUCCESS) stop 2
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, code)
  call MPI_Comm_create_from_group(group, 'test', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, code)
  if (code /= MPI_SUCCESS) stop 3
  call MPI_Group_free(group, code)
  call MPI_Comm_rank(comm, rank, code)
  call MPI_File_open(comm, trim(directory)//'/data', MPI_MODE_CREATE + MPI_MODE_RDWR, &
                     MPI_INFO_NULL, file, code)
  if (code /= MPI_SUCCESS) then
    print '(a,i0,a)', 'rank ', rank, ' refused'
  else
    written = 1000 + rank
    found = 0
    offset = 400 * rank
    call MPI_File_write_at_all(file, offset, written, 100, MPI_INTEGER, status, code)
    if (code /= MPI_SUCCESS) stop 4
    call MPI_File_read_at_all(file, offset, found, 100, MPI_INTEGER, status, code)
    if (code /= MPI_SUCCESS .or. any(found /= written)) stop 5
    call MPI_File_get_info(file, info, code)
    call MPI_Info_get(info, 'headrace_write_taken', 99, way, is_carried, code)
    call MPI_Info_free(info, code)
    call MPI_File_close(file, code)
    if (code /= MPI_SUCCESS) stop 6
    print '(a,i0,2a)', 'rank ', rank, ' ', merge('engine', 'plain ', is_carried)
  end if
  call MPI_Comm_free(comm, code)
  call MPI_Session_finalize(session, code)
  if (code /= MPI_SUCCESS) stop 7
end program sessions
