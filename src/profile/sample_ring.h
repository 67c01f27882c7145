#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profile/python_sample.h"
#include "profile/registers.h"
#include "profile/stack_copy.h"
#include "record/mapped_array.h"

namespace headrace::profile {

/// A sample as its thread leaves it.
struct RawSample {
  Registers registers;
  std::int64_t time;     ///< ns for which it counts
  std::uint32_t region;  ///< as rows of calls have it
  std::uint32_t reserved;
};

/// Samples on their way from a signal handler to the thread that unwinds them. One writes and one
/// reads, and neither waits: without room a sample is lost, and counted.
class SampleRing {
 public:
  static constexpr std::size_t kCapacity = std::size_t{256} << 10;

  SampleRing() : memory_(kCapacity) {}

  bool has_memory() const noexcept { return memory_.most() != 0; }

  /// Adds a sample with the bytes of the stack from `begin` to `end`. Where they `may_go`, because
  /// the program may have unmapped some, those up to the end of the first one's page are copied at
  /// least. `python`: null where there is none. Async-signal-safe. Returns whether the ring is more
  /// than half full now.
  bool add(const RawSample& sample, std::uintptr_t begin, std::uintptr_t end, bool may_go = false,
           const PythonSample* python = nullptr) noexcept;

  /// A sample that is there, and its stack, until drop() is called; null if there is none. Sets
  /// `python` to its frames of Python.
  const RawSample* first(StackCopy& stack, PythonSample& python) noexcept;
  void drop() noexcept;

  std::int64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// Nobody writes or reads meanwhile.
  void clear() noexcept;

 private:
  struct Entry {
    std::uint64_t size;        ///< of all, up to the next one
    std::uint64_t stack_size;  ///< kPadding: nothing is here
    std::uintptr_t stack_begin;
    RawSample sample;
    std::uint32_t python_count;  ///< frames of Python, which lie before the stack
    std::uint32_t is_python_whole;
  };
  static constexpr std::uint64_t kPadding = ~std::uint64_t{0};

  std::byte* place(std::uint64_t count) noexcept { return &memory_[count % kCapacity]; }

  record::MappedArray<std::byte> memory_;
  std::atomic<std::uint64_t> written_ = 0;  ///< bytes, since ever
  std::atomic<std::uint64_t> read_ = 0;
  std::atomic<std::int64_t> lost_ = 0;
};

}  // namespace headrace::profile
