#pragma once

#include <memory>

#include "base/memory_account.h"
#include "device/detection.h"

namespace headrace::device {

/// A stream of a device and host memory for its copies, of one call. The process keeps a few for
/// later calls: to make them takes a driver longer than a small call needs. From any thread.
class HostBuffer {
 public:
  /// Of each buffer.
  static constexpr ByteCount kSize = ByteCount{2} << 20;

  /// Errors: the driver's, and no memory.
  static Result<HostBuffer> take(const Place& place);
  ~HostBuffer();
  HostBuffer(HostBuffer&&) noexcept = default;
  HostBuffer& operator=(HostBuffer&&) noexcept = default;

  Stream& stream() const { return *entry_->stream; }
  std::byte* memory() const { return entry_->memory; }  ///< kSize bytes

  struct Entry {
    Place place;
    std::unique_ptr<Stream> stream;
    std::byte* memory = nullptr;
    std::unique_ptr<std::byte[]> pageable;  ///< where the driver has no memory to give
  };

 private:
  explicit HostBuffer(std::unique_ptr<Entry> entry)
      : entry_(std::move(entry)), counted_(MemoryUse::sieved, kSize) {}

  std::unique_ptr<Entry> entry_;
  CountedMemory counted_;
};

}  // namespace headrace::device
