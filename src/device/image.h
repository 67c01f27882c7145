#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/memory_account.h"
#include "base/result.h"
#include "base/types.h"
#include "device/detection.h"
#include "device/host_buffer.h"
#include "view/type.h"

namespace headrace::device {

/// Host memory that mirrors a call's data in a device's memory, for conversions that need all of
/// it. Only pages with data take memory. Used by one thread at a time.
class Image {
 public:
  /// For `count` > 0 elements of a `type` that is not empty, at `buffer`. `most`: bytes of pinned
  /// memory through which it is copied. Error: no memory.
  static Result<std::unique_ptr<Image>> make(const Place& place, std::byte* buffer,
                                             const view::TypePtr& type, std::int64_t count,
                                             ByteCount most = HostBuffer::kMaxSize);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// The address in host memory that stands for `buffer`.
  std::byte* buffer() const;
  /// Copies all data from the device. Errors: the driver's, or no memory.
  Error load();
  /// Copies the first `bytes` bytes of data to the device. Errors as load().
  Error store(ByteCount bytes);

 private:
  Image(const Place& place, std::byte* buffer, view::TypePtr type, std::int64_t count,
        ByteCount most)
      : place_(place), device_buffer_(buffer), type_(std::move(type)), count_(count), most_(most) {}
  bool map();
  Error move(Direction direction, ByteCount bytes);

  Place place_;
  std::byte* device_buffer_;
  view::TypePtr type_;
  std::int64_t count_;
  ByteCount most_;
  std::int64_t low_ = 0;  ///< offset of the first mapped byte
  std::byte* mapped_ = nullptr;
  std::size_t mapped_len_ = 0;
  CountedMemory counted_;
};

}  // namespace headrace::device
