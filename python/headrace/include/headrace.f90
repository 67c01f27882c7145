! Phases of a program, for Headrace (docs/regions.md). Compile it with the program:
!
!     mpif90 $(headrace include)/headrace.f90 program.f90
!
! A program that is built with this needs no library of Headrace's: the procedures look for it in
! the process once.
module headrace
  use, intrinsic :: iso_c_binding, only: c_char, c_funptr, c_f_procpointer, c_associated, c_int, &
      c_null_char, c_null_ptr, c_ptr
  implicit none
  private

  integer, parameter, public :: HEADRACE_OFF = 0
  integer, parameter, public :: HEADRACE_ON = 1
  integer, parameter, public :: HEADRACE_QUERY = 2

  public :: headrace_region_begin, headrace_region_end, headrace_record, headrace_flush

  abstract interface
    function begin_function(id, label) bind(c) result(code)
      import :: c_char, c_int
      integer(c_int), value :: id
      character(kind=c_char), intent(in) :: label(*)
      integer(c_int) :: code
    end function begin_function
    function number_function(number) bind(c) result(code)
      import :: c_int
      integer(c_int), value :: number
      integer(c_int) :: code
    end function number_function
    function plain_function() bind(c) result(code)
      import :: c_int
      integer(c_int) :: code
    end function plain_function
  end interface

  interface
    function look_up(handle, name) bind(c, name="dlsym") result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function look_up
  end interface

  ! Not associated: Headrace is not in the process.
  procedure(begin_function), pointer, save :: begin_region => null()
  procedure(number_function), pointer, save :: end_region => null()
  procedure(number_function), pointer, save :: switch => null()
  procedure(plain_function), pointer, save :: flush_record => null()
  logical, save :: is_found = .false.

contains

  function symbol(name) result(found)
    character(len=*), intent(in) :: name
    type(c_funptr) :: found
    found = look_up(c_null_ptr, name // c_null_char)
  end function symbol

  ! Threads that come here at once find the same.
  subroutine find()
    type(c_funptr) :: found
    found = symbol("headrace_region_begin")
    if (c_associated(found)) call c_f_procpointer(found, begin_region)
    found = symbol("headrace_region_end")
    if (c_associated(found)) call c_f_procpointer(found, end_region)
    found = symbol("headrace_record")
    if (c_associated(found)) call c_f_procpointer(found, switch)
    found = symbol("headrace_flush")
    if (c_associated(found)) call c_f_procpointer(found, flush_record)
    is_found = .true.
  end subroutine find

  ! This thread enters the region `id`, which is 0 or greater. Its first label is kept, without
  ! blanks at its end. code: 1 if it is recorded, 0 if nothing is, -1 if the call is wrong.
  subroutine headrace_region_begin(id, label, code)
    integer, intent(in) :: id
    character(len=*), intent(in) :: label
    integer, intent(out), optional :: code
    integer :: own
    own = 0
    if (.not. is_found) call find()
    if (associated(begin_region)) then
      own = begin_region(int(id, c_int), trim(label) // c_null_char)
    end if
    if (present(code)) code = own
  end subroutine headrace_region_begin

  ! This thread leaves the region `id`. code: as of headrace_region_begin.
  subroutine headrace_region_end(id, code)
    integer, intent(in) :: id
    integer, intent(out), optional :: code
    integer :: own
    own = 0
    if (.not. is_found) call find()
    if (associated(end_region)) own = end_region(int(id, c_int))
    if (present(code)) code = own
  end subroutine headrace_region_end

  ! Switches recording of this process HEADRACE_OFF or HEADRACE_ON; HEADRACE_QUERY changes nothing.
  ! before: which it was, HEADRACE_OFF if Headrace is not there, -1 for another state.
  subroutine headrace_record(state, before)
    integer, intent(in) :: state
    integer, intent(out), optional :: before
    integer :: own
    own = HEADRACE_OFF
    if (.not. is_found) call find()
    if (associated(switch)) own = switch(int(state, c_int))
    if (present(before)) before = own
  end subroutine headrace_record

  ! Writes down what is known now. code: 1, or 0 if nothing is recorded.
  subroutine headrace_flush(code)
    integer, intent(out), optional :: code
    integer :: own
    own = 0
    if (.not. is_found) call find()
    if (associated(flush_record)) own = flush_record()
    if (present(code)) code = own
  end subroutine headrace_flush

end module headrace
