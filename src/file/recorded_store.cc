#include "file/recorded_store.h"

#include "record/call_timer.h"

namespace headrace::file {

namespace {

/// What a request moved, and by how many system calls besides the first.
struct Request {
  FileOffset offset;
  ByteCount bytes;
  int repeats;
};

void note_request(record::RequestCounts& counts, std::int64_t unit, const Request& request) {
  record::add(counts.requests, 1);
  if (record::running_timer != nullptr) record::add(counts.collective, 1);
  if (request.repeats > 0) record::add(counts.repeated, request.repeats);
  if (unit <= 0 || request.bytes <= 0) return;
  const FileOffset end = request.offset + request.bytes;
  if (request.offset % unit != 0 || end % unit != 0) record::add(counts.unaligned, 1);
  if (request.bytes == unit) record::add(counts.whole, 1);
  if (request.bytes < unit) record::add(counts.small, 1);
}

}  // namespace

using record::InPhase;
using record::Phase;

storage::Transferred RecordedStore::read(FileOffset offset, std::span<const iovec> segments) {
  const InPhase phase(Phase::read);
  const storage::Transferred done = inner().read(offset, segments);
  record::add(counts_.store_read, done.bytes);
  note_request(counts_.read_requests, counts_.unit, {offset, done.bytes, done.repeats});
  return done;
}

storage::Transferred RecordedStore::write(FileOffset offset, std::span<const iovec> segments) {
  const InPhase phase(Phase::write);
  const storage::Transferred done = inner().write(offset, segments);
  record::add(counts_.store_written, done.bytes);
  note_request(counts_.write_requests, counts_.unit, {offset, done.bytes, done.repeats});
  return done;
}

Result<std::unique_ptr<storage::Store>> RecordedStore::reopen_to_read() {
  Result<std::unique_ptr<Store>> opened = inner().reopen_to_read();
  if (!opened) return opened;
  return std::unique_ptr<Store>(
      std::make_unique<RecordedStore>(std::move(opened.value()), counts_));
}

/// Another rank has what conflicts.
Error RecordedStore::lock(FileOffset begin, FileOffset end, storage::LockMode mode) {
  const InPhase phase(Phase::wait);
  return inner().lock(begin, end, mode);
}

}  // namespace headrace::file
