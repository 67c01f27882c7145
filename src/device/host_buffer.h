#pragma once

#include <memory>

#include "base/memory_account.h"
#include "device/detection.h"

namespace headrace::device {

/// A device's stream and host memory for the copies of one call. The process keeps a few for later
/// calls, but none that has failed: making them takes longer than a small call. From any thread.
class HostBuffer {
 public:
  /// The largest size, in bytes.
  static constexpr ByteCount kMaxSize = ByteCount{2} << 20;

  /// Takes a kept buffer of at least `size` bytes, or makes one. Errors: the driver's, and no
  /// memory.
  static Result<HostBuffer> take(const Place& place, ByteCount size);
  ~HostBuffer();
  HostBuffer(HostBuffer&&) noexcept = default;
  HostBuffer& operator=(HostBuffer&&) noexcept = default;

  std::byte* memory() const { return entry_->memory; }
  ByteCount size() const { return entry_->size; }

  /// Like Stream::copy() and wait().
  Error copy(const Rows& rows);
  Error wait();

  struct Entry {
    Place place;
    std::unique_ptr<Stream> stream;
    std::byte* memory = nullptr;
    ByteCount size = 0;
    std::unique_ptr<std::byte[]> pageable;  ///< used if the driver gives no memory
    bool has_failed = false;                ///< a copy failed, or waiting for one
  };

 private:
  explicit HostBuffer(std::unique_ptr<Entry> entry)
      : entry_(std::move(entry)), counted_(MemoryUse::sieved, entry_->size) {}
  Error note(Error error);

  std::unique_ptr<Entry> entry_;
  CountedMemory counted_;
};

}  // namespace headrace::device
