#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mixed_hash.h"
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
/// open-addressed table, so that many paths through one call site cost little more than few.
///
/// Words that are left on a stack look like frames. So frames that were seen with several sizes are
/// not believed by their return addresses alone: the saved frame pointers that tell their ends must
/// be in place, too.
///
/// Most calls do not reach the trie. A guess is made twice, and all frames of the guessed walk are
/// looked at, so it can only miss. First: the walk that last began with this return address in this
/// slot. Second: the walk whose return addresses give the hash of the words at the distances of the
/// first guess, since paths through the same functions lie alike on the stack. Where that was right
/// once, the first is not tried again.
class PathTrie {
 public:
  struct Leaf {
    const StackFrame* walk = nullptr;  ///< then the innermost again, up to `padded_depth`
    std::uint32_t padded_depth = 0;    ///< a multiple of kUnrolled
    std::uint32_t last_word = 0;       ///< the outermost frame's
    bool shares_slot = false;          ///< the first guess was this one, and it was another
    bool is_unsure = false;    ///< its frames were once found in place, and the path was another
    bool lacks_links = false;  ///< made before a frame of it was seen with another size
    const StackLink* links = nullptr;
    std::uint32_t link_count = 0;
    Path* path = nullptr;
  };

  /// `most_nodes` bounds the memory, which is taken as it is used.
  explicit PathTrie(std::size_t most_nodes);

  /// False where the memory could not be had: then nothing else may be called.
  bool has_memory() const noexcept;

  /// Null where the path is not known. Reads no word at or behind `end`.
  Leaf* find(const std::uintptr_t* slot, const std::uintptr_t* end) noexcept {
    Leaf* const guess = by_slot_[slot_place(slot)];
    if (guess != nullptr && is_in_place(*guess, slot, end)) [[likely]]
      return guess;
    return find_further(guess, slot, end);
  }

  /// The leaf of this very walk, made for `path` if it is not there; null where there is no room.
  Leaf* add(const StackWalk& walk, Path& path) noexcept;

  std::size_t leaf_count() const noexcept { return leaves_.taken(); }

  bool has_site(std::uintptr_t return_address) const noexcept {
    return child(kRootFork, return_address) != 0;
  }

 private:
  using Index = std::uint32_t;  // 0 is none
  static constexpr Index kRootFork = 1;
  static constexpr std::uint32_t kUnrolled = 4;  // frames that are looked at together

  struct Node {
    const StackFrame* run = nullptr;  // behind the edge that leads here
    std::uint32_t run_length = 0;
    Index forks = 0;  // the first
    Index leaf = 0;   // of walks that end here
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
    return golden_hash(address ^ std::uint64_t{fork} << 44) >> shift_;
  }
  Index child(Index fork, std::uintptr_t address) const noexcept {
    for (std::size_t i = place(fork, address);; i = (i + 1) & mask_) {
      const Edge& edge = edges_[i];
      if (edge.address == address && edge.fork == fork) return edge.node;
      if (edge.node == 0) return 0;
    }
  }
  std::size_t slot_place(const std::uintptr_t* slot) const noexcept {
    const std::uint64_t mixed = *slot ^ reinterpret_cast<std::uintptr_t>(slot) << 20;
    return golden_hash(mixed) >> guess_shift_;
  }
  HEADRACE_READS_STACK static bool is_in_place(const Leaf& leaf, const std::uintptr_t* slot,
                                               const std::uintptr_t* end) noexcept {
    if (end - slot <= static_cast<std::ptrdiff_t>(leaf.last_word)) return false;
    const StackFrame* frame = leaf.walk;
    const StackFrame* const behind = frame + leaf.padded_depth;
    std::uintptr_t difference = 0;
    do {
      for (std::uint32_t i = 0; i < kUnrolled; ++i) {
        difference |= slot[frame[i].words] ^ frame[i].return_address;
      }
      frame += kUnrolled;
    } while (frame != behind);
    return difference == 0 && are_links_in_place(leaf, slot);
  }
  HEADRACE_READS_STACK static bool are_links_in_place(const Leaf& leaf,
                                                      const std::uintptr_t* slot) noexcept {
    for (std::uint32_t i = 0; i < leaf.link_count; ++i) {
      const StackLink& link = leaf.links[i];
      if (slot[link.words] - reinterpret_cast<std::uintptr_t>(slot) != link.distance) return false;
    }
    return true;
  }
  Leaf* leaf_in_place(const Node& node, const std::uintptr_t* slot) noexcept {
    Leaf* const leaf = node.leaf != 0 ? &leaves_[node.leaf] : nullptr;
    return leaf != nullptr && are_links_in_place(*leaf, slot) ? leaf : nullptr;
  }
  Leaf* find_further(Leaf* guess, const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;
  std::size_t words_place(const Leaf& shape, const std::uintptr_t* slot) const noexcept;
  Leaf* descend(Index index, const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;
  Leaf* try_forks(Node& node, const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;
  Index make_leaf(const StackWalk& walk, Path& path) noexcept;
  bool link(Leaf& leaf, const StackWalk& walk) noexcept;
  void note_changing(std::uintptr_t return_address) noexcept;
  bool is_changing(std::uintptr_t return_address) const noexcept;
  Leaf* grow(Index fork, const StackWalk& walk, std::size_t first, Path& path) noexcept;
  bool split(Node& node, std::uint32_t length) noexcept;
  Index fork_of(Node& node, std::uint32_t words) noexcept;
  void join(Index fork, std::uintptr_t address, Index node) noexcept;

  MappedArray<Node> nodes_;
  MappedArray<Fork> forks_;
  MappedArray<StackFrame> frames_;
  MappedArray<StackLink> links_;
  MappedArray<std::uintptr_t> changing_;  // return addresses into frames of changing size
  MappedArray<Leaf> leaves_;
  MappedArray<Edge> edges_;
  MappedArray<Leaf*> by_slot_;
  MappedArray<Leaf*> by_words_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  int guess_shift_ = 0;
};

}  // namespace headrace::record
