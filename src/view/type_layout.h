#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory_account.h"
#include "base/types.h"
#include "base/uncleared_vector.h"

namespace headrace::view {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// What a node of a layout repeats.
enum class NodeKind : std::uint8_t {
  bytes,   ///< one piece of `size` bytes
  vector,  ///< `count` times `child`, `stride` bytes apart
  blocks,  ///< `child` at each of `offsets`
  pieces,  ///< bytes at each of `offsets`; lengths are the differences of `starts`
  mixed,   ///< children[i] at offsets[i]
};

/// One loop of a layout. A node's first byte in data order has offset 0, so that parts that differ
/// only in their place share a node or compare equal. Nodes are never empty.
struct Node {
  NodeKind kind = NodeKind::bytes;
  bool is_monotonic = true;  ///< pieces ascend and do not overlap
  bool ascends = true;       ///< no piece begins before the piece before it
  int depth = 0;             ///< loops from here down to the bytes
  ByteCount size = 0;
  std::int64_t count = 1;
  std::int64_t stride = 0;
  NodePtr child;
  UnclearedVector<std::int64_t> offsets;
  UnclearedVector<ByteCount> starts;  ///< data position where part i starts; count + 1 values
  std::vector<NodePtr> children;

  std::int64_t low = 0;   ///< offset of the lowest byte, <= 0
  std::int64_t high = 0;  ///< offset behind the highest byte
  std::int64_t last = 0;  ///< offset of the piece that comes last
  std::int64_t piece_count = 1;
  std::int64_t granule = 0;  ///< greatest common divisor of all offsets and lengths
  CountedMemory counted{};   ///< of the lists

  /// Offset of part i.
  std::int64_t offset_of(std::int64_t i) const {
    return kind == NodeKind::vector ? i * stride : offsets[i];
  }
  /// Data position where part i starts.
  ByteCount start_of(std::int64_t i) const { return child ? i * child->size : starts[i]; }
  /// Bytes in part i.
  ByteCount size_of(std::int64_t i) const {
    return child ? child->size : starts[i + 1] - starts[i];
  }
  /// The node of part i; null if the part is a single piece.
  const Node* loop_of(std::int64_t i) const {
    const Node* part = kind == NodeKind::mixed ? children[i].get() : child.get();
    return part && part->kind != NodeKind::bytes ? part : nullptr;
  }
  /// The part that holds data position `position`, 0 <= position < size.
  std::int64_t part_at(ByteCount position) const {
    if (position == 0) return 0;
    if (child) return position / child->size;
    return std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() - 1;
  }
  bool is_one_piece() const { return count == 1 && !loop_of(0); }

  /// Counts the memory of the lists, once they are complete.
  void count_lists();
};

/// A node at an offset; without a node it is empty. Immutable, cheap to copy.
struct Layout {
  std::int64_t offset = 0;
  NodePtr node;

  ByteCount size() const { return node ? node->size : 0; }
  std::int64_t low() const { return node ? offset + node->low : 0; }
  std::int64_t high() const { return node ? offset + node->high : 0; }
  Layout moved(std::int64_t by) const { return node ? Layout{offset + by, node} : Layout{}; }
};

// Combining layouts normalises them: neighbouring pieces join, dense and nested loops merge, loops
// over one part vanish, regular lists become vectors, empty parts are dropped. The caller makes
// sure that all offsets and sizes of the result lie within 62 bits.

/// `size` contiguous bytes.
Layout bytes(ByteCount size);

/// `count` times `part`, `stride` bytes apart.
Layout repeat(const Layout& part, std::int64_t count, std::int64_t stride);

/// `part` moved by each of `offsets`.
Layout place(const Layout& part, UnclearedVector<std::int64_t> offsets);

/// lengths[i] bytes at offsets[i]; lengths may be 0. Takes no further memory if `lengths` has
/// capacity for one more number.
Layout pieces(UnclearedVector<std::int64_t> offsets, UnclearedVector<ByteCount> lengths);

/// The same for lengths[i] times `unit` bytes, unit >= 1, with unchecked numbers: nothing if the
/// size, or the distance of two bytes, does not fit in 63 bits. The offsets of the result may still
/// exceed 62 bits.
std::optional<Layout> checked_pieces(UnclearedVector<std::int64_t> offsets,
                                     UnclearedVector<ByteCount> lengths, ByteCount unit);

/// All parts, in data order.
Layout join(const std::vector<Layout>& parts);

/// `part` repeated without end.
NodePtr tile(const Layout& part, std::int64_t stride);

}  // namespace headrace::view
