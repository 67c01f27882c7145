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
#define REQUEST_TYPE type(MPI_Request)
#define BUFFER_TYPE type(c_ptr), value
#define USE_BINDING use mpi_f08
#else
#define FILE_TYPE integer
#define DATATYPE_TYPE integer
#define INFO_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#define ERRHANDLER_TYPE integer
#define REQUEST_TYPE integer
#define BUFFER_TYPE double precision, dimension(*)
#ifdef BINDING_MPI
#define USE_BINDING use mpi
#else
#define USE_BINDING
#endif
#endif

! A data representation: each number and the state behind it.
module representation
  USE_BINDING
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
#ifdef BINDING_MPIF_H
  include 'mpif.h'
#endif
  private
  public :: read_words, write_words, word_extent
  integer, public :: conversions = 0, strange = 0
contains

  subroutine write_words(memory, datatype, count, stored, position, state, code)
    BUFFER_TYPE :: memory, stored
    DATATYPE_TYPE :: datatype
    integer :: count, code
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: state
#ifdef BINDING_MPI_F08
    double precision, pointer :: numbers(:), words(:)
    call c_f_pointer(memory, numbers, [position + count])
    call c_f_pointer(stored, words, [2 * count])
    call convert(.true., numbers, count, words, position, int(state))
#else
    call convert(.true., memory, count, stored, position, int(state))
#endif
    if (datatype /= MPI_DOUBLE_PRECISION) strange = strange + 1
    code = MPI_SUCCESS
  end subroutine write_words

  subroutine read_words(memory, datatype, count, stored, position, state, code)
    BUFFER_TYPE :: memory, stored
    DATATYPE_TYPE :: datatype
    integer :: count, code
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: state
#ifdef BINDING_MPI_F08
    double precision, pointer :: numbers(:), words(:)
    call c_f_pointer(memory, numbers, [position + count])
    call c_f_pointer(stored, words, [2 * count])
    call convert(.false., numbers, count, words, position, int(state))
#else
    call convert(.false., memory, count, stored, position, int(state))
#endif
    if (datatype /= MPI_DOUBLE_PRECISION) strange = strange + 1
    code = MPI_SUCCESS
  end subroutine read_words

  subroutine word_extent(datatype, extent, state, code)
    DATATYPE_TYPE :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, state
    integer :: code
    extent = 16
    if (state /= 42 .or. datatype /= MPI_DOUBLE_PRECISION) strange = strange + 1
    code = MPI_SUCCESS
  end subroutine word_extent

  subroutine convert(writes, numbers, count, words, position, state)
    logical :: writes
    integer :: count, state, k
    double precision, dimension(*) :: numbers, words
    integer(kind=MPI_OFFSET_KIND) :: position
    conversions = conversions + 1
    do k = 1, count
      if (writes) then
        words(2 * k - 1) = numbers(position + k)
        words(2 * k) = state
      else
        numbers(position + k) = words(2 * k - 1) + words(2 * k) - state
      end if
    end do
  end subroutine convert

end module representation

! The error handler of calls that have no file.
module default_handler
  USE_BINDING
  implicit none
#ifdef BINDING_MPIF_H
  include 'mpif.h'
#endif
  private
  public :: remember
  integer, public :: handled = 0, other_files = 0
contains
  subroutine remember(file, code)
    FILE_TYPE :: file
    integer :: code
    handled = handled + 1
    if (file /= MPI_FILE_NULL .or. code == MPI_SUCCESS) other_files = other_files + 1
  end subroutine remember

end module default_handler

program exercise
  USE_BINDING
  use default_handler, only: remember, handled, other_files
  use representation, only: read_words, write_words, word_extent, conversions, strange
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

  call nonblocking_calls()
  call split_calls()
  call shared_calls()
  call own_representation()
  call calls_without_file()

  call MPI_File_open(MPI_COMM_WORLD, trim(directory) // '/missing', MPI_MODE_RDONLY, &
                     MPI_INFO_NULL, file, code)
  call check(code /= MPI_SUCCESS, 'open of a missing file')
  call MPI_Error_string(code, value, length, i)
  call check(i == MPI_SUCCESS .and. length > 0, 'error string')

  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0 .and. all_failures == 0) print '(a)', 'ok'
  call MPI_Finalize(code)

