#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "plan/coverage.h"
#include "plan/run_list.h"

namespace headrace::exchange {

/// The header of a part or a request: which window, and how many of its bytes. The list of runs
/// follows; then, in a part, the bytes in file order. All nodes of a job must have the same byte
/// order.
struct PartHeader {
  FileOffset begin;  ///< of the window
  ByteCount bytes;   ///< of all runs together
  std::uint32_t list_size;
  plan::RunForm form;
  std::uint8_t granule_shift;
  std::uint16_t unused;
};
static_assert(sizeof(PartHeader) == 24);

/// What an owner's answer to a request begins with; the bytes follow.
struct PartAnswer {
  FileOffset valid_end;       ///< where the bytes end that the owner could read of the window
  std::int32_t system_error;  ///< errno, if that is why there are no more; 0 at the end of the file
  std::int32_t unused;
};

/// The most bytes that a request for a window of `window_size` bytes takes; and that a part takes.
constexpr std::size_t request_room(ByteCount window_size) {
  return sizeof(PartHeader) + plan::run_list_room(window_size, 0);
}
constexpr std::size_t part_room(ByteCount window_size) {
  return request_room(window_size) + static_cast<std::size_t>(window_size);
}

/// Each part of a message with several parts begins at a multiple of this.
constexpr std::size_t kPartAlignment = 8;

/// A window of the file in memory.
struct WindowMemory {
  std::byte* base = nullptr;
  FileOffset begin = 0;
  ByteCount size = 0;
  int granule_shift = 0;
};

/// Takes the memory that the functions below need. The first call in a process does so.
void prepare_part_messages();

/// Writes a request for what is covered of a window to the beginning of `room`, which has
/// request_room() bytes. Returns the message's size in bytes.
std::size_t write_request(const WindowMemory& window, const plan::Coverage& covered,
                          std::span<std::byte> room);
/// The same for a part, which has the bytes, too; `room` has part_room() bytes.
std::size_t write_part(const WindowMemory& window, const plan::Coverage& covered,
                       std::span<std::byte> room);

/// Splits the first part off `parts`, and the padding before the next one. If `parts` is invalid,
/// the result is some bytes within `parts`.
std::span<const std::byte> split_part(std::span<const std::byte>& parts);

/// A received part of `window`, or a request for one, at an address aligned to kPartAlignment.
class Part {
 public:
  Part(const WindowMemory& window, std::span<const std::byte> message);

  /// Whether it is a valid request for this window; a valid part of it.
  bool is_request() const { return is_valid_ && rest_.empty(); }
  bool is_part() const { return is_valid_ && std::ssize(rest_) == header_.bytes; }
  ByteCount bytes() const { return header_.bytes; }

  /// Copies the part's bytes into the window and marks them. False if the runs are invalid.
  bool unpack(plan::Coverage& covered) const;
  /// Moves bytes between the window, up to `end` (a file offset), and `packed`, which holds the
  /// wanted bytes one after another: Direction::read moves from the window. Returns the bytes
  /// moved, at most bytes(); -1 if the runs are invalid.
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
