#include "file/recorded_store.h"

#include "record/call_timer.h"

namespace headrace::file {

using record::InPhase;
using record::Phase;

storage::Transferred RecordedStore::read(FileOffset offset, std::span<const iovec> segments) {
  const InPhase phase(Phase::store);
  const storage::Transferred done = inner().read(offset, segments);
  record::add(counts_.store_read, done.bytes);
  if (requests_ != nullptr) requests_->note(Direction::read, offset, done.bytes);
  return done;
}

storage::Transferred RecordedStore::write(FileOffset offset, std::span<const iovec> segments) {
  const InPhase phase(Phase::store);
  const storage::Transferred done = inner().write(offset, segments);
  record::add(counts_.store_written, done.bytes);
  if (requests_ != nullptr) requests_->note(Direction::write, offset, done.bytes);
  return done;
}

Result<std::unique_ptr<storage::Store>> RecordedStore::reopen_to_read() {
  Result<std::unique_ptr<Store>> opened = inner().reopen_to_read();
  if (!opened) return opened;
  return std::unique_ptr<Store>(
      std::make_unique<RecordedStore>(std::move(opened.value()), counts_, requests_));
}

/// Another rank has what conflicts.
Error RecordedStore::lock(FileOffset begin, FileOffset end, storage::LockMode mode) {
  const InPhase phase(Phase::wait);
  return inner().lock(begin, end, mode);
}

}  // namespace headrace::file
