#include "base/unwinding.h"

#include <unwind.h>

namespace headrace {
namespace {

_Unwind_Reason_Code stop(_Unwind_Context*, void*) {
  return _URC_END_OF_STACK;
}

}  // namespace

void prepare_unwinding() {
  // Any walk of the stack sets up the tables, once.
  _Unwind_Backtrace(&stop, nullptr);
}

}  // namespace headrace
