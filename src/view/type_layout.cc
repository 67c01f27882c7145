#include "view/type_layout.h"

#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace headrace::view {
namespace {

/// Sets what a vector node knows about itself from count, stride and child.
void summarise_vector(Node& node) {
  const Node& child = *node.child;
  const std::int64_t last = (node.count - 1) * node.stride;
  node.size = node.count * child.size;
  node.low = std::min<std::int64_t>(0, last) + child.low;
  node.high = std::max<std::int64_t>(0, last) + child.high;
  node.piece_count = node.count * child.piece_count;
  node.granule = std::gcd(node.stride, child.granule);
  node.last = last + child.last;
  node.is_monotonic = child.is_monotonic && node.stride >= child.high;
  node.ascends = child.ascends && node.stride >= child.last;
  node.depth = child.depth + 1;
}

/// What a list's summary takes from one of its parts.
struct Part {
  ByteCount size;
  std::int64_t low;
  std::int64_t high;
  std::int64_t last;
  std::int64_t piece_count;
  std::int64_t granule;
  int depth;
  bool is_monotonic;
  bool ascends;

  static Part of(const Node& node) {
    return {node.size,    node.low,   node.high,         node.last,   node.piece_count,
            node.granule, node.depth, node.is_monotonic, node.ascends};
  }
};

/// Builds a node for a list of parts: makes offsets relative to the first, and updates the node's
/// summary part by part.
class ListBuilder {
 public:
  ListBuilder(NodeKind kind, UnclearedVector<std::int64_t> offsets) {
    node_.kind = kind;
    node_.count = static_cast<std::int64_t>(offsets.size());
    node_.offsets = std::move(offsets);
    node_.piece_count = 0;
    first_ = node_.offsets.front();
    for (std::int64_t& offset : node_.offsets) offset -= first_;
  }

  Node& node() { return node_; }

  /// Adds part `i`.
  void add(std::size_t i, const Part& part) {
    const std::int64_t offset = node_.offsets[i];
    if (i > 0 && offset < end_) node_.is_monotonic = false;
    if (i > 0 && offset < node_.last) node_.ascends = false;
    node_.last = offset + part.last;
    node_.ascends = node_.ascends && part.ascends;
    end_ = offset + part.high;
    node_.is_monotonic = node_.is_monotonic && part.is_monotonic;
    node_.size += part.size;
    node_.low = std::min(node_.low, offset + part.low);
    node_.high = std::max(node_.high, end_);
    node_.piece_count += part.piece_count;
    // Long lists soon have a granule of 1, and a divisor costs more than the rest.
    if (node_.granule != 1) {
      node_.granule = std::gcd(node_.granule, std::gcd(offset, part.granule));
    }
    node_.depth = std::max(node_.depth, part.depth + 1);
  }

  Layout finish() {
    node_.count_lists();
    return {first_, std::make_shared<const Node>(std::move(node_))};
  }

 private:
  Node node_;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
};

Node bytes_node(ByteCount size) {
  Node node;
  node.size = node.high = node.granule = size;
  return node;
}

Layout vector(const Layout& part, std::int64_t count, std::int64_t stride) {
  Node node;
  node.kind = NodeKind::vector;
  node.count = count;
  node.stride = stride;
  node.child = part.node;
  summarise_vector(node);
  return {part.offset, std::make_shared<const Node>(std::move(node))};
}

bool same_node(const NodePtr& a, const NodePtr& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return a->kind == b->kind && a->size == b->size && a->count == b->count &&
         a->stride == b->stride && a->low == b->low && a->high == b->high &&
         a->offsets == b->offsets && a->starts == b->starts && same_node(a->child, b->child) &&
         std::equal(a->children.begin(), a->children.end(), b->children.begin(), b->children.end(),
                    same_node);
}

bool is_bytes(const Layout& layout) {
  return layout.node->kind == NodeKind::bytes;
}

bool is_vector_with(const Node& node, std::int64_t stride) {
  std::int64_t span = 0;
  return node.kind == NodeKind::vector && !__builtin_mul_overflow(node.count, node.stride, &span) &&
         span == stride;
}

/// Whether all parts have the same node, so that they differ only in their offsets.
bool all_alike(const std::vector<Layout>& parts) {
  return std::all_of(parts.begin() + 1, parts.end(),
                     [&](const Layout& part) { return same_node(part.node, parts.front().node); });
}

Layout mixed(const std::vector<Layout>& parts) {
  UnclearedVector<std::int64_t> offsets;
  offsets.reserve(parts.size());
  for (const Layout& part : parts) offsets.push_back(part.offset);
  ListBuilder list(NodeKind::mixed, std::move(offsets));
  Node& node = list.node();
  node.starts.reserve(parts.size() + 1);
  node.children.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    node.starts.push_back(node.size);
    node.children.push_back(parts[i].node);
    list.add(i, Part::of(*parts[i].node));
  }
  node.starts.push_back(node.size);
  return list.finish();
}

}  // namespace

