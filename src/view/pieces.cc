// Makes lists of pieces in the memory of their lengths and offsets. Programs set views of hundreds
// of thousands of pieces, so one pass over a list finds all that must be known.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "view/type_layout.h"

namespace headrace::view {
namespace {

/// Cuts a list to `count` numbers. Reduces its memory to that and `more` if that is worth a copy.
void cut(UnclearedVector<std::int64_t>& list, std::size_t count, std::size_t more) {
  const bool frees_much = count + more < list.capacity() - list.capacity() / 8;
  list.resize(count);
  if (!frees_much) return;
  UnclearedVector<std::int64_t> shorter;
  shorter.reserve(count + more);
  shorter.assign(list.begin(), list.end());
  list = std::move(shorter);
}

struct Piece {
  std::int64_t offset = 0;
  ByteCount length = 0;
  std::int64_t end = 0;
};

/// Joins adjacent pieces. Writes each piece's offset, relative to the first one's, and its start
/// over the offset and the length of a piece that was read already. A number that does not fit in
/// 63 bits here is too large for any type.
class PieceJoiner {
 public:
  PieceJoiner(std::int64_t* offsets, ByteCount* lengths, std::size_t count, ByteCount unit)
      : offsets_(offsets), lengths_(lengths), count_(count), unit_(unit) {}

  /// False if a number does not fit.
  bool join() {
    std::size_t i = 0;
    while (i < count_ && lengths_[i] == 0) ++i;
    if (i == count_) return true;
    first_ = offsets_[i];
    Piece last;
    if (!read(i, last)) return false;
    common_ = last.length;
    for (++i; i < count_; ++i) {
      if (lengths_[i] == 0) continue;
      Piece next;
      if (!read(i, next)) return false;
      if (next.offset == last.end) {
        if (__builtin_add_overflow(last.length, next.length, &last.length)) return false;
        last.end = next.end;
        if (kept_ == 0) common_ = last.length;
        continue;
      }
      is_monotonic_ &= next.offset > last.end;
      ascends_ &= next.offset >= last.offset;
      if (!keep(last)) return false;
      last = next;
    }
    std::int64_t span = 0;
    return keep(last) && !__builtin_sub_overflow(high_, low_, &span);
  }

  std::size_t count() const { return kept_; }
  std::int64_t first() const { return first_; }
  /// The length of all pieces; 0 where they differ.
  ByteCount common_length() const { return is_even_ ? common_ : 0; }

  void summarise(Node& node) const {
    node.is_monotonic = is_monotonic_;
    node.ascends = ascends_;
    node.depth = 1;
    node.size = size_;
    node.count = node.piece_count = static_cast<std::int64_t>(kept_);
    node.low = low_;
    node.high = high_;
    node.last = offsets_[kept_ - 1];
    node.granule = granule_;
  }

 private:
  bool read(std::size_t i, Piece& piece) const {
    return !__builtin_sub_overflow(offsets_[i], first_, &piece.offset) &&
           !__builtin_mul_overflow(lengths_[i], unit_, &piece.length) &&
           !__builtin_add_overflow(piece.offset, piece.length, &piece.end);
  }

  bool keep(const Piece& piece) {
    offsets_[kept_] = piece.offset;
    lengths_[kept_] = size_;
    ++kept_;
    low_ = std::min(low_, piece.offset);
    high_ = std::max(high_, piece.end);
    is_even_ &= piece.length == common_;
    // Long lists soon have a granule of 1, and a divisor costs more than the rest.
    if (granule_ != 1) granule_ = std::gcd(granule_, std::gcd(piece.offset, piece.length));
    return !__builtin_add_overflow(size_, piece.length, &size_);
  }

  std::int64_t* offsets_;
  ByteCount* lengths_;
  std::size_t count_;
  ByteCount unit_;

  std::size_t kept_ = 0;
  std::int64_t first_ = 0;
  ByteCount size_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t granule_ = 0;
  ByteCount common_ = 0;
  bool is_even_ = true;
  bool is_monotonic_ = true;
  bool ascends_ = true;
};

}  // namespace

std::optional<Layout> checked_pieces(UnclearedVector<std::int64_t> offsets,
                                     UnclearedVector<ByteCount> lengths, ByteCount unit) {
  PieceJoiner joiner(offsets.data(), lengths.data(), offsets.size(), unit);
  if (!joiner.join()) return std::nullopt;
  const std::size_t count = joiner.count();
  if (count == 0) return Layout{};
  if (joiner.common_length() != 0) {
    cut(offsets, count, 0);
    return place(bytes(joiner.common_length()), std::move(offsets)).moved(joiner.first());
  }
  Node node;
  node.kind = NodeKind::pieces;
  joiner.summarise(node);  // reads the offsets, whose memory is cut next
  cut(offsets, count, 0);
  cut(lengths, count, 1);
  node.offsets = std::move(offsets);
  node.starts = std::move(lengths);
  if (node.starts.capacity() == count) node.starts.reserve(count + 1);
  node.starts.push_back(node.size);
  node.count_lists();
  return Layout{joiner.first(), std::make_shared<const Node>(std::move(node))};
}

Layout pieces(UnclearedVector<std::int64_t> offsets, UnclearedVector<ByteCount> lengths) {
  return *checked_pieces(std::move(offsets), std::move(lengths), 1);
}

}  // namespace headrace::view
