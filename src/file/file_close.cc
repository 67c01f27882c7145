#include <algorithm>

#include "base/message.h"
#include "base/settings.h"
#include "file/agreement.h"
#include "file/open_file.h"

// Syncing and closing a file: failed writes are reported, and the file's totals are recorded.

namespace headrace::file {

/// What each rank contributes when all close.
struct OpenFile::Closing {
  std::int64_t failure = 0;  ///< code_of() its error
  std::int64_t failed_writes = 0;
  record::FileTotals totals;
  MemoryPeaks peaks{};
  std::int64_t facts = 0;  ///< of any rank: bits of Fact

  enum Fact {
    waited_for_turns = 1,
    read_by_other_ways = 2,
    tells_statistics = 4,
    tells_buffers = 8,
    passed_cache = 16,
    tells_ranks = 32
  };
  void set(Fact fact, bool holds) { facts |= holds ? fact : 0; }
  bool has(Fact fact) const { return (facts & fact) != 0; }

  void combine(const Closing& other) {
    fabric::keep_greatest(failure, other.failure);
    fabric::add(failed_writes, other.failed_writes);
    fabric::add(totals.written_directly, other.totals.written_directly);
    fabric::add(totals.written_staged, other.totals.written_staged);
    fabric::add(totals.read_directly, other.totals.read_directly);
    fabric::add(totals.read_staged, other.totals.read_staged);
    fabric::add(totals.failed_calls, other.totals.failed_calls);
    fabric::add(totals.of_devices, other.totals.of_devices);
    for (std::size_t use = 0; use < peaks.size(); ++use) {
      fabric::keep_greatest(peaks[use], other.peaks[use]);
    }
    facts |= other.facts;
  }
};

OpenFile::Closing OpenFile::values_at_close(const Error& failed) const {
  const storage::Choices choices = store_->choices();
  record::FileTotals totals = executor_->totals();
  totals.failed_calls = failures_->failed_calls();
  Closing own = {.failure = code_of(failed),
                 .failed_writes = failures_->own_writes(),
                 .totals = totals,
                 .peaks = memory_peaks()};
  own.set(Closing::waited_for_turns, choices.waited_for_turns);
  own.set(Closing::read_by_other_ways, choices.read_by_other_ways);
  own.set(Closing::passed_cache, choices.passed_cache);
  own.set(Closing::tells_statistics, settings().io_stats > 0 || settings().io_timers > 0);
  own.set(Closing::tells_ranks, settings().io_stats > 1);
  own.set(Closing::tells_buffers, buffered_ != nullptr && buffered_->is_verbose());
  return own;
}

Error OpenFile::close() {
  const record::CallTimer timer(recorded_.counts(), &record::FileCounts::close);
  calls_.wait_for_all();
  Error closed = settle_and(&storage::Store::close);
  const std::optional<record::Verified> verified = executor_->collect_verified();
  // Only one error is reported; failed writes come first.
  Error failed = failures_->take_unreported();
  if (!failed) failed = std::move(closed);
  Closing all = values_at_close(failed);
  // No rank returns before all have closed: on file systems with close-to-open coherence, the data
  // is then visible to anyone who opens the file.
  Error unreachable = channel_->combine(all);
  if (!failed && unreachable) failed = unreachable;
  if (!unreachable && all.has(Closing::tells_statistics)) {
    tell_statistics(timer.elapsed(), all.has(Closing::tells_ranks));
  }
  if (!unreachable && all.has(Closing::tells_buffers)) tell_buffers();
  if (mode_.delete_on_close) {
    Error removed;
    if (channel_->nodes().rank() == 0) removed = attempt([this] { return store_->remove(); });
    removed = agree_on_error(*channel_, removed, {"delete", path_});
    if (!failed) failed = std::move(removed);
  }
  // Without memory, the report lacks this file.
  static_cast<void>(attempt([&]() -> Error {
    record(all, verified);
    return {};
  }));
  failed = own_or_others(failed, all.failure, {"close", path_});
  if (failed) return failed;
  if (all.failed_writes > failures_->known_writes()) {
    return {ErrorClass::io,
            0,
            {"data is missing in '", path_,
             "' (a write of another rank failed), see that rank's error and write it again"}};
  }
  return {};
}

void OpenFile::record(const Closing& all, const std::optional<record::Verified>& verified) const {
  if (channel_->nodes().rank() != 0) return;
  record::FileRecord file;
  file.path = path_;
  file.totals = all.totals;
  file.write = executor_->collective().choice(Direction::write).decision(path_);
  file.read = executor_->collective().choice(Direction::read).decision(path_);
  file.store_choices =
      storage::explain({all.has(Closing::waited_for_turns), all.has(Closing::read_by_other_ways),
                        all.has(Closing::passed_cache)},
                       settings().write_turns, settings().realign_reads);
  file.verified = verified;
  file.memory = all.peaks;
  record::add_file(file);
}

/// All ranks add up what buffers did, and the first one tells it.
void OpenFile::tell_buffers() const {
  buffering::BufferCounts counts =
      buffered_ != nullptr ? buffered_->counts() : buffering::BufferCounts();
  if (channel_->combine(counts) || channel_->nodes().rank() != 0) return;
  static_cast<void>(attempt([&]() -> Error {
    print_messages(buffering::lines_of(path_, counts));
    return {};
  }));
}

/// Bytes of this rank may lie in another node's cache, so all ranks sync and tell each other the
/// result.
Error OpenFile::sync() {
  const record::CallTimer timer(recorded_.counts(), false);
  if (nodes_write_for_each_other_) calls_.wait_for_meetings();
  Error failed = settle_and(&storage::Store::sync);
  static_cast<void>(take_lock());  // a rank may sync alone
  if (nodes_write_for_each_other_) failed = agree_on_error(*channel_, failed, {"sync", path_});
  if (failed) return failed;
  failed = failures_->take_unreported();
  if (!failed) failed = failures_->take_others();
  return failed;
}

}  // namespace headrace::file
