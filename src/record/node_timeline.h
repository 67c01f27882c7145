#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/rank_times.h"

namespace headrace::record {

/// The events of a node's ranks, one by one.
class NodeTimeline {
 public:
  /// A record of a job, and a node's part of it, have no more of the events that have ended.
  static constexpr std::size_t kMostOfJob = std::size_t{4} << 20;
  static constexpr std::size_t kMostOfNode = std::size_t{1} << 20;

  /// All of the node's images that will be added. The clock and the begin of the first count for
  /// all: ranks of a node have one clock. Both must stay.
  NodeTimeline(std::span<const Image> images, std::span<const RankTimes> times);

  /// Where what events name is in the node's tables, by what they have; `regions` from 0: none.
  struct Places {
    std::span<const std::int64_t> procedures;
    std::span<const std::int64_t> communicators;
    std::span<const std::int64_t> regions;
  };
  void add(const Image& image, const Places& places);

  std::span<const TimelinesRow> threads() const { return threads_; }
  std::span<const EventsRow> rows() const { return rows_; }

 private:
  struct Own {
    std::uint32_t thread;
    const Event* event;
  };
  struct Placed {
    std::int64_t begin;  ///< in ticks
    std::int64_t ticks;  ///< INT64_MAX: it goes on
    EventsRow row;
  };
  std::vector<Own> latest_of(const Image& image) const;
  void add_thread(const Image& image, std::uint32_t number, const Image::Thread& thread,
                  std::span<const Own> events, const Places& places, std::vector<Placed>& placed);
  void add_open(const Image& image, std::uint32_t number, const TimelineItem& item,
                const Places& places, std::vector<Placed>& placed);
  std::int64_t time_of(std::int64_t ticks) const;

  const std::span<const Image> images_;
  const std::span<const RankTimes> times_of_ranks_;
  std::size_t most_of_rank_ = 1;
  std::vector<TimelinesRow> threads_;
  std::vector<EventsRow> rows_;
};

}  // namespace headrace::record
