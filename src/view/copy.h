#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "view/cursor.h"

namespace headrace::view {

/// Memory that holds a range of a file's bytes in file order.
struct Window {
  std::byte* base = nullptr;
  FileOffset offset = 0;  ///< of the byte at `base`
};

/// Whether copies of pieces of 512 B to 8 KiB bypass the CPU's caches, which pays if a call's data
/// exceeds them.
enum class Stores { usual, streaming };

/// `count` pairs of pieces of `length` bytes each: the common cut of a file run and memory runs.
struct PiecePairs {
  FileOffset file_offset;
  std::int64_t file_stride;
  std::int64_t memory_offset;
  std::int64_t memory_stride;
  ByteCount length;
  std::int64_t count;
};

/// Cuts one run of a file and the next run.bytes() of a memory cursor into pairs of equal pieces.
///
///     PairReader reader(run, memory);
///     while (reader.next()) use(reader.pairs());
class PairReader {
 public:
  /// `memory` has at least run.bytes() remaining and outlives the reader.
  PairReader(const StridedRun& run, Cursor& memory)
      : file_{run, 0}, memory_cursor_(memory), remaining_(run.bytes()) {}

  /// Steps to the next pairs; false at the end of the run.
  bool next();
  const PiecePairs& pairs() const { return pairs_; }

 private:
  /// A run of which some pieces, and a part of the next piece, are done.
  struct Rest {
    StridedRun run;
    ByteCount within;

    std::int64_t offset() const { return run.offset + within; }
    ByteCount piece_left() const { return run.length - within; }
    bool holds_whole_pieces_of(const Rest& other) const {
      return other.within == 0 && other.run.length <= piece_left();
    }
    /// Steps over `count` pieces, or (if not `by_pieces`) over `count` parts of one piece; of
    /// `length` bytes each.
    void step(bool by_pieces, ByteCount length, std::int64_t count);
  };

  Rest file_;
  Rest memory_{};
  Cursor& memory_cursor_;
  ByteCount remaining_;
  PiecePairs pairs_{};
};

/// The address of `offset` of a buffer. The buffer may be null and the offset an address
/// (MPI_BOTTOM), so this does not use pointer arithmetic.
inline std::byte* memory_at(void* buffer, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

/// Moves `length` bytes to (write) or from (read) a window.
inline void move_piece(Direction direction, std::byte* in_window, std::byte* in_memory,
                       ByteCount length) {
  const bool writes = direction == Direction::write;
  std::memcpy(writes ? in_window : in_memory, writes ? in_memory : in_window,
              static_cast<std::size_t>(length));
}

/// Moves the bytes of one file run, all of it inside the window, to (write) or from (read) the
/// window and steps `memory_cursor` over them. `memory` is where offset 0 of the memory cursor
/// lies, null for absolute addresses.
void copy_run(Direction direction, Window window, const StridedRun& run, std::byte* memory,
              Cursor& memory_cursor, Stores stores = Stores::usual);

/// Moves the next pieces if they stand in one list and are contiguous in memory: a loop for
/// irregular views, in which a step costs as much as the bytes. Otherwise like copy(). Returns 0 if
/// the next piece is not of that kind.
template <class Visit>
ByteCount copy_list(Direction direction, Window window, Cursor& file, FileOffset end_offset,
                    std::byte* memory, Cursor& memory_cursor, ByteCount limit, Visit& visit) {
  const PieceList list = file.list_ahead();
  if (list.count == 0) return 0;
  const ByteCount room = std::min({limit, file.remaining(), memory_cursor.piece_left()});
  std::byte* const in_memory = memory_at(memory, memory_cursor.peek());
  ByteCount moved = 0;
  std::int64_t count = 0;
  for (; count < list.count; ++count) {
    const FileOffset offset = list.offset_of(count);
    const ByteCount length = list.length_of(count);
    if (length > room - moved || length > end_offset - offset) break;
    std::byte* const in_window = window.base + (offset - window.offset);
    move_piece(direction, in_window, in_memory + moved, length);
    visit(StridedRun{offset, length, 0, 1});
    moved += length;
  }
  if (count == 0) return 0;
  file.skip_list(count, moved);
  memory_cursor.next(moved);
  return moved;
}

/// Moves data between a window of file bytes and user memory, both in the order of their cursors:
/// memory to window for Direction::write, window to memory for Direction::read. Ends when `file`
/// reaches `end_offset`, `limit` bytes are moved, or a cursor has no more. Calls `visit(const
/// StridedRun&)` for each run of file bytes after moving it. All file bytes moved must lie in the
/// window, which must not overlap the memory; `file`'s type is monotonic. Returns the bytes moved.
template <class Visit>
ByteCount copy(Direction direction, Window window, Cursor& file, FileOffset end_offset,
               std::byte* memory, Cursor& memory_cursor, ByteCount limit, Visit&& visit,
               Stores stores = Stores::usual) {
  const ByteCount most = std::min(limit, memory_cursor.remaining());
  ByteCount done = 0;
  while (done < most) {
    const ByteCount listed =
        copy_list(direction, window, file, end_offset, memory, memory_cursor, most - done, visit);
    done += listed;
    if (listed > 0) continue;
    const StridedRun run = file.next_before(end_offset, most - done);
    if (run.count == 0) break;
    copy_run(direction, window, run, memory, memory_cursor, stores);
    visit(run);
    done += run.bytes();
  }
  return done;
}

inline ByteCount copy(Direction direction, Window window, Cursor& file, FileOffset end_offset,
                      std::byte* memory, Cursor& memory_cursor, ByteCount limit,
                      Stores stores = Stores::usual) {
  return copy(
      direction, window, file, end_offset, memory, memory_cursor, limit, [](const StridedRun&) {},
      stores);
}

/// Walks both cursors over the next `bytes` of data (fewer if one has no more) and calls
/// `visit(file_offset, memory_offset, length)` for each piece that is contiguous in both, in data
/// order. Joins pieces that are adjacent in both. Works for any types. Returns the bytes visited.
template <class Visit>
ByteCount for_each_piece(Cursor& file, Cursor& memory, ByteCount bytes, Visit&& visit) {
  const ByteCount most = std::min({bytes, file.remaining(), memory.remaining()});
  FileOffset file_offset = 0;
  std::int64_t memory_offset = 0;
  ByteCount length = 0;
  for (ByteCount done = 0; done < most;) {
    const StridedRun run = file.next(most - done);
    done += run.bytes();
    PairReader reader(run, memory);
    while (reader.next()) {
      const PiecePairs& pairs = reader.pairs();
      for (std::int64_t i = 0; i < pairs.count; ++i) {
        const FileOffset next_file = pairs.file_offset + i * pairs.file_stride;
        const std::int64_t next_memory = pairs.memory_offset + i * pairs.memory_stride;
        if (next_file == file_offset + length && next_memory == memory_offset + length) {
          length += pairs.length;
          continue;
        }
        if (length > 0) visit(file_offset, memory_offset, length);
        file_offset = next_file;
        memory_offset = next_memory;
        length = pairs.length;
      }
    }
  }
  if (length > 0) visit(file_offset, memory_offset, length);
  return std::max<ByteCount>(most, 0);
}

}  // namespace headrace::view
