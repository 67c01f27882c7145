#include "fabric/milestones.h"

#include <algorithm>

namespace headrace::fabric {

void Milestones::reach(std::uint64_t number, Audience audience) {
  ranks_[rank_].reached.store(number, std::memory_order_seq_cst);
  wake(number, audience);
}

void Milestones::pass(std::uint64_t number) {
  ranks_[rank_].reached.store(number, std::memory_order_release);
  wake(number, Audience::whoever);
}

void Milestones::wake(std::uint64_t number, Audience audience) {
  if (bells_.arrivals.has_sleepers() && audience != Audience::reuse &&
      (audience == Audience::whoever || have_all_reached(number))) {
    bells_.arrivals.ring();
  }
  if (bells_.reuse.has_sleepers()) bells_.reuse.ring();
}

bool Milestones::have_all_reached(std::uint64_t number) const {
  return std::ranges::all_of(ranks_, [number](const Milestone& rank) {
    return rank.reached.load(std::memory_order_seq_cst) >= number;
  });
}

std::uint64_t Milestones::least_reached() const {
  std::uint64_t least = ranks_[rank_].reached.load(std::memory_order_relaxed);
  for (const Milestone& rank : ranks_) {
    least = std::min(least, rank.reached.load(std::memory_order_seq_cst));
  }
  return least;
}

}  // namespace headrace::fabric
