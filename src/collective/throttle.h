#pragma once

#include <cstddef>
#include <deque>

namespace headrace::collective {

/// Turns in which each rank exchanges with one other: that of turn t, from 0 to size - 1. Each rank
/// has each other once, and both in the same turn.
constexpr int partner_in(int turn, int rank, int size) {
  return turn >= rank ? turn - rank : turn - rank + size;
}

/// Keeps count of messages that are under way, in the order in which they were begun, so that at
/// most so many are sent, and received, at a time. Ranks that begin messages turn by turn, and both
/// of a turn at once, wait for each other in no circle, whatever number each has: of what is not
/// complete, both sides have begun that of the least turn.
class Throttle {
 public:
  explicit Throttle(int most) : most_(static_cast<std::size_t>(most < 1 ? 1 : most)) {}

  /// How many of the messages under way, the last ones, may still be so when these are begun.
  std::size_t room_for(bool sends, bool receives) const {
    if (under_way_.size() < most_) return under_way_.size();
    std::size_t sending = sends ? 1 : 0;
    std::size_t receiving = receives ? 1 : 0;
    std::size_t kept = 0;
    for (auto is_sent = under_way_.rbegin(); is_sent != under_way_.rend(); ++is_sent) {
      if (++(*is_sent ? sending : receiving) > most_) break;
      ++kept;
    }
    return kept;
  }
  /// All but the last `left` are complete.
  void keep(std::size_t left) {
    while (under_way_.size() > left) under_way_.pop_front();
  }
  void begin(bool sends) { under_way_.push_back(sends); }

 private:
  std::size_t most_;
  std::deque<bool> under_way_;  ///< whether each is sent
};

}  // namespace headrace::collective
