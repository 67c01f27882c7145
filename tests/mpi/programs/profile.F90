! Works in a module's procedure that a contained one calls, on OpenMP's threads if it is compiled so.
module costs
  implicit none
contains
  subroutine kernel(count, x)
    integer, intent(in) :: count
    double precision, intent(inout) :: x
    integer :: i
    do i = 1, count
      x = x * 1.0000001d0 + 0.0000001d0
    end do
  end subroutine kernel
end module costs

program profile
#ifdef BINDING_MPI_F08
  use mpi_f08
#endif
#ifdef BINDING_MPI
  use mpi
#endif
  use costs
  implicit none
#ifdef BINDING_MPIF_H
  include 'mpif.h'
#endif
  integer :: ierror, i
  double precision :: begin, now, x(0:1)
  call MPI_Init(ierror)
  x = 1
  call cpu_time(begin)
  now = begin
  do while (now - begin < 2)
    !$omp parallel do num_threads(2)
    do i = 0, 1
      call outer(x(i))
    end do
    !$omp end parallel do
    call cpu_time(now)
  end do
  print *, 'sum', sum(x) > 0
  call MPI_Finalize(ierror)
contains
  subroutine outer(value)
    double precision, intent(inout) :: value
    call kernel(2000000, value)
    value = value - 1
  end subroutine outer
end program profile
