#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "exchange/event.h"

namespace headrace::exchange {

/// What one rank tells the others of its node in one round: two cache lines, with the round.
using Values = std::array<std::int64_t, 15>;

/// How values of several ranks become one. Sums that are too large end at the largest number.
enum class Combine { min, max, sum };

/// a + b, at most the largest number.
std::int64_t add(std::int64_t a, std::int64_t b);

/// into[i] becomes the combination of into[i] and from[i] by ways[i].
void merge_values(Values& into, const Values& from, std::span<const Combine> ways);

/// A round's values of one rank, in shared memory.
struct alignas(64) Post {
  std::atomic<std::uint64_t> round;  ///< the last round posted here, 0 for none
  Values values;
};

/// Posts are kept for this many rounds, so that a rank that need not read a round can run ahead.
inline constexpr std::uint64_t kBoardDepth = 4;

/// Lets the ranks of one node tell each other a few numbers, round by round. Posting waits for
/// nobody (unless a rank is kBoardDepth rounds ahead of the slowest); reading a round waits until
/// all have posted it. All ranks must post the same rounds in the same order.
///
/// A rank is done reading round r when it has posted r + 1. So before round r + kBoardDepth
/// overwrites it, post() waits until all ranks have posted r + 1.
class Board {
 public:
  /// `posts` holds kBoardDepth * ranks entries in shared memory, zeroed when new; `round` is the
  /// last round that was used there.
  Board(Event& event, std::span<Post> posts, int rank, int ranks, std::uint64_t round)
      : event_(event), posts_(posts), rank_(rank), ranks_(ranks), round_(round) {}

  /// Posts this rank's values and returns the round's number.
  std::uint64_t post(const Waiter& waiter, const Values& values);

  /// Waits until all ranks have posted the current round. Afterwards values_of() may be read until
  /// this rank's next post().
  void wait_for_all(const Waiter& waiter);
  const Values& values_of(int rank) const { return entry(round_, rank).values; }
  /// Waits for all; what they have posted, as one. Values without a way are undefined.
  Values combine(const Waiter& waiter, std::span<const Combine> ways);

  std::uint64_t round() const { return round_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  Post& entry(std::uint64_t round, int rank) const {
    return posts_[(round % kBoardDepth) * static_cast<std::uint64_t>(ranks_) +
                  static_cast<std::uint64_t>(rank)];
  }
  bool all_have_posted(std::uint64_t round) const;

  Event& event_;
  std::span<Post> posts_;
  int rank_;
  int ranks_;
  std::uint64_t round_;
};

}  // namespace headrace::exchange
