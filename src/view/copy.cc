#include "view/copy.h"

#include <cstring>

#include "base/page_distance.h"
#include "base/rounding.h"
#include "view/streaming_copy.h"

namespace headrace::view {
namespace {

/// Where pieces come from or go to: the address of the first, and the distance to the next.
template <class Byte>
struct Pieces {
  Byte* first;
  std::int64_t stride;
};

using Target = Pieces<std::byte>;
using Source = Pieces<const std::byte>;

/// Moves pieces of a length that the compiler knows, so that each takes a few instructions.
template <std::size_t kLength>
void move_fixed(Target to, Source from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.first + i * to.stride, from.first + i * from.stride, kLength);
  }
}

/// Moves pieces of kPart to 2 * kPart bytes as two parts of a length that the compiler knows. The
/// parts overlap if the piece is shorter than both.
template <std::size_t kPart>
void move_two_parts(Target to, Source from, ByteCount length, std::int64_t count) {
  const std::size_t second = static_cast<std::size_t>(length) - kPart;
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const target = to.first + i * to.stride;
    const std::byte* const source = from.first + i * from.stride;
    std::memcpy(target, source, kPart);
    std::memcpy(target + second, source + second, kPart);
  }
}

constexpr ByteCount kLine = 64;  ///< of the CPU's caches

/// Like std::memcpy, by loads and stores of a cache line.
void copy_by_lines(std::byte* to, const std::byte* from, ByteCount length) {
  ByteCount done = 0;
  for (; length - done >= kLine; done += kLine) {
    std::byte line[kLine];
    std::memcpy(line, from + done, kLine);
    std::memcpy(to + done, line, kLine);
  }
  std::memcpy(to + done, from + done, static_cast<std::size_t>(length - done));
}

/// Moves pieces so long that the C library may take `rep movsb` for them.
void move_long(Target to, Source from, ByteCount length, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const target = to.first + i * to.stride;
    const std::byte* const source = from.first + i * from.stride;
    if (is_misplaced(target, source)) {
      copy_by_lines(target, source, length);
    } else {
      std::memcpy(target, source, static_cast<std::size_t>(length));
    }
  }
}

void move_any(Target to, Source from, ByteCount length, std::int64_t count) {
  // If the compiler knew bounds of the length, it would copy by a loop of its own, which is slower
  // than the C library.
  asm("" : "+r"(length));
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.first + i * to.stride, from.first + i * from.stride,
                static_cast<std::size_t>(length));
  }
}

void move_pieces(Target to, Source from, ByteCount length, std::int64_t count) {
  switch (length) {
    case 1: return move_fixed<1>(to, from, count);
    case 2: return move_fixed<2>(to, from, count);
    case 4: return move_fixed<4>(to, from, count);
    case 8: return move_fixed<8>(to, from, count);
    case 12: return move_fixed<12>(to, from, count);
    case 16: return move_fixed<16>(to, from, count);
    case 24: return move_fixed<24>(to, from, count);
    case 32: return move_fixed<32>(to, from, count);
    default: break;
  }
  // Longer pieces are faster by the C library (docs/measurements/copy-kernels.md).
  constexpr ByteCount kLeastForLibrary = 2048;
  if (length >= kLeastForLibrary) return move_long(to, from, length, count);
  if (length > 64) return move_any(to, from, length, count);
  if (length > 32) return move_two_parts<32>(to, from, length, count);
  if (length > 16) return move_two_parts<16>(to, from, length, count);
  if (length > 8) return move_two_parts<8>(to, from, length, count);
  if (length > 4) return move_two_parts<4>(to, from, length, count);
  return move_two_parts<2>(to, from, length, count);
}

/// Shorter pieces gain nothing by bypassing the caches, longer ones are faster by the C library
/// (docs/measurements/copy-kernels.md).
constexpr ByteCount kLeastStreamed = 512;
constexpr ByteCount kMaxStreamed = 8192;

/// Asks the CPU for the lines of a piece that is soon to be copied.
void fetch(const std::byte* piece, ByteCount length) {
  for (ByteCount at = 0; at < length; at += kLine) __builtin_prefetch(piece + at);
  __builtin_prefetch(piece + length - 1);
}

