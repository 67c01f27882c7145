#pragma once

#include <chrono>
#include <cstdint>

namespace headrace::fabric {

class Channel;

/// How long a page that the core of a node's last rank has written takes to that of its first rank,
/// line by line as in a slot: some tens of nanoseconds where they share a cache, hundreds between
/// sockets or the parts of a large CPU. These two stand for all: where ranks are bound in order
/// they are the ones farthest apart. Ranks may move, so it is measured now and then, while both
/// have come to a call.
class CoreDistance {
 public:
  explicit CoreDistance(Channel& channel);

  /// Nanoseconds, as measured last, 0 where it never was; of the first rank.
  /// HEADRACE_CORE_DISTANCE, where set.
  std::int64_t nanoseconds() const { return nanoseconds_; }
  /// Whether the first rank would measure in the next call.
  bool is_due() const;

  /// To be called by all ranks of the node at the same place, after they have met. Where one of the
  /// two does not come, as when both share a core at that moment, nothing is measured.
  void measure();

 private:
  Channel& channel_;
  bool is_measured_;
  std::int64_t nanoseconds_;
  std::chrono::steady_clock::time_point measured_at_;
};

}  // namespace headrace::fabric
