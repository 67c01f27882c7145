#pragma once

#include <cstdint>

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// While it lives, this thread ends a communicator (MPI_Comm_free). The program's functions that
/// delete attributes run then, and may call collective operations. Nothing may be attached to the
/// communicator meanwhile: MPI is going through its attributes.
class EndingCommunicator {
 public:
  explicit EndingCommunicator(MPI_Comm communicator)
      : key_(handle_key(communicator)), outer_(innermost_) {
    innermost_ = this;
  }
  ~EndingCommunicator() { innermost_ = outer_; }
  EndingCommunicator(const EndingCommunicator&) = delete;
  EndingCommunicator& operator=(const EndingCommunicator&) = delete;

  static bool is(MPI_Comm communicator) {
    const EndingCommunicator* one = innermost_;
    while (one != nullptr && one->key_ != handle_key(communicator)) one = one->outer_;
    return one != nullptr;
  }

 private:
  std::uintptr_t key_;
  const EndingCommunicator* outer_;

  using Innermost = const EndingCommunicator*;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit Innermost innermost_ =
      nullptr;
};

}  // namespace headrace::HEADRACE_FLAVOUR
