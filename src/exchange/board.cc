#include "exchange/board.h"

namespace headrace::exchange {

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

}  // namespace headrace::exchange
