#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "record/image.h"

namespace headrace::record {

/// The regions that one thread is in, innermost last. It writes their times into the image: into
/// `mark` of the thread and the items of its regions. `now` is in ticks of the clock of recording
/// (record_switch.h). Not thread-safe: each thread has its own.
class RegionStack {
 public:
  enum class End {
    matched,     ///< the innermost region has ended
    with_inner,  ///< an outer one, and with it those in it
    not_open     ///< none has: the thread is not in that region
  };

  /// Those deeper than this are not counted; the time is the outer one's.
  static constexpr std::size_t kMostDepth = 128;

  void attach(RegionMark& mark) { mark_ = &mark; }

  /// The thread enters a region. `entered`: 1 if that counts, 0 if recording is off.
  void begin(int id, RegionItem& item, std::int64_t now, std::int64_t entered) noexcept;
  End end(int id, std::int64_t now) noexcept;
  /// The thread ends.
  void end_all(std::int64_t now) noexcept;

  /// What rows of calls have: the innermost region's note and 1, 0 if there is none.
  std::uint32_t region() const { return region_; }
  std::size_t depth() const { return depth_; }

 private:
  struct Open {
    int id;
    RegionItem* item;
  };

  void pass_time(std::int64_t now) noexcept;
  void leave(std::int64_t now) noexcept;
  void enter_innermost() noexcept;

  std::array<Open, kMostDepth> open_{};
  std::size_t depth_ = 0;
  std::size_t too_deep_ = 0;
  std::uint32_t region_ = 0;
  RegionMark* mark_ = nullptr;
};

}  // namespace headrace::record
