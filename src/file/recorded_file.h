#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/types.h"
#include "file/io_statistics.h"
#include "record/call_timer.h"
#include "record/clock.h"
#include "record/decision.h"
#include "record/file_counts.h"
#include "storage/store.h"

namespace headrace::file {

class PathChoice;

/// What is counted of one open file: for the recorder, and for HEADRACE_IO_STATS and _TIMERS. All
/// of it does nothing if none of them is on. Thread-safe from open() on.
class RecordedFile {
 public:
  /// Before any call; the file is called `path` in messages.
  void open(const std::string& path);
  /// Null if nothing is counted.
  record::FileCounts* counts() const { return counts_; }
  void note_open();

  /// A store that counts what it moves, in the place of one that does not.
  std::unique_ptr<storage::Store> counted(std::unique_ptr<storage::Store> store) const;

  /// Bytes of a stripe, or of a block, by which requests are judged.
  void set_unit(ByteCount unit) {
    if (counts_ != nullptr) counts_->unit = unit;
  }
  ByteCount unit() const { return counts_ == nullptr ? 0 : counts_->unit; }
  /// How often this process has opened the file, if statistics are told; 0: not known.
  std::int64_t opens() const { return opens_; }
  /// What this rank has counted since the open, for those who ask for it; else zeros. `closing`:
  /// ticks of a call of MPI_File_close that has not ended.
  IoSums sums() const;
  OwnTimes times(std::int64_t closing) const;

  /// A call has begun.
  void note_call(Direction direction, bool is_collective) {
    if (counts_ != nullptr) [[unlikely]]
      count_call(direction, is_collective);
  }
  /// A call has moved so much for the program.
  void note_moved(Direction direction, ByteCount bytes) {
    if (counts_ != nullptr) [[unlikely]]
      count_moved(direction, bytes);
  }
  /// A collective call has gone as `choice` says, and took so many ticks.
  void note_choice(const PathChoice& choice, Direction direction, std::int64_t ticks) {
    if (counts_ != nullptr) [[unlikely]]
      add_to_choice(choice, direction, ticks);
  }
  /// The file has buffers, as the text says.
  void note_buffers(const std::string& text) const;
  /// Hints that do not count as they were given, a line on each.
  void note_corrections(const std::vector<std::string>& lines) const;

  /// As records may have it; the file's own if nothing is recorded.
  const std::string& name() const { return name_; }

 private:
  /// A choice of the file's that was kept.
  struct Kept {
    std::int64_t kind;
    record::DecisionCost* cost;
  };

  void count_call(Direction direction, bool is_collective);
  void count_moved(Direction direction, ByteCount bytes);
  void add_to_choice(const PathChoice& choice, Direction direction, std::int64_t ticks);

  std::string name_;
  std::string told_name_;  ///< the file's own, if statistics are told
  record::FileCounts* counts_ = nullptr;
  std::unique_ptr<record::FileCounts> own_counts_;  ///< if nothing is recorded, but told
  bool is_told_ = false;                            ///< statistics are
  std::int64_t opens_ = 0;
  record::FileCounts begin_{};  ///< the counts at the open
  record::ClockReading opened_;
  std::mutex mutex_;                       ///< guards what follows
  std::array<std::vector<Kept>, 2> kept_;  ///< by direction
};

}  // namespace headrace::file
