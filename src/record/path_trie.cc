#include "record/path_trie.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/mixed_hash.h"

namespace headrace::record {
namespace {

bool is_in_reach(const std::uintptr_t* slot, const std::uintptr_t* end, std::uint32_t words) {
  return end - slot > static_cast<std::ptrdiff_t>(words);
}

}  // namespace

PathTrie::PathTrie(std::size_t most_nodes)
    : nodes_(most_nodes + 1),
      forks_(most_nodes + 2),
      frames_(most_nodes * 8),
      links_(most_nodes * 8),
      changing_(1024),
      leaves_(most_nodes + 1),
      edges_(std::bit_ceil(most_nodes * 2 + 2)),
      by_slot_(std::bit_ceil(most_nodes)),
      by_words_(std::bit_ceil(most_nodes)) {
  mask_ = std::bit_ceil(most_nodes * 2 + 2) - 1;
  shift_ = 64 - std::popcount(mask_);
  guess_shift_ = 64 - std::countr_zero(std::bit_ceil(most_nodes));
  if (!has_memory()) return;
  nodes_.take(1);
  leaves_.take(1);
  forks_.take(2);
}

bool PathTrie::has_memory() const noexcept {
  return nodes_.most() != 0 && forks_.most() != 0 && frames_.most() != 0 && leaves_.most() != 0 &&
         links_.most() != 0 && changing_.most() != 0 && edges_.most() != 0 &&
         by_slot_.most() != 0 && by_words_.most() != 0;
}

PathTrie::Leaf* PathTrie::find_further(Leaf* guess, const std::uintptr_t* slot,
                                       const std::uintptr_t* end) noexcept {
  if (guess != nullptr && is_in_reach(slot, end, guess->last_word)) {
    Leaf* const other = by_words_[words_place(*guess, slot)];
    if (other != nullptr && is_in_place(*other, slot, end)) {
      guess->shares_slot = true;
      return other;
    }
  }
  const Index site = child(kRootFork, *slot);
  Leaf* const found = site == 0 ? nullptr : descend(site, slot, end);
  if (found != nullptr) {
    by_slot_[slot_place(slot)] = found;
    by_words_[words_place(*found, slot)] = found;
  }
  return found;
}

HEADRACE_READS_STACK std::size_t PathTrie::words_place(const Leaf& shape,
                                                       const std::uintptr_t* slot) const noexcept {
  std::uint64_t mixed = 0;
  for (std::uint32_t i = 0; i < shape.padded_depth; i += kUnrolled) {
    for (std::uint32_t k = 0; k < kUnrolled; ++k) {
      mixed = std::rotl(mixed, 7) ^ slot[shape.walk[i + k].words];
    }
  }
  return golden_hash(mixed) >> guess_shift_;
}

HEADRACE_READS_STACK PathTrie::Leaf* PathTrie::descend(Index index, const std::uintptr_t* slot,
                                                       const std::uintptr_t* end) noexcept {
  for (;;) {
    Node& node = nodes_[index];
    if (const std::uint32_t length = node.run_length; length != 0) {
      const StackFrame* const run = node.run;
      if (!is_in_reach(slot, end, run[length - 1].words)) return nullptr;
      std::uintptr_t difference = 0;
      for (std::uint32_t i = 0; i < length; ++i) {
        difference |= slot[run[i].words] ^ run[i].return_address;
      }
      if (difference != 0) return nullptr;
    }
    if (node.forks == 0) return leaf_in_place(node, slot);
    const Fork& fork = forks_[node.forks];
    if (fork.next != 0 || node.leaf != 0) return try_forks(node, slot, end);
    if (!is_in_reach(slot, end, fork.words)) return nullptr;
    index = child(node.forks, slot[fork.words]);
    if (index == 0) return nullptr;
  }
}

// What lies at another distance may be anything, even an old return address, so a fork that leads
// nowhere is no answer. The one that was right goes to the front: frames keep their size mostly.
HEADRACE_READS_STACK PathTrie::Leaf* PathTrie::try_forks(Node& node, const std::uintptr_t* slot,
                                                         const std::uintptr_t* end) noexcept {
  Index before = 0;
  for (Index at = node.forks; at != 0; before = at, at = forks_[at].next) {
    Fork& fork = forks_[at];
    if (!is_in_reach(slot, end, fork.words)) continue;
    const Index next = child(at, slot[fork.words]);
    Leaf* const found = next == 0 ? nullptr : descend(next, slot, end);
    if (found == nullptr) continue;
    if (before != 0) {
      forks_[before].next = fork.next;
      fork.next = node.forks;
      node.forks = at;
    }
    return found;
  }
  return leaf_in_place(node, slot);
}

PathTrie::Leaf* PathTrie::add(const StackWalk& whole, Path& path) noexcept {
  const std::span walk(whole.frames, static_cast<std::size_t>(whole.depth));
  Index fork = kRootFork;
  for (std::size_t at = 0;;) {
    const Index index = child(fork, walk[at].return_address);
    if (index == 0) return grow(fork, whole, at, path);
    ++at;
    Node& node = nodes_[index];
    const auto rest = walk.subspan(at);
    const std::size_t common = std::min<std::size_t>(node.run_length, rest.size());
    const auto differs = std::mismatch(node.run, node.run + common, rest.begin()).first;
    const auto length = static_cast<std::uint32_t>(differs - node.run);
    if (length < node.run_length && !split(node, length)) return nullptr;
    at += length;
    if (at == walk.size()) {
      if (node.leaf == 0) node.leaf = make_leaf(whole, path);
      if (node.leaf == 0) return nullptr;
      Leaf& leaf = leaves_[node.leaf];
      if (leaf.lacks_links && link(leaf, whole)) leaf.lacks_links = leaf.is_unsure = false;
      return &leaf;
    }
    fork = fork_of(node, walk[at].words);
    if (fork == 0) return nullptr;
    if (forks_[node.forks].next != 0) note_changing(walk[at - 1].return_address);
  }
}

// A handler may jump out before or behind this: a leaf that can be found has its path.
PathTrie::Index PathTrie::make_leaf(const StackWalk& whole, Path& path) noexcept {
  const std::span walk(whole.frames, static_cast<std::size_t>(whole.depth));
  const std::size_t padded = (walk.size() + kUnrolled - 1) / kUnrolled * kUnrolled;
  if (!leaves_.has_room(1) || !frames_.has_room(padded)) return 0;
  StackFrame* const kept = &frames_[frames_.take(padded)];
  std::fill_n(std::copy(walk.begin(), walk.end(), kept), padded - walk.size(), walk.front());
  const auto index = static_cast<Index>(leaves_.take(1));
  leaves_[index] = {kept, static_cast<std::uint32_t>(padded), walk.back().words};
  leaves_[index].path = &path;
  link(leaves_[index], whole);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return index;
}

// Keeps the links of those frames that change their size. False without room.
bool PathTrie::link(Leaf& leaf, const StackWalk& walk) noexcept {
  const auto count = static_cast<std::size_t>(walk.link_count);
  if (!links_.has_room(count)) return false;
  StackLink* const kept = count != 0 ? &links_[links_.taken()] : nullptr;
  leaf.links = kept;
  leaf.link_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const StackLink& one = walk.links[i];
    if (is_changing(walk.frames[one.frame].return_address)) kept[leaf.link_count++] = one;
  }
  links_.take(leaf.link_count);
  return true;
}

