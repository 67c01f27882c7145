#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "profile/registers.h"
#include "profile/stack_copy.h"
#include "record/mapped_array.h"

namespace headrace::profile {

/// A sample as the kernel leaves it.
struct PerfSample {
  Registers registers;
  std::int64_t when;  ///< ns of CLOCK_MONOTONIC
  std::int64_t time;  ///< ns for which it counts
  StackCopy stack;    ///< until the next call of next()
};

/// Samples of one thread by the kernel's perf_event: its CPU clock in user space, which needs no
/// privilege where perf_event_paranoid is 2 or less. The thread notices nothing: no signal is sent.
/// No descriptor is kept, since programs close those that they do not know.
class PerfRing {
 public:
  PerfRing() = default;
  ~PerfRing() { close(); }
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;

  /// Begins to sample each `period` ns, with `stack_size` bytes of the stack. False where the
  /// kernel refuses, or allows no memory for it; errno says why.
  bool open(pid_t thread, std::int64_t period, std::size_t stack_size) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return page_ != nullptr; }

  /// The next sample that is there.
  bool next(PerfSample& sample) noexcept;

  /// Samples for which there was no room, as far as the kernel has told.
  std::int64_t lost() const noexcept { return lost_; }

  /// How long a ring lasts at most until it is full, in ns.
  static std::int64_t lasts(std::int64_t period, std::size_t stack_size) noexcept;

 private:
  static constexpr std::size_t kLargestRecord = std::size_t{64} << 10;

  static std::size_t ring_size(std::int64_t period, std::size_t stack_size) noexcept;
  std::span<const std::byte> record_at(std::uint64_t place, std::size_t size) noexcept;
  static bool read(std::span<const std::byte> record, PerfSample& sample) noexcept;

  void* page_ = nullptr;  ///< perf_event_mmap_page, and the ring behind it
  std::size_t mapped_ = 0;
  std::byte* ring_ = nullptr;
  std::size_t size_ = 0;
  std::size_t pending_ = 0;  ///< bytes of the record that was given last
  std::int64_t lost_ = 0;
  record::MappedArray<std::byte> joined_{kLargestRecord};  ///< a record that wraps around
};

}  // namespace headrace::profile
