#include "file/failure_ledger.h"

#include <cerrno>

namespace headrace::file {

FailureLedger::FailureLedger(exchange::FileChannel& channel, const std::string& path,
                             UnreportedFailures& unreported)
    : channel_(channel),
      path_(path),
      unreported_(unreported),
      before_(channel.failed_writes().count) {}

Error FailureLedger::fail(Direction direction, int system_error) noexcept {
  note(direction, system_error);
  if (system_error == 0) {
    return {ErrorClass::argument,
            0,
            {"cannot write to '", path_, "' (the view shows no bytes), set another view"}};
  }
  const bool writes = direction == Direction::write;
  return system_failure(system_error, writes ? "cannot write to" : "cannot read from", path_);
}

void FailureLedger::note(Direction direction, int system_error) noexcept {
  const std::lock_guard lock(mutex_);
  failed_calls_ += 1;
  if (direction == Direction::write && system_error != 0) note_write(system_error);
}

void FailureLedger::note_unwritten(Direction direction, const Error& failed) noexcept {
  if (failed.error_class != ErrorClass::no_memory || direction != Direction::write) return;
  const std::lock_guard lock(mutex_);
  note_write(ENOMEM);
}

/// Changes both counts under the lock, which the caller holds, so that no thread takes this rank's
/// failure for another rank's.
void FailureLedger::note_write(int system_error) noexcept {
  own_writes_ += 1;
  channel_.note_failed_write(system_error);
}

Error FailureLedger::take_unreported() noexcept {
  Error failed = unreported_.take();
  // Without memory for a text, the error is still reported.
  if (failed.message.empty()) return failed;
  return {
      failed.error_class, failed.system_error, {"a nonblocking write failed: ", failed.message}};
}

Error FailureLedger::take_others() noexcept {
  const std::lock_guard lock(mutex_);
  const exchange::FileChannel::FailedWrites all = channel_.failed_writes();
  const std::int64_t others = all.count - before_ - own_writes_;
  if (others <= others_reported_) return {};
  others_reported_ = others;
  return system_failure(all.last_system_error, "data of another rank is missing in", path_);
}

std::int64_t FailureLedger::failed_calls() const {
  const std::lock_guard lock(mutex_);
  return failed_calls_;
}

std::int64_t FailureLedger::own_writes() const {
  const std::lock_guard lock(mutex_);
  return own_writes_;
}

std::int64_t FailureLedger::known_writes() const {
  const std::lock_guard lock(mutex_);
  return own_writes_ + others_reported_;
}

}  // namespace headrace::file
