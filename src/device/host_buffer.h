#pragma once

#include <memory>

#include "base/memory_account.h"
#include "device/detection.h"

namespace headrace::device {

/// A stream of a device and host memory for its copies, of one call. The process keeps a few for
/// later calls, but none that has failed: to make them takes a driver longer than a small call
/// needs. From any thread.
class HostBuffer {
 public:
  /// Of the largest.
  static constexpr ByteCount kMaxSize = ByteCount{2} << 20;

  /// One of `size` bytes, or of more where such a one is kept. Errors: the driver's, and no memory.
  static Result<HostBuffer> take(const Place& place, ByteCount size);
  ~HostBuffer();
  HostBuffer(HostBuffer&&) noexcept = default;
  HostBuffer& operator=(HostBuffer&&) noexcept = default;

  std::byte* memory() const { return entry_->memory; }
  ByteCount size() const { return entry_->size; }

  /// As Stream has them; no memory is an error here.
  Error copy(const Rows& rows);
  Error wait();

  struct Entry {
    Place place;
    std::unique_ptr<Stream> stream;
    std::byte* memory = nullptr;
    ByteCount size = 0;
    std::unique_ptr<std::byte[]> pageable;  ///< where the driver has no memory to give
    bool has_failed = false;                ///< a copy, or waiting for one
  };

 private:
  explicit HostBuffer(std::unique_ptr<Entry> entry)
      : entry_(std::move(entry)), counted_(MemoryUse::sieved, entry_->size) {}
  Error note(Error error);

  std::unique_ptr<Entry> entry_;
  CountedMemory counted_;
};

}  // namespace headrace::device
