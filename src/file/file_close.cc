#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

#include "base/settings.h"
#include "file/agreement.h"
#include "file/open_file.h"

// Syncing and closing a file: by then failed writes are told, and what the file was is recorded.

namespace headrace::file {

using exchange::Combine;
using exchange::Values;

namespace {

/// What each rank tells when all close; the order of its Values.
enum Field : std::size_t {
  kFailure,
  kFailedWrites,
  kWrittenDirectly,
  kWrittenStaged,
  kReadDirectly,
  kReadStaged,
  kFailedCalls,
  kOfDevices,
  kPeaks,
  kWaitedForTurns = kPeaks + std::tuple_size_v<MemoryPeaks>,
  kReadByOtherWays,
  kFieldCount,
};
static_assert(kFieldCount <= std::tuple_size_v<Values>);

constexpr auto kWays = [] {
  std::array<Combine, kFieldCount> ways{};
  ways.fill(Combine::max);
  std::fill(ways.begin() + kFailedWrites, ways.begin() + kPeaks, Combine::sum);
  return ways;
}();

}  // namespace

Values OpenFile::values_at_end(const Error& failed) const {
  const storage::Choices choices = store_->choices();
  Values values{};
  values[kFailure] = code_of(failed);
  values[kFailedWrites] = own_failed_writes_;
  values[kWrittenDirectly] = totals_.written_directly;
  values[kWrittenStaged] = totals_.written_staged;
  values[kReadDirectly] = totals_.read_directly;
  values[kReadStaged] = totals_.read_staged;
  values[kFailedCalls] = totals_.failed_calls;
  values[kOfDevices] = totals_.of_devices;
  std::ranges::copy(memory_peaks(), values.begin() + kPeaks);
  values[kWaitedForTurns] = choices.waited_for_turns ? 1 : 0;
  values[kReadByOtherWays] = choices.read_by_other_ways ? 1 : 0;
  return values;
}

Error OpenFile::close() {
  drain();
  Error closed = attempt([this] { return store_->close(); });
  if (verification_) verified_ = collect_verified();
  // One error is told; what was written comes first.
  Error failed = untold_failure();
  if (!failed) failed = std::move(closed);
  Values values = values_at_end(failed);
  // Nobody returns before all have closed: on file systems with close-to-open coherence the data is
  // then visible to whoever opens the file.
  Error unreachable = channel_->combine(values, kWays);
  if (!failed && unreachable) failed = unreachable;
  if (mode_.delete_on_close) {
    Error removed;
    if (channel_->rank() == 0) removed = attempt([this] { return store_->remove(); });
    removed = agree_on_error(*channel_, removed, {"delete", path_});
    if (!failed) failed = std::move(removed);
  }
  // Where there is no memory the report lacks this file.
  static_cast<void>(attempt([&]() -> Error {
    record(values);
    return {};
  }));
  failed = own_or_others(failed, values[kFailure], {"close", path_});
  if (failed) return failed;
  if (values[kFailedWrites] > own_failed_writes_ + known_failed_writes_) {
    return {ErrorClass::io,
            0,
            {"data is missing in '", path_,
             "' (a write of another rank failed), see that rank's error and write it again"}};
  }
  return {};
}

void OpenFile::record(const Values& totals) {
  if (channel_->rank() != 0) return;
  record::FileRecord file;
  file.path = path_;
  file.totals = {.written_directly = totals[kWrittenDirectly],
                 .written_staged = totals[kWrittenStaged],
                 .read_directly = totals[kReadDirectly],
                 .read_staged = totals[kReadStaged],
                 .failed_calls = totals[kFailedCalls],
                 .of_devices = totals[kOfDevices]};
  file.write_reason = collective_->path_and_reason(Direction::write);
  file.read_reason = collective_->path_and_reason(Direction::read);
  file.store_choices =
      storage::explain({totals[kWaitedForTurns] != 0, totals[kReadByOtherWays] != 0},
                       settings().write_turns, settings().realign_reads);
  file.verified = verified_;
  std::copy_n(totals.begin() + kPeaks, file.memory.size(), file.memory.begin());
  record::add_file(file);
}

/// Bytes of this rank may lie in another node's cache: so all ranks sync, and tell each other.
Error OpenFile::sync() {
  if (nodes_write_for_each_other_) drain_lane();
  Error failed = attempt([this] { return store_->sync(); });
  if (nodes_write_for_each_other_) failed = agree_on_error(*channel_, failed, {"sync", path_});
  if (failed) return failed;
  failed = untold_failure();
  if (!failed) failed = failed_elsewhere();
  return failed;
}

/// A failed write that was begun by this rank, and that the program has not been told of.
Error OpenFile::untold_failure() noexcept {
  Error failed = background_->untold.take();
  // Without a text it is told all the same.
  if (failed.message.empty()) return failed;
  return {
      failed.error_class, failed.system_error, {"a nonblocking write failed: ", failed.message}};
}

/// Others may count on what a write lacks because its rank has no memory.
void OpenFile::note_unwritten(const TransferCall& call, const Error& failed) {
  if (failed.error_class != ErrorClass::no_memory || call.direction != Direction::write) return;
  const std::lock_guard lock(mutex_);
  note_failed_write(ENOMEM);
}

/// Only a write that the file system failed, errno not 0, leaves data missing that others may count
/// on.
void OpenFile::note_failed_call(Direction direction, int system_error) {
  const std::lock_guard lock(mutex_);
  totals_.failed_calls += 1;
  if (direction == Direction::write && system_error != 0) note_failed_write(system_error);
}

/// Both counts change under the lock, which the caller holds, so that no thread takes this rank's
/// failure for another's.
void OpenFile::note_failed_write(int system_error) {
  own_failed_writes_ += 1;
  channel_->note_failed_write(system_error);
}

/// What a program is told of a failed call; errno 0: its view shows no bytes.
Error OpenFile::told_of(Direction direction, int system_error) const noexcept {
  const bool writes = direction == Direction::write;
  if (system_error == 0) {
    return {ErrorClass::argument,
            0,
            {"cannot write to '", path_, "' (the view shows no bytes), set another view"}};
  }
  return system_failure(system_error, writes ? "cannot write to" : "cannot read from", path_);
}

/// A failed write of another rank of the node that this program has not been told of. Waits for
/// nobody: failures on other nodes are told by close.
Error OpenFile::failed_elsewhere() noexcept {
  exchange::Control* const control = channel_->control();
  if (control == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const std::int64_t all = control->failed_writes.load(std::memory_order_acquire);
  const std::int64_t others = all - failed_writes_before_ - own_failed_writes_;
  if (others <= known_failed_writes_) return {};
  known_failed_writes_ = others;
  return system_failure(control->last_system_error.load(std::memory_order_relaxed),
                        "data of another rank is missing in", path_);
}

}  // namespace headrace::file
