#include "record/call_path.h"

#include <algorithm>
#include <span>

namespace headrace::record {
namespace {

// Ways in which the frames of one path may lie on the stack until no more are kept, so that one
// array whose length is never the same does not take all memory. It is then unwound in most calls.
constexpr std::uint32_t kMostLeaves = 256;

std::span<const StackFrame> frames_of(const StackWalk& walk) {
  return {walk.frames, static_cast<std::size_t>(walk.depth)};
}

PathLimits sensible(PathLimits limits) {
  limits.depth = std::clamp(limits.depth, 1, kMostFrames);
  limits.most_nodes = std::clamp<std::size_t>(limits.most_nodes, 16, 1U << 19);
  limits.check_each = std::max(limits.check_each, 1U);
  return limits;
}

}  // namespace

CallPaths::CallPaths(PathStore& store, PathLimits limits, CallerOf caller_of)
    : until_check_(sensible(limits).check_each),
      trie_(sensible(limits).most_nodes),
      table_(store, sensible(limits).most_nodes),
      limits_(sensible(limits)),
      caller_of_(caller_of) {
  is_usable_ = trie_.has_memory() && table_.has_memory();
}

CallPaths::Counts CallPaths::counts() const noexcept {
  Counts counts = counts_;
  counts.hits = hits_ + counts_.checks;
  return counts;
}

/// Whether a call is made within another one's `find`. A handler that jumped out of one leaves its
/// mark: then this frame is not within that one.
bool CallPaths::is_nested(const std::uintptr_t* return_slot) noexcept {
  const std::uintptr_t* const outer = busy_in_;
  if (stack_.holds(outer) && stack_.holds(return_slot) && return_slot >= outer) return false;
  ++counts_.lost;
  return true;
}

PathEnd& CallPaths::check(PathTrie::Leaf& leaf, const std::uintptr_t* return_slot) noexcept {
  if (leaf.is_unsure) return unwind(return_slot);
  until_check_ = limits_.check_each;
  ++counts_.checks;
  Path* const found = leaf.path;
  if (found->end.is_foreign) return found->end;
  know_stack();
  if (!stack_.holds(return_slot)) return found->end;  // it cannot be walked
  StackWalk walk;
  walk_stack(return_slot, limits_.depth, stack_, walk);
  Path* const right = table_.add(frames_of(walk));
  if (right == found) return found->end;
  // The words that are left on a stack may look like another path's. What did once is unwound from
  // now on.
  ++counts_.wrong;
  leaf.is_unsure = true;
  leaf.lacks_links = false;
  return right != nullptr ? right->end : fold(*return_slot);
}

void CallPaths::know_stack() noexcept {
  if (knows_stack_) return;
  knows_stack_ = true;
  stack_.learn();
}

PathEnd& CallPaths::learn(const std::uintptr_t* return_slot, int procedure) noexcept {
  if (!is_usable_) {
    ++counts_.lost;
    return nowhere_;
  }
  know_stack();
  Caller caller = Caller::program;
  if (caller_of_ != nullptr && (has_wrappers_ || !trie_.has_site(*return_slot))) {
    caller = caller_of_(*return_slot, procedure);
    if (caller == Caller::other) return learn_foreign_site(*return_slot);
  }
  // On a stack that is not known, a known path may be out of reach.
  if (is_full_ && stack_.holds(return_slot)) return fold(*return_slot);
  if (caller != Caller::wrapper) return unwind(return_slot);
  has_wrappers_ = true;
  PathEnd& end = unwind(return_slot);
  // A tool may call its own wrapper for itself.
  end.is_foreign = end.is_foreign || is_called_by_tool(return_slot, procedure);
  return end;
}

bool CallPaths::is_called_by_tool(const std::uintptr_t* return_slot, int procedure) noexcept {
  StackWalk walk;
  walk_stack(return_slot, 2, stack_, walk);
  return walk.depth == 2 && caller_of_(walk.frames[1].return_address, procedure) != Caller::program;
}

PathEnd& CallPaths::unwind(const std::uintptr_t* return_slot) noexcept {
  ++counts_.unwinds;
  StackWalk walk;
  walk_stack(return_slot, limits_.depth, stack_, walk);
  Path* const path = table_.add(frames_of(walk));
  if (path == nullptr) {
    is_full_ = true;
    return fold(*return_slot);
  }
  // The call site alone, on a stack that is not the thread's own: in the trie it would stand before
  // all longer paths from there.
  if (path->leaves >= kMostLeaves || !stack_.holds(return_slot)) return path->end;
  const std::size_t known = trie_.leaf_count();
  if (trie_.add(walk, *path) == nullptr) is_full_ = true;
  if (trie_.leaf_count() != known) ++path->leaves;
  return path->end;
}

PathEnd& CallPaths::learn_foreign_site(std::uintptr_t return_address) noexcept {
  Path* const path = table_.add_foreign_site(return_address);
  if (path == nullptr) return foreign_;
  StackWalk site;
  site.depth = 1;
  site.frames[0] = {0, return_address};
  trie_.add(site, *path);
  return path->end;
}

PathEnd& CallPaths::fold(std::uintptr_t return_address) noexcept {
  Path* const site = table_.add_site(return_address);
  if (site == nullptr) {
    ++counts_.lost;
    return nowhere_;
  }
  ++counts_.folded;
  return site->end;
}

}  // namespace headrace::record
