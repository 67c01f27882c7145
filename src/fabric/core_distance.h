#pragma once

#include <chrono>
#include <cstdint>

namespace headrace::fabric {

class Channel;

/// How long it takes a page that the core of a node's last rank wrote to reach the core of the
/// first rank, cache line by cache line as in a slot: tens of nanoseconds if the two share a cache,
/// hundreds between sockets or between parts of a large CPU. These two ranks stand for all, since
/// they are the farthest apart if ranks are bound in order. Ranks may move, so the time is measured
/// now and then, while both ranks are in a call.
class CoreDistance {
 public:
  explicit CoreDistance(Channel& channel);

  /// The last measurement in nanoseconds, known to the first rank only; 0 before the first
  /// measurement. HEADRACE_CORE_DISTANCE if that is set.
  std::int64_t nanoseconds() const { return nanoseconds_; }
  /// Whether the first rank would measure in the next call, since the last measurement is too old.
  bool is_due() const;

  /// All ranks of the node call this at the same place, after they have met. Measures nothing if
  /// one of the two ranks does not come in time, as when both share a core at that moment.
  void measure();

 private:
  Channel& channel_;
  bool is_measured_;
  std::int64_t nanoseconds_;
  std::chrono::steady_clock::time_point measured_at_;
};

}  // namespace headrace::fabric
