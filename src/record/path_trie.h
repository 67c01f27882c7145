#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/mapped_array.h"
#include "record/stack_walk.h"

namespace headrace::record {

struct Path;

/// Finds the path of a call by loads and compares alone.
///
/// Unwind tables fix, for each return address, how far the next outer one lies on the stack, but
/// for frames of changing size (alloca, arrays of variable length, aligned ones). So a walk that
/// was unwound once is kept as pairs of return address and distance. If all of them are found in
/// place, the path is the same.
///
/// The pairs make a compressed trie (a radix tree) from the innermost frame outwards. A node is a
/// run of frames that must all be in place. Behind it the frame's size may differ: each distance
/// is a fork, with children by the address that is found there. Edges of all nodes are in one
/// open-addressed table, so that many paths through one call site cost no more than few.
class PathTrie {
 public:
  struct Leaf {
    Path* path = nullptr;
    bool is_unsure = false;  ///< its frames were once found in place, and the path was another
  };

  /// `most_nodes` bounds the memory, which is taken as it is used.
  explicit PathTrie(std::size_t most_nodes);

  /// False where the memory could not be had: then nothing else may be called.
  bool has_memory() const noexcept;

  /// Null where the path is not known. Reads no word at or behind `end`.
  Leaf* find(const std::uintptr_t* slot, const std::uintptr_t* end) noexcept {
    const Index site = child(kRootFork, *slot);
    return site == 0 ? nullptr : descend(site, slot, end);
  }

  /// The leaf of this very walk, made without a path if it is not there; null where there is no
  /// room. Leaves move when others are added.
  Leaf* add(std::span<const StackFrame> walk) noexcept;

  bool has_site(std::uintptr_t return_address) const noexcept {
    return child(kRootFork, return_address) != 0;
  }

 private:
  using Index = std::uint32_t;  // 0 is none
  static constexpr Index kRootFork = 1;

  struct Node {
    const StackFrame* run = nullptr;  // behind the edge that leads here
    std::uint32_t run_length = 0;
    Index forks = 0;  // the first
    bool is_leaf = false;
    Leaf leaf;
  };
  struct Fork {
    std::uint32_t words = 0;
    Index next = 0;
  };
  struct Edge {
    std::uintptr_t address = 0;
    Index fork = 0;
    Index node = 0;
  };

  std::size_t place(Index fork, std::uintptr_t address) const noexcept {
    // Fibonacci hashing; the fork goes where addresses have no bits.
    return ((address ^ std::uint64_t{fork} << 44) * 0x9e3779b97f4a7c15U) >> shift_;
  }
  Index child(Index fork, std::uintptr_t address) const noexcept {
    for (std::size_t i = place(fork, address);; i = (i + 1) & mask_) {
      const Edge& edge = edges_[i];
      if (edge.address == address && edge.fork == fork) return edge.node;
      if (edge.node == 0) return 0;
    }
  }
  Leaf* descend(Index index, const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;
  Leaf* try_forks(Node& node, const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;
  Leaf* grow(Index fork, std::uintptr_t address, std::span<const StackFrame> rest) noexcept;
  bool split(Node& node, std::uint32_t length) noexcept;
  Index fork_of(Node& node, std::uint32_t words) noexcept;
  void join(Index fork, std::uintptr_t address, Index node) noexcept;

  MappedArray<Node> nodes_;
  MappedArray<Fork> forks_;
  MappedArray<StackFrame> frames_;
  MappedArray<Edge> edges_;
  std::size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace headrace::record
