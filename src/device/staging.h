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

/// Moves the data of one call that lies in a device's memory, a stretch at a time, through host
/// memory. While one half of the host memory is in use, the driver copies the other. After a
/// failure nothing more is moved. Used by one thread at a time.
///
///     writing: data = open(position, bytes); use up to data.size() bytes
///     reading: data = open(position, bytes); fill n of them; close(n); in the end flush()
class Staging {
 public:
  /// `memory` walks the data from position 0 on; its offset 0 lies at `buffer`. Uses at most `most`
  /// bytes of host memory (at least 4 KiB). The memory and a stream are taken when data is first
  /// opened, so that a call that waits for its turn has none. If that fails, failure() says so.
  static std::unique_ptr<Staging> make(Direction direction, const Place& place, std::byte* buffer,
                                       const view::Cursor& memory,
                                       ByteCount most = HostBuffer::kMaxSize);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Host memory for 1 to `bytes` bytes of data from `position` on; `bytes` > 0. When writing, it
  /// holds the data. Valid until the next call; empty after a failure.
  std::span<std::byte> open(ByteCount position, ByteCount bytes);
  /// When reading: tells that the first `bytes` bytes of the last open() were filled.
  void close(ByteCount bytes);
  /// When reading: waits until all that was filled is in the device's memory.
  void flush();

  /// What went wrong, with system error EFAULT; no error if nothing did.
  const Error& failure() const { return failure_; }
  /// After a failure: bytes from the start of the data that were surely moved.
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
  ByteCount size_;                  ///< bytes of host memory to take
  std::optional<HostBuffer> host_;  ///< set once data was opened
  std::byte* buffer_;
  view::Cursor memory_;
  Stretch present_{0};  ///< what open() gives parts of
  Stretch other_{1};    ///< writing: fetched ahead; reading: on its way to the device
  bool other_moves_ = false;
  ByteCount opened_ = 0;  ///< reading: the position of the last open()
  ByteCount done_ = 0;
  Error failure_;
};

}  // namespace headrace::device
