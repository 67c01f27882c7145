! A library of a Fortran program. Lengths of texts are arguments, too, behind the others.
subroutine shared_work(x, y, a, b, c, d, e, f, total)
  implicit none
  double precision, intent(in) :: x, y
  character(*), intent(in) :: a, b, c, d, e, f
  double precision, intent(out) :: total
  total = x + y + len(a) + 2 * len(b) + 3 * len(c) + 4 * len(d) + 5 * len(e) + 6 * len(f)
end subroutine