/// Copies by stores that bypass the caches. The CPU then does not prefetch far ahead by itself,
/// which would halve the speed if a distant core filled the slot; so this prefetches.
void stream_pieces(Target to, Source from, ByteCount length, std::int64_t count) {
  constexpr ByteCount kAhead = 4096;
  const std::int64_t ahead = divide_up(kAhead, length);
  const auto fetch_piece = [&](std::int64_t i) {
    if (i < count) fetch(from.first + i * from.stride, length);
  };
  for (std::int64_t i = 0; i < ahead; ++i) fetch_piece(i);
  for (std::int64_t i = 0; i < count; ++i) {
    fetch_piece(i + ahead);
    copy_streaming(to.first + i * to.stride, from.first + i * from.stride,
                   static_cast<std::size_t>(length));
  }
  end_streaming();
}

void move_pairs(Direction direction, Window window, std::byte* memory, const PiecePairs& pairs,
                Stores stores) {
  std::byte* in_window = window.base + (pairs.file_offset - window.offset);
  std::byte* in_memory = memory_at(memory, pairs.memory_offset);
  if (direction == Direction::write) {
    move_pieces({in_window, pairs.file_stride}, {in_memory, pairs.memory_stride}, pairs.length,
                pairs.count);
    return;
  }
  const Target target{in_memory, pairs.memory_stride};
  const Source source{in_window, pairs.file_stride};
  if (stores == Stores::streaming && pairs.length >= kLeastStreamed &&
      pairs.length <= kMaxStreamed) {
    stream_pieces(target, source, pairs.length, pairs.count);
  } else {
    move_pieces(target, source, pairs.length, pairs.count);
  }
}

/// How many of `most` parts of `length` bytes lie in `bytes` >= `length`; divides only if it must.
std::int64_t parts_within(ByteCount bytes, ByteCount length, std::int64_t most) {
  return length * most <= bytes ? most : bytes / length;
}

}  // namespace

void PairReader::Rest::step(bool by_pieces, ByteCount length, std::int64_t count) {
  if (!by_pieces) {
    within += length * count;
    if (within < run.length) return;
    within = 0;
    count = 1;
  }
  run.offset += count * run.stride;
  run.count -= count;
}

bool PairReader::next() {
  if (remaining_ == 0) return false;
  if (memory_.run.count == 0) memory_ = {memory_cursor_.next(remaining_), 0};
  if (memory_.run.count == 0)
    return false;  // only if the caller broke the contract; do not loop for ever
  const bool by_file = memory_.holds_whole_pieces_of(file_);
  const bool by_memory = file_.holds_whole_pieces_of(memory_);
  const ByteCount length = std::min(file_.piece_left(), memory_.piece_left());
  std::int64_t count = 1;
  if (by_file && by_memory) {
    count = std::min(file_.run.count, memory_.run.count);
  } else if (by_file) {
    count = parts_within(memory_.piece_left(), length, file_.run.count);
  } else if (by_memory) {
    count = parts_within(file_.piece_left(), length, memory_.run.count);
  }
  pairs_ = {.file_offset = file_.offset(),
            .file_stride = by_file ? file_.run.stride : length,
            .memory_offset = memory_.offset(),
            .memory_stride = by_memory ? memory_.run.stride : length,
            .length = length,
            .count = count};
  file_.step(by_file, length, count);
  memory_.step(by_memory, length, count);
  remaining_ -= length * count;
  return true;
}

void copy_run(Direction direction, Window window, const StridedRun& run, std::byte* memory,
              Cursor& memory_cursor, Stores stores) {
  const ByteCount bytes = run.bytes();
  if (bytes <= memory_cursor.piece_left()) {  // contiguous memory, the common case
    move_pairs(direction, window, memory,
               {.file_offset = run.offset,
                .file_stride = run.stride,
                .memory_offset = memory_cursor.peek(),
                .memory_stride = run.length,
                .length = run.length,
                .count = run.count},
               stores);
    memory_cursor.next(bytes);
    return;
  }
  PairReader reader(run, memory_cursor);
  while (reader.next()) move_pairs(direction, window, memory, reader.pairs(), stores);
}

}  // namespace headrace::view
