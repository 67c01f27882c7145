#pragma once

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// While it lives, errors on MPI_COMM_WORLD are returned: the program's handler must not see ours,
/// since it may end the job.
class QuietWorld {
 public:
  QuietWorld() {
    has_handler_ = native.Comm_get_errhandler(MPI_COMM_WORLD, &handler_) == MPI_SUCCESS;
    native.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~QuietWorld() {
    if (!has_handler_) return;
    native.Comm_set_errhandler(MPI_COMM_WORLD, handler_);
    native.Errhandler_free(&handler_);
  }
  QuietWorld(const QuietWorld&) = delete;
  QuietWorld& operator=(const QuietWorld&) = delete;

 private:
  MPI_Errhandler handler_{};
  bool has_handler_ = false;
};

}  // namespace headrace::HEADRACE_FLAVOUR
