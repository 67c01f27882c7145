#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "abi/flavour/job.h"
#include "abi/flavour/native.h"

/// Keyvals, and callbacks of attributes, for communicators and datatypes alike (Handle).
namespace headrace::HEADRACE_FLAVOUR {

/// A copy callback: a duplicated object starts without the attribute, and gets its own when it is
/// used.
template <class Handle>
int do_not_copy(Handle, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

/// A delete callback for attributes that own a Value on the heap.
template <class Handle, class Value>
int delete_value(Handle, int, void* value, void*) {
  delete static_cast<Value*>(value);
  return MPI_SUCCESS;
}

/// A keyval that is made anew for each life of the library. At the end of a life the library drops
/// keyvals, and the program's keyvals may get the same numbers later.
class Keyval {
 public:
  /// Returns MPI's code.
  using Make = int (*)(int* keyval);
  explicit constexpr Keyval(Make make) : make_(make) {}

  /// MPI_KEYVAL_INVALID if MPI refuses.
  int get() {
    const std::uint64_t life = library_life();
    if (made_in_.load(std::memory_order_acquire) != life) renew(life);
    return keyval_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void renew(std::uint64_t life) {
    const std::lock_guard lock(mutex_);
    if (made_in_.load(std::memory_order_relaxed) == life) return;
    int made = MPI_KEYVAL_INVALID;
    const bool is_made = make_(&made) == MPI_SUCCESS;
    keyval_.store(is_made ? made : MPI_KEYVAL_INVALID, std::memory_order_relaxed);
    made_in_.store(is_made ? life : kNever, std::memory_order_release);
  }

  Make make_;
  std::mutex mutex_;
  std::atomic<int> keyval_ = MPI_KEYVAL_INVALID;
  std::atomic<std::uint64_t> made_in_ = kNever;
};

}  // namespace headrace::HEADRACE_FLAVOUR
