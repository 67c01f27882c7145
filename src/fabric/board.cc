#include "fabric/board.h"

#include <cassert>

namespace headrace::fabric {

// A rank has posted `round` if its entry holds that round, or a later round that uses the same
// entry: a rank may run ahead by up to kBoardDepth - 1 rounds.
bool Board::all_have_posted(std::uint64_t round) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (entry(round, rank).round.load(std::memory_order_acquire) < round) return false;
  }
  return true;
}

Post& Board::begin_post(const Waiter& waiter) {
  const std::uint64_t round = round_ + 1;
  if (round > kBoardDepth) {
    // The entry to overwrite is that of round - kBoardDepth. Its readers are done once they have
    // posted the round after that.
    const std::uint64_t needed = round - kBoardDepth + 1;
    event().wait(waiter, [&] { return all_have_posted(needed); });
  }
  return entry(round, rank_);
}

std::uint64_t Board::end_post() {
  const std::uint64_t round = ++round_;
  // seq_cst, as the event's operations: of two ranks that post at the same time, one sees the
  // other's post.
  entry(round, rank_).round.store(round, std::memory_order_seq_cst);
  event().signal_where([&] { return all_have_posted(round); });
  return round;
}

void Board::wait_for_all(const Waiter& waiter) {
  event().wait(waiter, [&] { return all_have_posted(round_); });
}

PostedValue Board::combine(const Waiter& waiter, CombinePosted way) {
  wait_for_all(waiter);
  PostedValue all = entry(round_, 0).value;
  for (int rank = 1; rank < ranks_; ++rank) way(all, entry(round_, rank).value);
  return all;
}

void Board::announce(const PostedValue& value, bool failed) {
  assert(rank_ == 0);
  Announcement& mine = announcement();
  mine.value = value;
  mine.failed = failed ? 1 : 0;
  mine.round.store(round_, std::memory_order_release);
  event().signal();
}

bool Board::is_announced() const {
  return announcement().round.load(std::memory_order_acquire) >= round_;
}

const Announcement& Board::wait_for_announcement(const Waiter& waiter) {
  event().wait(waiter, [this] { return is_announced(); });
  return announcement();
}

}  // namespace headrace::fabric