bool PathTrie::is_changing(std::uintptr_t return_address) const noexcept {
  for (std::size_t i = 0; i < changing_.taken(); ++i) {
    if (changing_[i] == return_address) return true;
  }
  return false;
}

// Leaves that were made before are unwound once more, for their links.
void PathTrie::note_changing(std::uintptr_t return_address) noexcept {
  if (is_changing(return_address) || !changing_.has_room(1)) return;
  changing_[changing_.take(1)] = return_address;
  for (std::size_t i = 1; i < leaves_.taken(); ++i) {
    Leaf& leaf = leaves_[i];
    const auto is_in = [&](const StackFrame& f) { return f.return_address == return_address; };
    if (std::any_of(leaf.walk, leaf.walk + leaf.padded_depth, is_in)) {
      leaf.lacks_links = leaf.is_unsure = true;
    }
  }
}

// A node for all frames from `first` on, the edge's included.
PathTrie::Leaf* PathTrie::grow(Index fork, const StackWalk& walk, std::size_t first,
                               Path& path) noexcept {
  if (!nodes_.has_room(1)) return nullptr;
  const Index leaf = make_leaf(walk, path);
  if (leaf == 0) return nullptr;
  const auto index = static_cast<Index>(nodes_.take(1));
  const auto length = static_cast<std::uint32_t>(static_cast<std::size_t>(walk.depth) - first - 1);
  nodes_[index] = {leaves_[leaf].walk + first + 1, length, 0, leaf};
  join(fork, walk.frames[first].return_address, index);
  return &leaves_[leaf];
}

// What follows the first `length` frames of the run moves to a new node behind a fork.
bool PathTrie::split(Node& node, std::uint32_t length) noexcept {
  if (!nodes_.has_room(1) || !forks_.has_room(1)) return false;
  const auto index = static_cast<Index>(nodes_.take(1));
  Node& rest = nodes_[index];
  const StackFrame& first = node.run[length];
  rest = node;
  rest.run = &first + 1;
  rest.run_length = node.run_length - length - 1;
  node.run_length = length;
  node.leaf = 0;
  node.forks = 0;
  join(fork_of(node, first.words), first.return_address, index);
  return true;
}

PathTrie::Index PathTrie::fork_of(Node& node, std::uint32_t words) noexcept {
  for (Index at = node.forks; at != 0; at = forks_[at].next) {
    if (forks_[at].words == words) return at;
  }
  if (!forks_.has_room(1)) return 0;
  const auto made = static_cast<Index>(forks_.take(1));
  forks_[made] = {words, node.forks};
  node.forks = made;
  return made;
}

void PathTrie::join(Index fork, std::uintptr_t address, Index node) noexcept {
  std::size_t i = place(fork, address);
  while (edges_[i].node != 0) i = (i + 1) & mask_;
  edges_[i] = {address, fork, node};
}

}  // namespace headrace::record
