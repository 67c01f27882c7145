#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/path_store.h"
#include "record/path_table.h"
#include "record/path_trie.h"
#include "record/stack_walk.h"

namespace headrace::record {

struct PathLimits {
  int depth = 8;                     ///< frames of a path
  std::size_t most_nodes = 8192;     ///< bounds the memory: some 200 bytes a node, as it is used
  std::uint32_t check_each = 65536;  ///< of so many hits, one is checked by unwinding
};

/// The call paths of one thread, found in each MPI call at the cost of some loads. Not thread-safe:
/// each thread has its own. No state is kept between calls but what was learnt, so it is nothing to
/// it if exceptions and jumps leave a call. An object that is unloaded and another one loaded in
/// its place are not told apart.
class CallPaths {
 public:
  /// `caller_of` is asked once for each return address, of tools' wrappers once for each path.
  CallPaths(PathStore& store, PathLimits limits, CallerOf caller_of);

  /// `return_slot`: where the return address of the MPI call lies on the stack, which is
  /// `__builtin_frame_address(0)` + 8 in the function that the program called. Returns an end with
  /// kNoPath in a signal handler that interrupted this function, and where nothing more has room.
  /// `procedure`: the number of its entry.
  PathEnd& find(const std::uintptr_t* return_slot, int procedure) noexcept {
    if (busy_in_ != nullptr && is_nested(return_slot)) return nowhere_;
    busy_in_ = return_slot;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    PathTrie::Leaf* const leaf =
        is_usable_ ? trie_.find(return_slot, stack_.readable_end(return_slot)) : nullptr;
    PathEnd* end = nullptr;
    if (leaf != nullptr && !leaf->is_unsure && --until_check_ != 0) [[likely]] {
      ++hits_;
      end = &leaf->path->end;
    } else {
      end = leaf != nullptr ? &check(*leaf, return_slot) : &learn(return_slot, procedure);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    busy_in_ = nullptr;
    return *end;
  }

  /// The same if the path is found in place, which takes no registers of vectors; else null: then
  /// find() is to be called.
  PathEnd* find_known(const std::uintptr_t* return_slot) noexcept {
    if (busy_in_ != nullptr || !is_usable_ || until_check_ <= 1) return nullptr;
    busy_in_ = return_slot;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    PathTrie::Leaf* const leaf = trie_.find(return_slot, stack_.readable_end(return_slot));
    const bool is_sure = leaf != nullptr && !leaf->is_unsure;
    if (is_sure) {
      --until_check_;
      ++hits_;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    busy_in_ = nullptr;
    return is_sure ? &leaf->path->end : nullptr;
  }

  /// Another thread goes on with what was learnt: it has a stack of its own.
  void change_thread() noexcept {
    stack_ = {};
    knows_stack_ = false;
  }

  struct Counts {
    std::uint64_t hits = 0;     ///< calls whose path was found in place
    std::uint64_t unwinds = 0;  ///< calls whose stack was unwound, but for checks
    std::uint64_t checks = 0;   ///< hits that were checked by unwinding
    std::uint64_t wrong = 0;    ///< of these, wrong ones
    std::uint64_t folded = 0;   ///< calls that count for their call site, since there was no room
    std::uint64_t lost = 0;     ///< calls with kNoPath
  };
  Counts counts() const noexcept;

 private:
  bool is_nested(const std::uintptr_t* return_slot) noexcept;
  void know_stack() noexcept;
  PathEnd& check(PathTrie::Leaf& leaf, const std::uintptr_t* return_slot) noexcept;
  PathEnd& learn(const std::uintptr_t* return_slot, int procedure) noexcept;
  bool is_called_by_tool(const std::uintptr_t* return_slot, int procedure) noexcept;
  PathEnd& unwind(const std::uintptr_t* return_slot) noexcept;
  PathEnd& learn_foreign_site(std::uintptr_t return_address) noexcept;
  PathEnd& fold(std::uintptr_t return_address) noexcept;

  const std::uintptr_t* volatile busy_in_ = nullptr;
  bool is_usable_;
  bool knows_stack_ = false;
  bool is_full_ = false;
  bool has_wrappers_ = false;
  std::uint32_t until_check_;
  std::uint64_t hits_ = 0;
  ThreadStack stack_;
  PathTrie trie_;
  PathTable table_;
  PathEnd nowhere_;
  PathEnd foreign_{kNoPath, true, nullptr};
  Counts counts_;
  const PathLimits limits_;
  const CallerOf caller_of_;
};

}  // namespace headrace::record
