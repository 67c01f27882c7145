#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "plan/coverage.h"
#include "plan/run_list.h"

namespace headrace::exchange {

/// The beginning of a part or a request: which window, which of its bytes. The list of runs
/// follows, and the bytes themselves in file order where the sender gives them. Nodes of one job
/// have one byte order.
struct PartHeader {
  FileOffset begin;  ///< of the window
  ByteCount bytes;   ///< that the runs have together
  std::uint32_t list_size;
  plan::RunForm form;
  std::uint8_t granule_shift;
  std::uint16_t unused;
};
static_assert(sizeof(PartHeader) == 24);

/// What an owner answers a request for bytes of a window, before the bytes.
struct PartAnswer {
  FileOffset valid_end;       ///< where the bytes of the file that the window could get end
  std::int32_t system_error;  ///< why there are no more; 0 at the end of the file
  std::int32_t unused;
};

/// Bytes that a request for bytes of a window takes at most; and a message with the bytes.
constexpr std::size_t request_room(ByteCount window_size) {
  return sizeof(PartHeader) + plan::run_list_room(window_size, 0);
}
constexpr std::size_t part_room(ByteCount window_size) {
  return request_room(window_size) + static_cast<std::size_t>(window_size);
}

/// Where parts begin in a message that has several, one behind the other.
constexpr std::size_t kPartAlignment = 8;

/// A window of the file in memory.
struct WindowMemory {
  std::byte* base = nullptr;
  FileOffset begin = 0;
  ByteCount size = 0;
  int granule_shift = 0;
};

/// Takes, once in a process, the memory that the functions below need.
void prepare_part_messages();

/// What is covered of a window; the size of the message, written to the beginning of `room`.
std::size_t write_request(const WindowMemory& window, const plan::Coverage& covered,
                          std::span<std::byte> room);
/// The same, with the bytes.
std::size_t write_part(const WindowMemory& window, const plan::Coverage& covered,
                       std::span<std::byte> room);

/// Splits the first part off `parts`; between two of them there may be bytes to align the next.
/// What is no part may come out as anything within `parts`.
std::span<const std::byte> split_part(std::span<const std::byte>& parts);

/// A part of `window`, or a request for one, as it came; aligned to kPartAlignment.
class Part {
 public:
  Part(const WindowMemory& window, std::span<const std::byte> message);

  /// Whether it is a request for, or a part of, this window.
  bool is_request() const { return is_valid_ && rest_.empty(); }
  bool is_part() const { return is_valid_ && std::ssize(rest_) == header_.bytes; }
  ByteCount bytes() const { return header_.bytes; }

  /// Copies the part's bytes into the window and marks them. False where the runs are broken.
  bool unpack(plan::Coverage& covered) const;
  /// Between the window, up to `end` of the file, and `packed`, which holds the wanted bytes one
  /// after the other: from the window for Direction::read. The bytes moved; -1 where the runs are
  /// broken. Never more than bytes().
  ByteCount move(Direction direction, FileOffset end, std::byte* packed) const;

 private:
  template <class Visit>
  ByteCount for_each_run(Direction direction, ByteCount end, std::byte* packed, Visit visit) const;

  WindowMemory window_;
  PartHeader header_{};
  std::span<const std::byte> list_;
  std::span<const std::byte> rest_;
  bool is_valid_ = false;
};

}  // namespace headrace::exchange
