#include "record/path_trie.h"

#include <algorithm>
#include <bit>

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
      edges_(std::bit_ceil(most_nodes * 2 + 2)) {
  mask_ = std::bit_ceil(most_nodes * 2 + 2) - 1;
  shift_ = 64 - std::popcount(mask_);
  if (nodes_.has_room(1)) nodes_.take(1);
  if (forks_.has_room(2)) forks_.take(2);
}

bool PathTrie::has_memory() const noexcept {
  return nodes_.most() != 0 && forks_.most() != 0 && frames_.most() != 0 && edges_.most() != 0;
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
    if (node.forks == 0) return node.is_leaf ? &node.leaf : nullptr;
    const Fork& fork = forks_[node.forks];
    if (fork.next != 0 || node.is_leaf) return try_forks(node, slot, end);
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
  return node.is_leaf ? &node.leaf : nullptr;
}

PathTrie::Leaf* PathTrie::add(std::span<const StackFrame> walk) noexcept {
  Index fork = kRootFork;
  for (;;) {
    const std::uintptr_t address = walk[0].return_address;
    walk = walk.subspan(1);
    const Index index = child(fork, address);
    if (index == 0) return grow(fork, address, walk);
    Node& node = nodes_[index];
    const std::size_t common = std::min<std::size_t>(node.run_length, walk.size());
    const auto differs = std::mismatch(node.run, node.run + common, walk.begin()).first;
    const auto length = static_cast<std::uint32_t>(differs - node.run);
    if (length < node.run_length && !split(node, length)) return nullptr;
    walk = walk.subspan(length);
    if (walk.empty()) {
      node.is_leaf = true;
      return &node.leaf;
    }
    fork = fork_of(node, walk[0].words);
    if (fork == 0) return nullptr;
  }
}

PathTrie::Leaf* PathTrie::grow(Index fork, std::uintptr_t address,
                               std::span<const StackFrame> rest) noexcept {
  if (!nodes_.has_room(1) || !frames_.has_room(rest.size())) return nullptr;
  const auto index = static_cast<Index>(nodes_.take(1));
  Node& node = nodes_[index];
  StackFrame* const run = &frames_[frames_.take(rest.size())];
  std::copy(rest.begin(), rest.end(), run);
  node.run = run;
  node.run_length = static_cast<std::uint32_t>(rest.size());
  node.is_leaf = true;
  join(fork, address, index);
  return &node.leaf;
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
  node.is_leaf = false;
  node.leaf = {};
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
