! As apa.c: works in functions that are called so often as it prints, "calls NAME NUMBER". Compiled
! with SHARED it calls exp and a library's function, too (apa_shared.F90).

module work
  implicit none
  integer, parameter :: size = 20000
  double precision :: field(size) = 0
  integer :: kernels = 0, texts = 0
contains
  subroutine kernel(shift, sum)
    double precision, intent(in) :: shift
    double precision, intent(out) :: sum
    integer :: i, round
    kernels = kernels + 1
    sum = 0
    do round = 1, 20
      do i = 2, size - 1
        field(i) = (field(i - 1) + field(i) + field(i + 1) + shift) / 3
        sum = sum + field(i)
      end do
    end do
  end subroutine

  ! Lengths of texts are arguments, too: these lie on the stack.
  integer function text(a, b, c, d, e)
    character(*), intent(in) :: a, b, c, d, e
    texts = texts + 1
    text = len(a) + 2 * len(b) + 3 * len(c) + 4 * len(d) + 5 * len(e)
  end function
end module

program apa
#if defined(BINDING_MPI_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  use work
  implicit none
#if !defined(BINDING_MPI_F08) && !defined(BINDING_MPI)
  include 'mpif.h'
#endif
  integer :: error, rank, step, steps, own(2), all(2), wrong
  double precision :: sum, total, part
  character(32) :: argument
  call MPI_Init(error)
  call get_command_argument(1, argument)
  read (argument, *) steps
  total = 0
  wrong = 0
  do step = 1, steps
    call kernel(dble(step), sum)
    call MPI_Allreduce(sum, part, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    total = total + part
    if (text('a', 'bb', 'ccc', 'dddd', 'eeeee') /= 55) wrong = wrong + 1
#if defined(SHARED)
    part = exp(part / 1d300)
    call shared_work(dble(step), part, 'a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', sum)
    if (abs(sum - step - part - 91) > 1d-9) wrong = wrong + 1
#endif
  end do
  own = [kernels, texts]
  call MPI_Reduce(own, all, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) then
    print '(a, i0)', 'calls __work_MOD_kernel ', all(1), 'calls __work_MOD_text ', all(2)
#if defined(SHARED)
    print '(a, i0)', 'calls shared_work_ ', all(1), 'calls exp ', all(1)
#endif
    print '(a, z16)', 'sum ', total
    print '(a, i0)', 'wrong ', wrong
  end if
  call MPI_Finalize(error)
end program
