#include "exchange/board.h"

#include <algorithm>
#include <limits>

namespace headrace::exchange {

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

void merge_values(Values& into, const Values& from, std::span<const Combine> ways) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    switch (ways[i]) {
      case Combine::min: into[i] = std::min(into[i], from[i]); break;
      case Combine::max: into[i] = std::max(into[i], from[i]); break;
      case Combine::sum: into[i] = add(into[i], from[i]); break;
    }
  }
}

// A rank has posted `round` when its entry for it holds that round or a later one of the same
// place; it may have run ahead by up to kBoardDepth - 1 rounds.
bool Board::all_have_posted(std::uint64_t round) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (entry(round, rank).round.load(std::memory_order_acquire) < round) return false;
  }
  return true;
}

std::uint64_t Board::post(const Waiter& waiter, const Values& values) {
  const std::uint64_t round = round_ + 1;
  if (round > kBoardDepth) {
    // The entry to overwrite is of round - kBoardDepth. Its readers are done once they have posted
    // the round after it.
    const std::uint64_t needed = round - kBoardDepth + 1;
    event_.wait(waiter, [&] { return all_have_posted(needed); });
  }
  Post& mine = entry(round, rank_);
  mine.values = values;
  // seq_cst, as are the event's: of two ranks that post at a time one sees the other's.
  mine.round.store(round, std::memory_order_seq_cst);
  round_ = round;
  event_.signal_where([&] { return all_have_posted(round); });
  return round;
}

void Board::wait_for_all(const Waiter& waiter) {
  event_.wait(waiter, [&] { return all_have_posted(round_); });
}

Values Board::combine(const Waiter& waiter, std::span<const Combine> ways) {
  wait_for_all(waiter);
  Values all = values_of(0);
  for (int rank = 1; rank < ranks_; ++rank) merge_values(all, values_of(rank), ways);
  return all;
}

}  // namespace headrace::exchange