void Node::count_lists() {
  const std::size_t bytes = offsets.capacity() * sizeof(std::int64_t) +
                            starts.capacity() * sizeof(ByteCount) +
                            children.capacity() * sizeof(NodePtr);
  counted = CountedMemory(MemoryUse::pieces, static_cast<ByteCount>(bytes));
}

Layout bytes(ByteCount size) {
  if (size == 0) return {};
  return {0, std::make_shared<const Node>(bytes_node(size))};
}

Layout repeat(const Layout& part, std::int64_t count, std::int64_t stride) {
  if (!part.node || count == 0) return {};
  if (count == 1) return part;
  const Node& node = *part.node;
  if (is_bytes(part) && stride == node.size) return bytes(count * stride).moved(part.offset);
  if (is_vector_with(node, stride)) {
    return vector({part.offset, node.child}, count * node.count, node.stride);
  }
  return vector(part, count, stride);
}

Layout place(const Layout& part, UnclearedVector<std::int64_t> offsets) {
  if (!part.node || offsets.empty()) return {};
  if (offsets.size() == 1) return part.moved(offsets.front());
  const std::int64_t stride = offsets[1] - offsets[0];
  bool is_regular = true;
  bool meets = false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::int64_t distance = offsets[i] - offsets[i - 1];
    is_regular = is_regular && distance == stride;
    meets = meets || distance == part.size();
  }
  if (is_regular) return repeat(part, std::ssize(offsets), stride).moved(offsets.front());
  if (meets && is_bytes(part)) {
    UnclearedVector<ByteCount> lengths(offsets.size(), part.size());
    return pieces(std::move(offsets), std::move(lengths)).moved(part.offset);
  }
  ListBuilder list(NodeKind::blocks, std::move(offsets));
  list.node().child = part.node;
  const Part alike = Part::of(*part.node);
  for (std::size_t i = 0; i < list.node().offsets.size(); ++i) list.add(i, alike);
  return list.finish().moved(part.offset);
}

Layout join(const std::vector<Layout>& parts) {
  std::vector<Layout> kept;
  kept.reserve(parts.size());
  for (const Layout& part : parts) {
    if (!part.node) continue;
    const bool meets = !kept.empty() && is_bytes(kept.back()) && is_bytes(part) &&
                       kept.back().high() == part.offset;
    if (meets) {
      kept.back().node = bytes(kept.back().size() + part.size()).node;
    } else {
      kept.push_back(part);
    }
  }
  if (kept.empty()) return {};
  if (kept.size() == 1) return kept.front();
  const bool all_bytes = std::all_of(kept.begin(), kept.end(), is_bytes);
  if (!all_bytes && !all_alike(kept)) return mixed(kept);
  UnclearedVector<std::int64_t> offsets;
  UnclearedVector<ByteCount> lengths;
  for (const Layout& part : kept) {
    offsets.push_back(part.offset);
    lengths.push_back(part.size());
  }
  if (all_bytes) return pieces(std::move(offsets), std::move(lengths));
  return place({0, kept.front().node}, std::move(offsets));
}

NodePtr tile(const Layout& part, std::int64_t stride) {
  if (!part.node) return nullptr;
  constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
  Node node;
  node.kind = NodeKind::vector;
  node.count = kEndless;
  node.size = kEndless;
  node.stride = stride;
  node.child = part.node;
  if (is_vector_with(*part.node, stride)) {
    node.child = part.node->child;
    node.stride = part.node->stride;
  }
  if (node.child->kind == NodeKind::bytes && node.stride == node.child->size) {
    node.child = bytes(kEndless).node;
    node.count = 1;
  }
  node.is_monotonic =
      node.child->is_monotonic && (node.count == 1 || node.stride >= node.child->high);
  node.depth = node.child->depth + 1;
  return std::make_shared<const Node>(std::move(node));
}

}  // namespace headrace::view
