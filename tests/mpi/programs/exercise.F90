! The same file calls from Fortran through one of its three bindings, chosen by a macro:
! BINDING_MPIF_H, BINDING_MPI or BINDING_MPI_F08. Prints "ok" or what was wrong.
!
!   exercise DIRECTORY
#ifdef BINDING_MPI_F08
#define FILE_TYPE type(MPI_File)
#define DATATYPE_TYPE type(MPI_Datatype)
#define INFO_TYPE type(MPI_Info)
#define STATUS_TYPE type(MPI_Status)
#define ERRHANDLER_TYPE type(MPI_Errhandler)
#define USE_BINDING use mpi_f08
#else
#define FILE_TYPE integer
#define DATATYPE_TYPE integer
#define INFO_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#define ERRHANDLER_TYPE integer
#ifdef BINDING_MPI
#define USE_BINDING use mpi
#else
#define USE_BINDING
#endif
#endif

program exercise
  USE_BINDING
  implicit none
#ifdef BINDING_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: columns = 6, rows = 5
  integer :: rank, ranks, code, failures, all_failures, length, amode, i, count
  logical :: found, layered
  character(len=512) :: directory, path, expect, value
  FILE_TYPE :: file
  DATATYPE_TYPE :: filetype
  INFO_TYPE :: info
  STATUS_TYPE :: status
  ERRHANDLER_TYPE :: handler
  integer(kind=MPI_OFFSET_KIND) :: offset, file_size
  double precision :: block(rows, columns), back(rows, columns)
  integer :: sizes(2), subsizes(2), starts(2)

  failures = 0
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, directory)
  call get_environment_variable('MPI_TEST_EXPECT', expect)
  layered = trim(expect) == 'engine'
  path = trim(directory) // '/fortran.data'

  call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                     MPI_INFO_NULL, file, code)
  call check(code == MPI_SUCCESS, 'open')
  call MPI_File_get_amode(file, amode, code)
  call check(amode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR), 'amode')
  call MPI_File_get_info(file, info, code)
  call MPI_Info_get(info, 'headrace_write_path', 500, value, found, code)
  call check(found .eqv. layered, 'carried by the engine')
  call MPI_Info_free(info, code)
  call MPI_File_get_errhandler(file, handler, code)
  call check(handler == MPI_ERRORS_RETURN, 'error handler')

  ! Each rank owns a band of rows of a matrix in Fortran order.
  sizes = (/ rows * ranks, columns /)
  subsizes = (/ rows, columns /)
  starts = (/ rows * rank, 0 /)
  call MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, &
                                MPI_DOUBLE_PRECISION, filetype, code)
  call MPI_Type_commit(filetype, code)
  offset = 16
  call MPI_File_set_view(file, offset, MPI_DOUBLE_PRECISION, filetype, 'native', MPI_INFO_NULL, &
                         code)
  call check(code == MPI_SUCCESS, 'set_view')
  do i = 1, columns
    block(:, i) = rank * 1000 + i
  end do
  call MPI_File_write_all(file, block, rows * columns, MPI_DOUBLE_PRECISION, status, code)
  call check(code == MPI_SUCCESS, 'write_all')
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, code)
  call check(count == rows * columns, 'count of write_all')
  call MPI_File_get_position(file, offset, code)
  call check(offset == rows * columns, 'position')
  call MPI_File_sync(file, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)

  back = 0
  offset = 0
  call MPI_File_read_at_all(file, offset, back, rows * columns, MPI_DOUBLE_PRECISION, status, code)
  call check(all(back == block), 'read_at_all')
  back = 0
  call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
  call MPI_File_read(file, back, rows * columns, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  call check(all(back == block), 'read')
  offset = rows
  call MPI_File_write_at(file, offset, -block(1, 1:1), 1, MPI_DOUBLE_PRECISION, status, code)
  call MPI_File_read_at(file, offset, back, 1, MPI_DOUBLE_PRECISION, status, code)
  call check(back(1, 1) == -block(1, 1), 'write_at')
  call MPI_File_read_all(file, back, 0, MPI_DOUBLE_PRECISION, status, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  file_size = 16 + 8 * sizes(1) * sizes(2)
  call MPI_File_set_size(file, file_size, code)
  call MPI_File_get_size(file, offset, code)
  call check(offset == file_size, 'size')
  call MPI_File_close(file, code)
  call check(code == MPI_SUCCESS, 'close')
  call check(file == MPI_FILE_NULL, 'null after close')
  call MPI_Type_free(filetype, code)

  call MPI_File_open(MPI_COMM_WORLD, trim(directory) // '/missing', MPI_MODE_RDONLY, &
                     MPI_INFO_NULL, file, code)
  call check(code /= MPI_SUCCESS, 'open of a missing file')
  call MPI_Error_string(code, value, length, i)
  call check(i == MPI_SUCCESS .and. length > 0, 'error string')

  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0 .and. all_failures == 0) print '(a)', 'ok'
  call MPI_Finalize(code)

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
  end subroutine check
end program exercise