contains

  subroutine open_by_name(name)
    character(len=*), intent(in) :: name
    call MPI_File_open(MPI_COMM_WORLD, trim(directory) // '/fortran.' // name, &
                       ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, code)
    call check(code == MPI_SUCCESS, 'open of ' // name)
    offset = 0
    call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
  end subroutine open_by_name

  subroutine nonblocking_calls()
    integer, asynchronous :: out(10, 4), in(10, 4)
    integer :: part, waited
    REQUEST_TYPE :: requests(4)
    call open_by_name('nonblocking')
    do part = 1, 4
      out(:, part) = (/ (100 * rank + 10 * part + i, i = 1, 10) /)
    end do
    offset = 40 * rank
    call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
    call MPI_File_iwrite(file, out(:, 1), 10, MPI_INTEGER, requests(1), code)
    call check(code == MPI_SUCCESS, 'iwrite')
    offset = 40 * rank + 10
    call MPI_File_iwrite_at(file, offset, out(:, 2), 10, MPI_INTEGER, requests(2), code)
    call check(code == MPI_SUCCESS, 'iwrite_at')
    offset = 40 * rank + 20
    call MPI_File_iwrite_at_all(file, offset, out(:, 3), 10, MPI_INTEGER, requests(3), code)
    call check(code == MPI_SUCCESS, 'iwrite_at_all')
    do i = 1, 3
      call MPI_Waitany(3, requests, part, status, code)
#ifndef BINDING_MPI_F08
      ! mpi_f08 of MPICH 4.0 counts from 0.
      call check(part >= 1 .and. part <= 3, 'index of waitany')
#endif
      call check(code == MPI_SUCCESS, 'waitany')
      call MPI_Get_count(status, MPI_INTEGER, count, code)
      call check(count == 10, 'count of waitany')
    end do
    offset = 20
    call MPI_File_seek(file, offset, MPI_SEEK_CUR, code)
    call MPI_File_iwrite_all(file, out(:, 4), 10, MPI_INTEGER, requests(4), code)
    call MPI_Wait(requests(4), status, code)
    call check(code == MPI_SUCCESS, 'iwrite_all')
    call check(requests(4) == MPI_REQUEST_NULL, 'null after wait')
    in = 0
    offset = 40 * rank
    call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
    call MPI_File_iread(file, in(:, 1), 10, MPI_INTEGER, requests(1), code)
    call MPI_File_iread_all(file, in(:, 2), 10, MPI_INTEGER, requests(2), code)
    offset = 40 * rank + 20
    call MPI_File_iread_at(file, offset, in(:, 3), 10, MPI_INTEGER, requests(3), code)
    offset = 40 * rank + 30
    call MPI_File_iread_at_all(file, offset, in(:, 4), 10, MPI_INTEGER, requests(4), code)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, code)
    call check(code == MPI_SUCCESS, 'waitall')
    waited = 0
    do part = 1, 4
      if (all(in(:, part) == out(:, part))) waited = waited + 1
    end do
    call check(waited == 4, 'nonblocking reads')
    call MPI_File_close(file, code)
  end subroutine nonblocking_calls

  subroutine split_calls()
    integer, asynchronous :: out(30), in(30)
    call open_by_name('split')
    out = (/ (1000 * rank + i, i = 1, 30) /)
    in = 0
    offset = 30 * rank
    call MPI_File_write_at_all_begin(file, offset, out, 30, MPI_INTEGER, code)
    call check(code == MPI_SUCCESS, 'write_at_all_begin')
    call MPI_File_write_at_all_end(file, out, status, code)
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call check(count == 30, 'write_at_all_end')
    call MPI_File_seek(file, offset, MPI_SEEK_SET, code)
    call MPI_File_read_all_begin(file, in, 30, MPI_INTEGER, code)
    call MPI_File_read_all_end(file, in, status, code)
    call check(code == MPI_SUCCESS .and. all(in == out), 'read_all_end')
    call MPI_File_close(file, code)
  end subroutine split_calls

  subroutine shared_calls()
    integer, asynchronous :: out(5), in(5)
    REQUEST_TYPE :: request
    call open_by_name('shared')
    out = (/ (rank + i, i = 1, 5) /)
    call MPI_File_write_ordered(file, out, 5, MPI_INTEGER, status, code)
    call check(code == MPI_SUCCESS, 'write_ordered')
    call MPI_File_write_ordered_begin(file, out, 5, MPI_INTEGER, code)
    call MPI_File_write_ordered_end(file, out, status, code)
    call check(code == MPI_SUCCESS, 'write_ordered_end')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_File_get_position_shared(file, offset, code)
    call check(offset == 10 * ranks, 'position_shared')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    out = 7
    call MPI_File_write_shared(file, out, 5, MPI_INTEGER, status, code)
    call check(code == MPI_SUCCESS, 'write_shared')
    call MPI_File_iwrite_shared(file, out, 5, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call check(code == MPI_SUCCESS, 'iwrite_shared')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    offset = 5 * ranks
    call MPI_File_seek_shared(file, offset, MPI_SEEK_SET, code)
    call MPI_File_read_ordered(file, in, 5, MPI_INTEGER, status, code)
    call check(all(in == (/ (rank + i, i = 1, 5) /)), 'read_ordered')
    call MPI_File_read_shared(file, in, 5, MPI_INTEGER, status, code)
    call check(all(in == 7), 'read_shared')
    call MPI_File_close(file, code)
  end subroutine shared_calls

  ! No plain library has representations of the program's own.
  subroutine own_representation()
    FILE_TYPE :: own_file
    INFO_TYPE :: no_info
    double precision :: numbers(3), seen(3), words(6)
    integer :: number_read
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer(kind=MPI_OFFSET_KIND) :: place
    if (.not. layered) return
    no_info = MPI_INFO_NULL
    state = 42  ! for good: Open MPI hands over the variable, others its value
    call MPI_Register_datarep('words', read_words, write_words, word_extent, state, code)
    call check(code == MPI_SUCCESS, 'register')
    call MPI_Register_datarep('words', read_words, write_words, word_extent, state, code)
    call check(code /= MPI_SUCCESS, 'registered twice')
    path = trim(directory) // '/representation.data'
    amode = ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), amode, no_info, own_file, code)
    place = 48 * rank
    call MPI_File_set_view(own_file, place, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'words', &
                           no_info, code)
    call check(code == MPI_SUCCESS, 'view of own representation')
    numbers = (/ rank, 7, -rank /)
    place = 0
    call MPI_File_write_at_all(own_file, place, numbers, 3, MPI_DOUBLE_PRECISION, status, code)
    call check(code == MPI_SUCCESS, 'write in own representation')
    seen = -1
    call MPI_File_read_at_all(own_file, place, seen, 3, MPI_DOUBLE_PRECISION, status, code)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, number_read, code)
    call check(all(seen == numbers) .and. number_read == 3, 'read in own representation')
    call check(conversions == 2 .and. strange == 0, 'arguments of the conversions')
    place = 48 * rank
    call MPI_File_set_view(own_file, place, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'native', &
                           no_info, code)
    place = 0
    call MPI_File_read_at(own_file, place, words, 6, MPI_DOUBLE_PRECISION, status, code)
    call check(all(words == (/ rank, 42, 7, 42, -rank, 42 /)), 'words in the file')
    call MPI_File_close(own_file, code)
  end subroutine own_representation

  subroutine calls_without_file()
    call MPI_File_create_errhandler(remember, handler, code)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler, code)
    call MPI_File_open(MPI_COMM_WORLD, trim(directory) // '/missing', MPI_MODE_RDONLY, &
                       MPI_INFO_NULL, file, code)
    call check(handled == 1 .and. other_files == 0, 'handle that a handler sees at open')
    call MPI_File_delete(trim(directory) // '/missing', MPI_INFO_NULL, code)
    call check(handled == 2 .and. other_files == 0, 'handle that a handler sees at delete')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, code)
    call MPI_Errhandler_free(handler, code)
  end subroutine calls_without_file

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
  end subroutine check
end program exercise
