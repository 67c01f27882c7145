! The same as statistics.c, which says what that is. The binding is a macro, as in features.F90.
#if defined(BINDING_MPIF_H)
program statistics
  implicit none
  include 'mpif.h'
#define FILE_TYPE integer
#define DATATYPE_TYPE integer
#elif defined(BINDING_MPI)
program statistics
  use mpi
  implicit none
#define FILE_TYPE integer
#define DATATYPE_TYPE integer
#else
program statistics
  use mpi_f08
  implicit none
#define FILE_TYPE type(MPI_File)
#define DATATYPE_TYPE type(MPI_Datatype)
#endif
  integer, parameter :: block = 8, blocks = 64, ints = block * blocks
  integer :: error, rank, ranks, i, asked, calls
  integer :: numbers(8 * ints)
  character(len=1024) :: directory, result, path
  FILE_TYPE :: file
  DATATYPE_TYPE :: blocks_type
  integer(kind=MPI_OFFSET_KIND) :: place

  numbers = 7
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, directory)
  call get_command_argument(2, result)
  write (path, '(a,".",i0)') trim(result), rank
  open (unit=10, file=trim(path), action='write')

  path = trim(directory) // '/shared'
  call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                     MPI_INFO_NULL, file, error)
  call MPI_Type_vector(blocks, block, 2 * block * ranks, MPI_INTEGER, blocks_type, error)
  call MPI_Type_commit(blocks_type, error)
  place = int(rank, MPI_OFFSET_KIND) * block * 4
  call MPI_File_set_view(file, place, MPI_INTEGER, blocks_type, 'native', MPI_INFO_NULL, error)
  place = 0
  call MPI_File_write_at_all(file, place, numbers, ints, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  call MPI_File_read_at_all(file, place, numbers, ints, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  asked = 4 * ints
  calls = 1
  if (rank == 0) then
    call MPI_File_read_at(file, place, numbers, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    asked = asked + 8
    calls = 2
  end if
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_close(file, error)
  call MPI_Type_free(blocks_type, error)
  write (10, '(a," 1 ",i0," ",i0," ",i0," 1 1 1")') trim(path), asked, 4 * ints, calls

  do i = 0, 2
    write (path, '(a,"/own.",i0,".",i0)') trim(directory), rank, i
    call MPI_File_open(MPI_COMM_SELF, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                       MPI_INFO_NULL, file, error)
    call MPI_File_write_at(file, place, numbers, 100 * (rank + 1), MPI_INTEGER, &
                           MPI_STATUS_IGNORE, error)
    call MPI_File_read_at(file, place, numbers, 10, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
    write (10, '(a," 1 40 ",i0," 1 1 0 0")') trim(path), 400 * (rank + 1)
  end do
  close (10)
  call MPI_Finalize(error)
end program statistics
