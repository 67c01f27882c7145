! A part of a C program that is loaded while it runs.
subroutine plugin_barriers(number) bind(c, name='plugin_barriers')
  use iso_c_binding
  implicit none
  include 'mpif.h'
  integer(c_int), value :: number
  integer :: i, error
  do i = 1, number
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
end subroutine
