#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <span>

#include "fabric/event.h"
#include "fabric/posted_value.h"

namespace headrace::fabric {

/// What one rank posts in a round, in shared memory.
struct alignas(64) Post {
  std::atomic<std::uint64_t> round;  ///< the last round posted here, 0 for none
  PostedValue value;
};

/// What the first rank announces to all in a round.
struct alignas(64) Announcement {
  std::atomic<std::uint64_t> round;
  std::int64_t failed;  ///< 1 if the first rank could not find the value
  PostedValue value;
};

/// The board keeps posts for so many rounds: a rank that need not read a round can run ahead.
inline constexpr std::uint64_t kBoardDepth = 4;

/// What a board has in shared memory besides the posts. Zeroed when new and never reset: a later
/// board at the same place goes on counting.
struct BoardState {
  Event event;
  std::array<Announcement, kBoardDepth> announcements;
};

/// Lets the ranks of one node tell each other a few numbers, round by round. Posting does not wait,
/// unless a rank is kBoardDepth rounds ahead of the slowest; reading a round waits until all ranks
/// have posted it. All ranks must post the same rounds in the same order.
///
/// A rank is done reading round r when it has posted r + 1. So before round r + kBoardDepth
/// overwrites it, post() waits until all ranks have posted r + 1.
class Board {
 public:
  /// `posts` holds kBoardDepth * ranks entries in shared memory, zeroed when new; `round` is the
  /// last round that was used there.
  Board(BoardState& state, std::span<Post> posts, int rank, int ranks, std::uint64_t round)
      : state_(state), posts_(posts), rank_(rank), ranks_(ranks), round_(round) {
    assert(0 <= rank && rank < ranks);
    assert(posts.size() == kBoardDepth * static_cast<std::size_t>(ranks));
  }

  /// Posts this rank's value and returns the round's number.
  std::uint64_t post(const Waiter& waiter, const PostedValue& value) {
    begin_post(waiter).value = value;
    return end_post();
  }
  template <Postable T>
  std::uint64_t post(const Waiter& waiter, const T& value) {
    begin_post(waiter).value.set(value);
    return end_post();
  }

  /// Waits until all ranks have posted the current round. Afterwards posted_by() may be read until
  /// this rank's next post().
  void wait_for_all(const Waiter& waiter);
  /// What `rank` posted, which must be a T.
  template <Postable T>
  const T& posted_by(int rank) const {
    return entry(round_, rank).value.as<T>();
  }
  /// Waits until all ranks have posted, and combines their values.
  PostedValue combine(const Waiter& waiter, CombinePosted way);
  template <Combinable T>
  T combine(const Waiter& waiter) {
    return combine(waiter, &combine_as<T>).template as<T>();
  }

  /// Called by the first rank, once in a round: tells the others the round's result.
  template <Postable T>
  void announce(const T& value) {
    announce(PostedValue::of(value), false);
  }
  void announce(const PostedValue& value, bool failed);
  bool is_announced() const;
  const Announcement& wait_for_announcement(const Waiter& waiter);

  Event& event() { return state_.event; }
  std::uint64_t round() const { return round_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  /// Waits until this rank's entry of the next round may be overwritten, and returns it.
  Post& begin_post(const Waiter& waiter);
  std::uint64_t end_post();
  Post& entry(std::uint64_t round, int rank) const {
    return posts_[(round % kBoardDepth) * static_cast<std::uint64_t>(ranks_) +
                  static_cast<std::uint64_t>(rank)];
  }
  Announcement& announcement() const { return state_.announcements[round_ % kBoardDepth]; }
  bool all_have_posted(std::uint64_t round) const;

  BoardState& state_;
  std::span<Post> posts_;
  int rank_;
  int ranks_;
  std::uint64_t round_;
};

}  // namespace headrace::fabric
