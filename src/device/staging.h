#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/types.h"
#include "device/host_buffer.h"
#include "view/cursor.h"

namespace headrace::device {

/// The data of one call that lies in a device's memory, a stretch at a time by way of host memory.
/// While one half of the host memory is in use, the driver copies the other. After a failure
/// nothing more is moved. One thread at a time, whichever.
///
///     writing: data = open(position, bytes); use up to data.size() bytes
///     reading: data = open(position, bytes); fill n of them; close(n); in the end flush()
class Staging {
 public:
  /// `memory`, which begins at data position 0, walks the data; offset 0 of it lies at `buffer`.
  /// At most `most` bytes of host memory are used, but 4 KiB at least; they and a stream are taken
  /// when data is first opened, so that a call that waits for its turn has none. Where they cannot
  /// be had, that is the failure.
  static std::unique_ptr<Staging> make(Direction direction, const Place& place, std::byte* buffer,
                                       const view::Cursor& memory,
                                       ByteCount most = HostBuffer::kMaxSize);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Host memory of 1 to `bytes` bytes of data from `position` on; `bytes` is not 0. When writing
  /// it holds the data. Valid until the next call; empty after a failure.
  std::span<std::byte> open(ByteCount position, ByteCount bytes);
  /// When reading: the first `bytes` bytes of what was opened last were filled.
  void close(ByteCount bytes);
  /// When reading: waits until all that was filled is in the device's memory.
  void flush();

  /// What went wrong; its system error is EFAULT. Empty where nothing did.
  const Error& failure() const { return failure_; }
  /// After a failure: bytes from the start of the data that were moved for certain.
  ByteCount done() const { return done_; }

 private:
  /// Data in one half of the host memory.
  struct Stretch {
    int half = 0;
    ByteCount begin = 0;
    ByteCount bytes = 0;

    ByteCount end() const { return begin + bytes; }
    bool holds(ByteCount position) const { return position >= begin && position < end(); }
  };

  Staging(Direction direction, const Place& place, ByteCount size, std::byte* buffer,
          const view::Cursor& memory)
      : direction_(direction), place_(place), size_(size), buffer_(buffer), memory_(memory) {}
  ByteCount half_size() const { return host_->size() / 2; }
  std::byte* memory_of(int half) const { return host_->memory() + half * half_size(); }
  bool has_host();
  bool begin_copy(const Stretch& stretch);
  bool wait();
  bool fail(Error error);
  void end_copies();
  bool load(ByteCount position);
  bool put();

  Direction direction_;
  Place place_;
  ByteCount size_;                  ///< of host memory that is to be taken
  std::optional<HostBuffer> host_;  ///< once data was opened
  std::byte* buffer_;
  view::Cursor memory_;
  Stretch present_{0};  ///< what open() gives parts of
  Stretch other_{1};    ///< writing: fetched ahead; reading: on its way to the device
  bool other_moves_ = false;
  ByteCount opened_ = 0;  ///< reading: where what was opened last begins
  ByteCount done_ = 0;
  Error failure_;
};

}  // namespace headrace::device
