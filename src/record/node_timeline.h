#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/rank_times.h"
#include "record/text_table.h"

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
    struct Procedure {
      std::int64_t name;
      bool is_io;
    };
    std::span<const Procedure> procedures;
    std::span<const std::int64_t> communicators;
    std::span<const std::int64_t> regions;
    std::span<const std::int64_t> files;  ///< that MPI opened
    TextTable& texts;                     ///< to which names of other files are added
  };
  void add(const Image& image, const Places& places);

  std::span<const TimelinesRow> threads() const { return threads_; }
  std::span<const FileTimelinesRow> files() const { return files_; }
  std::span<const EventsRow> rows() const { return rows_; }

 private:
  struct Own {
    std::uint32_t thread;
    std::int64_t end;    ///< in ticks
    const Event* event;  ///< null: it is a call on a file without MPI
    const FileEvent* file;
  };
  struct Placed {
    std::int64_t begin;  ///< in ticks
    std::int64_t ticks;  ///< INT64_MAX: it goes on
    EventsRow row;
  };
  std::vector<Own> latest_of(const Image& image) const;
  void add_thread(const Image& image, std::uint32_t number, std::span<const Own> events,
                  const Places& places);
  EventsRow call_row(const Event& event, const Places& places) const;
  EventsRow file_row(const Image& image, const FileEvent& event, const Places& places) const;
  void add_timeline(const Image& image, std::uint32_t number, const TimelineItem& item,
                    std::span<const Own> events);
  void add_file_timeline(const Image& image, std::span<const Own> events);
  void add_open(const Image& image, std::uint32_t number, const TimelineItem& item,
                const Places& places, std::vector<Placed>& placed);
  std::int64_t time_of(std::int64_t ticks) const;
  /// When a rank ended, as time_of tells.
  std::int64_t end_of(const Image& image) const;

  const std::span<const Image> images_;
  const std::span<const RankTimes> times_of_ranks_;
  std::size_t most_of_rank_ = 1;
  std::vector<TimelinesRow> threads_;
  std::vector<FileTimelinesRow> files_;
  std::vector<EventsRow> rows_;
};

}  // namespace headrace::record
