#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace headrace::device {

/// The driver's handles of a device, as numbers.
struct Device {
  std::uintptr_t context = 0;
  std::uintptr_t number = 0;

  bool operator==(const Device&) const = default;
};

/// `count` rows of `width` bytes each; row i goes from from + i * from_stride to to + i *
/// to_stride.
struct Rows {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  ByteCount width = 0;
  std::int64_t count = 1;
  std::int64_t to_stride = 0;
  std::int64_t from_stride = 0;

  bool is_one_stretch() const { return count == 1 || (to_stride == width && from_stride == width); }
};

// Errors of drivers contain the reason only; see explain(), which adds the problem and the advice.

/// Copies from and to one device, in order, and host memory for them. Used by one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Begins a copy between the device's memory and the host's.
  virtual Error copy(const Rows& rows) = 0;
  /// Waits for all copies that were begun.
  virtual Error wait() = 0;

  /// Pinned host memory of `bytes` bytes, which the driver reaches fastest; null if it has none, or
  /// none that is_valid() could tell from other memory. Call at most once.
  virtual std::byte* take_memory(ByteCount bytes) = 0;
  /// Whether the stream and its memory are still ours: a program may reset a device, and what it
  /// makes afterwards may lie at their addresses.
  virtual bool is_valid() = 0;
};

/// A vendor's driver, as far as moving data of devices needs it. Safe from any thread.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual const char* name() const = 0;
  /// The device whose memory lies at `address`; none for memory that the CPU may touch.
  virtual std::optional<Device> find(const void* address) = 0;
  virtual Result<std::unique_ptr<Stream>> make_stream(const Device& device) = 0;
};

/// Make a vendor's driver from a handle (dlopen) of its library; null if that lacks a function.
std::unique_ptr<Driver> make_cuda(void* library);
std::unique_ptr<Driver> make_hip(void* library);
std::unique_ptr<Driver> make_level_zero(void* library);

/// The error for the program, from a driver's `failure`. `problem` says what cannot be done.
inline Error explain(const std::string& problem, const Error& failure) {
  if (failure.message.empty()) return {failure.error_class, failure.system_error, {}};
  return {failure.error_class, failure.system_error,
          problem + " (" + failure.message +
              "), check that the buffer is allocated and as large as the call says"};
}

/// Copies row by row, for a driver that cannot copy the rows at once.
template <class CopyStretch>
Error copy_each_row(const Rows& rows, CopyStretch copy_stretch) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Rows row{rows.to + i * rows.to_stride, rows.from + i * rows.from_stride, rows.width};
    if (Error error = copy_stretch(row)) return error;
  }
  return {};
}

/// Whether the rows ascend and are at most `most` bytes apart, so that drivers take them as a
/// rectangle.
inline bool is_rectangle(const Rows& rows, std::int64_t most) {
  const auto fits = [&](std::int64_t stride) { return stride >= rows.width && stride <= most; };
  return fits(rows.to_stride) && fits(rows.from_stride) && rows.count <= most;
}

}  // namespace headrace::device
