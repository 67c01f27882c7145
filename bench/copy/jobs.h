#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "copy/kernels.h"

namespace headrace::bench::copying {

/// Bytes of a slot, which a job fills; the default of HEADRACE_BUFFER_SIZE.
inline constexpr std::size_t kSlot = std::size_t{1} << 20;

/// A file to write slots to; gone as soon as it is open.
class Sink {
 public:
  /// Throws std::runtime_error where there cannot be one.
  explicit Sink(const std::string& directory);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Writes to the next of kSlots places, all of which are there from the beginning.
  void write(const std::byte* data, std::size_t length);

 private:
  static constexpr int kSlots = 32;

  std::string directory_;
  int descriptor_;
  int next_ = 0;
};

/// Memory for all jobs: sources and slots, each far larger than the caches and backed by pages.
struct Memory {
  Memory();
  std::vector<std::byte> source;
  std::vector<std::byte> slots;
};

/// How the pieces lie.
enum class Way { contiguous, gather, scatter };

/// What is measured: copies of `length` bytes until a slot is full (one copy for a contiguous
/// source), to a slot that is in the cache or to the next of many, and perhaps written to a file.
struct Job {
  Way way = Way::contiguous;
  std::size_t length = 0;
  bool is_hot = true;
  Sink* sink = nullptr;

  std::string title() const;
  std::size_t bytes() const { return way == Way::contiguous ? length : kSlot / length * length; }
  /// Does it once. `turn` chooses source and slot.
  void run(const Kernel& kernel, Memory& memory, std::int64_t turn) const;
};

}  // namespace headrace::bench::copying
