#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.h"
#include "view/type.h"

namespace headrace::view {

/// No limit to the data a cursor walks over.
inline constexpr ByteCount kUnlimited = std::numeric_limits<ByteCount>::max();

/// `count` pieces of `length` bytes each; piece i is [offset + i * stride, + length). In data order
/// the pieces follow each other. A run of no pieces is empty.
struct StridedRun {
  std::int64_t offset = 0;
  ByteCount length = 0;
  std::int64_t stride = 0;  ///< of no meaning if count is 1
  std::int64_t count = 0;

  ByteCount bytes() const { return length * count; }
};

/// Pieces that stand in a list, in data order: piece i is [base + offsets[i], + length_of(i)).
/// Valid while the cursor's type is.
struct PieceList {
  std::int64_t base = 0;
  const std::int64_t* offsets = nullptr;
  const ByteCount* starts =
      nullptr;           ///< data positions, one more than pieces; null: all lengths are equal
  ByteCount length = 0;  ///< of each piece, if all are equal
  std::int64_t count = 0;

  std::int64_t offset_of(std::int64_t i) const { return base + offsets[i]; }
  ByteCount length_of(std::int64_t i) const {
    return starts != nullptr ? starts[i + 1] - starts[i] : length;
  }
};

/// Walks, in data order, a type that is repeated without end at its extent. The first repetition is
/// placed at `origin`: a displacement in a file, or an offset into a buffer. Copying a cursor is
/// cheap; its memory is proportional to the depth of the type (no heap up to kInlineLevels loops).
/// Every step costs at most the depth, whatever the number of pieces.
class Cursor {
 public:
  /// `data_limit`: bytes of data after which the walk ends, for example count * size of a buffer.
  Cursor(TypePtr type, std::int64_t origin, ByteCount data_limit = kUnlimited);

  const TypePtr& type() const { return type_; }
  std::int64_t origin() const { return origin_; }
  /// The data position: bytes of data before the next byte.
  ByteCount position() const { return position_; }
  /// Bytes of data until the limit; 0 for an empty type.
  ByteCount remaining() const { return limit_ - position_; }
  /// Goes to a data position, 0 <= position <= limit. Logarithmic in the lengths of lists.
  void seek(ByteCount position);
  /// Offset of the next byte. Requires remaining() > 0.
  std::int64_t peek() const { return piece_offset_ + within_; }

  /// Bytes from the next one to the end of its piece; 0 for an empty type.
  ByteCount piece_left() const { return piece_length_ - within_; }

  /// Returns the next bytes, at most `limit`, and steps over them. Empty only if `limit` <= 0 or
  /// nothing remains. A part of a piece comes as a run of count 1; adjacent pieces are joined if
  /// both are single.
  StridedRun next(ByteCount limit = kUnlimited) {
    const bool is_within_piece = limit > 0 && limit < piece_left() && limit <= remaining();
    if (!is_within_piece) return take<false>(limit, kUnlimited);
    const StridedRun run{peek(), limit, 0, 1};
    position_ += limit;
    within_ += limit;
    return run;
  }

  /// Like next(), but ends before the first byte, in data order, at or beyond `end_offset`; empty
  /// if that is the next byte. For a monotonic type nothing below `end_offset` comes after that.
  StridedRun next_before(std::int64_t end_offset, ByteCount limit = kUnlimited);

  /// The next pieces, if they stand in one list without a common stride, for a loop over them; none
  /// if the next byte is not the first of such a piece. May exceed remaining().
  PieceList list_ahead() const;
  /// Steps over the first `count` > 0 pieces of list_ahead(), which have `bytes` <= remaining()
  /// bytes.
  void skip_list(std::int64_t count, ByteCount bytes);

 private:
  /// A loop on the way to the current piece: part `index` of `node`, which is placed at `base`.
  struct Level {
    const Node* node;
    std::int64_t index;
    std::int64_t base;
  };
  static constexpr int kInlineLevels = 6;

  Level& level(int i) { return heap_levels_.empty() ? inline_levels_[i] : heap_levels_[i]; }
  const Level& level(int i) const {
    return heap_levels_.empty() ? inline_levels_[i] : heap_levels_[i];
  }
  void descend(const Node* node, std::int64_t base, ByteCount position);
  void step_within_piece(ByteCount bytes);
  void step_over_parts(std::int64_t count);
  template <bool kBounded>
  StridedRun take(ByteCount limit, ByteCount room);
  template <bool kBounded>
  void take_whole_pieces(StridedRun& run, ByteCount available, ByteCount room);
  void join_following(StridedRun& run, ByteCount available);

  TypePtr type_;
  std::int64_t origin_;
  ByteCount limit_;
  ByteCount position_ = 0;
  std::int64_t piece_offset_ = 0;  ///< the current piece
  ByteCount piece_length_ = 0;
  ByteCount within_ = 0;  ///< bytes of the piece that are done
  int depth_ = 0;
  std::array<Level, kInlineLevels> inline_levels_;
  std::vector<Level> heap_levels_;  ///< instead of inline_levels_ for deep types
};

/// Offset of the byte at `data_position` of `type` repeated from `origin`. Requires size() > 0.
std::int64_t offset_of(const Type& type, std::int64_t origin, ByteCount data_position);

/// Bytes of data of `type` repeated from `origin` that lie below `end_offset`: the inverse of
/// offset_of. Logarithmic. Requires a monotonic type; 0 for an empty one.
ByteCount data_below(const Type& type, std::int64_t origin, std::int64_t end_offset);

}  // namespace headrace::view
